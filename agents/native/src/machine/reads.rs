//! The hooks of reads, as far as most of them go: to the next element of a sweep, or to a line that says that the granule was read.
//!
//! They are called more than anything else. By hand, they look for their caller's address only when it matters, and their tests
//! share what they have loaded. They say the same as `access::hook`, `sweeps::next` and `access::has_read`, which the hooks that are given their
//! caller's address still are; `crates/cli/tests/watching/hooks.rs` compares them.

use core::arch::naked_asm;
use core::mem::offset_of;

use runtime::filter::{Half, LINE_BITS, ROW_BYTES, offsets};

use super::Tls;
use crate::alone::Turn;
use crate::frames::Frame;
use crate::sweeps::LOG2;
use crate::thread::Thread;
use crate::{access, sweeps};

const RECORDER: usize = offset_of!(Thread, recorder);
const TURN: usize = offset_of!(Thread, turn);
const SWEEP: usize = TURN + offset_of!(Turn, sweep);

const _: () = {
    // What the templates know.
    assert!(offset_of!(Tls, accesses) == 0);
    assert!(size_of::<Half>() == 16);
};

/// A hook, which can be jumped to by its label, and further names of it. `lines`: what is asked before it is taken for a sweep's.
macro_rules! read_hook {
    (
        $name:ident $label:literal $size:literal: $($other:ident)*;
        lines [$($lines:literal)*] [$($operands:tt)*];
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
                $($lines,)*
                // `Sweep::is_next`
                "cmp qword ptr [rdx + {next}], rdi",
                "jne 3f",
                // `Sweep::goes_on_at`. One branch: branches are what it takes longest for.
                "mov rcx, qword ptr fs:[rax + {top}]",
                "mov rsi, qword ptr [rsp]",
                "xor rsi, qword ptr [rdx + {pc}]",
                "mov ecx, dword ptr [rcx - {frame} + {place}]",
                "xor ecx, dword ptr [rdx + {parent}]",
                "or rsi, rcx",
                "jne 4f",
                // `Sweep::goes_on`
                "add rdi, {size}",
                "mov qword ptr [rdx + {next}], rdi",
                // `Turn::is_sure`
                "cmp byte ptr [rdx + {lost}], 0",
                "jne 6f",
                "test edi, {row} - 1",
                "je 7f",
                "ret",
                "3:",
                "mov rsi, qword ptr [rsp]",
                "jmp {by_cell}",
                "4:",
                "mov rsi, qword ptr [rsp]",
                "jmp {no_more}",
                "6:",
                "sub rdi, {size}",
                "mov rsi, qword ptr [rsp]",
                "jmp {unsure}",
                "7:",
                "mov rdi, rdx",
                "jmp {ends_row}",
                "5:",
                "mov rsi, qword ptr [rsp]",
                "jmp {slow}",
                // The next one begins with a line of the cache.
                ".p2align 6",
                next = const SWEEP + offsets::SWEEP_NEXT + LOG2[$size] * size_of::<u64>(),
                pc = const SWEEP + offsets::SWEEP_PC,
                parent = const SWEEP + offsets::SWEEP_PARENT,
                lost = const TURN + offset_of!(Turn, lost),
                top = const offset_of!(Tls, top),
                frame = const size_of::<Frame>(),
                place = const offset_of!(Frame, place),
                size = const $size,
                row = const ROW_BYTES,
                by_cell = sym access::reads_cell::<$size>,
                slow = sym access::slow::<$size, true, false>,
                no_more = sym sweeps::no_more::<$size>,
                ends_row = sym sweeps::ends_row,
                unsure = sym sweeps::unsure::<$size>,
                $($operands)*
            )
        }
    };
}

/// Those of parts of a granule: lines know nothing of these.
macro_rules! part_hook {
    ($name:ident $label:literal $size:literal: $($other:ident)*) => {
        read_hook! {
            $name $label $size: $($other)*;
            lines [] [];
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
    lines [
        // `Recorder::may_have_read`
        "ror rdi, 3"
        "cmp rdi, qword ptr [rdx + {noted}]"
        "jae 2f"
        // `lines::among`
        "mov rcx, rdi"
        "shr rcx, {line_bits} - 3"
        "shl rcx, 4"
        "add rcx, qword ptr [rdx + {lines}]"
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
        lines = const offset_of!(Thread, lines),
        line_bits = const LINE_BITS,
    ];
}
