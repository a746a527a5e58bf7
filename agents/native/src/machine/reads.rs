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
use crate::{access, intercept, sweeps};

const RECORDER: usize = offset_of!(Thread, recorder);
const TURN: usize = offset_of!(Thread, turn);
const SWEEP: usize = TURN + offset_of!(Turn, sweep);

const _: () = {
    // What the templates know.
    assert!(offset_of!(Tls, accesses) == 0);
    assert!(size_of::<Half>() == 16);
};

/// A hook, which can be jumped to by its label, and further names of it. `lines`: what is asked before it is taken for a sweep's; `first`: whether it is the
/// first of its granule, and takes a rank; `end`: how it ends then.
macro_rules! read_hook {
    (
        $name:ident $label:literal $size:literal: $($other:ident)*;
        lines [$($lines:literal)*] [$($operands:tt)*];
        first [$($first:literal)*];
        end [$($end:literal)*];
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
                "cmp qword ptr [rdx + {next}], rdi",
                "je 3f",
                "mov rsi, qword ptr [rsp]",
                "jmp {by_cell}",
                "5:",
                "mov rsi, qword ptr [rsp]",
                "jmp {slow}",

                // `Sweep::goes_on_at`, and not inside a hook.
                "3:",
                "mov rsi, qword ptr [rsp]",
                "cmp qword ptr [rdx + {pc}], rsi",
                "jne 4f",
                "mov rcx, qword ptr fs:[rax + {top}]",
                "mov ecx, dword ptr [rcx - {frame} + {place}]",
                "cmp dword ptr [rdx + {parent}], ecx",
                "jne 4f",
                "cmp byte ptr fs:[rax + {busy}], 0",
                "jne 4f",
                // `Turn::begin_sweeping`
                "mov byte ptr [rdx + {begun}], 1",
                "cmp byte ptr [rdx + {lost}], 0",
                "jne 6f",
                // `Recorder::sweeps`
                "mov rcx, qword ptr [rdx + {now}]",
                "cmp qword ptr [rdx + {sweep_now}], rcx",
                "jne 6f",
                $($first,)*
                "add rcx, {rank}",
                "mov qword ptr [rdx + {now}], rcx",
                "mov qword ptr [rdx + {sweep_now}], rcx",
                $($end,)*
                "7:",
                "add rdi, {size}",
                "mov qword ptr [rdx + {next}], rdi",
                "test edi, {row} - 1",
                "je 8f",
                "mov byte ptr [rdx + {begun}], 0",
                "cmp byte ptr fs:[rax + {deferred}], 0",
                "jne {deliver}",
                "ret",
                "8:",
                "mov rdi, rdx",
                "jmp {ends_row}",
                "6:",
                "mov byte ptr [rdx + {begun}], 0",
                "4:",
                "jmp {no_more}",
                // The next one begins with a line of the cache.
                ".p2align 6",
                next = const SWEEP + offsets::SWEEP_NEXT + LOG2[$size] * size_of::<u64>(),
                pc = const SWEEP + offsets::SWEEP_PC,
                parent = const SWEEP + offsets::SWEEP_PARENT,
                sweep_now = const SWEEP + offsets::SWEEP_NOW,
                now = const RECORDER + offsets::NOW,
                begun = const TURN + offset_of!(Turn, begun),
                lost = const TURN + offset_of!(Turn, lost),
                top = const offset_of!(Tls, top),
                busy = const offset_of!(Tls, busy),
                deferred = const offset_of!(Tls, deferred),
                frame = const size_of::<Frame>(),
                place = const offset_of!(Frame, place),
                rank = const offsets::NEXT_RANK,
                size = const $size,
                row = const ROW_BYTES,
                by_cell = sym access::reads_cell::<$size>,
                slow = sym access::slow::<$size, true, false>,
                no_more = sym sweeps::no_more::<$size>,
                ends_row = sym sweeps::ends_row,
                deliver = sym intercept::deliver,
                $($operands)*
            )
        }
    };
}

/// Those of parts of a granule: the first of one does not end a row, and only the first takes a rank.
macro_rules! part_hook {
    ($name:ident $label:literal $size:literal: $($other:ident)*) => {
        read_hook! {
            $name $label $size: $($other)*;
            lines [] [];
            first ["test dil, 7" "jne 7f"];
            end [
                "add rdi, {size}"
                "mov qword ptr [rdx + {next}], rdi"
                "mov byte ptr [rdx + {begun}], 0"
                "cmp byte ptr fs:[rax + {deferred}], 0"
                "jne {deliver}"
                "ret"
            ];
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
        "2:"
        "rol rdi, 3"
    ] [
        noted = const RECORDER + offsets::NOTED,
        floor = const RECORDER + offsets::FLOOR,
        lines = const offset_of!(Thread, lines),
        line_bits = const LINE_BITS,
    ];
    first [];
    end [];
}
