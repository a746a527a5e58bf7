//! Interceptors of semaphores.

use core::ffi::{c_int, c_uint};
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use libc::timespec;
use runtime::record::{Class, Kind};

use super::{Pointer, init, real, sync};
use crate::machine::{shim1, shim2, shim3, shim4};

shim1! {
    sem_destroy => destroy;
    sem_close => close;
    sem_wait => wait;
    sem_trywait => try_wait;
    sem_post => post;
}
shim2! {
    sem_timedwait => timed_wait;
}
shim3! {
    sem_init => initialise;
    sem_clockwait => clock_wait;
}
shim4! {
    sem_open => open;
}

unsafe extern "C" fn initialise(semaphore: Pointer, shared: c_int, value: c_uint, pc: usize) -> c_int {
    let result = real::sem_init(semaphore, shared, value);
    if result == 0 {
        init(pc, Class::Semaphore, semaphore, u64::from(value));
    }
    result
}

unsafe extern "C" fn destroy(semaphore: Pointer, pc: usize) -> c_int {
    sync(pc, Kind::Destroy, Class::Semaphore, semaphore);
    real::sem_destroy(semaphore)
}

/// Named semaphores that are open: address and how often. A thread that opens one again gets the same address, which
/// must not be recorded as a new one.
static OPEN: [(AtomicUsize, AtomicUsize); 64] = [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; 64];

unsafe extern "C" fn open(name: *const u8, flags: c_int, mode: c_uint, value: c_uint, pc: usize) -> Pointer {
    let semaphore = real::sem_open(name, flags, mode, value);
    if semaphore.is_null() {
        return semaphore;
    }
    for (address, count) in &OPEN {
        let known = address.load(Acquire) == semaphore as usize
            || address.compare_exchange(0, semaphore as usize, AcqRel, Relaxed).is_ok();
        if known {
            if count.fetch_add(1, AcqRel) == 0 {
                let mut value = 0;
                libc::sem_getvalue(semaphore.cast(), &mut value);
                init(pc, Class::NamedSemaphore, semaphore, value.max(0) as u64);
            }
            break;
        }
    }
    semaphore
}

unsafe extern "C" fn close(semaphore: Pointer, pc: usize) -> c_int {
    for (address, count) in &OPEN {
        if address.load(Acquire) == semaphore as usize {
            if count.fetch_sub(1, AcqRel) == 1 {
                sync(pc, Kind::Destroy, Class::NamedSemaphore, semaphore);
                let _ = address.compare_exchange(semaphore as usize, 0, AcqRel, Relaxed);
            }
            break;
        }
    }
    real::sem_close(semaphore)
}

unsafe extern "C" fn post(semaphore: Pointer, pc: usize) -> c_int {
    sync(pc, Kind::Up, Class::Semaphore, semaphore);
    real::sem_post(semaphore)
}

fn waited(semaphore: Pointer, pc: usize, kind: Kind, result: c_int) -> c_int {
    if result == 0 {
        sync(pc, kind, Class::Semaphore, semaphore);
    }
    result
}

/// Announces a wait if the semaphore cannot be decremented now. Looking costs nothing that the program could notice.
unsafe fn announce(semaphore: Pointer, pc: usize) {
    let mut value = 1;
    // SAFETY: the program passes a semaphore; an invalid one is an error here as in the real function.
    unsafe { libc::sem_getvalue(semaphore.cast(), &mut value) };
    if value <= 0 {
        sync(pc, Kind::Announce, Class::Semaphore, semaphore);
    }
}

unsafe extern "C" fn wait(semaphore: Pointer, pc: usize) -> c_int {
    announce(semaphore, pc);
    waited(semaphore, pc, Kind::DownWaited, real::sem_wait(semaphore))
}

unsafe extern "C" fn try_wait(semaphore: Pointer, pc: usize) -> c_int {
    waited(semaphore, pc, Kind::Down, real::sem_trywait(semaphore))
}

unsafe extern "C" fn timed_wait(semaphore: Pointer, time: *const timespec, pc: usize) -> c_int {
    waited(semaphore, pc, Kind::Down, real::sem_timedwait(semaphore, time))
}

unsafe extern "C" fn clock_wait(semaphore: Pointer, clock: c_int, time: *const timespec, pc: usize) -> c_int {
    waited(semaphore, pc, Kind::Down, real::sem_clockwait(semaphore, clock, time))
}
