//! Parked threads: they wait for long, and say so, so that a revoker of their memory need not interrupt a processor.
//!
//! A parked thread enters no critical region. Its hooks are closed as if the thread were not known. So whatever runs
//! while it waits (a signal handler, the unwinder of a cancelled thread, a jump out of either) opens them first, and
//! that clears the mark.
//!
//! Dekker's argument: the revoker sets `owner`, then reads `parked`; the owner clears `parked`, then reads `owner`. All
//! four are sequentially consistent (the marks are exchanges, which nothing passes on this machine), so one of them
//! sees the other. If the revoker still sees `parked`, the owner will see that the region is being revoked; and what
//! the owner did before it set `parked` is visible to the revoker.

use core::ptr;
use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::compiler_fence;

use super::{Thread, hold, leave, phase};
use crate::machine::{Tls, tls};

/// Runs something that may wait for long, outside of any hook.
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
        // A signal handler may have ended the session just before.
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
