//! What the arguments of `printf` and `scanf` refer to: the texts that are read for `%s`, and what is written.
//!
//! The arguments are walked as the C library does it, along a copy of the `va_list` (x86-64). A format with numbered
//! arguments (`%1$s`), or with a conversion that is not known here, ends the walk: nothing is guessed.

use core::ffi::c_int;

use super::{Pointer, access, has_hooks, length};

/// A `va_list`.
#[repr(C)]
struct List {
    /// How many bytes of the registers for integers, and for others, are used up.
    integers: u32,
    others: u32,
    /// Where the arguments in memory go on, and where the registers were saved.
    memory: *const u8,
    saved: *const u8,
}

const INTEGERS_END: u32 = 48;
const OTHERS_END: u32 = 176;

impl List {
    unsafe fn of(list: Pointer) -> List {
        list.cast::<List>().read()
    }

    unsafe fn word(&mut self) -> usize {
        if self.integers < INTEGERS_END {
            let at = self.saved.add(self.integers as usize);
            self.integers += 8;
            return at.cast::<usize>().read();
        }
        let at = self.memory;
        self.memory = at.add(8);
        at.cast::<usize>().read()
    }

    unsafe fn skip_double(&mut self) {
        if self.others < OTHERS_END {
            self.others += 16;
        } else {
            self.memory = self.memory.add(8);
        }
    }

    unsafe fn skip_long_double(&mut self) {
        self.memory = self.memory.map_addr(|at| at.next_multiple_of(16)).add(16);
    }
}

/// The text of a format that is still to be read.
struct Format(*const u8);

impl Format {
    unsafe fn peek(&self) -> u8 {
        self.0.read_volatile()
    }

    unsafe fn take(&mut self) -> u8 {
        let byte = self.peek();
        self.0 = self.0.add(1);
        byte
    }

    unsafe fn skip(&mut self, bytes: &[u8]) -> bool {
        let mut any = false;
        while self.peek() != 0 && bytes.contains(&self.peek()) {
            self.0 = self.0.add(1);
            any = true;
        }
        any
    }

    unsafe fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while self.peek().is_ascii_digit() {
            number = Some(number.unwrap_or(0usize).saturating_mul(10).saturating_add(usize::from(self.take() - b'0')));
        }
        number
    }

    /// Goes behind the next `%` that begins a conversion.
    unsafe fn next(&mut self) -> bool {
        loop {
            match self.peek() {
                0 => return false,
                b'%' if self.0.add(1).read_volatile() == b'%' => self.0 = self.0.add(2),
                b'%' => {
                    self.0 = self.0.add(1);
                    return true;
                }
                _ => self.0 = self.0.add(1),
            }
        }
    }

    /// The length modifier of a conversion.
    unsafe fn size(&mut self) -> Size {
        let (first, second) = (self.peek(), if self.peek() == 0 { 0 } else { self.0.add(1).read_volatile() });
        let (size, bytes) = match (first, second) {
            (b'h', b'h') => (Size::Char, 2),
            (b'l', b'l') => (Size::Long, 2),
            (b'h', _) => (Size::Short, 1),
            (b'l' | b'j' | b'z' | b'Z' | b't' | b'q', _) => (Size::Long, 1),
            (b'L', _) => (Size::LongDouble, 1),
            _ => (Size::Int, 0),
        };
        self.0 = self.0.add(bytes);
        size
    }
}

/// What a length modifier says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Char,
    Short,
    Int,
    Long,
    LongDouble,
}

impl Size {
    /// The bytes of a whole number.
    fn integer(self) -> usize {
        match self {
            Size::Char => 1,
            Size::Short => 2,
            Size::Int => 4,
            Size::Long | Size::LongDouble => 8,
        }
    }

    /// The bytes of a floating-point number.
    fn real(self) -> usize {
        match self {
            Size::LongDouble => 16,
            Size::Long => 8,
            _ => 4,
        }
    }
}

/// How many bytes of a text are read if no more than `most` are wanted.
unsafe fn bytes_read(text: *const u8, most: Option<usize>) -> usize {
    match most {
        None => length(text) + 1,
        Some(most) => (0..most).find(|&at| text.add(at).read_volatile() == 0).map_or(most, |at| at + 1),
    }
}

/// Before `printf`: the format is read, and the texts of `%s`.
pub(super) unsafe fn printing(format: Pointer, list: Pointer, pc: usize) {
    if !has_hooks() {
        return;
    }
    access(pc, format, length(format.cast()) + 1, false);
    let (mut format, mut list) = (Format(format.cast()), List::of(list));
    while format.next() {
        format.skip(b"-+ #0'I");
        if format.peek() == b'*' {
            format.take();
            list.word();
        } else {
            format.number();
        }
        let mut most = None;
        if format.peek() == b'.' {
            format.take();
            if format.peek() == b'*' {
                format.take();
                // A negative precision is none.
                most = usize::try_from(list.word() as c_int).ok();
            } else {
                most = Some(format.number().unwrap_or(0));
            }
        }
        let size = format.size();
        match format.take() {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'p' | b'C' | b'S' => {
                list.word();
            }
            b's' => {
                let text = list.word() as *const u8;
                if size != Size::Long && !text.is_null() {
                    access(pc, text.cast(), bytes_read(text, most), false);
                }
            }
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' if size == Size::LongDouble => {
                list.skip_long_double();
            }
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => list.skip_double(),
            b'n' => access(pc, list.word() as Pointer, size.integer(), true),
            b'm' => {}
            _ => return,
        }
    }
}

/// After `scanf`, which has assigned `assigned` of its arguments: they are written.
pub(super) unsafe fn scanned(format: Pointer, list: Pointer, assigned: c_int, pc: usize) {
    if assigned <= 0 || !has_hooks() {
        return;
    }
    access(pc, format, length(format.cast()) + 1, false);
    let (mut format, mut list, mut left) = (Format(format.cast()), List::of(list), assigned);
    while format.next() {
        let is_skipped = format.skip(b"*");
        let width = format.number();
        format.skip(b"'I");
        let is_allocated = format.skip(b"m");
        let size = format.size();
        let conversion = format.take();
        if conversion == b'[' {
            // `]` at the front is one of the set.
            format.skip(b"^");
            if format.peek() == b']' {
                format.take();
            }
            while format.peek() != b']' {
                if format.take() == 0 {
                    return;
                }
            }
            format.take();
        }
        if is_skipped {
            continue;
        }
        if left == 0 && conversion != b'n' {
            return;
        }
        let at = list.word() as Pointer;
        let bytes = match conversion {
            _ if is_allocated => 8,
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'n' => size.integer(),
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => size.real(),
            b'p' => 8,
            b's' | b'[' | b'c' if size == Size::Long => 0,
            b's' | b'[' => length(at.cast()) + 1,
            b'c' => width.unwrap_or(1),
            _ => return,
        };
        access(pc, at, bytes, true);
        left -= c_int::from(conversion != b'n');
    }
}
