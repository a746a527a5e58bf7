//! A cell: what is known of a granule, in four words that are locked as one.
//!
//! Two halves, each an entry of two words, and what concerns the whole cell in the bits they leave:
//!
//! | bits | first word | second word |
//! | --- | --- | --- |
//! | 0..8 | flags 4, rank (from bit 4) | bytes |
//! | 8..32 | rank to bit 18, position (from bit 18) | place |
//! | 32..46 | position | its rank less that of the first access like it |
//! | 46..64 | position to bit 51, slot 13 | of the first entry: nodes (lower 10 bits), bytes read 8; of the second: nodes (upper 9), foreign half 1, foreign bytes 8 |
//!
//! Of an Exclusive cell, the first entry is the owner's newest read (without bytes: none, but it names the owner) and the second
//! the newest write, its own or of one that comes before it in every run; of a Shared one, both are reads of two threads.
//!
//! The halves lie apart, so that two threads that read the same memory all the time change different lines of the cache: threads of
//! even slots are the first entry of a Shared cell, if they can, and those of odd ones the second.
//!
//! Only who holds the lock (the first word is [`LOCKED`]), or knows that it is alone, writes to a cell; but a reader renews its own
//! entry without the lock, both words at once ([`AtomicEntry::exchange`]): of a first entry the lock is one of them, and a second one is taken out
//! by who has the lock ([`Cell::contents`]).

use super::{Sink, wide};
use core::hint::spin_loop;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

const SLOT_BITS: u32 = 13;
const SYNC_INDEX_BITS: u32 = 33;
const SEQ_BITS: u32 = 14;
const SEQ_SHIFT: u32 = 4;
/// Above it are position and slot.
pub(super) const EPOCH_SHIFT: u32 = SEQ_SHIFT + SEQ_BITS;
pub(super) const SLOT_SHIFT: u32 = EPOCH_SHIFT + SYNC_INDEX_BITS;
const CONTEXT_SHIFT: u32 = 8;
const CONTEXT_BITS: u32 = crate::record::CONTEXT_BITS;
const SPAN_SHIFT: u32 = CONTEXT_SHIFT + CONTEXT_BITS;
const NODES_SHIFT: u32 = SPAN_SHIFT + SEQ_BITS;
const NODES_HALF: u32 = 10;
const NODES_REST: u32 = 9;
/// Bytes read, or foreign ones.
pub(super) const BYTES_SHIFT: u32 = NODES_SHIFT + NODES_HALF;
/// Nodes have numbers of so many bits.
pub(super) const NODE_BITS: u32 = NODES_HALF + NODES_REST;

/// Ranks at a position; then another begins.
pub(super) const MAX_SEQ: u32 = (1 << SEQ_BITS) - 1;
/// Positions of a slot; then its thread records everything.
pub(super) const MAX_SYNC_INDEX: u64 = (1 << SYNC_INDEX_BITS) - 1;
/// Slots that can be told apart from the states without one.
pub(super) const MOST_SLOTS: u32 = (1 << SLOT_BITS) - 1;

/// Values of the first word that are no entry.
pub(super) const EMPTY: u64 = 0;
pub(super) const LOCKED: u64 = u64::MAX;
pub(super) const FREED: u64 = u64::MAX - 1;
pub(super) const WATCHED: u64 = u64::MAX - 2;

/// The access is in the trace already, or will be in no case: the entry only says that later ones are covered.
pub(super) const RECORDED: u64 = 1;
/// Accesses before it were dropped: reads, or if it is a write, any.
pub(super) const DROPPED: u64 = 2;
/// Of a second entry or a node: it is a write.
const WRITE: u64 = 4;
/// Of a first entry: the cell is Shared.
pub(super) const SHARED: u64 = 4;
/// Of a first entry: others must arrive at a write that no entry tells of.
pub(super) const VERSION: u64 = 8;
/// Of a second entry: the lower half of the granule is foreign to the owner's reads.
const LOWER_UNREAD: u64 = 8;
/// In its second word: the upper half is.
const UPPER_UNREAD: u64 = 1 << (NODES_SHIFT + NODES_REST);

pub(super) const OWN_BITS: u64 = (1 << NODES_SHIFT) - 1;
const HALF: u64 = (1 << NODES_HALF) - 1;
const REST: u64 = (1 << NODES_REST) - 1;

/// Spins before the processor is given away.
const SPINS: u32 = 100;

/// Half of a cell. Zeroed memory is that of one of which nothing is known.
#[repr(C, align(16))]
#[derive(Default, Debug)]
pub struct AtomicEntry([AtomicU64; 2]);

impl AtomicEntry {
    #[inline(always)]
    pub(super) fn of(entry: Entry) -> AtomicEntry {
        AtomicEntry([AtomicU64::new(entry.at), AtomicU64::new(entry.what)])
    }

    #[inline(always)]
    pub(super) fn at(&self) -> u64 {
        self.0[0].load(Relaxed)
    }

    #[inline(always)]
    pub(super) fn what(&self) -> u64 {
        self.0[1].load(Relaxed)
    }

    /// The second word, before anything that is read next.
    #[inline(always)]
    pub(super) fn what_first(&self) -> u64 {
        self.0[1].load(Acquire)
    }

    #[inline(always)]
    pub(super) fn set_at(&self, at: u64) {
        self.0[0].store(at, Relaxed);
    }

    /// Its two words, which may not belong together.
    #[inline(always)]
    pub(super) fn entry(&self) -> Entry {
        Entry { at: self.at(), what: self.what() }
    }

    #[inline(always)]
    pub(super) fn set(&self, at: u64, what: u64) {
        self.0[1].store(what, Relaxed);
        self.0[0].store(at, Relaxed);
    }

    /// Replaces both words at once, if they are these.
    #[inline(always)]
    pub(super) fn exchange(&self, old: Entry, new: Entry) -> bool {
        wide::exchange(&self.0, [old.at, old.what], [new.at, new.what])
    }
}

/// What is known of a granule: its two halves.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    pub(super) first: &'a AtomicEntry,
    pub(super) second: &'a AtomicEntry,
}

impl<'a> Cell<'a> {
    /// The cell of these halves. Always the same two belong together.
    #[inline(always)]
    pub fn new(first: &'a AtomicEntry, second: &'a AtomicEntry) -> Cell<'a> {
        Cell { first, second }
    }

    /// Makes it the cell of a watched variable: accesses go past the filter. Nobody has accessed it yet.
    pub fn watch(&self) {
        self.first.0[0].store(WATCHED, Relaxed);
    }

    /// Whether it is a watched variable's.
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        self.state() == WATCHED
    }

    /// Whether anything is known. A range of cells that are all empty can be given back.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.state() == EMPTY
    }

    /// Whether anything is known of what is in the granule now.
    #[inline(always)]
    pub fn is_in_use(&self) -> bool {
        is_known(self.state())
    }

    /// The first word.
    #[inline(always)]
    pub(super) fn state(&self) -> u64 {
        self.first.at()
    }

    /// The first word that `fits`, now locked (if `biased`, nobody else comes anyway); or, without the lock, one that does not fit.
    #[inline]
    pub(super) fn lock(&self, sink: &impl Sink, biased: bool, fits: impl Fn(u64) -> bool) -> Result<u64, u64> {
        let mut spins = 0;
        loop {
            let a = self.state();
            if a != LOCKED {
                if !fits(a) {
                    return Err(a);
                }
                if biased || self.first.0[0].compare_exchange_weak(a, LOCKED, Acquire, Relaxed).is_ok() {
                    return Ok(a);
                }
            }
            spins += 1;
            if spins % SPINS == 0 {
                sink.yield_now();
            } else {
                spin_loop();
            }
        }
    }

    /// Locks it, if its first word is still this one.
    #[inline(always)]
    pub(super) fn try_lock(&self, a: u64) -> bool {
        self.first.0[0].compare_exchange(a, LOCKED, Acquire, Relaxed).is_ok()
    }

    /// Unlocks it, with this first word.
    #[inline]
    pub(super) fn unlock(&self, a: u64) {
        self.first.0[0].store(a, Release);
    }

    /// What is in a cell that this thread has locked. A second reader is taken out: what it does from
    /// then on waits for the lock.
    #[inline]
    pub(super) fn contents(&self, a: u64) -> Contents {
        Contents::unpack(self.take(a))
    }

    /// The same as it stands in its halves.
    #[inline]
    pub(super) fn take(&self, a: u64) -> Packed {
        let c = if a & SHARED != 0 { self.second.0[0].swap(0, AcqRel) } else { self.second.at() };
        [Entry { at: a, what: self.first.what() }, Entry { at: c, what: self.second.what() }]
    }

    /// Whether a locked cell that is known has older entries.
    #[inline(always)]
    pub(super) fn has_nodes(&self) -> bool {
        self.first.what() >> NODES_SHIFT & HALF != 0 || self.second.what() >> NODES_SHIFT & REST != 0
    }

    /// Unlocks it, with these words of the first entry.
    #[inline(always)]
    pub(super) fn set_first(&self, entry: Entry) {
        self.first.0[1].store(entry.what, Relaxed);
        self.unlock(entry.at);
    }

    /// Unlocks it, with this in it.
    #[inline]
    pub(super) fn set(&self, contents: &Contents) {
        self.put(contents.pack());
    }

    /// Unlocks it, with this in its halves.
    #[inline]
    pub(super) fn put(&self, [first, second]: Packed) {
        self.second.set(second.at, second.what);
        self.set_first(first);
    }

    /// The bytes that are foreign to the writes of the owner of an Exclusive cell.
    #[inline(always)]
    pub(super) fn foreign(&self) -> u8 {
        (self.second.what() >> BYTES_SHIFT) as u8
    }

    /// Whether a half of the granule is foreign to the reads of the owner of an Exclusive cell.
    #[inline(always)]
    pub(super) fn has_unread(&self) -> bool {
        self.second.at() & LOWER_UNREAD != 0 || self.second.what() & UPPER_UNREAD != 0
    }

    /// Whether it is not Shared, if it is known.
    pub(super) fn is_exclusive(&self) -> bool {
        self.state() & SHARED == 0
    }

    /// Of a cell that is Exclusive of who did it: it has read these bytes since, at this moment, and that takes the place of what was kept of
    /// its reads.
    pub(super) fn was_read(&self, at: u64, mask: u8, context: u32) {
        let a = self.state();
        if !is_known(a) || is_shared(a) || !same_slot(a, at) || (a ^ at) >> SEQ_SHIFT == 0 {
            return;
        }
        let first = Entry { at: a, what: self.first.what() };
        let entry = first.renewed(at, mask, context);
        let bytes = u64::from(mask) << BYTES_SHIFT;
        self.set_first(Entry { what: entry.what & !(0xff << BYTES_SHIFT) | bytes, ..entry });
    }

    /// Forgets everything, and unlocks it with this state.
    pub(super) fn clear(&self, state: u64) {
        self.first.0[1].store(0, Relaxed);
        self.second.set(0, 0);
        self.unlock(state);
    }
}

const LOWER: u8 = 0x0f;
const UPPER: u8 = 0xf0;

/// The halves that are foreign to the owner's reads, of the words of a second entry.
#[inline(always)]
pub(super) const fn unread(at: u64, what: u64) -> u8 {
    (if at & LOWER_UNREAD != 0 { LOWER } else { 0 }) | if what & UPPER_UNREAD != 0 { UPPER } else { 0 }
}

/// Halves without those that these bytes are all of.
#[inline]
pub(super) const fn without_halves(halves: u8, bytes: u8) -> u8 {
    halves & !(if bytes & LOWER == LOWER { LOWER } else { 0 } | if bytes & UPPER == UPPER { UPPER } else { 0 })
}

/// Whether this is the first word of an Exclusive or Shared cell.
#[inline(always)]
pub(super) const fn is_known(a: u64) -> bool {
    a != EMPTY && a < (MOST_SLOTS as u64) << SLOT_SHIFT
}

#[inline(always)]
pub(super) const fn is_shared(a: u64) -> bool {
    is_known(a) && a & SHARED != 0
}

/// Slot and position, as they stand in first words.
#[inline(always)]
pub(super) const fn epoch_of(slot: u32, sync_index: u64) -> u64 {
    (slot as u64) << SLOT_SHIFT | sync_index << EPOCH_SHIFT
}

#[inline(always)]
pub(super) const fn slot_of(a: u64) -> u32 {
    (a >> SLOT_SHIFT) as u32
}

/// A rank at a position, as it stands in first words.
#[inline(always)]
pub(super) const fn point(epoch_of: u64, seq: u32) -> u64 {
    epoch_of | (seq as u64) << SEQ_SHIFT
}

/// What a rank is further than the one before it.
pub(super) const NEXT_SEQ: u64 = 1 << SEQ_SHIFT;

/// The rank of a moment.
#[inline(always)]
pub(super) const fn seq_of(point: u64) -> u32 {
    (point >> SEQ_SHIFT) as u32 & MAX_SEQ
}

/// Whether a second entry or a node that begins so is a write.
#[inline(always)]
pub(super) const fn is_write(at: u64) -> bool {
    at & WRITE != 0
}

/// The first word of an entry with bytes at a later moment; what concerns the cell stays. If it was kept, it is dropped.
#[inline(always)]
pub(super) const fn renewed(at: u64, point: u64) -> u64 {
    let dropped = (!at & RECORDED) * (DROPPED / RECORDED);
    point | at & (SHARED | VERSION | DROPPED) | dropped
}

/// The same slot and position.
#[inline(always)]
pub(super) const fn same_epoch(a: u64, epoch_of: u64) -> bool {
    (a ^ epoch_of) >> EPOCH_SHIFT == 0
}

/// The same slot, position and rank.
#[inline(always)]
pub(super) const fn same_point(a: u64, b: u64) -> bool {
    (a ^ b) >> SEQ_SHIFT == 0
}

/// The same slot.
#[inline(always)]
pub(super) const fn same_slot(a: u64, epoch_of: u64) -> bool {
    (a ^ epoch_of) >> SLOT_SHIFT == 0
}

/// An entry: an access, and the first one like it at the same position.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Entry {
    /// Slot, position, rank, flags.
    pub(super) at: u64,
    /// Bytes, place, span.
    pub(super) what: u64,
}

impl Entry {
    /// An access that is kept.
    #[inline(always)]
    pub(super) fn deferred(epoch_of: u64, seq: u32, mask: u8, context: u32, write: bool) -> Entry {
        Entry {
            at: epoch_of | (seq as u64) << SEQ_SHIFT | if write { WRITE } else { 0 },
            what: Entry::what(mask, context),
        }
    }

    /// The second word of one that is kept.
    #[inline(always)]
    pub(super) const fn what(mask: u8, context: u32) -> u64 {
        mask as u64 | (context as u64) << CONTEXT_SHIFT
    }

    /// One that was written.
    #[inline]
    pub(super) fn recorded(epoch_of: u64, mask: u8, write: bool) -> Entry {
        let entry = Entry::deferred(epoch_of, 0, mask, 0, write);
        Entry { at: entry.at | RECORDED, ..entry }
    }

    /// No access; but the thread knows of what was there before.
    #[inline]
    pub(super) fn nothing(epoch_of: u64) -> Entry {
        Entry { at: epoch_of | 1 << SEQ_SHIFT, what: 0 }
    }

    #[inline(always)]
    pub(super) fn slot(&self) -> u32 {
        slot_of(self.at)
    }

    #[inline(always)]
    pub(super) fn sync_index(&self) -> u64 {
        self.at >> EPOCH_SHIFT & MAX_SYNC_INDEX
    }

    #[inline(always)]
    pub(super) fn mask(&self) -> u8 {
        self.what as u8
    }

    #[inline(always)]
    pub(super) fn context(&self) -> u32 {
        (self.what >> CONTEXT_SHIFT) as u32 & ((1 << CONTEXT_BITS) - 1)
    }

    /// The rank of the first access like it.
    #[inline(always)]
    pub(super) fn first(&self) -> u32 {
        self.last() - (self.what >> SPAN_SHIFT & u64::from(MAX_SEQ)) as u32
    }

    /// Its rank.
    #[inline(always)]
    pub(super) fn last(&self) -> u32 {
        seq_of(self.at)
    }

    /// It happens again.
    #[inline(always)]
    pub(super) fn set_last(&mut self, seq: u32) {
        let further = u64::from(seq - self.last());
        self.at += further << SEQ_SHIFT;
        self.what += further << SPAN_SHIFT;
    }

    #[inline(always)]
    pub(super) fn add_bytes(&mut self, mask: u8) {
        self.what |= u64::from(mask);
    }

    #[inline(always)]
    pub(super) fn is_write(&self) -> bool {
        self.at & WRITE != 0
    }

    /// Whether it is a write of this moment.
    #[inline(always)]
    pub(super) fn is_write_at(&self, point: u64) -> bool {
        self.at & !(RECORDED | DROPPED | LOWER_UNREAD) == point | WRITE
    }

    #[inline(always)]
    pub(super) fn has_dropped(&self) -> bool {
        self.at & DROPPED != 0
    }

    #[inline(always)]
    pub(super) fn set_dropped(&mut self) {
        self.at |= DROPPED;
    }

    /// The first one like it is dropped, too.
    #[inline]
    pub(super) fn forget_first(&mut self) {
        self.what &= !(u64::from(MAX_SEQ) << SPAN_SHIFT);
    }

    /// What was dropped before it is of no concern.
    #[inline]
    pub(super) fn clear_dropped(&mut self) {
        self.at &= !DROPPED;
    }

    /// The same, with these bytes, when it was written.
    #[inline]
    pub(super) fn recorded_with(&self, mask: u8) -> Entry {
        Entry { at: self.at | RECORDED, what: self.what | u64::from(mask) }
    }

    /// Whether it is to be written when another thread comes.
    #[inline(always)]
    pub(super) fn is_deferred(&self) -> bool {
        self.mask() != 0 && self.at & RECORDED == 0
    }

    /// Whether its flags allow that it gives its place to a later one without a word.
    #[inline(always)]
    pub(super) fn is_dropped_or_recorded(&self) -> bool {
        self.at & (DROPPED | RECORDED) != 0
    }

    /// In the words of a cell, the later one: what concerns the cell stays. This one is dropped.
    #[inline(always)]
    pub(super) fn renewed(&self, point: u64, mask: u8, context: u32) -> Entry {
        let dropped = if self.is_deferred() { DROPPED } else { self.at & DROPPED };
        Entry {
            at: point | self.at & (SHARED | VERSION) | dropped,
            what: self.what & !OWN_BITS | Entry::what(mask, context),
        }
    }

    /// Whether nothing is to be written for it, not even a pin.
    #[inline(always)]
    pub(super) fn is_silent(&self) -> bool {
        !self.is_deferred() && !self.has_dropped()
    }
}

/// What is in a cell, as it stands in its halves.
pub(super) type Packed = [Entry; 2];

/// What is in a cell.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Contents {
    pub(super) first: Entry,
    pub(super) second: Entry,
    pub(super) shared: bool,
    pub(super) version: bool,
    /// The bytes that the first entry's thread has read at its position.
    pub(super) read: u8,
    /// Of an Exclusive cell: bytes that others have accessed, and the owner has not written since.
    pub(super) foreign: u8,
    /// The halves with such bytes, as bytes, that the owner has not read since either. Of a Shared one: not 0 if atomic loads may have come in between.
    pub(super) unread: u8,
    /// The first node of older entries, or 0.
    pub(super) nodes: u32,
}

impl Contents {
    /// What these halves say.
    #[inline]
    pub(super) fn unpack([Entry { at: a, what: b }, Entry { at: c, what: d }]: Packed) -> Contents {
        Contents {
            first: Entry { at: a & !(SHARED | VERSION), what: b & OWN_BITS },
            second: Entry { at: c & !LOWER_UNREAD, what: d & OWN_BITS },
            shared: a & SHARED != 0,
            version: a & VERSION != 0,
            read: (b >> BYTES_SHIFT) as u8,
            foreign: (d >> BYTES_SHIFT) as u8,
            unread: unread(c, d),
            nodes: ((b >> NODES_SHIFT & HALF) | (d >> NODES_SHIFT & REST) << NODES_HALF) as u32,
        }
    }

    /// The halves that say this.
    #[inline]
    pub(super) fn pack(&self) -> Packed {
        let nodes = u64::from(self.nodes);
        let low = (nodes & HALF) << NODES_SHIFT | u64::from(self.read) << BYTES_SHIFT;
        let mut high = (nodes >> NODES_HALF) << NODES_SHIFT | u64::from(self.foreign) << BYTES_SHIFT;
        if self.unread & UPPER != 0 {
            high |= UPPER_UNREAD;
        }
        let lower = if self.unread & LOWER != 0 { LOWER_UNREAD } else { 0 };
        let flags = if self.shared { SHARED } else { 0 } | if self.version { VERSION } else { 0 };
        let first = Entry { at: self.first.at | flags, what: self.first.what | low };
        [first, Entry { at: self.second.at | lower, what: self.second.what | high }]
    }

    /// Whether atomic accesses have left it, and nobody else has come since.
    pub(super) fn is_nobody(&self) -> bool {
        self.first.mask() == 0 && self.first.sync_index() == 0 && self.second.at == 0 && self.nodes == 0
    }
}

const _: () = assert!(BYTES_SHIFT + 8 == 64 && SLOT_SHIFT + SLOT_BITS == 64 && SHARED == WRITE);
