//! A cell: what is known of a granule, in four words that are locked as one.
//!
//! | word | Exclusive | Shared |
//! | --- | --- | --- |
//! | a | state 2, slot 13, segment 33, bytes read 8, bytes written 8 | the same of the newest reader: bytes read |
//! | p | flags 8, bytes of the read entry 8, its place 24, place of the write entry 24 | the second reader, like a |
//! | f | stamps of the first read 18 and the first write 18, older nodes 24 | |
//! | l | slot 12 again, bytes to arrive at by reading 8 and by writing 8, stamps of the last read 18 and the last write 18 | stamps of the readers |
//!
//! Only who holds the lock (a is [`LOCKED`]) writes a, p and f. The owner stores l without the lock; a store that comes too
//! late, into a cell that is another's by now, betrays itself by the slot in it. A node of the history is a copy
//! of the four words.

use super::Sink;
use core::hint::spin_loop;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

pub(super) const SLOT_BITS: u32 = 13;
pub(super) const SEGMENT_BITS: u32 = 33;
pub(super) const STAMP_BITS: u32 = 18;
/// Where the slot begins in l.
pub(super) const LAST_SHIFT: u32 = 52;
pub(super) const NODE_BITS: u32 = 24;

/// Stamps of a segment; then another begins.
pub(super) const MOST_STAMPS: u32 = (1 << STAMP_BITS) - 1;
/// Segments of a slot; then its thread records everything.
pub(super) const MOST_SEGMENTS: u64 = (1 << SEGMENT_BITS) - 1;

const STAMPS: u64 = MOST_STAMPS as u64;
const NODES: u64 = (1 << NODE_BITS) - 1;
const PLACES: u64 = (1 << crate::record::PLACE_BITS) - 1;

/// Values of a without slot and segment. None but the first has no state: a recorder of zeroes covers nothing.
pub(super) const EMPTY: u64 = 0;
pub(super) const LOCKED: u64 = 3 << 62;
pub(super) const FREED: u64 = 3 << 62 | 1;
pub(super) const WATCHED: u64 = 3 << 62 | 2;

pub(super) const EXCLUSIVE: u64 = 1 << 62;
pub(super) const SHARED: u64 = 2 << 62;
const STATE: u64 = 3 << 62;
/// Below it slot, segment and state begin.
pub(super) const TAG_SHIFT: u32 = 16;

/// Spins before the processor is given away.
const SPINS: u32 = 100;

/// What is known of a granule. Zeroed memory is a cell of which nothing is known.
#[repr(C, align(32))]
#[derive(Default, Debug)]
pub struct Cell {
    pub(super) a: AtomicU64,
    pub(super) p: AtomicU64,
    pub(super) f: AtomicU64,
    pub(super) l: AtomicU64,
}

impl Cell {
    /// Makes it the cell of a watched variable: accesses go past the filter. Nobody has accessed it yet.
    pub fn watch(&self) {
        self.a.store(WATCHED, Relaxed);
    }

    /// Whether it is a watched variable's.
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        self.a.load(Relaxed) == WATCHED
    }

    /// Whether anything is known. A range of cells that are all empty can be given back.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.a.load(Relaxed) == EMPTY
    }

    /// The state that `fits`, now locked; or, without the lock, one that does not fit.
    #[inline]
    pub(super) fn lock(&self, sink: &impl Sink, fits: impl Fn(u64) -> bool) -> Result<u64, u64> {
        let mut spins = 0;
        loop {
            let a = self.a.load(Relaxed);
            if a != LOCKED {
                if !fits(a) {
                    return Err(a);
                }
                if self.a.compare_exchange_weak(a, LOCKED, Acquire, Relaxed).is_ok() {
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

    /// Unlocks it, with this state.
    #[inline]
    pub(super) fn unlock(&self, a: u64) {
        self.a.store(a, Release);
    }

    /// The words, of a cell that this thread has locked, or of a node.
    #[inline]
    pub(super) fn words(&self, a: u64) -> Words {
        Words { a, p: self.p.load(Relaxed), f: self.f.load(Relaxed), l: self.l.load(Relaxed) }
    }

    /// Unlocks it, with these words.
    #[inline]
    pub(super) fn set(&self, words: &Words) {
        self.p.store(words.p, Relaxed);
        self.f.store(words.f, Relaxed);
        self.l.store(words.l, Relaxed);
        self.a.store(words.a, Release);
    }
}

/// A state with its slot and segment, as it stands in a.
#[inline]
pub(super) const fn tag(state: u64, slot: u32, segment: u64) -> u64 {
    state | (slot as u64) << (TAG_SHIFT + SEGMENT_BITS) | segment << TAG_SHIFT
}

/// The upper bits of l.
#[inline]
pub(super) const fn last_tag(slot: u32) -> u64 {
    (slot as u64) << LAST_SHIFT
}

/// In l: others have accessed these bytes, and the owner has not arrived at them: neither by a read nor by a write; or at
/// least not by a write.
#[inline]
const fn foreign(bytes: u8) -> u64 {
    (bytes as u64) << (2 * STAMP_BITS) | (bytes as u64) << (2 * STAMP_BITS + 8)
}

#[inline]
pub(super) const fn is_exclusive(a: u64) -> bool {
    a & STATE == EXCLUSIVE
}

#[inline]
pub(super) const fn is_shared(a: u64) -> bool {
    a & STATE == SHARED
}

#[inline]
pub(super) const fn slot_of(a: u64) -> u32 {
    (a >> (TAG_SHIFT + SEGMENT_BITS)) as u32 & ((1 << SLOT_BITS) - 1)
}

#[inline]
pub(super) const fn segment_of(a: u64) -> u64 {
    a >> TAG_SHIFT & MOST_SEGMENTS
}

/// Bytes read, of a.
#[inline(always)]
pub(super) const fn read_of(a: u64) -> u8 {
    (a >> 8) as u8
}

/// Bytes written, of a.
#[inline(always)]
pub(super) const fn written_of(a: u64) -> u8 {
    a as u8
}

#[inline(always)]
pub(super) const fn last_read_of(l: u64) -> u32 {
    (l >> STAMP_BITS & STAMPS) as u32
}

#[inline(always)]
pub(super) const fn last_write_of(l: u64) -> u32 {
    (l & STAMPS) as u32
}

#[inline(always)]
pub(super) const fn with_last_read(l: u64, stamp: u32) -> u64 {
    l & !(STAMPS << STAMP_BITS) | (stamp as u64) << STAMP_BITS
}

#[inline(always)]
pub(super) const fn with_last_write(l: u64, stamp: u32) -> u64 {
    l & !STAMPS | stamp as u64
}

/// The bytes of the read entry, of p.
#[inline(always)]
pub(super) const fn read_entry_of(p: u64) -> u8 {
    (p >> 48) as u8
}

/// In p: this node stands for accesses that were dropped.
const PIN: u64 = 1 << 56;
/// In p: accesses before these were dropped, without a node to tell.
const LOST: u64 = 1 << 57;

/// The words of a cell or node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    pub(super) a: u64,
    pub(super) p: u64,
    pub(super) f: u64,
    pub(super) l: u64,
}

/// An access kept: its bytes, place, and the stamps of the first and the last like it.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) mask: u8,
    pub(super) place: u32,
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Words {
    /// Exclusive, without entries.
    #[inline]
    pub(super) fn owned(slot: u32, segment: u64, older: u32) -> Words {
        Words { a: tag(EXCLUSIVE, slot, segment), p: 0, f: u64::from(older), l: last_tag(slot) }
    }

    /// The bytes that the owner has to arrive at before it keeps such an access.
    #[inline]
    pub(super) fn foreign(&self, write: bool) -> u8 {
        (self.l >> (2 * STAMP_BITS + if write { 0 } else { 8 })) as u8
    }

    /// Others have accessed these bytes.
    #[inline]
    pub(super) fn add_foreign(&mut self, bytes: u8) {
        self.l |= foreign(bytes);
    }

    /// So, as in another cell.
    #[inline]
    pub(super) fn add_foreign_of(&mut self, other: &Words) {
        self.l |= other.l & foreign(0xff);
    }

    /// The owner has arrived at these bytes.
    #[inline]
    pub(super) fn arrived(&mut self, bytes: u8, write: bool) {
        let both = foreign(bytes);
        self.l &= !if write { both } else { both & !(0xff << (2 * STAMP_BITS)) };
    }

    #[inline]
    pub(super) fn older(&self) -> u32 {
        (self.f & NODES) as u32
    }

    #[inline]
    pub(super) fn set_older(&mut self, node: u32) {
        self.f = self.f & !NODES | u64::from(node);
    }

    /// Whether l is this owner's.
    #[inline]
    pub(super) fn lasts_known(&self) -> bool {
        (self.l ^ last_tag(slot_of(self.a))) >> LAST_SHIFT == 0
    }

    /// The read entry, if its mask is not 0.
    #[inline]
    pub(super) fn read(&self) -> Entry {
        Entry {
            mask: read_entry_of(self.p),
            place: (self.p >> 24 & PLACES) as u32,
            first: (self.f >> (NODE_BITS + STAMP_BITS)) as u32,
            last: last_read_of(self.l),
        }
    }

    /// The write entry, if its mask is not 0.
    #[inline]
    pub(super) fn write(&self) -> Entry {
        Entry {
            mask: written_of(self.a),
            place: (self.p & PLACES) as u32,
            first: (self.f >> NODE_BITS & STAMPS) as u32,
            last: last_write_of(self.l),
        }
    }

    /// Sets the read entry. The bytes read stay.
    #[inline]
    pub(super) fn set_read(&mut self, entry: Entry) {
        self.p = self.p & !(0xff << 48 | PLACES << 24) | u64::from(entry.mask) << 48 | u64::from(entry.place) << 24;
        self.f = self.f & !(STAMPS << (NODE_BITS + STAMP_BITS)) | u64::from(entry.first) << (NODE_BITS + STAMP_BITS);
        self.l = with_last_read(self.l, entry.last);
    }

    /// Sets the write entry.
    #[inline]
    pub(super) fn set_write(&mut self, entry: Entry) {
        self.a = self.a & !0xff | u64::from(entry.mask);
        self.p = self.p & !PLACES | u64::from(entry.place);
        self.f = self.f & !(STAMPS << NODE_BITS) | u64::from(entry.first) << NODE_BITS;
        self.l = with_last_write(self.l, entry.last);
    }

    /// Adds to the bytes read in this segment.
    #[inline]
    pub(super) fn add_read(&mut self, mask: u8) {
        self.a |= u64::from(mask) << 8;
    }

    pub(super) fn is_pin(&self) -> bool {
        self.p & PIN != 0
    }

    pub(super) fn is_lost(&self) -> bool {
        self.p & LOST != 0
    }

    pub(super) fn set_lost(&mut self) {
        self.p |= LOST;
    }

    /// Drops its entries: nothing stays but that there were some, up to the last of them.
    pub(super) fn make_pin(&mut self) {
        self.p = PIN;
        self.a &= !0xffff;
    }
}

/// No entry.
pub(super) const NONE: Entry = Entry { mask: 0, place: 0, first: 0, last: 0 };
