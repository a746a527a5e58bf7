//! Keeps the address space that is reserved for the shadow out of what a program says of all its memory: `mlockall`
//! would make it resident, and limits of the address space would be reached at once.

use core::ffi::c_int;
use core::ptr;

use libc::{RLIM_INFINITY, RLIMIT_AS, pid_t, rlim_t, rlimit};

use super::real;
use crate::{read_summaries, session};

/// Locks nothing if the program is watched: that changes when it gets its pages, never what it does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlockall(flags: c_int) -> c_int {
    if session::is_running() { 0 } else { real::mlockall(flags) }
}

/// The program's limits, without the reserved address space.
unsafe fn limit(process: pid_t, resource: c_int, new: *const rlimit, old: *mut rlimit) -> c_int {
    let is_own = process == 0 || process == libc::getpid();
    let reserved = read_summaries::reserved() as rlim_t;
    if resource != RLIMIT_AS as c_int || !is_own || reserved == 0 {
        return real::prlimit(process, resource, new, old);
    }
    let change = |limit: rlimit, by: fn(rlim_t, rlim_t) -> rlim_t| {
        let changed = |value| if value == RLIM_INFINITY { value } else { by(value, reserved) };
        rlimit { rlim_cur: changed(limit.rlim_cur), rlim_max: changed(limit.rlim_max) }
    };
    let raised = new.as_ref().map(|&new| change(new, rlim_t::saturating_add));
    let result = real::prlimit(process, resource, raised.as_ref().map_or(ptr::null(), ptr::from_ref), old);
    if result == 0
        && let Some(old) = old.as_mut()
    {
        *old = change(*old, rlim_t::saturating_sub);
    }
    result
}

macro_rules! limits {
    ($($set:ident $get:ident $both:ident;)*) => { $(
        /// Sets a limit.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(resource: c_int, new: *const rlimit) -> c_int {
            limit(0, resource, new, ptr::null_mut())
        }

        /// Says what it is.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(resource: c_int, old: *mut rlimit) -> c_int {
            limit(0, resource, ptr::null(), old)
        }

        /// Both, of any process.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $both(process: pid_t, resource: c_int, new: *const rlimit, old: *mut rlimit) -> c_int {
            limit(process, resource, new, old)
        }
    )* };
}
limits! {
    setrlimit getrlimit prlimit;
    setrlimit64 getrlimit64 prlimit64;
}
