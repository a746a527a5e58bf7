//! Interceptors of barriers.

use core::ffi::{c_int, c_uint};

use runtime::record::{BARRIER_IS_SHARED, Class, Kind};

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
        let shared = if is_shared(attr) { BARRIER_IS_SHARED } else { 0 };
        init(pc, Class::Barrier, barrier, u64::from(count) | shared);
    }
    result
}

/// Whether threads of other processes may use the barrier.
unsafe fn is_shared(attr: Pointer) -> bool {
    let mut shared = libc::PTHREAD_PROCESS_PRIVATE;
    attr as usize != 0
        && (libc::pthread_barrierattr_getpshared(attr.cast(), &mut shared) != 0
            || shared != libc::PTHREAD_PROCESS_PRIVATE)
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
