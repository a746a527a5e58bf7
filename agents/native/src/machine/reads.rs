//! The hooks of reads in assembly, as far as most of them go: to the next element of a scan, or to a read summary that
//! says that the word was read.
//!
//! They are called more than anything else. Written by hand, they load their caller's address only when it matters, and
//! their tests share what they have loaded. They do the same as `access::hook`, `scans::advance` and
//! `access::is_in_summary`, which hooks that are passed their caller's address still use;
//! `crates/cli/tests/watching/hooks.rs` compares them.

use core::arch::naked_asm;
use core::mem::offset_of;

use runtime::filter::{AtomicEntry, STRIP_BYTES, SUMMARY_BITS, offsets};

use super::Tls;
use crate::biased::CriticalRegion;
use crate::frames::Frame;
use crate::scans::LOG2;
use crate::thread::Thread;
use crate::{access, scans};

const RECORDER: usize = offset_of!(Thread, recorder);
const CRITICAL: usize = offset_of!(Thread, critical);
const SCAN: usize = CRITICAL + offset_of!(CriticalRegion, scan);

const _: () = {
    // The templates rely on these.
    assert!(offset_of!(Tls, accesses) == 0);
    assert!(size_of::<AtomicEntry>() == 16);
};

/// A hook with a label to jump to, and further names of it. `summary`: instructions that come before the test for a
/// scan.
macro_rules! read_hook {
    (
        $name:ident $label:literal $size:literal: $($other:ident)*;
        summary [$($summary:literal)*] [$($operands:tt)*];
    ) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $other() {
                naked_asm!(concat!("jmp ", $label))
            }
        )*
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        #[unsafe(link_section = ".text.foretrace_reads")]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                concat!(".hidden ", $label),
                concat!(".globl ", $label),
                concat!($label, ":"),
                "mov rax, qword ptr [rip + foretrace_tls@GOTTPOFF]",
                "mov rdx, qword ptr fs:[rax]",
                "test rdx, rdx",
                "je 5f",
                $($summary,)*
                // `Scan::is_next`
                "cmp qword ptr [rdx + {next}], rdi",
                "jne 3f",
                // `Scan::goes_on_at`. One branch: branches take the most time.
                "mov rcx, qword ptr fs:[rax + {top}]",
                "mov rsi, qword ptr [rsp]",
                "xor rsi, qword ptr [rdx + {pc}]",
                "mov ecx, dword ptr [rcx - {frame} + {context}]",
                "xor ecx, dword ptr [rdx + {parent}]",
                "or rsi, rcx",
                "jne 4f",
                // `Scan::goes_on`
                "add rdi, {size}",
                "mov qword ptr [rdx + {next}], rdi",
                // `CriticalRegion::is_undisturbed`
                "cmp byte ptr [rdx + {revoked}], 0",
                "jne 6f",
                "test edi, {strip} - 1",
                "je 7f",
                "ret",
                "3:",
                "mov rsi, qword ptr [rsp]",
                "jmp {check_cell}",
                "4:",
                "mov rsi, qword ptr [rsp]",
                "jmp {leave_scan}",
                "6:",
                "sub rdi, {size}",
                "mov rsi, qword ptr [rsp]",
                "jmp {recheck}",
                "7:",
                "mov rdi, rdx",
                "jmp {end_strip}",
                "5:",
                "mov rsi, qword ptr [rsp]",
                "jmp {slow}",
                // The next hook begins with a cache line.
                ".p2align 6",
                next = const SCAN + offsets::SCAN_NEXT + LOG2[$size] * size_of::<u64>(),
                pc = const SCAN + offsets::SCAN_PC,
                parent = const SCAN + offsets::SCAN_PARENT,
                revoked = const CRITICAL + offset_of!(CriticalRegion, revoked),
                top = const offset_of!(Tls, top),
                frame = const size_of::<Frame>(),
                context = const offset_of!(Frame, context),
                size = const $size,
                strip = const STRIP_BYTES,
                check_cell = sym access::read_by_cell::<$size>,
                slow = sym access::slow_path::<$size, true, false>,
                leave_scan = sym scans::leave_scan::<$size>,
                end_strip = sym scans::end_strip,
                recheck = sym scans::recheck::<$size>,
                $($operands)*
            )
        }
    };
}

/// Hooks for parts of a word: read summaries say nothing of these.
macro_rules! part_hook {
    ($name:ident $label:literal $size:literal: $($other:ident)*) => {
        read_hook! {
            $name $label $size: $($other)*;
            summary [] [];
        }
    };
}

part_hook! {
    __tsan_read1 "foretrace_read1" 1:
    __tsan_volatile_read1 __tsan_unaligned_read1 __tsan_unaligned_volatile_read1
}
part_hook! {
    __tsan_read2 "foretrace_read2" 2:
    __tsan_volatile_read2 __tsan_unaligned_read2 __tsan_unaligned_volatile_read2
}
part_hook! {
    __tsan_read4 "foretrace_read4" 4:
    __tsan_volatile_read4 __tsan_unaligned_read4 __tsan_unaligned_volatile_read4
}
read_hook! {
    __tsan_read8 "foretrace_read8" 8:
    __tsan_volatile_read8 __tsan_unaligned_read8 __tsan_unaligned_volatile_read8 __tsan_vptr_read;
    summary [
        // `Recorder::may_have_read`
        "ror rdi, 3"
        "cmp rdi, qword ptr [rdx + {noted}]"
        "jae 2f"
        // `read_summaries::among`
        "mov rcx, rdi"
        "shr rcx, {summary_bits} - 3"
        "shl rcx, 4"
        "add rcx, qword ptr [rdx + {summaries}]"
        // `Recorder::has_noted`
        "mov r8, qword ptr [rcx + 8]"
        "bt r8, rdi"
        "jae 2f"
        "mov r8, qword ptr [rcx]"
        "cmp r8, qword ptr [rdx + {floor}]"
        "jne 2f"
        "ret"
        // Near enough for a short jump.
        "5:"
        "mov rsi, qword ptr [rsp]"
        "jmp {slow}"
        "2:"
        "rol rdi, 3"
    ] [
        noted = const RECORDER + offsets::NOTED,
        floor = const RECORDER + offsets::FLOOR,
        summaries = const offset_of!(Thread, summaries),
        summary_bits = const SUMMARY_BITS,
    ];
}
