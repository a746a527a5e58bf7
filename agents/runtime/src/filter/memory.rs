//! The state of the filter that all threads of a process share: nodes, ends of slots, and fork–join clocks, in memory
//! that the caller gives.
#![allow(unsafe_code)]

use super::bits::{MOST_SLOTS, NODE_BITS};
use super::entry::Entry;
use super::node::Node;
use super::reads_from::Learned;
use super::recorder::Recorder;
use crate::layout::CacheLine;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};

/// Nodes of one cell at most.
pub(super) const MOST_NODES: usize = 16;

/// The sizes of the tables.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Slots: at most 2^13 - 1.
    pub slots: u32,
    /// Nodes for older entries of cells: at most 2^18 - 1. Each has 24 bytes.
    pub nodes: u32,
}

/// How many older accesses are kept.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Entries of a thread in a cell, 1 to 9, for each kind of access; all but the newest are in nodes.
    pub entries: u32,
    /// Once this many nodes have been in use at once, only 2 entries; with four times as many, 1.
    pub nodes: u32,
    /// A thread keeps (or records, if they are reads among others') this many older accesses of a call context; then
    /// the context is hot, and each word keeps only the newest. So what is done seldom is kept, and what is done all
    /// the time costs little.
    pub per_context: u8,
    /// A conflict that reads-from order rules out as a race is recorded only so often for two call contexts.
    pub per_pair: u8,
    /// After this many accesses at one sync index, a thread notes what it reads ([`Recorder::note_read`]).
    pub long: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { entries: 8, nodes: (2 << 20) / size_of::<Node>() as u32, per_context: 200, per_pair: 64, long: 64 }
    }
}

/// The part of a slot that other threads may read.
#[repr(C, align(64))]
pub(super) struct Slot {
    /// When its thread has ended: the first sync index that it has not used. Else 0.
    pub(super) ended: AtomicU64,
    pub(super) learned: Learned,
}

/// The filter's shared state.
#[derive(Debug)]
pub struct Filter {
    slots: *const Slot,
    fork_join: *const AtomicU64,
    nodes: *const Node,
    shape: Shape,
    pub(super) limits: Limits,
    /// The stack of free nodes: the first one in the lower half, a counter against ABA in the upper half.
    free: CacheLine<AtomicU64>,
    /// Nodes taken so far; number 0 means none.
    fresh: CacheLine<AtomicU32>,
    /// Slots used so far: fork–join clocks are read up to here.
    used: AtomicU32,
    /// Entries that were dropped, as far as threads have reported.
    pub dropped: CacheLine<AtomicU64>,
}

// SAFETY: the memory belongs to the filter alone, and is only accessed atomically.
unsafe impl Send for Filter {}
// SAFETY: as for `Send`.
unsafe impl Sync for Filter {}

impl Filter {
    /// The bytes of memory that a filter of this shape needs. They are touched as they are needed.
    pub const fn bytes(shape: Shape) -> usize {
        let slots = shape.slots as usize;
        slots * size_of::<Slot>() + (shape.nodes as usize + 1) * size_of::<Node>() + slots * slots * 8
    }

    /// A filter in this memory.
    ///
    /// # Safety
    ///
    /// There are [`Filter::bytes`] zeroed bytes at `memory`, aligned to 64, that nothing else uses and that stay.
    pub const unsafe fn new(memory: *mut u8, shape: Shape, limits: Limits) -> Filter {
        assert!(shape.slots <= MOST_SLOTS && shape.nodes < 1 << NODE_BITS);
        assert!(limits.entries >= 1 && 2 * (limits.entries as usize - 1) <= MOST_NODES);
        let slots = shape.slots as usize;
        // SAFETY: all within the bytes that the caller vouches for; the larger alignment comes first.
        unsafe {
            let nodes = memory.add(slots * size_of::<Slot>());
            let fork_join = nodes.add((shape.nodes as usize + 1) * size_of::<Node>());
            Filter {
                slots: memory.cast(),
                nodes: nodes.cast(),
                fork_join: fork_join.cast(),
                shape,
                limits,
                free: CacheLine(AtomicU64::new(0)),
                fresh: CacheLine(AtomicU32::new(1)),
                used: AtomicU32::new(0),
                dropped: CacheLine(AtomicU64::new(0)),
            }
        }
    }

    /// How many slots there can be.
    pub fn slots(&self) -> u32 {
        self.shape.slots
    }

    #[inline]
    pub(super) fn slot(&self, slot: u32) -> &Slot {
        assert!(slot < self.shape.slots);
        // SAFETY: checked against the memory's shape.
        unsafe { &*self.slots.add(slot as usize) }
    }

    /// What the thread of a slot has learned from its reads.
    pub(super) fn learned(&self, slot: u32) -> &Learned {
        &self.slot(slot).learned
    }

    /// In the fork–join clock of a slot: the first sync index of another slot that is not ordered before it.
    #[inline]
    pub(super) fn fork_join(&self, slot: u32, of: u32) -> &AtomicU64 {
        assert!(slot < self.shape.slots && of < self.shape.slots);
        // SAFETY: both are checked.
        unsafe { &*self.fork_join.add(slot as usize * self.shape.slots as usize + of as usize) }
    }

    /// Whether a point of another slot is ordered before a slot, by forks and joins. False for slots that there cannot
    /// be: a hook that nothing guards may come here, and must not fail.
    #[inline]
    pub(super) fn is_ordered(&self, slot: u32, of: u32, sync_index: u64) -> bool {
        slot < self.shape.slots && of < self.shape.slots && self.fork_join(slot, of).load(Relaxed) > sync_index
    }

    /// The node of this number, which was taken.
    #[inline]
    pub(super) fn node(&self, node: u32) -> &Node {
        assert!(node <= self.shape.nodes);
        // SAFETY: checked.
        unsafe { &*self.nodes.add(node as usize) }
    }

    /// The entries of a list of nodes, the newest first.
    pub(super) fn list(&self, mut at: u32) -> impl Iterator<Item = (u32, Entry)> {
        core::iter::from_fn(move || {
            let number = at;
            (number != 0).then(|| {
                let node = self.node(number);
                at = node.next();
                (number, node.entry())
            })
        })
    }

    /// The length of a list of nodes.
    #[inline]
    pub(super) fn count(&self, nodes: u32) -> usize {
        if nodes == 0 { 0 } else { self.node(nodes).count() }
    }

    /// How many entries of a kind a thread may have in a cell, now.
    #[inline]
    pub(super) fn entries(&self) -> usize {
        let (fresh, limits) = (self.fresh.0.load(Relaxed), &self.limits);
        let entries = match fresh {
            _ if fresh / 4 > limits.nodes => 1,
            _ if fresh > limits.nodes => limits.entries.min(2),
            _ => limits.entries,
        };
        entries as usize
    }

    /// Takes a node.
    pub(super) fn take_node(&self) -> Option<u32> {
        let mut head = self.free.0.load(Acquire);
        while head as u32 != 0 {
            let next = self.node(head as u32).next();
            let new = (head >> 32).wrapping_add(1) << 32 | u64::from(next);
            match self.free.0.compare_exchange_weak(head, new, AcqRel, Acquire) {
                Ok(_) => return Some(head as u32),
                Err(now) => head = now,
            }
        }
        let fresh = self.fresh.0.fetch_update(Relaxed, Relaxed, |n| (n <= self.shape.nodes).then_some(n + 1));
        fresh.ok()
    }

    /// Gives a node back.
    pub(super) fn give_node(&self, node: u32) {
        let mut head = self.free.0.load(Relaxed);
        loop {
            self.node(node).next.store(head & u64::from(u32::MAX), Relaxed);
            let new = (head >> 32).wrapping_add(1) << 32 | u64::from(node);
            match self.free.0.compare_exchange_weak(head, new, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    pub(super) fn use_slot(&self, slot: u32) {
        self.used.fetch_max(slot + 1, AcqRel);
    }

    /// Joins the fork–join clock of one slot into another's.
    pub(super) fn join_clock(&self, into: u32, from: u32) {
        for of in 0..self.used.load(Acquire) {
            let known = self.fork_join(from, of).load(Relaxed);
            if known > self.fork_join(into, of).load(Relaxed) {
                self.fork_join(into, of).store(known, Relaxed);
            }
        }
    }

    /// Whether a slot, whose thread has ended, may be given to a new thread that this one is about to fork: all that
    /// the old thread did is ordered before the fork in every run. Sync indexes then simply go on.
    pub fn may_use_again(&self, slot: u32, by: &Recorder) -> bool {
        let ended = self.slot(slot).ended.load(Acquire);
        slot != by.slot() && ended != 0 && self.fork_join(by.slot(), slot).load(Relaxed) >= ended
    }
}
