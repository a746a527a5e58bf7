//! Interceptors of fork and clone.
//!
//! A child has its own memory, in which all that is mapped to be wiped is zero, and its own file. `fork` of the C
//! library, which `daemon` and `forkpty` call inside of it, calls handlers of ours. A child that the program forks by a
//! system call of its own finds out with its first hook (`session::is_forked`).

use core::ffi::{c_int, c_long};
use core::mem;

use libc::{CLONE_SETTLS, CLONE_VFORK, CLONE_VM};
use runtime::layout::process;

use super::entry::{scratch, seven};
use super::{Pointer, notice_fork, real};
use crate::machine::{shim0, shim2, tls};
use crate::{session, thread};

shim0! {
    fork => split;
    vfork => split;
    _Fork => split_raw;
}
shim2! {
    daemon => become_daemon;
}
seven! {
    clone => cloning;
    __clone => cloning;
}

unsafe extern "C" {
    fn __register_atfork(
        prepare: unsafe extern "C" fn(),
        parent: unsafe extern "C" fn(),
        child: unsafe extern "C" fn(),
        module: Pointer,
    ) -> c_int;
}

/// Before a fork. What handlers of the program do in the child, before ours is called, must not be recorded: they
/// would write into the parent's file.
unsafe extern "C" fn prepare() {
    (*scratch()).was_busy = (*tls()).busy;
    if !(*tls()).busy {
        thread::be_quiet();
    }
}

unsafe extern "C" fn go_on() {
    if !(*scratch()).was_busy {
        thread::go_on();
    }
}

unsafe extern "C" fn in_parent() {
    if (*scratch()).becoming_daemon {
        // It ends at once, unseen.
        session::finish();
    }
    go_on();
}

unsafe extern "C" fn in_child() {
    notice_fork();
    go_on();
}

unsafe extern "C" fn register() {
    // For good: if it were of a module, the C library would forget it with that.
    __register_atfork(prepare, in_parent, in_child, core::ptr::null_mut());
}

#[used]
#[unsafe(link_section = ".init_array.00100")]
static REGISTER: unsafe extern "C" fn() = register;

/// Forks by calling `real`. Nothing is recorded meanwhile.
unsafe fn splitting<P: PartialEq + From<i32>>(real: impl FnOnce() -> P) -> P {
    thread::quietly(|| {
        let child = real();
        if child == P::from(0) {
            notice_fork();
        }
        child
    })
}

unsafe extern "C" fn split(_pc: usize) -> libc::pid_t {
    splitting(|| real::fork())
}

unsafe extern "C" fn split_raw(_pc: usize) -> libc::pid_t {
    splitting(|| real::_Fork())
}

/// The system call: no handlers are called.
pub(super) unsafe fn split_by_call(real: impl FnOnce() -> c_long) -> c_long {
    splitting(real)
}

unsafe extern "C" fn become_daemon(stay: c_int, keep: c_int, _pc: usize) -> c_int {
    (*scratch()).becoming_daemon = true;
    let result = real::daemon(stay, keep);
    (*scratch()).becoming_daemon = false;
    if result != 0 && session::is_running() && session::is_own_process() {
        // It could not fork, and goes on.
        session::set_state(process::RUNNING);
    }
    result
}

/// What a cloned child shall run.
struct Start {
    routine: unsafe extern "C" fn(Pointer) -> c_int,
    argument: Pointer,
}

/// The first thing in a child with a copy of the memory.
unsafe extern "C" fn run(start: Pointer) -> c_int {
    let Start { routine, argument } = start.cast::<Start>().read();
    notice_fork();
    thread::go_on();
    let result = routine(argument);
    // The C library ends the process when this returns, unseen.
    session::finish();
    result
}

#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn cloning(
    routine: c_long,
    stack: usize,
    flags: usize,
    argument: usize,
    parent: usize,
    storage: usize,
    child: usize,
    _pc: usize,
) -> c_long {
    type Routine = unsafe extern "C" fn(Pointer) -> c_int;
    let real = |routine: usize, argument: usize| {
        c_long::from(real::clone(routine, stack, flags as c_int, argument, parent, storage, child))
    };
    let has = |flag: c_int| flags as c_int & flag != 0;
    if !session::is_running() || routine == 0 || stack == 0 || has(CLONE_SETTLS) {
        return real(routine as usize, argument);
    }
    if !has(CLONE_VM) {
        let start = Start { routine: mem::transmute::<c_long, Routine>(routine), argument: argument as Pointer };
        let start = (&raw const start) as usize;
        return thread::quietly(|| real(run as *const () as usize, start));
    }
    if !has(CLONE_VFORK) {
        // Two tasks with one thread-local storage, and both run.
        session::detach(b"the program has cloned itself with one memory for both (clone with CLONE_VM)");
        return real(routine as usize, argument);
    }
    // The parent waits until the child is gone, which is in the same hook.
    let result = thread::quietly(|| real(routine as usize, argument));
    // It may have passed for the end of this process.
    if session::is_running() {
        session::set_state(process::RUNNING);
    }
    result
}
