//! Interceptors of read-write locks.

use core::ffi::c_int;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use libc::{EBUSY, EDEADLK, ETIMEDOUT, timespec};
use runtime::record::{Class, Kind};

use super::{Pointer, about_to_lock, init, is_inherited, is_quiet, misuse, real, sync, thread_id};
use crate::machine::{shim1, shim2, shim3};

shim1! {
    pthread_rwlock_destroy => destroy;
    pthread_rwlock_rdlock => read_lock;
    __pthread_rwlock_rdlock => read_lock;
    pthread_rwlock_tryrdlock => try_read_lock;
    __pthread_rwlock_tryrdlock => try_read_lock;
    pthread_rwlock_wrlock => write_lock;
    __pthread_rwlock_wrlock => write_lock;
    pthread_rwlock_trywrlock => try_write_lock;
    __pthread_rwlock_trywrlock => try_write_lock;
    pthread_rwlock_unlock => unlock;
    __pthread_rwlock_unlock => unlock;
}
shim2! {
    pthread_rwlock_init => initialise;
    pthread_rwlock_timedrdlock => timed_read_lock;
    pthread_rwlock_timedwrlock => timed_write_lock;
}
shim3! {
    pthread_rwlock_clockrdlock => clock_read_lock;
    pthread_rwlock_clockwrlock => clock_write_lock;
}

/// What glibc keeps in a read-write lock.
#[repr(C)]
struct RwLock {
    /// How many readers there are, above three bits of state.
    readers: AtomicU32,
    others: [AtomicU32; 5],
    writer: AtomicU32,
}

impl RwLock {
    unsafe fn of<'a>(lock: Pointer) -> &'a RwLock {
        &*lock.cast()
    }

    fn is_locked(&self) -> bool {
        self.readers.load(Relaxed) >> 3 != 0 || self.writer.load(Relaxed) != 0
    }
}

unsafe extern "C" fn initialise(lock: Pointer, attr: Pointer, pc: usize) -> c_int {
    let result = real::pthread_rwlock_init(lock, attr);
    if result == 0 {
        init(pc, Class::RwLock, lock, 0);
    }
    result
}

unsafe extern "C" fn destroy(lock: Pointer, pc: usize) -> c_int {
    if !is_quiet() {
        if RwLock::of(lock).is_locked() {
            misuse(pc, Class::RwLock, lock, "a locked read-write lock is destroyed");
        } else {
            sync(pc, Kind::Destroy, Class::RwLock, lock);
        }
    }
    real::pthread_rwlock_destroy(lock)
}

/// Locks by `lock`, after `try_lock` has found whether that blocks.
unsafe fn block(
    lock: Pointer,
    pc: usize,
    kind: Kind,
    try_lock: unsafe fn(Pointer) -> c_int,
    real: unsafe fn(Pointer) -> c_int,
) -> c_int {
    if is_quiet() {
        return real(lock);
    }
    about_to_lock(lock, pc);
    let mut result = try_lock(lock);
    if result == EBUSY {
        let own = thread_id() == Some(RwLock::of(lock).writer.load(Relaxed));
        if !own {
            sync(pc, Kind::Request, Class::RwLock, lock);
        }
        result = real(lock);
        if result != 0 && !own {
            sync(pc, Kind::TryFail, Class::RwLock, lock);
        }
    }
    match result {
        0 => sync(pc, kind, Class::RwLock, lock),
        EDEADLK => misuse(pc, Class::RwLock, lock, "a thread locks a read-write lock that it holds for writing"),
        _ => {}
    }
    result
}

/// After a try or timed lock.
fn tried(lock: Pointer, pc: usize, kind: Kind, result: c_int) -> c_int {
    match result {
        0 => sync(pc, kind, Class::RwLock, lock),
        EBUSY | ETIMEDOUT => sync(pc, Kind::TryFail, Class::RwLock, lock),
        _ => {}
    }
    result
}

unsafe extern "C" fn read_lock(lock: Pointer, pc: usize) -> c_int {
    block(lock, pc, Kind::ReadAcquire, real::pthread_rwlock_tryrdlock, real::pthread_rwlock_rdlock)
}

unsafe extern "C" fn write_lock(lock: Pointer, pc: usize) -> c_int {
    block(lock, pc, Kind::Acquire, real::pthread_rwlock_trywrlock, real::pthread_rwlock_wrlock)
}

unsafe extern "C" fn try_read_lock(lock: Pointer, pc: usize) -> c_int {
    tried(lock, pc, Kind::ReadAcquire, real::pthread_rwlock_tryrdlock(lock))
}

unsafe extern "C" fn try_write_lock(lock: Pointer, pc: usize) -> c_int {
    tried(lock, pc, Kind::TryAcquire, real::pthread_rwlock_trywrlock(lock))
}

unsafe extern "C" fn timed_read_lock(lock: Pointer, time: *const timespec, pc: usize) -> c_int {
    tried(lock, pc, Kind::ReadAcquire, real::pthread_rwlock_timedrdlock(lock, time))
}

unsafe extern "C" fn timed_write_lock(lock: Pointer, time: *const timespec, pc: usize) -> c_int {
    tried(lock, pc, Kind::TryAcquire, real::pthread_rwlock_timedwrlock(lock, time))
}

unsafe extern "C" fn clock_read_lock(lock: Pointer, clock: c_int, time: *const timespec, pc: usize) -> c_int {
    tried(lock, pc, Kind::ReadAcquire, real::pthread_rwlock_clockrdlock(lock, clock, time))
}

unsafe extern "C" fn clock_write_lock(lock: Pointer, clock: c_int, time: *const timespec, pc: usize) -> c_int {
    tried(lock, pc, Kind::TryAcquire, real::pthread_rwlock_clockwrlock(lock, clock, time))
}

unsafe extern "C" fn unlock(lock: Pointer, pc: usize) -> c_int {
    if !is_quiet() {
        let of = RwLock::of(lock);
        if thread_id() == Some(of.writer.load(Relaxed)) {
            sync(pc, Kind::Release, Class::RwLock, lock);
        } else if is_inherited(of.writer.load(Relaxed)) {
            // It was acquired unseen.
            sync(pc, Kind::Acquire, Class::RwLock, lock);
            sync(pc, Kind::Release, Class::RwLock, lock);
        } else if !of.is_locked() {
            misuse(pc, Class::RwLock, lock, "a read-write lock is unlocked that is not locked");
        } else if of.readers.load(Relaxed) >> 3 == 0 {
            misuse(pc, Class::RwLock, lock, "a read-write lock is unlocked that another thread holds for writing");
        } else {
            sync(pc, Kind::ReadRelease, Class::RwLock, lock);
        }
    }
    real::pthread_rwlock_unlock(lock)
}
