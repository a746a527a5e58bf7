//! Finds the thread on whose stack an address is. A thread that touches another's stack notes that there, so that the
//! memory gets a new identity when the function is left.

use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU64};

use crate::{session, system, thread};

/// Log2 of the bytes for which there is one bit: for most addresses it says that no stack is there.
const PART_BITS: u32 = 20;
const WORDS: usize = 1 << (47 - PART_BITS - 6);

static PARTS: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());

/// Makes the table of bits.
pub fn start() -> bool {
    let Some(at) = system::map(WORDS * 8) else { return false };
    PARTS.store(at.cast(), Release);
    true
}

fn part(addr: usize) -> (&'static AtomicU64, u64) {
    let part = addr >> PART_BITS;
    // SAFETY: the index is masked to the table.
    unsafe { (&*PARTS.load(Acquire).add((part / 64) & (WORDS - 1)), 1 << (part % 64)) }
}

/// Adds a stack. Its bits stay when it is gone: the next one will be there.
pub fn add(low: usize, high: usize) {
    let mut at = low;
    while at < high {
        let (word, bit) = part(at);
        word.fetch_or(bit, Relaxed);
        at = (at | ((1 << PART_BITS) - 1)) + 1;
    }
}

/// If an address is on a stack, notes for its thread that another thread has touched it.
#[inline]
pub fn touched(addr: usize) {
    let (word, bit) = part(addr);
    if word.load(Relaxed) & bit != 0 {
        search(addr);
    }
}

#[cold]
fn search(addr: usize) {
    let Some(process) = session::process() else { return };
    for slot in 0..process.slots.load(Acquire) {
        if let Some(thread) = thread::of_slot(slot)
            && thread.frames.on_stack(addr)
        {
            thread.frames.touched(addr);
            return;
        }
    }
}

/// The bounds of the calling thread's stack; nothing if they cannot be found.
pub fn bounds(is_first: bool) -> (usize, usize) {
    // SAFETY: plain calls of the C library; the attributes live on this stack.
    unsafe {
        if is_first {
            // The kernel puts these bytes above everything that the program pushes.
            let high = libc::getauxval(libc::AT_RANDOM) as usize;
            let limit = system::stack_limit().min(1 << 30);
            return (high.saturating_sub(limit), high);
        }
        let mut attributes: libc::pthread_attr_t = core::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return (0, 0);
        }
        let (mut low, mut size) = (ptr::null_mut(), 0);
        libc::pthread_attr_getstack(&attributes, &mut low, &mut size);
        libc::pthread_attr_destroy(&mut attributes);
        (low as usize, low as usize + size)
    }
}
