//! Takes and returns chunks of a process' file: the stack of free ones, and where heads of chunks and slots are.
//!
//! Every function takes the beginning of a mapped file that is as long as [`offset::SIZE`].
// An agent has one such file, mapped as long as the process lives.
#![allow(unsafe_code, clippy::not_unsafe_ptr_arg_deref)]

use crate::layout::{CHUNKS, Chunk, Process, SLOTS, Slot, offset};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};

/// The head of a chunk.
pub fn head(file: *mut u8, index: u32) -> &'static Chunk {
    // SAFETY: within the mapping for every index below `CHUNKS`.
    unsafe { &*file.add(offset::CHUNKS_AT).cast::<Chunk>().add(index as usize % CHUNKS) }
}

/// The part of a slot that the observer sees.
pub fn slot(file: *mut u8, slot: u32) -> &'static Slot {
    // SAFETY: within the mapping for every slot below `SLOTS`.
    unsafe { &*file.add(offset::SLOTS_AT).cast::<Slot>().add(slot as usize % SLOTS) }
}

fn free(file: *mut u8) -> &'static AtomicU64 {
    // SAFETY: the head of the mapped file.
    unsafe { &(*file.cast::<Process>()).free.0 }
}

/// Pops a free chunk from the stack, if there is one.
pub fn pop(file: *mut u8) -> Option<u32> {
    let free = free(file);
    let mut old = free.load(Acquire);
    loop {
        let index = (old as u32).checked_sub(1)?;
        if index as usize >= CHUNKS {
            return None;
        }
        let next = head(file, index).next.load(Acquire);
        let new = (old >> 32).wrapping_add(1) << 32 | u64::from(next);
        match free.compare_exchange_weak(old, new, AcqRel, Acquire) {
            Ok(_) => return Some(index),
            Err(now) => old = now,
        }
    }
}

/// Pushes a chunk onto the stack of free ones.
pub fn push(file: *mut u8, index: u32) {
    let free = free(file);
    let mut old = free.load(Acquire);
    loop {
        head(file, index).next.store(old as u32, Release);
        let new = (old >> 32).wrapping_add(1) << 32 | u64::from(index + 1);
        match free.compare_exchange_weak(old, new, AcqRel, Acquire) {
            Ok(_) => return,
            Err(now) => old = now,
        }
    }
}
