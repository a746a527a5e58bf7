//! Interceptors of spin locks, which do not know their owner.

use core::ffi::c_int;

use libc::EBUSY;
use runtime::record::{Class, Kind};

use super::{Pointer, about_to_lock, init, is_quiet, real, sync};
use crate::machine::{shim1, shim2};

shim1! {
    pthread_spin_destroy => destroy;
    pthread_spin_lock => lock;
    pthread_spin_trylock => try_lock;
    pthread_spin_unlock => unlock;
}
shim2! {
    pthread_spin_init => initialise;
}

unsafe extern "C" fn initialise(spin: Pointer, shared: c_int, pc: usize) -> c_int {
    let result = real::pthread_spin_init(spin, shared);
    if result == 0 {
        init(pc, Class::Spin, spin, 0);
    }
    result
}

unsafe extern "C" fn destroy(spin: Pointer, pc: usize) -> c_int {
    sync(pc, Kind::Destroy, Class::Spin, spin);
    real::pthread_spin_destroy(spin)
}

unsafe extern "C" fn lock(spin: Pointer, pc: usize) -> c_int {
    if is_quiet() {
        return real::pthread_spin_lock(spin);
    }
    about_to_lock(spin, pc);
    let mut result = real::pthread_spin_trylock(spin);
    if result == EBUSY {
        sync(pc, Kind::Request, Class::Spin, spin);
        result = real::pthread_spin_lock(spin);
    }
    if result == 0 {
        sync(pc, Kind::Acquire, Class::Spin, spin);
    }
    result
}

unsafe extern "C" fn try_lock(spin: Pointer, pc: usize) -> c_int {
    let result = real::pthread_spin_trylock(spin);
    match result {
        0 => sync(pc, Kind::TryAcquire, Class::Spin, spin),
        EBUSY => sync(pc, Kind::TryFail, Class::Spin, spin),
        _ => {}
    }
    result
}

unsafe extern "C" fn unlock(spin: Pointer, pc: usize) -> c_int {
    sync(pc, Kind::Release, Class::Spin, spin);
    real::pthread_spin_unlock(spin)
}
