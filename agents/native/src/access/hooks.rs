//! The functions that compilers call, by their names: accesses of each size, ranges, pointers to virtual functions.

use super::{access_range, hook};
use crate::machine::{self, shim1, shim2, shim3};
use crate::thread;

macro_rules! hooks {
    ($($size:literal, $read:literal, $write:literal: $body:ident, $($name:ident)*;)*) => { $(
        unsafe extern "C" fn $body(addr: usize, pc: usize) {
            // SAFETY: the address is only looked up.
            unsafe { hook::<$size, $read, $write>(addr, pc) };
        }
        shim1! { $($name => $body;)* }
    )* };
}
hooks! {
    16, true, false: read16,
        __tsan_read16 __tsan_volatile_read16
        __tsan_unaligned_read16 __tsan_unaligned_volatile_read16;
    1, false, true: write1,
        __tsan_write1 __tsan_volatile_write1
        __tsan_unaligned_write1 __tsan_unaligned_volatile_write1;
    2, false, true: write2,
        __tsan_write2 __tsan_volatile_write2
        __tsan_unaligned_write2 __tsan_unaligned_volatile_write2;
    4, false, true: write4,
        __tsan_write4 __tsan_volatile_write4
        __tsan_unaligned_write4 __tsan_unaligned_volatile_write4;
    8, false, true: write8,
        __tsan_write8 __tsan_volatile_write8
        __tsan_unaligned_write8 __tsan_unaligned_volatile_write8;
    16, false, true: write16,
        __tsan_write16 __tsan_volatile_write16 __tsan_unaligned_write16 __tsan_unaligned_volatile_write16;
    1, true, true: read_write1, __tsan_read_write1 __tsan_unaligned_read_write1;
    2, true, true: read_write2, __tsan_read_write2 __tsan_unaligned_read_write2;
    4, true, true: read_write4, __tsan_read_write4 __tsan_unaligned_read_write4;
    8, true, true: read_write8, __tsan_read_write8 __tsan_unaligned_read_write8;
    16, true, true: read_write16, __tsan_read_write16 __tsan_unaligned_read_write16;
}

macro_rules! hooks_with_pc {
    ($($size:literal, $read:literal, $write:literal: $($name:ident)*;)*) => { $($(
        /// As the hook without `_pc`; the caller says which instruction accesses the memory.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(addr: usize, pc: usize) {
            // SAFETY: the address is only looked up.
            unsafe { hook::<$size, $read, $write>(addr, pc) };
        }
    )*)* };
}
hooks_with_pc! {
    1, true, false: __tsan_read1_pc;
    2, true, false: __tsan_read2_pc;
    4, true, false: __tsan_read4_pc;
    8, true, false: __tsan_read8_pc;
    16, true, false: __tsan_read16_pc;
    1, false, true: __tsan_write1_pc;
    2, false, true: __tsan_write2_pc;
    4, false, true: __tsan_write4_pc;
    8, false, true: __tsan_write8_pc;
    16, false, true: __tsan_write16_pc;
}

/// A constructor or destructor sets the pointer to the table of virtual functions. Setting it to the same value is no
/// write: destructors of final classes do that all the time.
unsafe extern "C" fn vptr_update(at: *const usize, new: usize, pc: usize) {
    // SAFETY: the program writes there next.
    if unsafe { at.read_volatile() } != new {
        access_range(at as usize, 8, false, true, pc);
    }
}

unsafe extern "C" fn read_range(addr: usize, size: usize, pc: usize) {
    access_range(addr, size, true, false, pc);
}

unsafe extern "C" fn write_range(addr: usize, size: usize, pc: usize) {
    access_range(addr, size, false, true, pc);
}

unsafe extern "C" fn copy_range(to: *mut u8, from: *const u8, size: usize, pc: usize) -> *mut u8 {
    access_range(from as usize, size, true, false, pc);
    access_range(to as usize, size, false, true, pc);
    // SAFETY: what the program asked for, of memory that may overlap.
    unsafe { machine::copy_either_way(to, from, size) };
    to
}

unsafe extern "C" fn set_range(to: *mut u8, value: i32, size: usize, pc: usize) -> *mut u8 {
    access_range(to as usize, size, false, true, pc);
    // SAFETY: what the program asked for.
    unsafe { machine::fill(to, value as u8, size) };
    to
}

shim2! {
    __tsan_vptr_update => vptr_update;
    __tsan_read_range => read_range;
    __tsan_write_range => write_range;
}
shim3! {
    __tsan_memcpy => copy_range;
    __tsan_memmove => copy_range;
    __tsan_memset => set_range;
}

/// As the hook without `_pc`; the caller says which instruction accesses the memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_read_range_pc(addr: usize, size: usize, pc: usize) {
    access_range(addr, size, true, false, pc);
}

/// As the hook without `_pc`; the caller says which instruction accesses the memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_write_range_pc(addr: usize, size: usize, pc: usize) {
    access_range(addr, size, false, true, pc);
}

/// Accesses of this thread are ignored from now on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_ignore_thread_begin() {
    thread::ignore(1);
}

/// Accesses of this thread are recorded again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_ignore_thread_end() {
    thread::ignore(-1);
}

/// Every instrumented module calls this before anything else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_init() {
    thread::attach_first();
    crate::session::has_hooks();
    thread::enter(0, |thread| thread.ring.renew());
    crate::intercept::module_begins();
}
