//! Fibers, as programs announce them to ThreadSanitizer. A fiber counts as the thread that it runs on, but takes its
//! own past along: what it did on another thread stays before what it does on this one, and it has its own calls.

use core::ffi::{c_char, c_uint};
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicUsize};

use runtime::record::{Class, Kind, TextFor};

use super::entry::scratch;
use super::{Pointer, length, record};
use crate::frames::Calls;
use crate::machine::{shim1, shim2, tls};
use crate::system;
use crate::thread::Thread;

shim1! {
    __tsan_create_fiber => create;
    __tsan_destroy_fiber => destroy;
}
shim2! {
    __tsan_switch_to_fiber => switch;
    __tsan_set_fiber_name => name;
}

/// A fiber. Its address is its identity.
pub(super) struct Fiber {
    /// Its calls, while it does not run.
    calls: Calls,
}

/// Fibers so far.
static MADE: AtomicUsize = AtomicUsize::new(0);
/// Whether the note that fibers count as their threads was written.
static ANNOUNCED: AtomicBool = AtomicBool::new(false);

const NOTE: &[u8] = b"the program has fibers: each is taken for the thread that it runs on, \
    so what two fibers of one thread do is never a race";

/// A new fiber; null if there is no memory.
fn make() -> *mut Fiber {
    system::map(size_of::<Fiber>()).map_or(ptr::null_mut(), <*mut u8>::cast)
}

fn announce(thread: &mut Thread, fiber: *mut Fiber) {
    if !ANNOUNCED.swap(true, Relaxed) {
        thread.text(TextFor::Note, NOTE, None);
    }
    let mut text = *b"fiber#0000000000";
    let mut number = MADE.fetch_add(1, Relaxed) + 1;
    let mut at = text.len();
    while number > 0 && at > 6 {
        at -= 1;
        text[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    text.copy_within(at.., 6);
    let end = 6 + text.len() - at;
    thread.text(TextFor::ObjectName, &text[..end], Some(fiber as u64));
}

/// The fiber that runs on this thread; its first has none until the program asks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_get_current_fiber() -> Pointer {
    let current = &mut (*scratch()).fiber;
    if current.is_null() {
        *current = make();
        let fiber = *current;
        record(0, |thread| announce(thread, fiber));
    }
    current.cast()
}

unsafe extern "C" fn create(_flags: c_uint, pc: usize) -> Pointer {
    let fiber = make();
    if !fiber.is_null() {
        record(pc, |thread| {
            announce(thread, fiber);
            // What its maker did happens before all that it does.
            thread.sync(Kind::Post, Class::Annotated, fiber as usize);
        });
    }
    fiber.cast()
}

unsafe extern "C" fn destroy(fiber: Pointer, pc: usize) {
    if fiber.is_null() || (*scratch()).fiber == fiber.cast() {
        return;
    }
    record(pc, |thread| thread.sync(Kind::Destroy, Class::Annotated, fiber as usize));
    system::unmap(fiber.cast(), size_of::<Fiber>());
}

unsafe extern "C" fn switch(fiber: Pointer, _flags: c_uint, pc: usize) {
    let from = __tsan_get_current_fiber().cast::<Fiber>();
    let to = fiber.cast::<Fiber>();
    if from.is_null() || to.is_null() || from == to {
        return;
    }
    (*scratch()).fiber = to;
    record(pc, |thread| {
        thread.sync(Kind::Post, Class::Annotated, from as usize);
        thread.sync(Kind::Await, Class::Annotated, to as usize);
        let tls = tls();
        thread.frames.save(tls, &mut (*from).calls);
        thread.frames.load(tls, &(*to).calls);
    });
}

unsafe extern "C" fn name(fiber: Pointer, name: *const c_char, pc: usize) {
    if !fiber.is_null() && !name.is_null() {
        let name = core::slice::from_raw_parts(name.cast(), length(name.cast()));
        record(pc, |thread| thread.text(TextFor::ObjectName, name, Some(fiber as u64)));
    }
}
