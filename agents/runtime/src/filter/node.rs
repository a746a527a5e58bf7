//! Nodes: older entries of a cell, in a linked list.

use super::entry::Entry;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// An entry in a list of older ones.
#[repr(C)]
#[derive(Default, Debug)]
pub(super) struct Node {
    pub(super) at: AtomicU64,
    pub(super) what: AtomicU64,
    /// The next node, and how many there are with this one (bits 32 and up).
    pub(super) next: AtomicU64,
}

impl Node {
    #[inline]
    pub(super) fn entry(&self) -> Entry {
        Entry { at: self.at.load(Relaxed), what: self.what.load(Relaxed) }
    }

    #[inline]
    pub(super) fn set_entry(&self, entry: Entry) {
        self.at.store(entry.at, Relaxed);
        self.what.store(entry.what, Relaxed);
    }

    #[inline]
    pub(super) fn next(&self) -> u32 {
        self.next.load(Relaxed) as u32
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        (self.next.load(Relaxed) >> 32) as usize
    }
}
