//! Interceptors of barriers.

use core::ffi::{c_int, c_uint};

use runtime::record::{Class, Kind};

use super::{Pointer, init, real, sync};
use crate::machine::{shim1, shim3};
use crate::thread;

shim1! {
    pthread_barrier_destroy => destroy;
    pthread_barrier_wait => wait;
}
shim3! {
    pthread_barrier_init => initialise;
}

unsafe extern "C" fn initialise(barrier: Pointer, attr: Pointer, count: c_uint, pc: usize) -> c_int {
    let result = real::pthread_barrier_init(barrier, attr, count);
    if result == 0 {
        init(pc, Class::Barrier, barrier, u64::from(count));
    }
    result
}

unsafe extern "C" fn destroy(barrier: Pointer, pc: usize) -> c_int {
    sync(pc, Kind::Destroy, Class::Barrier, barrier);
    real::pthread_barrier_destroy(barrier)
}

unsafe extern "C" fn wait(barrier: Pointer, pc: usize) -> c_int {
    sync(pc, Kind::Post, Class::Barrier, barrier);
    sync(pc, Kind::Announce, Class::Barrier, barrier);
    let result = thread::parked(|| real::pthread_barrier_wait(barrier));
    if result == 0 || result == libc::PTHREAD_BARRIER_SERIAL_THREAD {
        sync(pc, Kind::Await, Class::Barrier, barrier);
    }
    result
}
