//! Lines: which granules of a stretch of memory a thread has read in its segment.
//!
//! Programs that compute on large tables read them again and again without a lock in between. Each read is covered, but to see that
//! one would have to look at a cell, and cells are larger than what they are of. A line says the same of 64 granules in two words: since
//! when in the segment (the thread's `floor`), and which. It knows of nothing but reads: who writes to one of the granules makes all others forget it
//! ([`clear_summary`]).
//!
//! There are two for the same memory, of threads with even slots and with odd ones. Threads of one kind take it from each other.

use super::cell::{AtomicEntry, Entry};
use super::recorder::Recorder;
use core::sync::atomic::Ordering::Release;
use core::sync::atomic::fence;

/// A line is of 2 to the power of this many bytes: 64 granules.
pub const SUMMARY_BITS: u32 = 9;
/// There are lines of addresses below 2 to the power of this.
pub const ADDRESS_BITS: u32 = 47;

/// The bit of a granule.
#[inline(always)]
const fn bit(address: u64) -> u64 {
    1 << (address >> 3 & 63)
}

impl Recorder {
    /// Whether all bytes of the granule of an address were read in this segment: a read is covered.
    #[inline(always)]
    pub fn has_read(&self, summary: &AtomicEntry, address: u64) -> bool {
        self.may_have_read(address) && self.has_noted(summary, address)
    }

    /// Whether it is worth a look at the line of an address: it is that of a granule, and anything was noted in this segment. Short
    /// segments do not fetch lines.
    #[inline(always)]
    pub fn may_have_read(&self, address: u64) -> bool {
        // One test for all: the bits that a granule's address has not come to stand above.
        address.rotate_right(3) < self.noted
    }

    /// What the line of a granule says.
    #[inline(always)]
    pub fn has_noted(&self, summary: &AtomicEntry, address: u64) -> bool {
        // In this order: if the line is this thread's afterwards, it was before.
        let words = summary.what_first();
        words & bit(address) != 0 && self.is_own(summary.at())
    }

    /// Whether a line that begins so is this thread's, and nothing was done since that makes its reads not the last.
    #[inline(always)]
    pub(super) fn is_own(&self, at: u64) -> bool {
        at == self.floor
    }

    /// Whether its reads are worth noting.
    #[inline(always)]
    pub fn notes_reads(&self) -> bool {
        self.is_long() && !self.records_everything()
    }

    /// A read of all bytes of a granule that is about to go its way: before its cell is changed, so that who writes next
    /// comes later.
    #[inline]
    pub fn note_read(&mut self, summary: &AtomicEntry, address: u64) {
        self.note(summary, bit(address));
    }

    /// The same of granules of the line, as its bits.
    #[inline]
    pub(super) fn note(&mut self, summary: &AtomicEntry, words: u64) {
        // A line that was never noted begins with 0.
        if !self.notes_reads() || self.floor == 0 {
            return;
        }
        self.noted = 1 << (ADDRESS_BITS - 3);
        let old = summary.entry();
        let words = if self.is_own(old.at) { old.what | words } else { words };
        summary.exchange(old, Entry { at: self.floor, what: words });
    }
}

/// What any thread has read there must be looked at again. Called when what is new is in the cell, and before it is in memory.
///
/// A look without a barrier will do: the caller has locked the cell since (or has had the unit to itself), and who notes a read does so
/// before it changes the cell.
#[inline]
pub fn clear_summary(summary: &AtomicEntry) {
    if summary.at() != 0 {
        summary.set_at(0);
        fence(Release);
    }
}
