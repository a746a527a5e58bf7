//! Interceptors of C11 threads, mutexes and conditions. In glibc they are those of POSIX with other results, and call
//! them by names that cannot be intercepted.

use core::ffi::c_int;

use libc::{EBUSY, ENOMEM, ETIMEDOUT, timespec};
use runtime::record::Class;

use super::{Pointer, condition, init, mutex, once, real, threads};
use crate::machine::{shim1, shim2, shim3};

shim1! {
    mtx_lock => mutex_lock;
    mtx_trylock => mutex_try_lock;
    mtx_unlock => mutex_unlock;
    mtx_destroy => mutex_destroy;
    cnd_init => condition_init;
    cnd_destroy => condition_destroy;
    cnd_signal => condition_signal;
    cnd_broadcast => condition_broadcast;
    thrd_detach => thread_detach;
}
shim2! {
    mtx_init => mutex_init;
    mtx_timedlock => mutex_timed_lock;
    cnd_wait => condition_wait;
    thrd_join => thread_join;
    call_once => call_once_body;
}
shim3! {
    cnd_timedwait => condition_timed_wait;
    thrd_create => threads::create_c11;
}

/// `thrd_success` and the others.
fn result(error: c_int) -> c_int {
    match error {
        0 => 0,
        EBUSY => 1,
        ENOMEM => 3,
        ETIMEDOUT => 4,
        _ => 2,
    }
}

unsafe extern "C" fn mutex_init(mutex: Pointer, kind: c_int, pc: usize) -> c_int {
    /// `mtx_recursive`.
    const RECURSIVE: c_int = 1;
    let result = real::mtx_init(mutex, kind);
    if result == 0 {
        init(pc, Class::Mutex, mutex, (kind & RECURSIVE) as u64);
    }
    result
}

unsafe extern "C" fn mutex_destroy(mutex: Pointer, pc: usize) {
    mutex::destroy(mutex, pc);
}

unsafe extern "C" fn mutex_lock(mutex: Pointer, pc: usize) -> c_int {
    result(mutex::lock(mutex, pc))
}

unsafe extern "C" fn mutex_try_lock(mutex: Pointer, pc: usize) -> c_int {
    result(mutex::try_lock(mutex, pc))
}

unsafe extern "C" fn mutex_timed_lock(mutex: Pointer, time: *const timespec, pc: usize) -> c_int {
    result(mutex::timed_lock(mutex, time, pc))
}

unsafe extern "C" fn mutex_unlock(mutex: Pointer, pc: usize) -> c_int {
    result(mutex::unlock(mutex, pc))
}

unsafe extern "C" fn condition_init(condition: Pointer, pc: usize) -> c_int {
    let result = real::cnd_init(condition);
    if result == 0 {
        init(pc, Class::Condition, condition, 0);
    }
    result
}

unsafe extern "C" fn condition_destroy(condition: Pointer, pc: usize) {
    condition::destroy(condition, pc);
}

unsafe extern "C" fn condition_signal(condition: Pointer, pc: usize) -> c_int {
    result(condition::signal(condition, pc))
}

unsafe extern "C" fn condition_broadcast(condition: Pointer, pc: usize) -> c_int {
    result(condition::broadcast(condition, pc))
}

unsafe extern "C" fn condition_wait(condition: Pointer, mutex: Pointer, pc: usize) -> c_int {
    result(condition::wait(condition, mutex, pc))
}

unsafe extern "C" fn condition_timed_wait(
    condition: Pointer,
    mutex: Pointer,
    time: *const timespec,
    pc: usize,
) -> c_int {
    result(condition::timed_wait(condition, mutex, time, pc))
}

unsafe extern "C" fn thread_join(thread: libc::pthread_t, value: Pointer, pc: usize) -> c_int {
    threads::waiting_for(thread, pc, || real::thrd_join(thread, value))
}

unsafe extern "C" fn thread_detach(thread: libc::pthread_t, pc: usize) -> c_int {
    threads::detaching(thread, pc, || real::thrd_detach(thread))
}

unsafe extern "C" fn call_once_body(control: Pointer, routine: unsafe extern "C" fn(), pc: usize) {
    once::once(control, routine, pc);
}
