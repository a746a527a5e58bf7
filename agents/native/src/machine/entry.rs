//! The hook at the entry of a function: calls us with all registers as they are, and goes on as if nothing had been.

use core::arch::naked_asm;

use crate::entries;

/// Jumped to from a stub that has pushed the address of an [`entries::Entry`] onto the return address of a function
/// that is being entered. Compilers may know of a function of their own which registers it leaves alone, so all are.
/// (It is exported so that `check-panics` begins here, too.)
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foretrace_entry_hook() {
    naked_asm!(
        "endbr64",
        "push rax",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "push r8",
        "push r9",
        "push r10",
        "push r11",
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 512",
        "and rsp, -64",
        "fxsave64 [rsp]",
        "mov rdi, qword ptr [rbp + {entry}]",
        "mov rsi, rbp",
        // The vector registers are in there from here on.
        "lea rdx, [rsp + 160]",
        "call {entered}",
        "fxrstor64 [rsp]",
        "mov rsp, rbp",
        // Where to go on, which the entry says first, takes the place of its address.
        "mov rax, qword ptr [rsp + {entry}]",
        "mov rax, qword ptr [rax]",
        "mov qword ptr [rsp + {entry}], rax",
        "pop rbp",
        "pop r11",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rdi",
        "pop rsi",
        "pop rdx",
        "pop rcx",
        "pop rax",
        "lea rsp, [rsp + 8]",
        "jmp qword ptr [rsp - 8]",
        entry = const 10 * 8,
        entered = sym entries::entered,
    )
}
