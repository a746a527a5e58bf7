//! Interceptors of streams: they record accesses of the program's buffers. The inside of a stream is the C library's
//! own affair.

use core::ffi::c_int;

use super::{Pointer, access, is_quiet, length};
use crate::machine::{shim1, shim2, shim3, shim4};

mod real {
    use core::ffi::c_int;
    use core::mem;

    use super::super::Pointer;
    use super::super::real::{Real, functions};

    functions! {
        fread(into: Pointer, size: usize, count: usize, file: Pointer) -> usize;
        fwrite(from: Pointer, size: usize, count: usize, file: Pointer) -> usize;
        fread_unlocked(into: Pointer, size: usize, count: usize, file: Pointer) -> usize;
        fwrite_unlocked(from: Pointer, size: usize, count: usize, file: Pointer) -> usize;
        fgets(into: Pointer, most: c_int, file: Pointer) -> Pointer;
        fputs(text: Pointer, file: Pointer) -> c_int;
        fputs_unlocked(text: Pointer, file: Pointer) -> c_int;
        puts(text: Pointer) -> c_int;
        perror(text: Pointer);
        getline(line: *mut Pointer, room: *mut usize, file: Pointer) -> isize;
        getdelim(line: *mut Pointer, room: *mut usize, end: c_int, file: Pointer) -> isize;
    }
}

shim1! {
    puts => put_line;
    perror => put_error;
}
shim2! {
    fputs => put;
    fputs_unlocked => put_unlocked;
}
shim3! {
    fgets => get;
    getline => get_line;
}
shim4! {
    fread => read;
    fwrite => write;
    fread_unlocked => read_unlocked;
    fwrite_unlocked => write_unlocked;
    getdelim => get_until;
    __getdelim => get_until;
}

unsafe extern "C" fn read(into: Pointer, size: usize, count: usize, file: Pointer, pc: usize) -> usize {
    let items = real::fread(into, size, count, file);
    access(pc, into, items.wrapping_mul(size), true);
    items
}

unsafe extern "C" fn read_unlocked(into: Pointer, size: usize, count: usize, file: Pointer, pc: usize) -> usize {
    let items = real::fread_unlocked(into, size, count, file);
    access(pc, into, items.wrapping_mul(size), true);
    items
}

unsafe extern "C" fn write(from: Pointer, size: usize, count: usize, file: Pointer, pc: usize) -> usize {
    access(pc, from, count.wrapping_mul(size), false);
    real::fwrite(from, size, count, file)
}

unsafe extern "C" fn write_unlocked(from: Pointer, size: usize, count: usize, file: Pointer, pc: usize) -> usize {
    access(pc, from, count.wrapping_mul(size), false);
    real::fwrite_unlocked(from, size, count, file)
}

unsafe extern "C" fn get(into: Pointer, most: c_int, file: Pointer, pc: usize) -> Pointer {
    let result = real::fgets(into, most, file);
    if !result.is_null() && !is_quiet() {
        access(pc, into, length(into.cast()) + 1, true);
    }
    result
}

/// Before a text is put out.
unsafe fn putting(text: Pointer, pc: usize) {
    if !is_quiet() && !text.is_null() {
        access(pc, text, length(text.cast()) + 1, false);
    }
}

unsafe extern "C" fn put(text: Pointer, file: Pointer, pc: usize) -> c_int {
    putting(text, pc);
    real::fputs(text, file)
}

unsafe extern "C" fn put_unlocked(text: Pointer, file: Pointer, pc: usize) -> c_int {
    putting(text, pc);
    real::fputs_unlocked(text, file)
}

unsafe extern "C" fn put_line(text: Pointer, pc: usize) -> c_int {
    putting(text, pc);
    real::puts(text)
}

unsafe extern "C" fn put_error(text: Pointer, pc: usize) {
    let error = *super::error();
    putting(text, pc);
    *super::error() = error;
    real::perror(text);
}

unsafe fn have_line(line: *mut Pointer, bytes: isize, pc: usize) -> isize {
    if bytes >= 0 {
        access(pc, *line, bytes as usize + 1, true);
    }
    bytes
}

unsafe extern "C" fn get_line(line: *mut Pointer, room: *mut usize, file: Pointer, pc: usize) -> isize {
    have_line(line, real::getline(line, room, file), pc)
}

unsafe extern "C" fn get_until(line: *mut Pointer, room: *mut usize, end: c_int, file: Pointer, pc: usize) -> isize {
    have_line(line, real::getdelim(line, room, end, file), pc)
}
