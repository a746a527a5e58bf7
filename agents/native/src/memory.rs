//! The memory of the filter, one for each process.

use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Release};
use core::sync::atomic::{AtomicPtr, AtomicUsize};

use runtime::filter::{Filter, Limits, Shape};
use runtime::layout::SLOTS;

use crate::system;

/// Mostly address space, touched as it is needed. The second shape is for processes that may not have much of it.
const SHAPES: [Shape; 2] =
    [Shape { slots: SLOTS as u32, nodes: (1 << 18) - 1 }, Shape { slots: SLOTS as u32, nodes: 1 << 17 }];
/// The filter itself stands before its memory.
const HEAD: usize = 4096;

static FILTER: AtomicPtr<Filter> = AtomicPtr::new(ptr::null_mut());
static CHOSEN: AtomicUsize = AtomicUsize::new(0);

/// Makes the filter. Returns false if there is no address space.
pub fn start() -> bool {
    for (number, &shape) in SHAPES.iter().enumerate() {
        let bytes = HEAD + Filter::bytes(shape);
        if let Some(at) = system::map(bytes) {
            CHOSEN.store(number, Release);
            // SAFETY: a new mapping with room for the filter and what it needs, aligned to pages.
            unsafe {
                system::wipe_on_fork(at, bytes);
                begin(at);
            }
            return true;
        }
    }
    false
}

fn shape() -> Shape {
    SHAPES[CHOSEN.load(Acquire) % SHAPES.len()]
}

unsafe fn begin(at: *mut u8) {
    const { assert!(size_of::<Filter>() <= HEAD) };
    let filter = at.cast::<Filter>();
    // SAFETY: the caller's zeroed memory.
    unsafe { filter.write(Filter::new(at.add(HEAD), shape(), Limits::default())) };
    FILTER.store(filter, Release);
}

/// In a forked child, nothing is deferred.
pub fn after_fork_child() {
    let at = FILTER.load(Acquire).cast::<u8>();
    if !at.is_null() {
        // SAFETY: the mapping of `start`, which no other thread of this process uses.
        unsafe {
            system::discard(at, HEAD + Filter::bytes(shape()));
            begin(at);
        }
    }
}

/// The process' filter. Only for threads that are watched.
#[inline(always)]
pub fn filter() -> &'static Filter {
    // SAFETY: no thread is watched before `start` has succeeded, and it stays.
    unsafe { &*FILTER.load(Acquire) }
}
