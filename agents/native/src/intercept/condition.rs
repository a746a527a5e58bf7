//! Interceptors of condition variables.

use core::ffi::c_int;
use core::mem::MaybeUninit;

use libc::{ETIMEDOUT, timespec};
use runtime::gates::operation;
use runtime::record::{Class, Kind};

use super::entry::scratch;
use super::{Pointer, about_to, forget_lock, init, is_quiet, note_lock, notified, real, record, sync};
use crate::machine::{shim1, shim2, shim3, shim4};

shim1! {
    pthread_cond_destroy => destroy;
    pthread_cond_signal => signal;
    pthread_cond_broadcast => broadcast;
}
shim2! {
    pthread_cond_init => initialise;
    pthread_cond_wait => wait;
}
shim3! {
    pthread_cond_timedwait => timed_wait;
}
shim4! {
    pthread_cond_clockwait => clock_wait;
}

const NOTIFIED: u64 = 0;
const TIMEOUT: u64 = 1;
const SPURIOUS: u64 = 2;

unsafe extern "C" fn initialise(condition: Pointer, attr: Pointer, pc: usize) -> c_int {
    let result = real::pthread_cond_init(condition, attr);
    if result == 0 {
        init(pc, Class::Condition, condition, 0);
    }
    result
}

pub(super) unsafe extern "C" fn destroy(condition: Pointer, pc: usize) -> c_int {
    sync(pc, Kind::Destroy, Class::Condition, condition);
    forget_lock(condition);
    real::pthread_cond_destroy(condition)
}

pub(super) unsafe extern "C" fn signal(condition: Pointer, pc: usize) -> c_int {
    about_to(operation::NOTIFY, condition, pc);
    notified(pc, Kind::Notify, condition);
    real::pthread_cond_signal(condition)
}

pub(super) unsafe extern "C" fn broadcast(condition: Pointer, pc: usize) -> c_int {
    about_to(operation::NOTIFY, condition, pc);
    notified(pc, Kind::NotifyAll, condition);
    real::pthread_cond_broadcast(condition)
}

/// A wait under way.
struct Waiting {
    condition: Pointer,
    mutex: Pointer,
    pc: usize,
}

impl Waiting {
    fn woken(&self, reason: u64) {
        // SAFETY: the thread's own storage.
        unsafe { (*scratch()).waiting = false };
        note_lock(Kind::Acquire, self.mutex);
        record(self.pc, |thread| {
            let word = self.mutex as u64 | reason << 48;
            thread.woken(self.condition as usize, self.mutex as usize, word);
        });
    }
}

/// The thread was cancelled in its wait: it holds the mutex when its own handlers run.
unsafe extern "C" fn cancelled(waiting: Pointer) {
    (*waiting.cast::<Waiting>()).woken(SPURIOUS);
}

/// Waits by calling `real`.
unsafe fn waiting(condition: Pointer, mutex: Pointer, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    if is_quiet() {
        return real();
    }
    about_to(operation::WAIT, condition, pc);
    let waiting = Waiting { condition, mutex, pc };
    record(pc, |thread| thread.waits(condition as usize, mutex as usize));
    // `struct _pthread_cleanup_buffer`: four words.
    let mut buffer = MaybeUninit::<[usize; 4]>::uninit();
    let buffer = buffer.as_mut_ptr().cast();
    real::_pthread_cleanup_push(buffer, cancelled, (&raw const waiting).cast_mut().cast());
    (*scratch()).waiting = true;
    // A thread that waits holds the mutex no more.
    note_lock(Kind::Release, mutex);
    let result = real();
    real::_pthread_cleanup_pop(buffer, 0);
    waiting.woken(match result {
        0 => NOTIFIED,
        ETIMEDOUT => TIMEOUT,
        _ => SPURIOUS,
    });
    result
}

pub(super) unsafe extern "C" fn wait(condition: Pointer, mutex: Pointer, pc: usize) -> c_int {
    waiting(condition, mutex, pc, || real::pthread_cond_wait(condition, mutex))
}

pub(super) unsafe extern "C" fn timed_wait(
    condition: Pointer,
    mutex: Pointer,
    time: *const timespec,
    pc: usize,
) -> c_int {
    waiting(condition, mutex, pc, || real::pthread_cond_timedwait(condition, mutex, time))
}

unsafe extern "C" fn clock_wait(
    condition: Pointer,
    mutex: Pointer,
    clock: c_int,
    time: *const timespec,
    pc: usize,
) -> c_int {
    waiting(condition, mutex, pc, || real::pthread_cond_clockwait(condition, mutex, clock, time))
}
