//! Threads that wait for long, and say so: who takes memory from one need not interrupt a processor for it.
//!
//! A thread that is parked begins no critical. Its ways into the hooks are closed as if it were not known; so whatever comes while it waits (a signal
//! handler, the unwinder of a cancelled thread, a jump out of either) opens them first, and that takes the mark away.
//!
//! Why it is right: who takes a unit marks it, then looks for the mark of its owner; the owner takes its mark away, then looks whose the unit is. All four
//! are in one order: the marks are set and taken away by exchanges, which on this machine nothing passes. If the first still sees the mark, the owner will see that the unit is taken. And what the owner did before it set
//! the mark is seen by who sees the mark.

use core::ptr;
use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::compiler_fence;

use super::{Thread, hold, leave, phase};
use crate::machine::{Tls, tls};

/// Runs what may wait for long, outside of any hook.
pub fn parked<R>(f: impl FnOnce() -> R) -> R {
    let tls = tls();
    // SAFETY: the thread's own storage.
    unsafe {
        if !(*tls).busy && (*tls).phase == phase::WATCHED {
            park(tls);
        }
        let result = f();
        awake(tls);
        result
    }
}

unsafe fn park(tls: *mut Tls) {
    // SAFETY: the thread's own storage and state; signals wait while it is busy, so that no hook sees half of this.
    unsafe {
        hold(tls);
        (*tls).busy = true;
        compiler_fence(SeqCst);
        let thread = (*tls).thread;
        // A handler may have found the session over just before.
        if !thread.is_null() && (*tls).phase == phase::WATCHED {
            (*tls).accesses = ptr::null_mut();
            (*tls).thread = ptr::null_mut();
            (*tls).parked = thread;
            (*tls).phase = phase::PARKED;
            (*thread).critical.parked.store(true, SeqCst);
        }
        leave(tls);
    }
}

/// The thread's state, whether it was parked or not; null if it has none.
#[inline]
pub(super) unsafe fn awake(tls: *mut Tls) -> *mut Thread {
    // SAFETY: the thread's own storage.
    unsafe {
        if (*tls).phase == phase::PARKED && !(*tls).busy {
            unpark(tls);
        }
        (*tls).thread
    }
}

#[cold]
#[inline(never)]
unsafe fn unpark(tls: *mut Tls) {
    // SAFETY: as in `park`.
    unsafe {
        hold(tls);
        (*tls).busy = true;
        compiler_fence(SeqCst);
        let thread = (*tls).parked;
        (*thread).critical.parked.swap(false, SeqCst);
        (*tls).thread = thread;
        (*tls).phase = phase::WATCHED;
        (*thread).open(tls);
        leave(tls);
    }
}
