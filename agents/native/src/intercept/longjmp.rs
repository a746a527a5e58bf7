//! `longjmp` leaves functions without calling their exit hooks: their calls are taken from the call stack.

use core::ffi::c_int;

use super::entry::{forwarded, jump_stack, scratch};
use super::real::Real;
use super::{Pointer, real, record};
use crate::machine::shim2;

shim2! {
    longjmp => jump;
    _longjmp => jump;
    siglongjmp => jump;
    __longjmp_chk => jump_checked;
}

forwarded! {
    sigsetjmp => set;
}

/// A program linked to libtsan may look for it by this name.
unsafe extern "C" fn set(_buffer: Pointer, _mask: usize, _pc: usize) -> Pointer {
    #[used]
    #[unsafe(link_section = "foretrace_real")]
    static REAL: Real = Real::new("__sigsetjmp\0", None);
    REAL.get()
}

unsafe fn leave(buffer: Pointer, pc: usize) {
    let stack = jump_stack(buffer.cast());
    // Out of a handler, and maybe out of a wait.
    (*scratch()).waiting = false;
    (*scratch()).handlers = 0;
    record(pc, |thread| thread.unwind(stack));
}

unsafe extern "C" fn jump(buffer: Pointer, value: c_int, pc: usize) -> ! {
    leave(buffer, pc);
    real::longjmp(buffer, value)
}

unsafe extern "C" fn jump_checked(buffer: Pointer, value: c_int, pc: usize) -> ! {
    leave(buffer, pc);
    real::__longjmp_chk(buffer, value)
}
