//! Interceptors of `exec` and its family.

use core::ffi::c_int;

use runtime::layout::process;

use super::entry::listed;
use super::{Pointer, real};
use crate::machine::{shim2, shim3, shim5};
use crate::{session, thread};

shim2! {
    execv => run;
    execvp => find;
}
shim3! {
    execve => run_with;
    execvpe => find_with;
    fexecve => run_file;
}
shim5! {
    execveat => run_at;
}
listed! {
    execl => run_listed;
    execlp => find_listed;
    execle => run_listed_with;
}

/// Announces the exec to the observer, and takes that back if the program is still there afterwards.
unsafe fn executing(real: impl FnOnce() -> c_int) -> c_int {
    if !session::is_running() || !session::is_own_process() {
        return real();
    }
    thread::report();
    session::set_state(process::EXECUTED);
    let result = real();
    session::set_state(process::RUNNING);
    result
}

unsafe extern "C" fn run(path: Pointer, arguments: Pointer, _pc: usize) -> c_int {
    executing(|| real::execv(path, arguments))
}

unsafe extern "C" fn find(file: Pointer, arguments: Pointer, _pc: usize) -> c_int {
    executing(|| real::execvp(file, arguments))
}

unsafe extern "C" fn run_with(path: Pointer, arguments: Pointer, environment: Pointer, _pc: usize) -> c_int {
    executing(|| real::execve(path, arguments, environment))
}

unsafe extern "C" fn find_with(file: Pointer, arguments: Pointer, environment: Pointer, _pc: usize) -> c_int {
    executing(|| real::execvpe(file, arguments, environment))
}

unsafe extern "C" fn run_file(fd: c_int, arguments: Pointer, environment: Pointer, _pc: usize) -> c_int {
    executing(|| real::fexecve(fd, arguments, environment))
}

unsafe extern "C" fn run_at(
    at: c_int,
    path: Pointer,
    arguments: Pointer,
    environment: Pointer,
    flags: c_int,
    _pc: usize,
) -> c_int {
    executing(|| real::execveat(at, path, arguments, environment, flags))
}

unsafe extern "C" fn run_listed(path: Pointer, arguments: *mut Pointer, pc: usize) -> c_int {
    run(path, arguments.cast(), pc)
}

unsafe extern "C" fn find_listed(file: Pointer, arguments: *mut Pointer, pc: usize) -> c_int {
    find(file, arguments.cast(), pc)
}

/// The environment stands behind the end of the arguments.
unsafe extern "C" fn run_listed_with(path: Pointer, arguments: *mut Pointer, pc: usize) -> c_int {
    let mut count = 0;
    while !(*arguments.add(count)).is_null() {
        count += 1;
    }
    run_with(path, arguments.cast(), *arguments.add(count + 1), pc)
}
