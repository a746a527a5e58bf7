//! Slots: the numbers of threads, each with the memory of its thread's state.

use core::ptr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU32};

use runtime::layout::SLOTS;

use crate::thread::Thread;
use crate::{session, system};

/// Bits of [`Thread::slot_state`].
pub mod slot_state {
    /// Given to a thread that has not begun, or runs.
    pub const USED: u32 = 1;
    /// Its thread has ended.
    pub const ENDED: u32 = 2;
    /// No thread will join it.
    pub const RELEASED: u32 = 4;
}

static THREADS: [AtomicPtr<Thread>; SLOTS] = [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];
/// Some slots (+ 1) that may be used again.
static GONE: [AtomicU32; REMEMBERED] = [const { AtomicU32::new(0) }; REMEMBERED];
const REMEMBERED: usize = 64;
/// Bits of a slot that is not used any more.
const FREE: u32 = slot_state::USED | slot_state::ENDED | slot_state::RELEASED;

/// The state of a slot's thread. It stays when the thread is gone, so that others may still read it.
pub fn get(slot: u32) -> *mut Thread {
    THREADS.get(slot as usize).map_or(ptr::null_mut(), |thread| thread.load(Acquire))
}

/// A slot whose thread is gone, that no thread can join, and that `may_be_used`; else a fresh one. So programs that
/// make a thread for every task need few slots.
pub fn allocate(may_be_used: impl Fn(u32) -> bool) -> Option<u32> {
    let process = session::process()?;
    for entry in &GONE {
        if let Some(slot) = entry.load(Acquire).checked_sub(1)
            && may_be_used(slot)
            && reuse(slot)
        {
            entry.store(0, Release);
            return Some(slot);
        }
    }
    let mut used = process.slots.load(Relaxed);
    while (used as usize) < SLOTS {
        // The memory comes first: a thread that sees the number may read it.
        let thread = system::map(size_of::<Thread>())?.cast::<Thread>();
        // SAFETY: zeroed memory is a thread without anything.
        unsafe {
            (*thread).slot = used;
            (*thread).slot_state.store(slot_state::USED, Relaxed);
        }
        if THREADS[used as usize].compare_exchange(ptr::null_mut(), thread, AcqRel, Acquire).is_ok() {
            process.slots.fetch_max(used + 1, AcqRel);
            return Some(used);
        }
        // SAFETY: no other thread has seen it.
        unsafe { system::unmap(thread.cast(), size_of::<Thread>()) };
        used += 1;
    }
    let slot = (0..SLOTS as u32).find(|&slot| may_be_used(slot) && reuse(slot));
    if slot.is_none() {
        process.unwatched.fetch_add(1, Relaxed);
    }
    slot
}

/// Takes a slot if it is free.
fn reuse(slot: u32) -> bool {
    // SAFETY: a slot's memory stays once it is there; `slot_state` is atomic.
    unsafe { get(slot).as_ref() }
        .is_some_and(|thread| thread.slot_state.compare_exchange(FREE, slot_state::USED, AcqRel, Relaxed).is_ok())
}

/// Adds bits to the state of a slot.
pub fn mark(slot: u32, bits: u32) {
    // SAFETY: a slot's memory stays once it is there; `slot_state` is atomic.
    if let Some(thread) = unsafe { get(slot).as_ref() }
        && thread.slot_state.fetch_or(bits, AcqRel) | bits == FREE
    {
        GONE[slot as usize % REMEMBERED].store(slot + 1, Release);
    }
}

/// In a forked child, `thread` is the only one, and has slot 0 (if it is watched at all).
pub unsafe fn after_fork_child(thread: *mut Thread) {
    for entry in &GONE {
        entry.store(0, Relaxed);
    }
    for entry in &THREADS {
        let other = entry.swap(ptr::null_mut(), AcqRel);
        if !other.is_null() && other != thread {
            // SAFETY: the state of a thread that is not in this process.
            unsafe {
                (*other).contexts.clear();
                system::unmap(other.cast(), size_of::<Thread>());
            }
        }
    }
    if let Some(first) = THREADS.first()
        && !thread.is_null()
        && let Some(process) = session::process()
    {
        // SAFETY: the calling thread's own state.
        unsafe {
            (*thread).slot = 0;
            (*thread).slot_state.store(slot_state::USED | slot_state::RELEASED, Relaxed);
        }
        first.store(thread, Release);
        process.slots.store(1, Release);
    }
}
