//! Interceptors of `printf` and its family: they record reads of the texts that are printed, and writes of the buffer.

use core::ffi::c_int;

use super::arguments::printing;
use super::entry::variadic;
use super::{Pointer, access};
use crate::machine::{shim2, shim3, shim4, shim5, shim6};

mod real {
    use core::ffi::c_int;
    use core::mem;

    use super::super::Pointer;
    use super::super::real::{Real, functions};

    functions! {
        vprintf(format: Pointer, list: Pointer) -> c_int;
        vfprintf(file: Pointer, format: Pointer, list: Pointer) -> c_int;
        vdprintf(fd: c_int, format: Pointer, list: Pointer) -> c_int;
        vasprintf(into: *mut Pointer, format: Pointer, list: Pointer) -> c_int;
        vsprintf(into: Pointer, format: Pointer, list: Pointer) -> c_int;
        vsnprintf(into: Pointer, room: usize, format: Pointer, list: Pointer) -> c_int;
        __vprintf_chk(flag: c_int, format: Pointer, list: Pointer) -> c_int;
        __vfprintf_chk(file: Pointer, flag: c_int, format: Pointer, list: Pointer) -> c_int;
        __vdprintf_chk(fd: c_int, flag: c_int, format: Pointer, list: Pointer) -> c_int;
        __vasprintf_chk(into: *mut Pointer, flag: c_int, format: Pointer, list: Pointer) -> c_int;
        __vsprintf_chk(into: Pointer, flag: c_int, size: usize, format: Pointer, list: Pointer) -> c_int;
        __vsnprintf_chk(into: Pointer, room: usize, flag: c_int, size: usize, format: Pointer, list: Pointer) -> c_int;
    }
}

/// The bodies of variadic functions have five registers, the list, and the caller.
macro_rules! with_list {
    ($($body:ident($($argument:ident: $type:ty),*; $($unused:ident),*) => $list:path;)*) => { $(
        unsafe extern "C" fn $body($($argument: $type,)* $($unused: usize,)* list: Pointer, pc: usize) -> c_int {
            $list($($argument,)* list, pc)
        }
    )* };
}

variadic! {
    printf, 1 => printf_body;
    fprintf, 2 => fprintf_body;
    dprintf, 2 => dprintf_body;
    asprintf, 2 => asprintf_body;
    sprintf, 2 => sprintf_body;
    snprintf, 3 => snprintf_body;
    __printf_chk, 2 => printf_checked;
    __fprintf_chk, 3 => fprintf_checked;
    __dprintf_chk, 3 => dprintf_checked;
    __asprintf_chk, 3 => asprintf_checked;
    __sprintf_chk, 4 => sprintf_checked;
    __snprintf_chk, 5 => snprintf_checked;
}
with_list! {
    printf_body(format: Pointer; _b, _c, _d, _e) => print;
    fprintf_body(file: Pointer, format: Pointer; _c, _d, _e) => print_to;
    dprintf_body(fd: c_int, format: Pointer; _c, _d, _e) => print_into_descriptor;
    asprintf_body(into: *mut Pointer, format: Pointer; _c, _d, _e) => print_new;
    sprintf_body(into: Pointer, format: Pointer; _c, _d, _e) => list;
    snprintf_body(into: Pointer, room: usize, format: Pointer; _d, _e) => list_within;
    printf_checked(flag: c_int, format: Pointer; _c, _d, _e) => print_checked;
    fprintf_checked(file: Pointer, flag: c_int, format: Pointer; _d, _e) => print_to_checked;
    dprintf_checked(fd: c_int, flag: c_int, format: Pointer; _d, _e) => print_into_descriptor_checked;
    asprintf_checked(into: *mut Pointer, flag: c_int, format: Pointer; _d, _e) => print_new_checked;
    sprintf_checked(into: Pointer, flag: c_int, size: usize, format: Pointer; _e) => list_checked;
    snprintf_checked(into: Pointer, room: usize, flag: c_int, size: usize, format: Pointer;) => list_within_checked;
}
shim2! {
    vprintf => print;
}
shim3! {
    vfprintf => print_to;
    vdprintf => print_into_descriptor;
    vasprintf => print_new;
    vsprintf => list;
    __vprintf_chk => print_checked;
}
shim4! {
    vsnprintf => list_within;
    __vfprintf_chk => print_to_checked;
    __vdprintf_chk => print_into_descriptor_checked;
    __vasprintf_chk => print_new_checked;
}
shim5! {
    __vsprintf_chk => list_checked;
}
shim6! {
    __vsnprintf_chk => list_within_checked;
}

unsafe extern "C" fn print(format: Pointer, list: Pointer, pc: usize) -> c_int {
    printing(format, list, pc);
    real::vprintf(format, list)
}

unsafe extern "C" fn print_checked(flag: c_int, format: Pointer, list: Pointer, pc: usize) -> c_int {
    printing(format, list, pc);
    real::__vprintf_chk(flag, format, list)
}

unsafe extern "C" fn print_to(file: Pointer, format: Pointer, list: Pointer, pc: usize) -> c_int {
    printing(format, list, pc);
    real::vfprintf(file, format, list)
}

unsafe extern "C" fn print_to_checked(file: Pointer, flag: c_int, format: Pointer, list: Pointer, pc: usize) -> c_int {
    printing(format, list, pc);
    real::__vfprintf_chk(file, flag, format, list)
}

unsafe extern "C" fn print_into_descriptor(fd: c_int, format: Pointer, list: Pointer, pc: usize) -> c_int {
    printing(format, list, pc);
    real::vdprintf(fd, format, list)
}

unsafe extern "C" fn print_into_descriptor_checked(
    fd: c_int,
    flag: c_int,
    format: Pointer,
    list: Pointer,
    pc: usize,
) -> c_int {
    printing(format, list, pc);
    real::__vdprintf_chk(fd, flag, format, list)
}

unsafe extern "C" fn print_new(into: *mut Pointer, format: Pointer, list: Pointer, pc: usize) -> c_int {
    printing(format, list, pc);
    let result = real::vasprintf(into, format, list);
    access(pc, into.cast(), size_of::<Pointer>(), true);
    result
}

unsafe extern "C" fn print_new_checked(
    into: *mut Pointer,
    flag: c_int,
    format: Pointer,
    list: Pointer,
    pc: usize,
) -> c_int {
    printing(format, list, pc);
    let result = real::__vasprintf_chk(into, flag, format, list);
    access(pc, into.cast(), size_of::<Pointer>(), true);
    result
}

/// Records the write of a result of `wanted` characters into a buffer with less room, perhaps.
fn written(into: Pointer, room: usize, wanted: c_int, pc: usize) -> c_int {
    if wanted >= 0 {
        access(pc, into, (wanted as usize + 1).min(room), true);
    }
    wanted
}

unsafe extern "C" fn list(into: Pointer, format: Pointer, list: Pointer, pc: usize) -> c_int {
    printing(format, list, pc);
    written(into, usize::MAX, real::vsprintf(into, format, list), pc)
}

unsafe extern "C" fn list_within(into: Pointer, room: usize, format: Pointer, list: Pointer, pc: usize) -> c_int {
    printing(format, list, pc);
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
    printing(format, list, pc);
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
    printing(format, list, pc);
    written(into, room, real::__vsnprintf_chk(into, room, flag, size, format, list), pc)
}
