//! `__tsan_java_…`, by which virtual machines tell ThreadSanitizer of a heap that they manage, and `__tsan_testonly_…`,
//! which its own tests call.

use core::ffi::c_int;
use core::ptr;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use runtime::record::{Class, Kind};

use super::{Pointer, record, sync};
use crate::machine::{shim1, shim2, shim3, tls};
use crate::{frames, system};

shim1! {
    __tsan_java_mutex_lock => lock;
    __tsan_java_mutex_unlock => unlock;
    __tsan_java_mutex_read_lock => read_lock;
    __tsan_java_mutex_read_unlock => read_unlock;
    __tsan_java_mutex_unlock_rec => unlock_all;
    __tsan_java_acquire => acquire;
    __tsan_java_release => release;
    __tsan_java_release_store => release;
}
shim2! {
    __tsan_java_alloc => allocated;
    __tsan_java_free => freed;
    __tsan_java_mutex_lock_rec => lock_levels;
}
shim3! {
    __tsan_java_move => moved;
}

/// The heap may be anywhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_java_init(_heap: Pointer, _bytes: usize) {}

/// Threads that were leaked are not looked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_java_fini() -> c_int {
    0
}

/// Finalizers are ordered by what the machine announces besides.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_java_finalize() {}

/// Objects are not searched: none is found.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_java_find(_from: *mut Pointer, _to: Pointer) -> Pointer {
    ptr::null_mut()
}

unsafe extern "C" fn allocated(object: Pointer, bytes: usize, pc: usize) {
    record(pc, |thread| thread.alloc(object as usize, bytes));
}

/// The collector knows that nothing refers to it.
unsafe extern "C" fn freed(object: Pointer, bytes: usize, pc: usize) {
    record(pc, |thread| thread.free(object as usize, bytes, true));
}

/// All threads stand still, and the memory has a new address.
unsafe extern "C" fn moved(from: Pointer, to: Pointer, bytes: usize, pc: usize) {
    freed(from, bytes, pc);
    allocated(to, bytes, pc);
}

unsafe extern "C" fn lock(lock: Pointer, pc: usize) {
    sync(pc, Kind::Acquire, Class::Annotated, lock);
}

unsafe extern "C" fn unlock(lock: Pointer, pc: usize) {
    sync(pc, Kind::Release, Class::Annotated, lock);
}

unsafe extern "C" fn read_lock(lock: Pointer, pc: usize) {
    sync(pc, Kind::ReadAcquire, Class::Annotated, lock);
}

unsafe extern "C" fn read_unlock(lock: Pointer, pc: usize) {
    sync(pc, Kind::ReadRelease, Class::Annotated, lock);
}

/// The levels count for the machine alone: a lock that is given up as a whole is acquired as a whole.
unsafe extern "C" fn lock_levels(lock: Pointer, _levels: c_int, pc: usize) {
    sync(pc, Kind::Acquire, Class::Annotated, lock);
}

unsafe extern "C" fn unlock_all(lock: Pointer, pc: usize) -> c_int {
    sync(pc, Kind::Release, Class::Annotated, lock);
    1
}

unsafe extern "C" fn acquire(object: Pointer, pc: usize) {
    sync(pc, Kind::Await, Class::Annotated, object);
}

unsafe extern "C" fn release(object: Pointer, pc: usize) {
    sync(pc, Kind::Post, Class::Annotated, object);
}

/// A barrier that orders nothing for an analysis: how many threads there are, and how many have come.
#[repr(C)]
pub struct Barrier {
    count: AtomicU32,
    come: AtomicU32,
}

/// Makes one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_testonly_barrier_init(barrier: *mut Barrier, count: u32) {
    (*barrier).count.store(count, Release);
    (*barrier).come.store(0, Release);
}

/// Waits until as many threads have come.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_testonly_barrier_wait(barrier: *mut Barrier) {
    let Barrier { count, come } = &*barrier;
    let threads = count.load(Acquire).max(1);
    let round = come.fetch_add(1, AcqRel) / threads;
    loop {
        let now = come.load(Acquire);
        if now / threads != round {
            return system::futex_wake(come);
        }
        system::futex_wait(come, now, 100);
    }
}

/// The calls of this thread that are under way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_testonly_shadow_stack_current_size() -> usize {
    let thread = (*tls()).thread;
    if thread.is_null() { 0 } else { frames::Frames::calls(&mut (*thread).frames, tls()).len() }
}
