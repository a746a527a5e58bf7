//! The contents of a shadow cell: both entries, and what its spare bits say of the word.

use super::bits::{
    BYTES_SHIFT, CONTENDED, HALF, LOWER_FOREIGN_TO_READS, NODES_HALF, NODES_SHIFT, OWN_BITS, REST, SHARED,
    UPPER_FOREIGN_TO_READS, VERSION,
};
use super::entry::Entry;

/// The contents of a cell, packed into its two entries.
pub(super) type Packed = [Entry; 2];

/// The contents of a cell, unpacked.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Contents {
    pub(super) first: Entry,
    pub(super) second: Entry,
    pub(super) shared: bool,
    pub(super) version: bool,
    /// The bytes that the first entry's thread has read at its sync index, since it wrote last.
    pub(super) read: u8,
    /// Of an Exclusive cell: bytes that others have accessed, and the owner has not written since.
    pub(super) foreign: u8,
    /// The halves with such bytes, as bytes, that the owner has not read since either. Of a Shared cell: not 0 if
    /// atomic loads may have come in between.
    pub(super) foreign_to_reads: u8,
    /// The trace has an access to the word that conflicted. What is deferred of the word may race with it in another
    /// run, and must not be forgotten.
    pub(super) contended: bool,
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
            contended: d & CONTENDED != 0,
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
        if self.contended {
            high |= CONTENDED;
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
