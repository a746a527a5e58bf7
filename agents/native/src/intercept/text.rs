//! Interceptors of functions on texts that end in a zero byte.

use core::ffi::c_int;

use super::{Pointer, access, is_quiet, length};
use crate::machine::{shim1, shim2, shim3, shim4};

mod real {
    use core::ffi::c_int;
    use core::mem;

    use super::super::Pointer;
    use super::super::real::{Real, functions};

    functions! {
        strlen(text: Pointer) -> usize;
        strnlen(text: Pointer, most: usize) -> usize;
        strcpy(to: Pointer, from: Pointer) -> Pointer;
        stpcpy(to: Pointer, from: Pointer) -> Pointer;
        strncpy(to: Pointer, from: Pointer, most: usize) -> Pointer;
        stpncpy(to: Pointer, from: Pointer, most: usize) -> Pointer;
        strcat(to: Pointer, from: Pointer) -> Pointer;
        strncat(to: Pointer, from: Pointer, most: usize) -> Pointer;
        strcmp(a: Pointer, b: Pointer) -> c_int;
        strncmp(a: Pointer, b: Pointer, most: usize) -> c_int;
        strcasecmp(a: Pointer, b: Pointer) -> c_int;
        strncasecmp(a: Pointer, b: Pointer, most: usize) -> c_int;
        strchr(text: Pointer, byte: c_int) -> Pointer;
        strchrnul(text: Pointer, byte: c_int) -> Pointer;
        strrchr(text: Pointer, byte: c_int) -> Pointer;
        strstr(text: Pointer, part: Pointer) -> Pointer;
        strcasestr(text: Pointer, part: Pointer) -> Pointer;
        strspn(text: Pointer, set: Pointer) -> usize;
        strcspn(text: Pointer, set: Pointer) -> usize;
        strpbrk(text: Pointer, set: Pointer) -> Pointer;
        strdup(text: Pointer) -> Pointer;
        strndup(text: Pointer, most: usize) -> Pointer;
        __strcpy_chk(to: Pointer, from: Pointer, room: usize) -> Pointer;
        __stpcpy_chk(to: Pointer, from: Pointer, room: usize) -> Pointer;
        __strcat_chk(to: Pointer, from: Pointer, room: usize) -> Pointer;
        __strncpy_chk(to: Pointer, from: Pointer, most: usize, room: usize) -> Pointer;
        __stpncpy_chk(to: Pointer, from: Pointer, most: usize, room: usize) -> Pointer;
        __strncat_chk(to: Pointer, from: Pointer, most: usize, room: usize) -> Pointer;
    }
}

shim1! {
    strlen => measure;
    strdup => duplicate;
    __strdup => duplicate;
}
shim2! {
    strnlen => measure_some;
    strcpy => copy;
    stpcpy => copy_to_end;
    __stpcpy => copy_to_end;
    strcat => append;
    strcmp => compare;
    strcasecmp => compare_folded;
    strchr => find;
    index => find;
    strchrnul => find_or_end;
    strrchr => find_last;
    rindex => find_last;
    strstr => find_part;
    strcasestr => find_part_folded;
    strspn => span;
    strcspn => span_others;
    strpbrk => find_any;
    strndup => duplicate_some;
    __strndup => duplicate_some;
}
shim3! {
    strncpy => copy_some;
    stpncpy => copy_some_to_end;
    strncat => append_some;
    strncmp => compare_some;
    strncasecmp => compare_some_folded;
    __strcpy_chk => copy_checked;
    __stpcpy_chk => copy_to_end_checked;
    __strcat_chk => append_checked;
}
shim4! {
    __strncpy_chk => copy_some_checked;
    __stpncpy_chk => copy_some_to_end_checked;
    __strncat_chk => append_some_checked;
}

/// Reads the text with its end.
unsafe fn read_whole(text: Pointer, pc: usize) {
    if !is_quiet() {
        access(pc, text, length(text.cast()) + 1, false);
    }
}

/// The length of a text that may have no end in its first `most` bytes.
unsafe fn length_within(text: Pointer, most: usize) -> usize {
    (0..most).find(|&i| text.cast::<u8>().add(i).read_volatile() == 0).unwrap_or(most)
}

/// The bytes of a text that are read if its first `most` are wanted: its end, if it comes before.
unsafe fn read_some(text: Pointer, most: usize, pc: usize) -> usize {
    let bytes = length_within(text, most);
    access(pc, text, (bytes + 1).min(most), false);
    bytes
}

unsafe extern "C" fn measure(text: Pointer, pc: usize) -> usize {
    let bytes = real::strlen(text);
    access(pc, text, bytes + 1, false);
    bytes
}

unsafe extern "C" fn measure_some(text: Pointer, most: usize, pc: usize) -> usize {
    let bytes = real::strnlen(text, most);
    access(pc, text, (bytes + 1).min(most), false);
    bytes
}

unsafe extern "C" fn duplicate(text: Pointer, pc: usize) -> Pointer {
    read_whole(text, pc);
    real::strdup(text)
}

unsafe extern "C" fn duplicate_some(text: Pointer, most: usize, pc: usize) -> Pointer {
    if !is_quiet() {
        read_some(text, most, pc);
    }
    real::strndup(text, most)
}

/// A whole text is copied.
unsafe fn copying(to: Pointer, from: Pointer, pc: usize) {
    if !is_quiet() {
        let bytes = length(from.cast()) + 1;
        access(pc, from, bytes, false);
        access(pc, to, bytes, true);
    }
}

/// So many bytes are copied, filled up with zeros.
unsafe fn copying_some(to: Pointer, from: Pointer, most: usize, pc: usize) {
    if !is_quiet() {
        read_some(from, most, pc);
        access(pc, to, most, true);
    }
}

/// A text, or `most` bytes of it, is put behind another.
unsafe fn appending(to: Pointer, from: Pointer, most: usize, pc: usize) {
    if !is_quiet() {
        let before = length(to.cast());
        let bytes = if most == usize::MAX { length(from.cast()) } else { length_within(from, most) };
        access(pc, to, before + 1, false);
        access(pc, from, (bytes + 1).min(most), false);
        access(pc, to.byte_add(before), bytes + 1, true);
    }
}

unsafe extern "C" fn copy(to: Pointer, from: Pointer, pc: usize) -> Pointer {
    copying(to, from, pc);
    real::strcpy(to, from)
}

unsafe extern "C" fn copy_checked(to: Pointer, from: Pointer, room: usize, pc: usize) -> Pointer {
    copying(to, from, pc);
    real::__strcpy_chk(to, from, room)
}

unsafe extern "C" fn copy_to_end(to: Pointer, from: Pointer, pc: usize) -> Pointer {
    copying(to, from, pc);
    real::stpcpy(to, from)
}

unsafe extern "C" fn copy_to_end_checked(to: Pointer, from: Pointer, room: usize, pc: usize) -> Pointer {
    copying(to, from, pc);
    real::__stpcpy_chk(to, from, room)
}

unsafe extern "C" fn copy_some(to: Pointer, from: Pointer, most: usize, pc: usize) -> Pointer {
    copying_some(to, from, most, pc);
    real::strncpy(to, from, most)
}

unsafe extern "C" fn copy_some_checked(to: Pointer, from: Pointer, most: usize, room: usize, pc: usize) -> Pointer {
    copying_some(to, from, most, pc);
    real::__strncpy_chk(to, from, most, room)
}

unsafe extern "C" fn copy_some_to_end(to: Pointer, from: Pointer, most: usize, pc: usize) -> Pointer {
    copying_some(to, from, most, pc);
    real::stpncpy(to, from, most)
}

unsafe extern "C" fn copy_some_to_end_checked(
    to: Pointer,
    from: Pointer,
    most: usize,
    room: usize,
    pc: usize,
) -> Pointer {
    copying_some(to, from, most, pc);
    real::__stpncpy_chk(to, from, most, room)
}

unsafe extern "C" fn append(to: Pointer, from: Pointer, pc: usize) -> Pointer {
    appending(to, from, usize::MAX, pc);
    real::strcat(to, from)
}

unsafe extern "C" fn append_checked(to: Pointer, from: Pointer, room: usize, pc: usize) -> Pointer {
    appending(to, from, usize::MAX, pc);
    real::__strcat_chk(to, from, room)
}

unsafe extern "C" fn append_some(to: Pointer, from: Pointer, most: usize, pc: usize) -> Pointer {
    appending(to, from, most, pc);
    real::strncat(to, from, most)
}

unsafe extern "C" fn append_some_checked(to: Pointer, from: Pointer, most: usize, room: usize, pc: usize) -> Pointer {
    appending(to, from, most, pc);
    real::__strncat_chk(to, from, most, room)
}

/// Both texts are read up to their first difference or their end, `most` bytes at most.
unsafe fn comparing(a: Pointer, b: Pointer, most: usize, folded: bool, pc: usize) {
    if is_quiet() {
        return;
    }
    let (x, y) = (a.cast::<u8>(), b.cast::<u8>());
    let mut bytes = 0;
    while bytes < most {
        let (mut p, mut q) = (x.add(bytes).read_volatile(), y.add(bytes).read_volatile());
        bytes += 1;
        if folded {
            p.make_ascii_lowercase();
            q.make_ascii_lowercase();
        }
        if p != q || p == 0 {
            break;
        }
    }
    access(pc, a, bytes, false);
    access(pc, b, bytes, false);
}

unsafe extern "C" fn compare(a: Pointer, b: Pointer, pc: usize) -> c_int {
    comparing(a, b, usize::MAX, false, pc);
    real::strcmp(a, b)
}

unsafe extern "C" fn compare_some(a: Pointer, b: Pointer, most: usize, pc: usize) -> c_int {
    comparing(a, b, most, false, pc);
    real::strncmp(a, b, most)
}

unsafe extern "C" fn compare_folded(a: Pointer, b: Pointer, pc: usize) -> c_int {
    comparing(a, b, usize::MAX, true, pc);
    real::strcasecmp(a, b)
}

unsafe extern "C" fn compare_some_folded(a: Pointer, b: Pointer, most: usize, pc: usize) -> c_int {
    comparing(a, b, most, true, pc);
    real::strncasecmp(a, b, most)
}

/// Something was looked for from the front.
unsafe fn looked_for(text: Pointer, found: Pointer, pc: usize) -> Pointer {
    if found.is_null() {
        read_whole(text, pc);
    } else {
        access(pc, text, found as usize - text as usize + 1, false);
    }
    found
}

unsafe extern "C" fn find(text: Pointer, byte: c_int, pc: usize) -> Pointer {
    looked_for(text, real::strchr(text, byte), pc)
}

unsafe extern "C" fn find_or_end(text: Pointer, byte: c_int, pc: usize) -> Pointer {
    looked_for(text, real::strchrnul(text, byte), pc)
}

unsafe extern "C" fn find_last(text: Pointer, byte: c_int, pc: usize) -> Pointer {
    read_whole(text, pc);
    real::strrchr(text, byte)
}

unsafe extern "C" fn find_part(text: Pointer, part: Pointer, pc: usize) -> Pointer {
    read_whole(part, pc);
    looked_for(text, real::strstr(text, part), pc)
}

unsafe extern "C" fn find_part_folded(text: Pointer, part: Pointer, pc: usize) -> Pointer {
    read_whole(part, pc);
    looked_for(text, real::strcasestr(text, part), pc)
}

unsafe extern "C" fn find_any(text: Pointer, set: Pointer, pc: usize) -> Pointer {
    read_whole(set, pc);
    looked_for(text, real::strpbrk(text, set), pc)
}

unsafe extern "C" fn span(text: Pointer, set: Pointer, pc: usize) -> usize {
    let bytes = real::strspn(text, set);
    read_whole(set, pc);
    access(pc, text, bytes + 1, false);
    bytes
}

unsafe extern "C" fn span_others(text: Pointer, set: Pointer, pc: usize) -> usize {
    let bytes = real::strcspn(text, set);
    read_whole(set, pc);
    access(pc, text, bytes + 1, false);
    bytes
}
