//! Libraries that are loaded and unloaded while the program runs: the memory map is copied again.

use core::ffi::c_int;
use core::sync::atomic::Ordering::Relaxed;

use super::entry::forwarded;
use super::{Pointer, STALE, is_quiet, real, record};
use crate::machine::shim1;

forwarded! {
    dlopen => open;
    dlmopen => open_in;
}
shim1! {
    dlclose => close;
}

mod addresses {
    use super::super::real::Real;

    pub(super) static DLOPEN: Real = Real::new("dlopen\0", None);
    pub(super) static DLMOPEN: Real = Real::new("dlmopen\0", None);
}

/// The real function must see the program as its caller: where a library is searched depends on who asks. So it returns
/// to the program, and the map is copied when something is recorded next.
unsafe extern "C" fn open(_name: Pointer, _mode: usize, _pc: usize) -> Pointer {
    STALE.store(true, Relaxed);
    addresses::DLOPEN.get()
}

unsafe extern "C" fn open_in(_namespace: usize, _name: Pointer, _pc: usize) -> Pointer {
    STALE.store(true, Relaxed);
    addresses::DLMOPEN.get()
}

unsafe extern "C" fn close(handle: Pointer, pc: usize) -> c_int {
    if !is_quiet() {
        // Places in what is about to go must still be found.
        record(pc, |_| ());
    }
    let result = real::dlclose(handle);
    STALE.store(true, Relaxed);
    result
}
