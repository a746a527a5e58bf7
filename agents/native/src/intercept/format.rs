//! Interceptors of `sprintf` and its family: they record writes of the buffer.

use core::ffi::c_int;

use super::entry::variadic;
use super::{Pointer, access};
use crate::machine::{shim3, shim4, shim5, shim6};

mod real {
    use core::ffi::c_int;
    use core::mem;

    use super::super::Pointer;
    use super::super::real::{Real, functions};

    functions! {
        vsprintf(into: Pointer, format: Pointer, list: Pointer) -> c_int;
        vsnprintf(into: Pointer, room: usize, format: Pointer, list: Pointer) -> c_int;
        __vsprintf_chk(into: Pointer, flag: c_int, size: usize, format: Pointer, list: Pointer) -> c_int;
        __vsnprintf_chk(into: Pointer, room: usize, flag: c_int, size: usize, format: Pointer, list: Pointer) -> c_int;
    }
}

variadic! {
    sprintf, 2 => sprintf_body;
    snprintf, 3 => snprintf_body;
    __sprintf_chk, 4 => sprintf_checked;
    __snprintf_chk, 5 => snprintf_checked;
}
shim3! {
    vsprintf => list;
}
shim4! {
    vsnprintf => list_within;
}
shim5! {
    __vsprintf_chk => list_checked;
}
shim6! {
    __vsnprintf_chk => list_within_checked;
}

/// Records the write of a result of `wanted` characters into a buffer with less room, perhaps.
fn written(into: Pointer, room: usize, wanted: c_int, pc: usize) -> c_int {
    if wanted >= 0 {
        access(pc, into, (wanted as usize + 1).min(room), true);
    }
    wanted
}

unsafe extern "C" fn list(into: Pointer, format: Pointer, list: Pointer, pc: usize) -> c_int {
    written(into, usize::MAX, real::vsprintf(into, format, list), pc)
}

unsafe extern "C" fn list_within(into: Pointer, room: usize, format: Pointer, list: Pointer, pc: usize) -> c_int {
    written(into, room, real::vsnprintf(into, room, format, list), pc)
}

unsafe extern "C" fn list_checked(
    into: Pointer,
    flag: c_int,
    size: usize,
    format: Pointer,
    list: Pointer,
    pc: usize,
) -> c_int {
    written(into, usize::MAX, real::__vsprintf_chk(into, flag, size, format, list), pc)
}

unsafe extern "C" fn list_within_checked(
    into: Pointer,
    room: usize,
    flag: c_int,
    size: usize,
    format: Pointer,
    list: Pointer,
    pc: usize,
) -> c_int {
    written(into, room, real::__vsnprintf_chk(into, room, flag, size, format, list), pc)
}

unsafe extern "C" fn sprintf_body(
    into: Pointer,
    format: Pointer,
    _c: usize,
    _d: usize,
    _e: usize,
    arguments: Pointer,
    pc: usize,
) -> c_int {
    list(into, format, arguments, pc)
}

unsafe extern "C" fn snprintf_body(
    into: Pointer,
    room: usize,
    format: Pointer,
    _d: usize,
    _e: usize,
    arguments: Pointer,
    pc: usize,
) -> c_int {
    list_within(into, room, format, arguments, pc)
}

unsafe extern "C" fn sprintf_checked(
    into: Pointer,
    flag: c_int,
    size: usize,
    format: Pointer,
    _e: usize,
    arguments: Pointer,
    pc: usize,
) -> c_int {
    list_checked(into, flag, size, format, arguments, pc)
}

unsafe extern "C" fn snprintf_checked(
    into: Pointer,
    room: usize,
    flag: c_int,
    size: usize,
    format: Pointer,
    arguments: Pointer,
    pc: usize,
) -> c_int {
    list_within_checked(into, room, flag, size, format, arguments, pc)
}
