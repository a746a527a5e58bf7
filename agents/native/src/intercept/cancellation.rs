//! Keeps threads that may be cancelled anywhere from being cancelled inside a hook: what it has locked would stay
//! locked.
//!
//! Such a thread is asynchronous only outside of hooks, and all its hooks take the slow path: [`hold`] when one begins,
//! [`let_go`] when it ends.

use core::ffi::c_int;
use core::ptr;

use super::real;
use crate::machine::{shim2, tls};
use crate::thread;

shim2! {
    pthread_setcanceltype => set_type;
}

const DEFERRED: c_int = 0;
const ASYNCHRONOUS: c_int = 1;

unsafe fn set(kind: c_int) -> c_int {
    let mut before = DEFERRED;
    real::pthread_setcanceltype(kind, &raw mut before);
    before
}

/// A hook of an asynchronous thread begins.
#[cold]
pub(crate) fn hold() {
    // SAFETY: changes how this thread can be cancelled.
    unsafe { set(DEFERRED) };
}

/// A hook of an asynchronous thread is over. If the thread is to be cancelled, that happens here.
#[cold]
pub(super) fn let_go() {
    // SAFETY: the thread holds nothing.
    unsafe { set(ASYNCHRONOUS) };
}

/// A thread ends, and cannot be cancelled any more.
pub(crate) fn end() {
    // SAFETY: the thread's own storage.
    unsafe {
        if (*tls()).asynchronous {
            set(DEFERRED);
            (*tls()).asynchronous = false;
        }
    }
}

unsafe extern "C" fn set_type(kind: c_int, old: *mut c_int, _pc: usize) -> c_int {
    let was = (*tls()).asynchronous;
    if kind != ASYNCHRONOUS && !(was && kind == DEFERRED) {
        return real::pthread_setcanceltype(kind, old);
    }
    let before = set(DEFERRED);
    (*tls()).asynchronous = kind == ASYNCHRONOUS;
    if !old.is_null() {
        ptr::write(old, if was { ASYNCHRONOUS } else { before });
    }
    // The work at the end of hooks is done at the end of this one.
    (*tls()).deferred |= kind == ASYNCHRONOUS;
    thread::reopen();
    if kind == ASYNCHRONOUS {
        set(ASYNCHRONOUS);
    }
    0
}
