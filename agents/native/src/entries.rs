//! Events that are the entries of functions, with the values of their parameters.
//!
//! `foretrace cc` leaves room at each function: six bytes before it, and two at its first instruction, that do
//! nothing. In a function that a specification watches, the two become a jump to the five, and these a jump to a *stub*
//! of our own, which calls the hook with all registers as the caller left them. Other functions stay as they are.

use core::mem::size_of;
use core::ptr;
use core::slice;

use runtime::filter::Sink;
use runtime::layout::{PARAMETERS, Parameter, Watch, meaning, parameter};
use runtime::record::{Kind, MAX_TEXT, TextFor, ValueOf, head};

use crate::frames::Frames;
use crate::machine::foretrace_entry_hook;
use crate::system::{self, Code};
use crate::thread::{self, Thread};

/// What a stub knows of its function. It stands in the stub's page.
#[repr(C)]
pub struct Entry {
    /// Where the function goes on. The hook expects it first.
    resume: usize,
    /// The number that the specification gave it.
    number: u16,
    parameters: [Parameter; PARAMETERS],
}

/// A page for each stub: what is run is not written any more.
const PAGE: usize = 4096;
/// Where the [`Entry`] is in it, behind the code.
const ENTRY_AT: usize = 64;

/// Instructions.
const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
/// `jmp` by a distance of one byte, of four.
const JUMP_SHORT: u8 = 0xeb;
const JUMP: u8 = 0xe9;

/// Puts a hook at the entry of a function.
pub fn add(watch: &Watch, function: usize) {
    // SAFETY: the module is loaded, and the observer has found room around the function in its file. It is looked at
    // again, for the file may be another one by now.
    unsafe {
        let is_marked = ptr::read_unaligned(function as *const [u8; 4]) == ENDBR64;
        let first = if is_marked { function + ENDBR64.len() } else { function };
        let before = function.wrapping_sub(5);
        let idle = ptr::read_unaligned(before as *const [u8; 5]);
        let is_idle = idle == [0x90; 5] || idle == [0x0f, 0x1f, 0x44, 0x00, 0x00];
        // In a forked child, or after a library was loaded, it has its hook already.
        if !is_idle || !matches!(ptr::read_unaligned(first as *const [u8; 2]), [0x90, 0x90] | [0x66, 0x90]) {
            return;
        }
        let Some(stub) = make_stub(watch, first) else { return };
        let bytes = first + 2 - before;
        if !system::protect(before, bytes, Code::Changing) {
            return system::unmap(stub as *mut u8, PAGE);
        }
        // Nothing runs the bytes before the function yet; the jump uses the last five.
        let distance = stub.wrapping_sub(function) as u32;
        (before as *mut u8).write_volatile(JUMP);
        ptr::write_unaligned((before + 1) as *mut u32, distance);
        let back = before.wrapping_sub(first + 2) as u8;
        // Both bytes at once: a thread finds either the old ones or the jump.
        ptr::write_volatile(first as *mut Pair, Pair(u16::from_le_bytes([JUMP_SHORT, back])));
        system::protect(before, bytes, Code::Fixed);
    }
}

/// Two bytes, wherever they are.
#[repr(C, packed)]
struct Pair(#[allow(dead_code)] u16);

/// Makes the stub of a function, which goes on at `first` and the two bytes there.
unsafe fn make_stub(watch: &Watch, first: usize) -> Option<usize> {
    let page = system::map_within_reach(first, PAGE)?;
    let at = page as usize;
    // `push [the address of the entry]; jmp [the address of the hook]`: both stand behind.
    let code: [u8; 12] = [0xff, 0x35, 0x1a, 0, 0, 0, 0xff, 0x25, 0x1c, 0, 0, 0];
    const ADDRESSES_AT: usize = 32;
    // SAFETY: a page of our own, aligned for all of it.
    let is_fixed = unsafe {
        page.cast::<[u8; 12]>().write(code);
        page.add(ADDRESSES_AT).cast::<[usize; 2]>().write([at + ENTRY_AT, foretrace_entry_hook as *const () as usize]);
        page.add(ENTRY_AT).cast::<Entry>().write(Entry {
            resume: first + 2,
            number: watch.number,
            parameters: watch.parameters,
        });
        system::protect(at, PAGE, Code::Fixed)
    };
    if !is_fixed {
        // SAFETY: nothing refers to it.
        unsafe { system::unmap(page, PAGE) };
        return None;
    }
    Some(at)
}

const _: () = assert!(ENTRY_AT + size_of::<Entry>() <= PAGE);

/// The registers that pass whole numbers, as the hook saved them, and what lies above them.
#[repr(C)]
pub struct Saved {
    _others: [u64; 3],
    /// r9, r8, rdi, rsi, rdx, rcx.
    whole: [u64; 6],
    _more: [u64; 2],
    /// Where the function returns to.
    pc: usize,
    /// Parameters on the stack come next.
    stack: [u64; 0],
}

/// By the order of the calling convention, where a register is in [`Saved::whole`].
const ORDER: [usize; 6] = [2, 3, 4, 5, 1, 0];

/// Called by the hook, with what it saved, and with the vector registers: a function is entered.
pub unsafe extern "C" fn entered(entry: *const Entry, saved: *const Saved, vectors: *const [u64; 2]) {
    if thread::is_quiet() {
        return;
    }
    // SAFETY: all three live through the call.
    let (entry, saved) = unsafe { (&*entry, &*saved) };
    let sp = &raw const saved.pc as usize;
    let here = entry.resume;
    thread::enter(here, |thread| {
        Frames::within(thread, saved.pc, sp, |thread| {
            for parameter in &entry.parameters {
                if parameter.place == parameter::NONE {
                    break;
                }
                // SAFETY: the debug information says that the value is there.
                let word = unsafe { word(parameter, saved, vectors) };
                thread.argument(parameter, word);
            }
            thread.called(entry.number, here);
        });
    });
}

/// The bytes of a parameter, with others above them.
unsafe fn word(parameter: &Parameter, saved: &Saved, vectors: *const [u64; 2]) -> u64 {
    let at = parameter.at;
    match parameter.place {
        parameter::REGISTER => {
            let register = ORDER.get(at as usize).and_then(|&register| saved.whole.get(register));
            register.copied().unwrap_or(0)
        }
        // SAFETY: the hook saved all sixteen.
        parameter::VECTOR => unsafe { (*vectors.add((at & 15) as usize))[0] },
        // SAFETY: in the caller's frame.
        parameter::STACK => unsafe {
            ptr::read_unaligned((&raw const saved.stack).cast::<u8>().add(at as usize).cast())
        },
        _ => at as i64 as u64,
    }
}

impl Thread {
    /// Writes a value of the event that follows.
    fn argument(&mut self, parameter: &Parameter, word: u64) {
        let unused = 64 - 8 * u32::from(parameter.size.clamp(1, 8));
        let is_small = parameter.size == 4;
        let (what, word) = match parameter.meaning {
            meaning::SIGNED => (ValueOf::Int, ((word << unused) as i64 >> unused) as u64),
            // Those of 2^63 and more are no values of traces.
            meaning::UNSIGNED if (word << unused >> unused) <= i64::MAX as u64 => {
                (ValueOf::Int, word << unused >> unused)
            }
            meaning::BOOL => (ValueOf::Bool, u64::from(word as u8 != 0)),
            meaning::FLOAT if is_small => (ValueOf::Real, f64::from(f32::from_bits(word as u32)).to_bits()),
            meaning::FLOAT => (ValueOf::Real, word),
            meaning::TEXT if word != 0 => return self.text_argument(word as usize),
            meaning::OBJECT if word != 0 => (ValueOf::Object, word),
            meaning::LOCK if word != 0 => (ValueOf::Lock, word),
            _ => (ValueOf::Unknown, 0),
        };
        self.value(what, word);
    }

    fn value(&mut self, what: ValueOf, word: u64) {
        self.ring.reserve(2);
        self.ring.write(&[head(Kind::Argument, what as u8, 0), word]);
    }

    /// A text of the program's, as far as it is there; not known if nothing of it is.
    fn text_argument(&mut self, from: usize) {
        let mut text = [0u8; MAX_TEXT];
        let mut length = 0;
        while length < MAX_TEXT {
            let at = from.wrapping_add(length);
            // What is behind a page may not be there.
            let part = (PAGE - at % PAGE).min(MAX_TEXT - length);
            let Some(into) = text.get_mut(length..length + part) else { break };
            // SAFETY: the bytes are ours; what is read need not be there.
            if !unsafe { system::peek(at, into.as_mut_ptr(), part) } {
                break;
            }
            if let Some(end) = into.iter().position(|&byte| byte == 0) {
                // SAFETY: within the array.
                let text = unsafe { slice::from_raw_parts(text.as_ptr(), length + end) };
                return self.text(TextFor::Argument, text, None);
            }
            length += part;
        }
        match text.get(..length) {
            Some(text) if length > 0 => self.text(TextFor::Argument, text, None),
            _ => self.value(ValueOf::Unknown, 0),
        }
    }
}
