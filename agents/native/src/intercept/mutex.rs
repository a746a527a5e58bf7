//! Interceptors of mutexes.

use core::ffi::c_int;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use libc::{EBUSY, EDEADLK, EINVAL, EOWNERDEAD, EPERM, ETIMEDOUT, timespec};
use runtime::record::{Class, Kind};

use super::{
    Pointer, about_to_lock, forget_lock, given, init, is_inherited, is_quiet, misuse, real, record, sync, taken,
    thread_id,
};
use crate::machine::{shim1, shim2, shim3};
use crate::{clock_only, session, shadow};

shim1! {
    pthread_mutex_destroy => destroy;
    pthread_mutex_lock => lock;
    __pthread_mutex_lock => lock;
    pthread_mutex_trylock => try_lock;
    __pthread_mutex_trylock => try_lock;
    pthread_mutex_unlock => unlock;
    __pthread_mutex_unlock => unlock;
}
shim2! {
    pthread_mutex_init => initialise;
    pthread_mutex_timedlock => timed_lock;
}
shim3! {
    pthread_mutex_clocklock => clock_lock;
}

/// What glibc keeps in a mutex.
#[repr(C)]
struct Mutex {
    lock: AtomicU32,
    count: AtomicU32,
    owner: AtomicU32,
    users: AtomicU32,
    kind: AtomicU32,
}

const RECURSIVE: u32 = 1;
const ERROR_CHECK: u32 = 2;
/// Locked by a transaction: nothing is written into the mutex then.
const ELIDED: u32 = 256;

impl Mutex {
    unsafe fn of<'a>(mutex: Pointer) -> &'a Mutex {
        &*mutex.cast()
    }

    fn kind(&self) -> u32 {
        self.kind.load(Relaxed) & 3
    }

    fn is_locked(&self) -> bool {
        self.lock.load(Relaxed) & 0x3fff_ffff != 0
    }

    fn is_mine(&self) -> bool {
        thread_id() == Some(self.owner.load(Relaxed))
    }
}

pub(super) unsafe extern "C" fn initialise(mutex: Pointer, attr: Pointer, pc: usize) -> c_int {
    let result = real::pthread_mutex_init(mutex, attr);
    if result == 0 {
        init(pc, Class::Mutex, mutex, u64::from(Mutex::of(mutex).kind()));
    }
    result
}

pub(super) unsafe extern "C" fn destroy(mutex: Pointer, pc: usize) -> c_int {
    if !is_quiet() {
        if Mutex::of(mutex).is_locked() {
            clock_only::make(mutex as usize);
            misuse(pc, Class::Mutex, mutex, "a locked mutex is destroyed");
        } else {
            sync(pc, Kind::Destroy, Class::Mutex, mutex);
        }
        forget_lock(mutex);
    }
    real::pthread_mutex_destroy(mutex)
}

pub(super) unsafe extern "C" fn lock(mutex: Pointer, pc: usize) -> c_int {
    if is_quiet() {
        return real::pthread_mutex_lock(mutex);
    }
    about_to_lock(mutex, pc);
    let mut result = real::pthread_mutex_trylock(mutex);
    if result == EBUSY {
        let of = Mutex::of(mutex);
        let refused = of.kind() == ERROR_CHECK && of.is_mine();
        if !refused {
            sync(pc, Kind::Request, Class::Mutex, mutex);
        }
        result = real::pthread_mutex_lock(mutex);
        if !refused && !is_taken(result) {
            clock_only::make(mutex as usize);
            sync(pc, Kind::TryFail, Class::Mutex, mutex);
        }
    }
    match result {
        0 | EOWNERDEAD => taken(pc, Kind::Acquire, mutex),
        EDEADLK => misuse(pc, Class::Mutex, mutex, "a thread locks a mutex that it holds already"),
        EINVAL => misuse(pc, Class::Mutex, mutex, "what is locked is no mutex, or was destroyed"),
        _ => {}
    }
    result
}

fn is_taken(result: c_int) -> bool {
    // The owner of a robust mutex died, and this thread has acquired it.
    result == 0 || result == EOWNERDEAD
}

/// After a try or timed lock.
fn tried(mutex: Pointer, pc: usize, result: c_int) -> c_int {
    if is_taken(result) {
        taken(pc, Kind::TryAcquire, mutex);
    } else if result == EBUSY || result == ETIMEDOUT {
        sync(pc, Kind::TryFail, Class::Mutex, mutex);
    }
    result
}

pub(super) unsafe extern "C" fn try_lock(mutex: Pointer, pc: usize) -> c_int {
    let before = section(mutex);
    let mut result = real::pthread_mutex_trylock(mutex);
    // A failed try-lock must be recorded while the mutex is held: tries again after its times come from the clock.
    if result == EBUSY && !is_quiet() && clock_only::make(mutex as usize) {
        result = real::pthread_mutex_trylock(mutex);
    }
    if result == EBUSY {
        let of = before.filter(|_| section(mutex) == before);
        record(pc, |thread| {
            if !thread.ignores(Kind::TryFail, mutex as usize) {
                thread.try_failed(mutex as usize, of);
            }
        });
        return result;
    }
    tried(mutex, pc, result)
}

/// The critical section that a mutex is in, if that is known.
fn section(mutex: Pointer) -> Option<u64> {
    if session::is_running() { shadow::hand_off(mutex as usize)?.section() } else { None }
}

/// Makes the times of a mutex come from the clock before a lock with a time limit.
unsafe fn may_not_be_had(mutex: Pointer) {
    if !is_quiet() {
        clock_only::make(mutex as usize);
    }
}

pub(super) unsafe extern "C" fn timed_lock(mutex: Pointer, time: *const timespec, pc: usize) -> c_int {
    may_not_be_had(mutex);
    tried(mutex, pc, real::pthread_mutex_timedlock(mutex, time))
}

unsafe extern "C" fn clock_lock(mutex: Pointer, clock: c_int, time: *const timespec, pc: usize) -> c_int {
    may_not_be_had(mutex);
    tried(mutex, pc, real::pthread_mutex_clocklock(mutex, clock, time))
}

pub(super) unsafe extern "C" fn unlock(mutex: Pointer, pc: usize) -> c_int {
    if is_quiet() {
        return real::pthread_mutex_unlock(mutex);
    }
    let of = Mutex::of(mutex);
    let mut release = true;
    if of.kind.load(Relaxed) & ELIDED == 0 && !of.is_mine() {
        if of.is_locked() && is_inherited(of.owner.load(Relaxed)) {
            // It was acquired unseen.
            taken(pc, Kind::Acquire, mutex);
        } else if !of.is_locked() {
            misuse(pc, Class::Mutex, mutex, "a mutex is unlocked that is not locked");
            release = false;
        } else if of.owner.load(Relaxed) != 0 {
            clock_only::make(mutex as usize);
            misuse(pc, Class::Mutex, mutex, "a mutex is unlocked that another thread holds");
            // These kinds refuse; the others are free afterwards.
            release = !matches!(of.kind(), RECURSIVE | ERROR_CHECK);
        }
    }
    if release {
        given(pc, mutex);
    }
    let result = real::pthread_mutex_unlock(mutex);
    if release && result == EPERM {
        misuse(pc, Class::Mutex, mutex, "a mutex cannot be unlocked by this thread");
    }
    result
}
