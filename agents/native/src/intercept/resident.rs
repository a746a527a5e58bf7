//! `mlockall`, which would make all of the shadow resident that there is address space for.

use core::ffi::c_int;

use super::real;
use crate::session;

/// Nothing is locked if the program is watched: that changes when it has its pages, never what it does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlockall(flags: c_int) -> c_int {
    if session::is_running() { 0 } else { real::mlockall(flags) }
}
