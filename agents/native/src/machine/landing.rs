//! Landings: where a hook goes on that has failed. The machine's part of `failing`.
//!
//! A landing is the stack pointer behind the registers that a function must preserve. Going back to it is a `longjmp`
//! without its costs: nothing of it is done while all goes well but to save the registers.

use core::arch::{asm, global_asm, naked_asm};
use core::ffi::c_void;

global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".p2align 3",
    ".hidden foretrace_landing",
    ".globl foretrace_landing",
    ".type foretrace_landing,@object",
    ".size foretrace_landing,8",
    "foretrace_landing: .zero 8",
    ".popsection"
);

/// Calls `f(data)`. Returns false if it returned, true if it went back here by [`go_back`].
#[unsafe(naked)]
pub unsafe extern "C" fn catch(f: unsafe extern "C" fn(*mut c_void), data: *mut c_void) -> bool {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov rbx, qword ptr [rip + foretrace_landing@GOTTPOFF]",
        // The landing around this one. With it, the stack is aligned for a call.
        "push qword ptr fs:[rbx]",
        "mov qword ptr fs:[rbx], rsp",
        "mov rax, rdi",
        "mov rdi, rsi",
        "call rax",
        "xor eax, eax",
        ".hidden foretrace_land",
        ".globl foretrace_land",
        "foretrace_land:",
        "pop qword ptr fs:[rbx]",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// Goes back to the innermost landing. Returns if there is none.
pub unsafe fn go_back() {
    // SAFETY: the landing's frame is below on this stack, for `catch` forgets it before it returns.
    unsafe {
        asm!(
            "mov {at}, qword ptr [rip + foretrace_landing@GOTTPOFF]",
            "mov {sp}, qword ptr fs:[{at}]",
            "test {sp}, {sp}",
            "je 2f",
            "mov rsp, {sp}",
            "mov rbx, {at}",
            "mov eax, 1",
            "jmp foretrace_land",
            "2:",
            at = out(reg) _,
            sp = out(reg) _,
            options(nostack)
        );
    }
}
