//! The memory of the filter, one for the process.

use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{Acquire, Release};

use runtime::filter::{Filter, Limits, Shape};
use runtime::layout::SLOTS;

use crate::system;

/// Mostly address space: it is touched as it is needed.
const SHAPE: Shape = Shape { slots: SLOTS as u32, nodes: (1 << 24) - 1, positions_log2: 16 };
/// The filter itself stands before its memory.
const HEAD: usize = 4096;

static FILTER: AtomicPtr<Filter> = AtomicPtr::new(ptr::null_mut());

/// Makes it. False if there is no address space.
pub fn start() -> bool {
    let bytes = HEAD + Filter::bytes(SHAPE);
    let Some(at) = system::map(bytes) else { return false };
    // SAFETY: a new mapping with room for the filter and what it needs, aligned to pages.
    unsafe {
        system::wipe_on_fork(at, bytes);
        begin(at);
    }
    true
}

unsafe fn begin(at: *mut u8) {
    const { assert!(size_of::<Filter>() <= HEAD) };
    let filter = at.cast::<Filter>();
    // SAFETY: the caller's zeroed memory.
    unsafe { filter.write(Filter::new(at.add(HEAD), SHAPE, Limits::default())) };
    FILTER.store(filter, Release);
}

/// In a forked child: nothing is kept.
pub fn after_fork_child() {
    let at = FILTER.load(Acquire).cast::<u8>();
    if !at.is_null() {
        // SAFETY: the mapping of `start`, which no other thread of this process uses.
        unsafe {
            system::discard(at, HEAD + Filter::bytes(SHAPE));
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
