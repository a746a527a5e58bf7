//! Entry points that depend on the machine (x86-64): variadic functions, functions that must not be seen as the caller
//! of the real one, and what the C library hides in a `jmp_buf`.

use core::arch::{asm, global_asm};

use super::fibers::Fiber;
use super::once::Once;
use super::signals::Deferred;

/// Thread-local state of interceptors. Zero in a new thread.
#[repr(C)]
pub(super) struct Scratch {
    /// The newest `pthread_once` under way.
    pub(super) once: *mut Once,
    /// The caller of the operator that is about to call malloc or free.
    pub(super) caller: usize,
    /// Inside a wait on a condition.
    pub(super) waiting: bool,
    /// Before a fork, whether the thread was inside a hook.
    pub(super) was_busy: bool,
    /// Inside of `daemon`.
    pub(super) becoming_daemon: bool,
    /// Inside of the real function that creates a thread.
    pub(super) creating: bool,
    /// Calls of `dlclose` under way.
    pub(super) closing: u32,
    /// Handlers of signals under way.
    pub(super) handlers: u32,
    /// Signals that wait for the end of a hook.
    pub(super) deferred: Deferred,
    /// The fiber that runs; null if the program never asked for it.
    pub(super) fiber: *mut Fiber,
}

const SIZE: usize = size_of::<Scratch>();

global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".p2align 3",
    ".hidden foretrace_scratch",
    ".globl foretrace_scratch",
    ".type foretrace_scratch,@object",
    ".size foretrace_scratch,{size}",
    "foretrace_scratch: .zero {size}",
    ".popsection",
    size = const SIZE
);

/// This thread's.
#[inline]
pub(super) fn scratch() -> *mut Scratch {
    let scratch: *mut Scratch;
    // SAFETY: reads the thread pointer and a constant of the linker.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + foretrace_scratch@GOTTPOFF]",
            "add {0}, qword ptr fs:[0]",
            out(reg) scratch,
            options(nostack, pure, readonly)
        );
    }
    scratch
}

/// The stack pointer that a `jmp_buf` goes back to. glibc keeps it in the seventh word, disguised.
pub(super) unsafe fn jump_stack(buffer: *const usize) -> usize {
    let guard: usize;
    asm!("mov {}, qword ptr fs:[0x30]", out(reg) guard, options(nostack, pure, readonly, preserves_flags));
    (*buffer.add(6)).rotate_right(17) ^ guard
}

/// `name(first, argument, …)` becomes `body(first, arguments, pc)`: the arguments from the second on are consecutive in
/// memory.
macro_rules! listed {
    ($($name:ident => $body:path;)*) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            ::core::arch::naked_asm!(
                // The registers are put where the return address was, right before those on the stack.
                "pop rax",
                "push r9",
                "push r8",
                "push rcx",
                "push rdx",
                "push rsi",
                "mov rsi, rsp",
                "mov rdx, rax",
                "push rbx",
                "mov rbx, rax",
                "call {body}",
                "mov rcx, rbx",
                "pop rbx",
                "add rsp, 40",
                "jmp rcx",
                body = sym $body
            )
        }
    )* };
}
pub(super) use listed;

/// `name(…)` asks `body(the first two arguments, pc)` for an address and goes there, with the arguments and the
/// return address it was called with.
macro_rules! forwarded {
    ($($name:ident => $body:path;)*) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            ::core::arch::naked_asm!(
                ".cfi_startproc",
                "push rdi",
                ".cfi_adjust_cfa_offset 8",
                "push rsi",
                ".cfi_adjust_cfa_offset 8",
                "push rdx",
                ".cfi_adjust_cfa_offset 8",
                "mov rdx, qword ptr [rsp + 24]",
                "call {body}",
                "pop rdx",
                ".cfi_adjust_cfa_offset -8",
                "pop rsi",
                ".cfi_adjust_cfa_offset -8",
                "pop rdi",
                ".cfi_adjust_cfa_offset -8",
                "jmp rax",
                ".cfi_endproc",
                body = sym $body
            )
        }
    )* };
}
pub(super) use forwarded;

/// `syscall(number, …)` goes straight to the address that `real` gives, if the number is one of the three: a child may
/// come back from there on another stack. All else goes to `other`, which has the same arguments.
macro_rules! calls {
    ($name:ident($a:expr, $b:expr, $c:expr) => $real:path, $other:path) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            ::core::arch::naked_asm!(
                ".cfi_startproc",
                "cmp rdi, {a}",
                "je 2f",
                "cmp rdi, {b}",
                "je 2f",
                "cmp rdi, {c}",
                "je 2f",
                "jmp {other}",
                "2:",
                "push rdi",
                ".cfi_adjust_cfa_offset 8",
                "push rsi",
                ".cfi_adjust_cfa_offset 8",
                "push rdx",
                ".cfi_adjust_cfa_offset 8",
                "push rcx",
                ".cfi_adjust_cfa_offset 8",
                "push r8",
                ".cfi_adjust_cfa_offset 8",
                "push r9",
                ".cfi_adjust_cfa_offset 8",
                "sub rsp, 8",
                ".cfi_adjust_cfa_offset 8",
                "call {real}",
                "add rsp, 8",
                ".cfi_adjust_cfa_offset -8",
                "pop r9",
                ".cfi_adjust_cfa_offset -8",
                "pop r8",
                ".cfi_adjust_cfa_offset -8",
                "pop rcx",
                ".cfi_adjust_cfa_offset -8",
                "pop rdx",
                ".cfi_adjust_cfa_offset -8",
                "pop rsi",
                ".cfi_adjust_cfa_offset -8",
                "pop rdi",
                ".cfi_adjust_cfa_offset -8",
                "jmp rax",
                ".cfi_endproc",
                a = const $a,
                b = const $b,
                c = const $c,
                real = sym $real,
                other = sym $other
            )
        }
    };
}
pub(super) use calls;

/// `name(number, …)` becomes `body(number, a, b, c, d, e, f, pc)`.
macro_rules! seven {
    ($($name:ident => $body:path;)*) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            ::core::arch::naked_asm!(
                ".cfi_startproc",
                "mov rax, qword ptr [rsp]",
                "mov r10, qword ptr [rsp + 8]",
                "sub rsp, 8",
                ".cfi_adjust_cfa_offset 8",
                "push rax",
                ".cfi_adjust_cfa_offset 8",
                "push r10",
                ".cfi_adjust_cfa_offset 8",
                "call {body}",
                "add rsp, 24",
                ".cfi_adjust_cfa_offset -24",
                "ret",
                ".cfi_endproc",
                body = sym $body
            )
        }
    )* };
}
pub(super) use seven;

/// `name(a, …)` becomes `body(a, b, c, d, e, list, pc)` with a `va_list` that begins behind the first `$fixed`
/// arguments.
macro_rules! variadic {
    ($($name:ident, $fixed:literal => $body:path;)*) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            ::core::arch::naked_asm!(
                ".cfi_startproc",
                "sub rsp, 216",
                ".cfi_adjust_cfa_offset 216",
                // The area of registers at +32, the list at +8.
                "mov qword ptr [rsp + 32], rdi",
                "mov qword ptr [rsp + 40], rsi",
                "mov qword ptr [rsp + 48], rdx",
                "mov qword ptr [rsp + 56], rcx",
                "mov qword ptr [rsp + 64], r8",
                "mov qword ptr [rsp + 72], r9",
                "test al, al",
                "je 2f",
                "movaps xmmword ptr [rsp + 80], xmm0",
                "movaps xmmword ptr [rsp + 96], xmm1",
                "movaps xmmword ptr [rsp + 112], xmm2",
                "movaps xmmword ptr [rsp + 128], xmm3",
                "movaps xmmword ptr [rsp + 144], xmm4",
                "movaps xmmword ptr [rsp + 160], xmm5",
                "movaps xmmword ptr [rsp + 176], xmm6",
                "movaps xmmword ptr [rsp + 192], xmm7",
                "2:",
                "mov dword ptr [rsp + 8], 8 * {fixed}",
                "mov dword ptr [rsp + 12], 48",
                "lea rax, [rsp + 224]",
                "mov qword ptr [rsp + 16], rax",
                "lea rax, [rsp + 32]",
                "mov qword ptr [rsp + 24], rax",
                "lea r9, [rsp + 8]",
                "mov rax, qword ptr [rsp + 216]",
                "mov qword ptr [rsp], rax",
                "call {body}",
                "add rsp, 216",
                ".cfi_adjust_cfa_offset -216",
                "ret",
                ".cfi_endproc",
                fixed = const $fixed,
                body = sym $body
            )
        }
    )* };
}
pub(super) use variadic;
