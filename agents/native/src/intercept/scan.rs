//! Interceptors of functions that take a text apart: `scanf` and its family, numbers, tokens.

use core::ffi::{c_int, c_long};

use super::arguments::scanned;
use super::entry::variadic;
use super::{Pointer, access, has_hooks, length};
use crate::machine::{shim1, shim2, shim3};

mod real {
    use core::ffi::{c_int, c_long};
    use core::mem;

    use super::super::Pointer;
    use super::super::real::{Real, functions};

    functions! {
        vsscanf(text: Pointer, format: Pointer, list: Pointer) -> c_int;
        vfscanf(file: Pointer, format: Pointer, list: Pointer) -> c_int;
        vscanf(format: Pointer, list: Pointer) -> c_int;
        __isoc99_vsscanf(text: Pointer, format: Pointer, list: Pointer) -> c_int;
        __isoc99_vfscanf(file: Pointer, format: Pointer, list: Pointer) -> c_int;
        __isoc99_vscanf(format: Pointer, list: Pointer) -> c_int;
        __isoc23_vsscanf(text: Pointer, format: Pointer, list: Pointer) -> c_int;
        __isoc23_vfscanf(file: Pointer, format: Pointer, list: Pointer) -> c_int;
        __isoc23_vscanf(format: Pointer, list: Pointer) -> c_int;
        strtol(text: Pointer, end: *mut Pointer, base: c_int) -> c_long;
        strtoul(text: Pointer, end: *mut Pointer, base: c_int) -> c_long;
        __isoc23_strtol(text: Pointer, end: *mut Pointer, base: c_int) -> c_long;
        __isoc23_strtoul(text: Pointer, end: *mut Pointer, base: c_int) -> c_long;
        strtod(text: Pointer, end: *mut Pointer) -> f64;
        strtof(text: Pointer, end: *mut Pointer) -> f32;
        strtok(text: Pointer, separators: Pointer) -> Pointer;
        strtok_r(text: Pointer, separators: Pointer, rest: *mut Pointer) -> Pointer;
        strsep(rest: *mut Pointer, separators: Pointer) -> Pointer;
    }
}

macro_rules! scans {
    ($($text:ident, $file:ident, $input:ident => $from_text:ident, $from_file:ident, $from_input:ident;
       $($body:ident $listed:ident),*;)*) => { $(
        unsafe extern "C" fn $text(text: Pointer, format: Pointer, list: Pointer, pc: usize) -> c_int {
            read_whole(text, pc);
            let result = real::$from_text(text, format, list);
            scanned(format, list, result, pc);
            result
        }

        unsafe extern "C" fn $file(file: Pointer, format: Pointer, list: Pointer, pc: usize) -> c_int {
            let result = real::$from_file(file, format, list);
            scanned(format, list, result, pc);
            result
        }

        unsafe extern "C" fn $input(format: Pointer, list: Pointer, pc: usize) -> c_int {
            let result = real::$from_input(format, list);
            scanned(format, list, result, pc);
            result
        }

        scans! { @bodies $($body $listed),* }
    )* };
    (@bodies $a:ident $text:ident, $b:ident $file:ident, $c:ident $input:ident) => {
        unsafe extern "C" fn $a(
            text: Pointer,
            format: Pointer,
            _c: usize,
            _d: usize,
            _e: usize,
            list: Pointer,
            pc: usize,
        ) -> c_int {
            $text(text, format, list, pc)
        }

        unsafe extern "C" fn $b(
            file: Pointer,
            format: Pointer,
            _c: usize,
            _d: usize,
            _e: usize,
            list: Pointer,
            pc: usize,
        ) -> c_int {
            $file(file, format, list, pc)
        }

        unsafe extern "C" fn $c(
            format: Pointer,
            _b: usize,
            _c: usize,
            _d: usize,
            _e: usize,
            list: Pointer,
            pc: usize,
        ) -> c_int {
            $input(format, list, pc)
        }
    };
}
scans! {
    from_text, from_file, from_input => vsscanf, vfscanf, vscanf;
        text_body from_text, file_body from_file, input_body from_input;
    from_text99, from_file99, from_input99 => __isoc99_vsscanf, __isoc99_vfscanf, __isoc99_vscanf;
        text99_body from_text99, file99_body from_file99, input99_body from_input99;
    from_text23, from_file23, from_input23 => __isoc23_vsscanf, __isoc23_vfscanf, __isoc23_vscanf;
        text23_body from_text23, file23_body from_file23, input23_body from_input23;
}

variadic! {
    sscanf, 2 => text_body;
    fscanf, 2 => file_body;
    scanf, 1 => input_body;
    __isoc99_sscanf, 2 => text99_body;
    __isoc99_fscanf, 2 => file99_body;
    __isoc99_scanf, 1 => input99_body;
    __isoc23_sscanf, 2 => text23_body;
    __isoc23_fscanf, 2 => file23_body;
    __isoc23_scanf, 1 => input23_body;
}
shim1! {
    atoi => integer;
    atol => long;
    atoll => long;
    atof => double;
}
shim2! {
    vscanf => from_input;
    __isoc99_vscanf => from_input99;
    __isoc23_vscanf => from_input23;
    strtod => to_double;
    strtof => to_float;
    strtok => token;
    strsep => separate;
}
shim3! {
    vsscanf => from_text;
    vfscanf => from_file;
    __isoc99_vsscanf => from_text99;
    __isoc99_vfscanf => from_file99;
    __isoc23_vsscanf => from_text23;
    __isoc23_vfscanf => from_file23;
    strtol => to_long;
    strtoll => to_long;
    strtoul => to_unsigned;
    strtoull => to_unsigned;
    __isoc23_strtol => to_long23;
    __isoc23_strtoll => to_long23;
    __isoc23_strtoul => to_unsigned23;
    __isoc23_strtoull => to_unsigned23;
    strtok_r => token_of;
    __strtok_r => token_of;
}

unsafe fn read_whole(text: Pointer, pc: usize) {
    if has_hooks() {
        access(pc, text, length(text.cast()) + 1, false);
    }
}

/// A number was read from the front of a text by `convert`, which says where it ends.
unsafe fn number<R>(text: Pointer, end: *mut Pointer, pc: usize, convert: impl FnOnce(*mut Pointer) -> R) -> R {
    let mut own = text;
    let result = convert(&mut own);
    access(pc, text, (own as usize).wrapping_sub(text as usize).wrapping_add(1), false);
    if !end.is_null() {
        access(pc, end.cast(), size_of::<Pointer>(), true);
        *end = own;
    }
    result
}

unsafe extern "C" fn to_long(text: Pointer, end: *mut Pointer, base: c_int, pc: usize) -> c_long {
    number(text, end, pc, |end| real::strtol(text, end, base))
}

unsafe extern "C" fn to_unsigned(text: Pointer, end: *mut Pointer, base: c_int, pc: usize) -> c_long {
    number(text, end, pc, |end| real::strtoul(text, end, base))
}

unsafe extern "C" fn to_long23(text: Pointer, end: *mut Pointer, base: c_int, pc: usize) -> c_long {
    number(text, end, pc, |end| real::__isoc23_strtol(text, end, base))
}

unsafe extern "C" fn to_unsigned23(text: Pointer, end: *mut Pointer, base: c_int, pc: usize) -> c_long {
    number(text, end, pc, |end| real::__isoc23_strtoul(text, end, base))
}

unsafe extern "C" fn to_double(text: Pointer, end: *mut Pointer, pc: usize) -> f64 {
    number(text, end, pc, |end| real::strtod(text, end))
}

unsafe extern "C" fn to_float(text: Pointer, end: *mut Pointer, pc: usize) -> f32 {
    number(text, end, pc, |end| real::strtof(text, end))
}

unsafe extern "C" fn integer(text: Pointer, pc: usize) -> c_int {
    long(text, pc) as c_int
}

unsafe extern "C" fn long(text: Pointer, pc: usize) -> c_long {
    number(text, core::ptr::null_mut(), pc, |end| real::strtol(text, end, 10))
}

unsafe extern "C" fn double(text: Pointer, pc: usize) -> f64 {
    number(text, core::ptr::null_mut(), pc, |end| real::strtod(text, end))
}

/// A token was found in what is left of a text from `start` on; the byte behind it was overwritten.
unsafe fn found(start: Pointer, token: Pointer, separators: Pointer, pc: usize) {
    if has_hooks() {
        access(pc, separators, length(separators.cast()) + 1, false);
        if !token.is_null() {
            let end = token.byte_add(length(token.cast()));
            access(pc, start, end as usize - start as usize, false);
            access(pc, end, 1, true);
        }
    }
}

unsafe extern "C" fn token(text: Pointer, separators: Pointer, pc: usize) -> Pointer {
    let token = real::strtok(text, separators);
    found(if text.is_null() { token } else { text }, token, separators, pc);
    token
}

unsafe extern "C" fn token_of(text: Pointer, separators: Pointer, rest: *mut Pointer, pc: usize) -> Pointer {
    let start = if text.is_null() { *rest } else { text };
    let token = real::strtok_r(text, separators, rest);
    access(pc, rest.cast(), size_of::<Pointer>(), true);
    found(start, token, separators, pc);
    token
}

unsafe extern "C" fn separate(rest: *mut Pointer, separators: Pointer, pc: usize) -> Pointer {
    let token = real::strsep(rest, separators);
    access(pc, rest.cast(), size_of::<Pointer>(), true);
    found(token, token, separators, pc);
    token
}
