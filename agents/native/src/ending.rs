//! Notices the end of a thread, however it comes: return, `pthread_exit`, cancellation.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{AcqRel, Acquire};

use runtime::record::{Class, Kind};

use crate::events::{Hand, Sync};
use crate::robust;
use crate::thread::{self, Thread};

/// The key whose destructor ends threads, + 1.
static KEY: AtomicU32 = AtomicU32::new(0);

/// Arms the key whose destructor ends the thread.
pub fn arm(thread: *mut Thread) {
    let mut key = KEY.load(Acquire);
    // SAFETY: plain calls of the C library; two threads that both make a key leave one of them unused.
    unsafe {
        if key == 0 {
            let mut new = 0;
            if libc::pthread_key_create(&mut new, Some(destroy)) != 0 {
                return;
            }
            key = match KEY.compare_exchange(0, new + 1, AcqRel, Acquire) {
                Ok(_) => new + 1,
                Err(now) => now,
            };
        }
        libc::pthread_setspecific(key - 1, thread.cast());
    }
}

/// Re-arms itself until the last round, so that other destructors are still watched.
unsafe extern "C" fn destroy(thread: *mut libc::c_void) {
    const ROUNDS: u32 = 4;
    // SAFETY: the value set by `arm`, of this very thread.
    unsafe {
        let state = thread.cast::<Thread>();
        (*state).rounds += 1;
        if (*state).rounds < ROUNDS {
            libc::pthread_setspecific(KEY.load(Acquire) - 1, thread);
            return;
        }
    }
    thread::enter(0, |thread| {
        robust::each_held(|object| {
            thread.sync_by(Sync { kind: Kind::Release, class: Class::Mutex, object, hand: Hand::Released });
        });
    });
    thread::end_thread();
}
