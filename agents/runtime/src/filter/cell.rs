//! A shadow cell: what is known of one word of memory, in two entries that are locked as one.
//!
//! Each entry is two words of 64 bits, `at` and `what`:
//!
//! ```text
//!        63        51 50             18 17            4 3   0
//!  at   | slot       | sync index      | sequence no.  |flags|
//!
//!        63        56 55     46 45           32 31       8 7     0
//!  what | bytes read | nodes   | span          | context  | bytes | first entry
//!  what | foreign    | nodes   | span          | context  | bytes | second entry
//! ```
//!
//! `span` is the entry's sequence number less that of the first access like it. The number of the list of nodes has its
//! low 10 bits in the first entry and its high 9 bits in the second; bit 55 of the second says that the upper half of
//! the word is foreign to the owner's reads.
//!
//! In an Exclusive cell, the first entry is the owner's newest read (without bytes: there is none, but the entry names
//! the owner), and the second the newest write, its own or of a thread that is ordered before it. In a Shared cell,
//! both are reads of two threads.
//!
//! The entries lie apart, so that two threads that read the same memory all the time change different cache lines:
//! threads with even slots use the first entry of a Shared cell, if they can, and those with odd slots the second.
//!
//! A cell is written by a thread that holds its lock (`at` of the first entry is [`LOCKED`]), or that owns its biased
//! region. One exception: a reader renews its own entry without the lock, both words at once
//! ([`AtomicEntry::exchange`]). For a first entry the lock is one of the two words; a second one is taken out by the
//! thread that has the lock ([`Cell::contents`]).

use super::{Sink, wide};
use core::hint::spin_loop;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

const SLOT_BITS: u32 = 13;
const SYNC_INDEX_BITS: u32 = 33;
const SEQ_BITS: u32 = 14;
const SEQ_SHIFT: u32 = 4;
/// Above this bit are sync index and slot: the epoch.
pub(super) const EPOCH_SHIFT: u32 = SEQ_SHIFT + SEQ_BITS;
pub(super) const SLOT_SHIFT: u32 = EPOCH_SHIFT + SYNC_INDEX_BITS;
const CONTEXT_SHIFT: u32 = 8;
const CONTEXT_BITS: u32 = crate::record::CONTEXT_BITS;
const SPAN_SHIFT: u32 = CONTEXT_SHIFT + CONTEXT_BITS;
const NODES_SHIFT: u32 = SPAN_SHIFT + SEQ_BITS;
const NODES_HALF: u32 = 10;
const NODES_REST: u32 = 9;
/// Above this bit are the bytes read, or the foreign ones.
pub(super) const BYTES_SHIFT: u32 = NODES_SHIFT + NODES_HALF;
/// Bits of the number of a node.
pub(super) const NODE_BITS: u32 = NODES_HALF + NODES_REST;

/// Sequence numbers at a sync index; then another begins.
pub(super) const MAX_SEQ: u32 = (1 << SEQ_BITS) - 1;
/// Sync indexes of a slot; then its thread records everything.
pub(super) const MAX_SYNC_INDEX: u64 = (1 << SYNC_INDEX_BITS) - 1;
/// Slots that differ from the values of `at` that are no entry.
pub(super) const MOST_SLOTS: u32 = (1 << SLOT_BITS) - 1;

/// Values of the first `at` that are no entry.
pub(super) const EMPTY: u64 = 0;
pub(super) const LOCKED: u64 = u64::MAX;
pub(super) const FREED: u64 = u64::MAX - 1;
pub(super) const WATCHED: u64 = u64::MAX - 2;

/// The access is in the trace already, or never will be: the entry only says that later ones are covered.
pub(super) const RECORDED: u64 = 1;
/// Accesses before it were dropped: reads; or if it is a write, any.
pub(super) const DROPPED: u64 = 2;
/// In a second entry or a node: it is a write.
const WRITE: u64 = 4;
/// In a first entry: the cell is Shared.
pub(super) const SHARED: u64 = 4;
/// In a first entry: there is a recorded write that no entry shows; other threads' first reads of it conflict.
pub(super) const VERSION: u64 = 8;
/// In a second entry: the lower half of the word is foreign to the owner's reads.
const LOWER_FOREIGN_TO_READS: u64 = 8;
/// In `what` of a second entry: the upper half of the word is.
const UPPER_FOREIGN_TO_READS: u64 = 1 << (NODES_SHIFT + NODES_REST);

pub(super) const OWN_BITS: u64 = (1 << NODES_SHIFT) - 1;
const HALF: u64 = (1 << NODES_HALF) - 1;
const REST: u64 = (1 << NODES_REST) - 1;

/// Attempts before the thread yields its processor.
const SPINS: u32 = 100;

/// The storage of an entry: two words that can be exchanged as one. Zeroed memory is an empty entry.
#[repr(C, align(16))]
#[derive(Default, Debug)]
pub struct AtomicEntry([AtomicU64; 2]);

impl AtomicEntry {
    #[inline(always)]
    pub(super) fn new(entry: Entry) -> AtomicEntry {
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

    /// Loads `what` before anything that is loaded next.
    #[inline(always)]
    pub(super) fn what_first(&self) -> u64 {
        self.0[1].load(Acquire)
    }

    #[inline(always)]
    pub(super) fn set_at(&self, at: u64) {
        self.0[0].store(at, Relaxed);
    }

    /// Loads both words, which may not belong together.
    #[inline(always)]
    pub(super) fn entry(&self) -> Entry {
        Entry { at: self.at(), what: self.what() }
    }

    #[inline(always)]
    pub(super) fn set(&self, at: u64, what: u64) {
        self.0[1].store(what, Relaxed);
        self.0[0].store(at, Relaxed);
    }

    /// Replaces both words at once, if they are still the old ones.
    #[inline(always)]
    pub(super) fn exchange(&self, old: Entry, new: Entry) -> bool {
        wide::exchange(&self.0, [old.at, old.what], [new.at, new.what])
    }
}

/// The shadow cell of a word: references to its two entries.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    pub(super) first: &'a AtomicEntry,
    pub(super) second: &'a AtomicEntry,
}

impl<'a> Cell<'a> {
    /// The cell of these entries. The same two always belong together.
    #[inline(always)]
    pub fn new(first: &'a AtomicEntry, second: &'a AtomicEntry) -> Cell<'a> {
        Cell { first, second }
    }

    /// Makes it the cell of a watched variable: accesses bypass the filter. No thread has accessed it yet.
    pub fn watch(&self) {
        self.first.0[0].store(WATCHED, Relaxed);
    }

    /// Whether it is a watched variable's.
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        self.state() == WATCHED
    }

    /// Whether nothing is known. A range of empty cells can be given back.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.state() == EMPTY
    }

    /// Whether anything is known of the word's present contents.
    #[inline(always)]
    pub fn is_in_use(&self) -> bool {
        is_known(self.state())
    }

    /// `at` of the first entry: the state of the cell, and its lock.
    #[inline(always)]
    pub(super) fn state(&self) -> u64 {
        self.first.at()
    }

    /// Waits for the lock, and returns the state, now locked, if it `fits` (with `biased`, no lock is needed); or,
    /// without the lock, a state that does not fit.
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

    /// Locks the cell, if its state is still this one.
    #[inline(always)]
    pub(super) fn try_lock(&self, a: u64) -> bool {
        self.first.0[0].compare_exchange(a, LOCKED, Acquire, Relaxed).is_ok()
    }

    /// Unlocks the cell with this state.
    #[inline]
    pub(super) fn unlock(&self, a: u64) {
        self.first.0[0].store(a, Release);
    }

    /// The contents of a cell that this thread has locked. A second reader is taken out: it waits for the lock with
    /// what it does from then on.
    #[inline]
    pub(super) fn contents(&self, a: u64) -> Contents {
        Contents::unpack(self.take_packed(a))
    }

    /// The packed contents of a cell that this thread has locked.
    #[inline]
    pub(super) fn take_packed(&self, a: u64) -> Packed {
        let c = if a & SHARED != 0 { self.second.0[0].swap(0, AcqRel) } else { self.second.at() };
        [Entry { at: a, what: self.first.what() }, Entry { at: c, what: self.second.what() }]
    }

    /// Whether a locked cell that is in use has older entries.
    #[inline(always)]
    pub(super) fn has_nodes(&self) -> bool {
        self.first.what() >> NODES_SHIFT & HALF != 0 || self.second.what() >> NODES_SHIFT & REST != 0
    }

    /// Unlocks the cell with this first entry.
    #[inline(always)]
    pub(super) fn set_first(&self, entry: Entry) {
        self.first.0[1].store(entry.what, Relaxed);
        self.unlock(entry.at);
    }

    /// Unlocks the cell with these contents.
    #[inline]
    pub(super) fn set(&self, contents: &Contents) {
        self.put(contents.pack());
    }

    /// Unlocks the cell with these packed contents.
    #[inline]
    pub(super) fn put(&self, [first, second]: Packed) {
        self.second.set(second.at, second.what);
        self.set_first(first);
    }

    /// The bytes that are foreign to the writes of an Exclusive cell's owner.
    #[inline(always)]
    pub(super) fn foreign(&self) -> u8 {
        (self.second.what() >> BYTES_SHIFT) as u8
    }

    /// Whether a half of the word is foreign to the reads of an Exclusive cell's owner.
    #[inline(always)]
    pub(super) fn has_foreign_to_reads(&self) -> bool {
        self.second.at() & LOWER_FOREIGN_TO_READS != 0 || self.second.what() & UPPER_FOREIGN_TO_READS != 0
    }

    /// Whether a cell in use is not Shared.
    pub(super) fn is_exclusive(&self) -> bool {
        self.state() & SHARED == 0
    }

    /// Renews the read entry of an Exclusive cell, if it belongs to the thread of `at`: that thread has read these
    /// bytes since, at this point, and the new entry replaces the old one.
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

    /// Forgets everything, and unlocks the cell with this state.
    pub(super) fn clear(&self, state: u64) {
        self.first.0[1].store(0, Relaxed);
        self.second.set(0, 0);
        self.unlock(state);
    }
}

const LOWER: u8 = 0x0f;
const UPPER: u8 = 0xf0;

/// The halves of a word that are foreign to the owner's reads, by the second entry.
#[inline(always)]
pub(super) const fn foreign_to_reads(at: u64, what: u64) -> u8 {
    (if at & LOWER_FOREIGN_TO_READS != 0 { LOWER } else { 0 })
        | if what & UPPER_FOREIGN_TO_READS != 0 { UPPER } else { 0 }
}

/// Removes the halves that are completely among these bytes.
#[inline]
pub(super) const fn without_halves(halves: u8, bytes: u8) -> u8 {
    halves & !(if bytes & LOWER == LOWER { LOWER } else { 0 } | if bytes & UPPER == UPPER { UPPER } else { 0 })
}

/// Whether this is the state of an Exclusive or Shared cell.
#[inline(always)]
pub(super) const fn is_known(a: u64) -> bool {
    a != EMPTY && a < (MOST_SLOTS as u64) << SLOT_SHIFT
}

#[inline(always)]
pub(super) const fn is_shared(a: u64) -> bool {
    is_known(a) && a & SHARED != 0
}

/// An epoch, as in `at`: slot and sync index.
#[inline(always)]
pub(super) const fn epoch_of(slot: u32, sync_index: u64) -> u64 {
    (slot as u64) << SLOT_SHIFT | sync_index << EPOCH_SHIFT
}

#[inline(always)]
pub(super) const fn slot_of(a: u64) -> u32 {
    (a >> SLOT_SHIFT) as u32
}

/// A point of a thread, as in `at`: epoch and sequence number.
#[inline(always)]
pub(super) const fn point(epoch_of: u64, seq: u32) -> u64 {
    epoch_of | (seq as u64) << SEQ_SHIFT
}

/// The distance between consecutive sequence numbers in `at`.
pub(super) const NEXT_SEQ: u64 = 1 << SEQ_SHIFT;

/// The sequence number of a point.
#[inline(always)]
pub(super) const fn seq_of(point: u64) -> u32 {
    (point >> SEQ_SHIFT) as u32 & MAX_SEQ
}

/// Whether a second entry or a node with this `at` is a write.
#[inline(always)]
pub(super) const fn is_write(at: u64) -> bool {
    at & WRITE != 0
}

/// `at` of an entry that was renewed at a later point; the flags of the cell stay. If the entry was deferred, it is
/// dropped.
#[inline(always)]
pub(super) const fn renewed(at: u64, point: u64) -> u64 {
    let dropped = (!at & RECORDED) * (DROPPED / RECORDED);
    point | at & (SHARED | VERSION | DROPPED) | dropped
}

/// Whether two epochs are equal.
#[inline(always)]
pub(super) const fn same_epoch(a: u64, epoch_of: u64) -> bool {
    (a ^ epoch_of) >> EPOCH_SHIFT == 0
}

/// Whether two points are equal.
#[inline(always)]
pub(super) const fn same_point(a: u64, b: u64) -> bool {
    (a ^ b) >> SEQ_SHIFT == 0
}

/// Whether two slots are equal.
#[inline(always)]
pub(super) const fn same_slot(a: u64, epoch_of: u64) -> bool {
    (a ^ epoch_of) >> SLOT_SHIFT == 0
}

/// An entry: an access, and the first one like it at its sync index.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Entry {
    /// Slot, sync index, sequence number, flags.
    pub(super) at: u64,
    /// Bytes, call context, span.
    pub(super) what: u64,
}

impl Entry {
    /// An access that is deferred.
    #[inline(always)]
    pub(super) fn deferred(epoch_of: u64, seq: u32, mask: u8, context: u32, write: bool) -> Entry {
        Entry {
            at: epoch_of | (seq as u64) << SEQ_SHIFT | if write { WRITE } else { 0 },
            what: Entry::what(mask, context),
        }
    }

    /// `what` of a deferred access.
    #[inline(always)]
    pub(super) const fn what(mask: u8, context: u32) -> u64 {
        mask as u64 | (context as u64) << CONTEXT_SHIFT
    }

    /// An access that is in the trace.
    #[inline]
    pub(super) fn recorded(epoch_of: u64, mask: u8, write: bool) -> Entry {
        let entry = Entry::deferred(epoch_of, 0, mask, 0, write);
        Entry { at: entry.at | RECORDED, ..entry }
    }

    /// No access, but the thread knows of what was there before.
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

    /// The sequence number of the first access like it.
    #[inline(always)]
    pub(super) fn first(&self) -> u32 {
        self.last() - (self.what >> SPAN_SHIFT & u64::from(MAX_SEQ)) as u32
    }

    /// Its sequence number.
    #[inline(always)]
    pub(super) fn last(&self) -> u32 {
        seq_of(self.at)
    }

    /// The access is repeated with this sequence number.
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

    /// Whether it is a write at this point.
    #[inline(always)]
    pub(super) fn is_write_at(&self, point: u64) -> bool {
        self.at & !(RECORDED | DROPPED | LOWER_FOREIGN_TO_READS) == point | WRITE
    }

    #[inline(always)]
    pub(super) fn has_dropped(&self) -> bool {
        self.at & DROPPED != 0
    }

    #[inline(always)]
    pub(super) fn set_dropped(&mut self) {
        self.at |= DROPPED;
    }

    /// Drops the first access like it: only the last one stays.
    #[inline]
    pub(super) fn forget_first(&mut self) {
        self.what &= !(u64::from(MAX_SEQ) << SPAN_SHIFT);
    }

    /// Forgets that accesses before it were dropped.
    #[inline]
    pub(super) fn clear_dropped(&mut self) {
        self.at &= !DROPPED;
    }

    /// The entry after it was recorded, with these bytes added.
    #[inline]
    pub(super) fn recorded_with(&self, mask: u8) -> Entry {
        Entry { at: self.at | RECORDED, what: self.what | u64::from(mask) }
    }

    /// Whether it is to be recorded when another thread's access conflicts.
    #[inline(always)]
    pub(super) fn is_deferred(&self) -> bool {
        self.mask() != 0 && self.at & RECORDED == 0
    }

    /// Whether its flags allow a later access to replace it without a record.
    #[inline(always)]
    pub(super) fn is_dropped_or_recorded(&self) -> bool {
        self.at & (DROPPED | RECORDED) != 0
    }

    /// Replaces this entry, which is dropped, by a later access. The bits that describe the cell stay.
    #[inline(always)]
    pub(super) fn renewed(&self, point: u64, mask: u8, context: u32) -> Entry {
        let dropped = if self.is_deferred() { DROPPED } else { self.at & DROPPED };
        Entry {
            at: point | self.at & (SHARED | VERSION) | dropped,
            what: self.what & !OWN_BITS | Entry::what(mask, context),
        }
    }

    /// Whether nothing is to be written for it, not even a drop barrier.
    #[inline(always)]
    pub(super) fn needs_no_record(&self) -> bool {
        !self.is_deferred() && !self.has_dropped()
    }
}

/// The contents of a cell, packed into its two entries.
pub(super) type Packed = [Entry; 2];

/// The contents of a cell, unpacked.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Contents {
    pub(super) first: Entry,
    pub(super) second: Entry,
    pub(super) shared: bool,
    pub(super) version: bool,
    /// The bytes that the first entry's thread has read at its sync index.
    pub(super) read: u8,
    /// Of an Exclusive cell: bytes that others have accessed, and the owner has not written since.
    pub(super) foreign: u8,
    /// The halves with such bytes, as bytes, that the owner has not read since either. Of a Shared cell: not 0 if
    /// atomic loads may have come in between.
    pub(super) foreign_to_reads: u8,
    /// The first node of older entries, or 0.
    pub(super) nodes: u32,
}

impl Contents {
    /// Unpacks the contents.
    #[inline]
    pub(super) fn unpack([Entry { at: a, what: b }, Entry { at: c, what: d }]: Packed) -> Contents {
        Contents {
            first: Entry { at: a & !(SHARED | VERSION), what: b & OWN_BITS },
            second: Entry { at: c & !LOWER_FOREIGN_TO_READS, what: d & OWN_BITS },
            shared: a & SHARED != 0,
            version: a & VERSION != 0,
            read: (b >> BYTES_SHIFT) as u8,
            foreign: (d >> BYTES_SHIFT) as u8,
            foreign_to_reads: foreign_to_reads(c, d),
            nodes: ((b >> NODES_SHIFT & HALF) | (d >> NODES_SHIFT & REST) << NODES_HALF) as u32,
        }
    }

    /// Packs the contents.
    #[inline]
    pub(super) fn pack(&self) -> Packed {
        let nodes = u64::from(self.nodes);
        let low = (nodes & HALF) << NODES_SHIFT | u64::from(self.read) << BYTES_SHIFT;
        let mut high = (nodes >> NODES_HALF) << NODES_SHIFT | u64::from(self.foreign) << BYTES_SHIFT;
        if self.foreign_to_reads & UPPER != 0 {
            high |= UPPER_FOREIGN_TO_READS;
        }
        let lower = if self.foreign_to_reads & LOWER != 0 { LOWER_FOREIGN_TO_READS } else { 0 };
        let flags = if self.shared { SHARED } else { 0 } | if self.version { VERSION } else { 0 };
        let first = Entry { at: self.first.at | flags, what: self.first.what | low };
        [first, Entry { at: self.second.at | lower, what: self.second.what | high }]
    }

    /// Whether only atomic accesses have touched it, and no thread has come since.
    pub(super) fn is_nobody(&self) -> bool {
        self.first.mask() == 0 && self.first.sync_index() == 0 && self.second.at == 0 && self.nodes == 0
    }
}

const _: () = assert!(BYTES_SHIFT + 8 == 64 && SLOT_SHIFT + SLOT_BITS == 64 && SHARED == WRITE);
