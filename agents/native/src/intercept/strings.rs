//! Interceptors of functions on blocks of memory. The compilers leave their accesses to us.

use core::ffi::c_int;

use super::{Pointer, about_to_access, access as accessed, has_hooks, is_quiet, record};
use crate::access;
use crate::machine::{shim2, shim3, shim4};

mod real {
    use core::ffi::c_int;
    use core::mem;

    use super::super::Pointer;
    use super::super::real::{Real, functions};

    functions! {
        memcmp(a: Pointer, b: Pointer, bytes: usize) -> c_int;
        memchr(block: Pointer, byte: c_int, bytes: usize) -> Pointer;
        memrchr(block: Pointer, byte: c_int, bytes: usize) -> Pointer;
        memmem(block: Pointer, bytes: usize, part: Pointer, size: usize) -> Pointer;
        memccpy(to: Pointer, from: Pointer, byte: c_int, bytes: usize) -> Pointer;
        __memcpy_chk(to: Pointer, from: Pointer, bytes: usize, room: usize) -> Pointer;
        __memmove_chk(to: Pointer, from: Pointer, bytes: usize, room: usize) -> Pointer;
        __memset_chk(to: Pointer, byte: c_int, bytes: usize, room: usize) -> Pointer;
        __mempcpy_chk(to: Pointer, from: Pointer, bytes: usize, room: usize) -> Pointer;
    }

    /// Until the real functions are known these are used: looking them up must not need them.
    macro_rules! early {
        ($name:ident($($argument:ident: $type:ty),*), $early:expr) => {
            #[inline(always)]
            pub(super) unsafe fn $name($($argument: $type),*) -> Pointer {
                #[used]
                #[unsafe(link_section = "foretrace_real")]
                static REAL: Real = Real::new(concat!(stringify!($name), "\0"), None);
                let mut known = REAL.known();
                if known.is_null() {
                    known = REAL.find();
                    if known.is_null() {
                        return $early;
                    }
                }
                let real: unsafe extern "C" fn($($type),*) -> Pointer = mem::transmute(known);
                real($($argument),*)
            }
        };
    }

    early!(memmove(to: Pointer, from: Pointer, bytes: usize), {
        crate::machine::copy_either_way(to.cast(), from.cast(), bytes);
        to
    });
    early!(memset(to: Pointer, byte: c_int, bytes: usize), {
        crate::machine::fill(to.cast(), byte as u8, bytes);
        to
    });

    #[inline(always)]
    pub(super) unsafe fn memcpy(to: Pointer, from: Pointer, bytes: usize) -> Pointer {
        #[used]
        #[unsafe(link_section = "foretrace_real")]
        static REAL: Real = Real::new("memcpy\0", Some(c"GLIBC_2.14"));
        let known = REAL.known();
        if known.is_null() && REAL.find().is_null() {
            crate::machine::copy(to.cast(), from.cast(), bytes);
            return to;
        }
        let real: unsafe extern "C" fn(Pointer, Pointer, usize) -> Pointer = mem::transmute(REAL.known());
        real(to, from, bytes)
    }
}

shim2! {
    bzero => clear;
    __bzero => clear;
}
shim3! {
    memcpy => copy;
    memmove => move_block;
    mempcpy => copy_to_end;
    __mempcpy => copy_to_end;
    bcopy => copy_reversed;
    memset => set;
    memcmp => compare;
    bcmp => compare;
    memchr => find_byte;
    memrchr => find_last_byte;
    wmemcpy => copy_wide;
    wmemmove => move_wide;
    wmemset => set_wide;
}
shim4! {
    memmem => find_block;
    memccpy => copy_until;
    __memcpy_chk => copy_checked;
    __memmove_chk => move_checked;
    __memset_chk => set_checked;
    __mempcpy_chk => copy_to_end_checked;
}

/// `from` is read, `to` is written.
#[inline(always)]
fn copied(to: Pointer, from: Pointer, bytes: usize, pc: usize) {
    if bytes != 0 && has_hooks() {
        about_to_access(from, bytes, false, pc);
        about_to_access(to, bytes, true, pc);
        record(pc, |thread| {
            thread.record_range(from as usize, bytes, false);
            thread.record_range(to as usize, bytes, true);
        });
    }
}

/// A copy of a few bytes, as programs make them instead of unaligned accesses: the compiler leaves them as calls.
#[inline(always)]
unsafe fn copied_at_once<const SIZE: usize>(to: Pointer, from: Pointer, pc: usize) {
    if has_hooks() {
        access::hook::<SIZE, true, false>(from as usize, pc);
        access::hook::<SIZE, false, true>(to as usize, pc);
    }
}

unsafe extern "C" fn copy(to: Pointer, from: Pointer, bytes: usize, pc: usize) -> Pointer {
    match bytes {
        8 => copied_at_once::<8>(to, from, pc),
        4 => copied_at_once::<4>(to, from, pc),
        _ => copied(to, from, bytes, pc),
    }
    real::memcpy(to, from, bytes)
}

unsafe extern "C" fn move_block(to: Pointer, from: Pointer, bytes: usize, pc: usize) -> Pointer {
    copied(to, from, bytes, pc);
    real::memmove(to, from, bytes)
}

unsafe extern "C" fn copy_to_end(to: Pointer, from: Pointer, bytes: usize, pc: usize) -> Pointer {
    copied(to, from, bytes, pc);
    real::memcpy(to, from, bytes).byte_add(bytes)
}

unsafe extern "C" fn copy_reversed(from: Pointer, to: Pointer, bytes: usize, pc: usize) {
    copied(to, from, bytes, pc);
    real::memmove(to, from, bytes);
}

unsafe extern "C" fn copy_until(to: Pointer, from: Pointer, byte: c_int, bytes: usize, pc: usize) -> Pointer {
    let end = real::memccpy(to, from, byte, bytes);
    let copied_bytes = if end.is_null() { bytes } else { end as usize - to as usize };
    copied(to, from, copied_bytes, pc);
    end
}

unsafe extern "C" fn copy_checked(to: Pointer, from: Pointer, bytes: usize, room: usize, pc: usize) -> Pointer {
    copied(to, from, bytes, pc);
    real::__memcpy_chk(to, from, bytes, room)
}

unsafe extern "C" fn move_checked(to: Pointer, from: Pointer, bytes: usize, room: usize, pc: usize) -> Pointer {
    copied(to, from, bytes, pc);
    real::__memmove_chk(to, from, bytes, room)
}

unsafe extern "C" fn copy_to_end_checked(to: Pointer, from: Pointer, bytes: usize, room: usize, pc: usize) -> Pointer {
    copied(to, from, bytes, pc);
    real::__mempcpy_chk(to, from, bytes, room)
}

unsafe extern "C" fn set(to: Pointer, byte: c_int, bytes: usize, pc: usize) -> Pointer {
    match bytes {
        8 if has_hooks() => access::hook::<8, false, true>(to as usize, pc),
        4 if has_hooks() => access::hook::<4, false, true>(to as usize, pc),
        _ => accessed(pc, to, bytes, true),
    }
    real::memset(to, byte, bytes)
}

unsafe extern "C" fn set_checked(to: Pointer, byte: c_int, bytes: usize, room: usize, pc: usize) -> Pointer {
    accessed(pc, to, bytes, true);
    real::__memset_chk(to, byte, bytes, room)
}

unsafe extern "C" fn clear(to: Pointer, bytes: usize, pc: usize) {
    accessed(pc, to, bytes, true);
    real::memset(to, 0, bytes);
}

unsafe extern "C" fn compare(a: Pointer, b: Pointer, bytes: usize, pc: usize) -> c_int {
    let result = real::memcmp(a, b, bytes);
    if !is_quiet() {
        let read = if result == 0 { bytes } else { common(a.cast(), b.cast(), bytes) };
        accessed(pc, a, read, false);
        accessed(pc, b, read, false);
    }
    result
}

/// How many bytes are looked at to see the first difference.
unsafe fn common(a: *const u8, b: *const u8, bytes: usize) -> usize {
    (0..bytes).find(|&i| a.add(i).read_volatile() != b.add(i).read_volatile()).map_or(bytes, |i| i + 1)
}

/// How many bytes were looked at to find `found`.
fn until(block: Pointer, found: Pointer, bytes: usize) -> usize {
    if found.is_null() { bytes } else { found as usize - block as usize + 1 }
}

unsafe extern "C" fn find_byte(block: Pointer, byte: c_int, bytes: usize, pc: usize) -> Pointer {
    let found = real::memchr(block, byte, bytes);
    accessed(pc, block, until(block, found, bytes), false);
    found
}

unsafe extern "C" fn find_last_byte(block: Pointer, byte: c_int, bytes: usize, pc: usize) -> Pointer {
    let found = real::memrchr(block, byte, bytes);
    let skipped = if found.is_null() { 0 } else { found as usize - block as usize };
    accessed(pc, block.wrapping_byte_add(skipped), bytes - skipped, false);
    found
}

unsafe extern "C" fn find_block(block: Pointer, bytes: usize, part: Pointer, size: usize, pc: usize) -> Pointer {
    let found = real::memmem(block, bytes, part, size);
    let read = if found.is_null() { bytes } else { found as usize - block as usize + size };
    accessed(pc, block, read, false);
    accessed(pc, part, size, false);
    found
}

/// Wide characters have four bytes.
const WIDE: usize = 4;

unsafe extern "C" fn copy_wide(to: Pointer, from: Pointer, count: usize, pc: usize) -> Pointer {
    copy(to, from, count * WIDE, pc)
}

unsafe extern "C" fn move_wide(to: Pointer, from: Pointer, count: usize, pc: usize) -> Pointer {
    move_block(to, from, count * WIDE, pc)
}

unsafe extern "C" fn set_wide(to: Pointer, character: u32, count: usize, pc: usize) -> Pointer {
    accessed(pc, to, count * WIDE, true);
    for i in 0..count {
        to.cast::<u32>().add(i).write_volatile(character);
    }
    to
}
