//! Annotations of a program's own synchronisation: `__tsan_acquire` and its kin, and the older `Annotate…` functions.

use core::ffi::{c_int, c_uint};

use runtime::record::{Class, Kind, TextFor};

use super::{Pointer, length, record, sync, threads};
use crate::machine::{shim1, shim2, shim3, shim4, shim5};
use crate::path::Path;
use crate::thread;

shim1! {
    __tsan_acquire => acquire;
    __tsan_release => release;
}
shim2! {
    __tsan_mutex_create => mutex_create;
    __tsan_mutex_destroy => mutex_destroy;
    __tsan_mutex_pre_lock => mutex_pre_lock;
    __tsan_mutex_pre_unlock => mutex_pre_unlock;
    __tsan_mutex_post_unlock => mutex_end;
    __tsan_mutex_pre_signal => mutex_begin;
    __tsan_mutex_post_signal => mutex_end;
    __tsan_mutex_pre_divert => mutex_end;
    __tsan_mutex_post_divert => mutex_begin;
    AnnotateIgnoreReadsBegin => annotate_ignore_begin;
    AnnotateIgnoreReadsEnd => annotate_ignore_end;
    AnnotateIgnoreWritesBegin => annotate_ignore_begin;
    AnnotateIgnoreWritesEnd => annotate_ignore_end;
    AnnotateIgnoreSyncBegin => annotate_ignore_sync_begin;
    AnnotateIgnoreSyncEnd => annotate_ignore_sync_end;
}
shim3! {
    __tsan_mutex_post_lock => mutex_post_lock;
    AnnotateHappensBefore => before;
    AnnotateHappensAfter => after;
    WTFAnnotateHappensBefore => before;
    WTFAnnotateHappensAfter => after;
    AnnotateRWLockCreate => lock_create;
    AnnotateRWLockCreateStatic => lock_create;
    AnnotateRWLockDestroy => lock_destroy;
    AnnotateThreadName => thread_name;
}
shim4! {
    AnnotateRWLockAcquired => lock_acquired;
    AnnotateRWLockReleased => lock_released;
    AnnotateBenignRace => benign;
    AnnotateNewMemory => new_memory;
}
shim5! {
    AnnotateBenignRaceSized => benign_sized;
    WTFAnnotateBenignRaceSized => benign_sized;
}

/// Bits of the flags of `__tsan_mutex_…`.
mod flag {
    use core::ffi::c_uint;

    pub(super) const READ: c_uint = 1 << 3;
    pub(super) const TRY: c_uint = 1 << 4;
    pub(super) const FAILED: c_uint = 1 << 5;
    pub(super) const RECURSIVE: c_uint = 1 << 6;
}

unsafe extern "C" fn annotate_ignore_begin(_file: Pointer, _line: c_int, _pc: usize) {
    thread::ignore(1);
}

unsafe extern "C" fn annotate_ignore_end(_file: Pointer, _line: c_int, _pc: usize) {
    thread::ignore(-1);
}

unsafe extern "C" fn annotate_ignore_sync_begin(_file: Pointer, _line: c_int, _pc: usize) {
    thread::ignore_sync(1);
}

unsafe extern "C" fn annotate_ignore_sync_end(_file: Pointer, _line: c_int, _pc: usize) {
    thread::ignore_sync(-1);
}

unsafe extern "C" fn acquire(object: Pointer, pc: usize) {
    sync(pc, Kind::Await, Class::Annotated, object);
}

unsafe extern "C" fn release(object: Pointer, pc: usize) {
    sync(pc, Kind::Post, Class::Annotated, object);
}

unsafe extern "C" fn mutex_create(mutex: Pointer, _flags: c_uint, pc: usize) {
    super::init(pc, Class::Annotated, mutex, 0);
}

unsafe extern "C" fn mutex_destroy(mutex: Pointer, _flags: c_uint, pc: usize) {
    sync(pc, Kind::Destroy, Class::Annotated, mutex);
}

/// What follows is the implementation of the mutex: its accesses and its own synchronisation.
unsafe extern "C" fn mutex_begin(_mutex: Pointer, _flags: c_uint, _pc: usize) {
    thread::ignore_sync(1);
    thread::ignore(1);
}

unsafe extern "C" fn mutex_end(_mutex: Pointer, _flags: c_uint, _pc: usize) {
    thread::ignore(-1);
    thread::ignore_sync(-1);
}

unsafe extern "C" fn mutex_pre_lock(mutex: Pointer, flags: c_uint, pc: usize) {
    if flags & flag::TRY == 0 {
        sync(pc, Kind::Request, Class::Annotated, mutex);
    }
    mutex_begin(mutex, flags, pc);
}

unsafe extern "C" fn mutex_post_lock(mutex: Pointer, flags: c_uint, recursion: c_int, pc: usize) {
    mutex_end(mutex, flags, pc);
    let kind = if flags & flag::FAILED != 0 {
        Kind::TryFail
    } else if flags & flag::READ != 0 {
        Kind::ReadAcquire
    } else if flags & flag::TRY != 0 {
        Kind::TryAcquire
    } else {
        Kind::Acquire
    };
    let levels = if flags & flag::RECURSIVE != 0 { recursion.clamp(1, 1 << 10) } else { 1 };
    for _ in 0..levels {
        sync(pc, kind, Class::Annotated, mutex);
    }
}

unsafe extern "C" fn mutex_pre_unlock(mutex: Pointer, flags: c_uint, pc: usize) -> c_int {
    let kind = if flags & flag::READ != 0 { Kind::ReadRelease } else { Kind::Release };
    sync(pc, kind, Class::Annotated, mutex);
    mutex_begin(mutex, flags, pc);
    1
}

unsafe extern "C" fn before(_file: Pointer, _line: c_int, object: Pointer, pc: usize) {
    sync(pc, Kind::Post, Class::Annotated, object);
}

unsafe extern "C" fn after(_file: Pointer, _line: c_int, object: Pointer, pc: usize) {
    sync(pc, Kind::Await, Class::Annotated, object);
}

unsafe extern "C" fn lock_create(_file: Pointer, _line: c_int, lock: Pointer, pc: usize) {
    super::init(pc, Class::Annotated, lock, 0);
}

unsafe extern "C" fn lock_destroy(_file: Pointer, _line: c_int, lock: Pointer, pc: usize) {
    sync(pc, Kind::Destroy, Class::Annotated, lock);
}

unsafe extern "C" fn lock_acquired(_file: Pointer, _line: c_int, lock: Pointer, writes: usize, pc: usize) {
    let kind = if writes as c_int != 0 { Kind::Acquire } else { Kind::ReadAcquire };
    sync(pc, kind, Class::Annotated, lock);
}

unsafe extern "C" fn lock_released(_file: Pointer, _line: c_int, lock: Pointer, writes: usize, pc: usize) {
    let kind = if writes as c_int != 0 { Kind::Release } else { Kind::ReadRelease };
    sync(pc, kind, Class::Annotated, lock);
}

unsafe extern "C" fn thread_name(_file: Pointer, _line: c_int, name: *const u8, pc: usize) {
    threads::named(name, pc);
}

unsafe extern "C" fn new_memory(_file: Pointer, _line: c_int, memory: Pointer, bytes: usize, pc: usize) {
    record(pc, |thread| thread.alloc(memory as usize, bytes));
}

unsafe extern "C" fn benign(file: Pointer, line: c_int, memory: Pointer, why: *const u8, pc: usize) {
    benign_sized(file, line, memory, 1, why, pc);
}

unsafe extern "C" fn benign_sized(
    _file: Pointer,
    _line: c_int,
    memory: Pointer,
    bytes: usize,
    why: *const u8,
    pc: usize,
) {
    let mut text = Path::new();
    text.number(bytes.min(u32::MAX as usize) as u32).push(b" ");
    if !why.is_null() {
        text.push(core::slice::from_raw_parts(why, length(why)));
    }
    let text = text.bytes();
    record(pc, |thread| thread.text(TextFor::Benign, &text[..text.len() - 1], Some(memory as u64)));
}
