//! `mlockall`, which would make all of the shadow resident that there is address space for.

use core::ffi::c_int;

/// Nothing is locked: that changes when a program has its pages, never what it does.
#[unsafe(no_mangle)]
pub extern "C" fn mlockall(_flags: c_int) -> c_int {
    0
}
