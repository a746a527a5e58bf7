//! Read summaries: which words of 512 bytes a thread has read in its segment.
//!
//! Programs that compute on large tables read them again and again without a lock in between. Each read is covered, but
//! to see that one would have to look at a cell, and cells are larger than the words they describe. A summary says the
//! same of 64 words in 16 bytes: since when in the segment (the thread's `floor`), and which words. It knows of nothing
//! but reads: a thread that writes to one of the words clears it ([`clear_summary`]).
//!
//! There are two for the same memory, for threads with even slots and with odd ones. Threads of one kind take a summary
//! from each other.

use super::cell::AtomicEntry;
use super::entry::Entry;
use super::recorder::Recorder;
use core::sync::atomic::Ordering::Release;
use core::sync::atomic::fence;

/// A summary covers 2 to the power of this many bytes: 64 words.
pub const SUMMARY_BITS: u32 = 9;
/// There are summaries for addresses below 2 to the power of this.
pub const ADDRESS_BITS: u32 = 47;

/// The bit of a word.
#[inline(always)]
const fn bit(address: u64) -> u64 {
    1 << (address >> 3 & 63)
}

impl Recorder {
    /// Whether all bytes of the word at an address were read in this segment: a read is covered.
    #[inline(always)]
    pub fn has_read(&self, summary: &AtomicEntry, address: u64) -> bool {
        self.may_have_read(address) && self.has_noted(summary, address)
    }

    /// Whether a look at the summary is worth its cost: the address is that of a word, and something was noted in this
    /// segment. Short segments do not fetch summaries.
    #[inline(always)]
    pub fn may_have_read(&self, address: u64) -> bool {
        // One test for all: the low bits, which are zero in a word's address, are rotated to the top.
        address.rotate_right(3) < self.noted
    }

    /// Whether the summary of a word says that this thread has read it.
    #[inline(always)]
    pub fn has_noted(&self, summary: &AtomicEntry, address: u64) -> bool {
        // The order of the loads matters: if the summary is this thread's afterwards, it was before.
        let words = summary.what_first();
        words & bit(address) != 0 && self.is_own(summary.at())
    }

    /// Whether a summary with this `at` is this thread's, and no write since makes its reads not the last.
    #[inline(always)]
    pub(super) fn is_own(&self, at: u64) -> bool {
        at == self.floor
    }

    /// Whether this thread's reads are worth noting.
    #[inline(always)]
    pub fn notes_reads(&self) -> bool {
        self.is_long() && !self.records_everything()
    }

    /// Notes a read of a whole word. Called before its cell is changed, so that a thread that writes next comes later.
    #[inline]
    pub fn note_read(&mut self, summary: &AtomicEntry, address: u64) {
        self.note(summary, bit(address));
    }

    /// Notes reads of several words, as bits of the summary.
    #[inline]
    pub(super) fn note(&mut self, summary: &AtomicEntry, words: u64) {
        // A summary that was never used has 0 there.
        if !self.notes_reads() || self.floor == 0 {
            return;
        }
        self.noted = 1 << (ADDRESS_BITS - 3);
        let old = summary.entry();
        let words = if self.is_own(old.at) { old.what | words } else { words };
        summary.exchange(old, Entry { at: self.floor, what: words });
    }
}

/// Clears a summary: reads of its words must be checked by their cells again. Called after the cell was changed, and
/// before the memory is.
///
/// A look without a barrier is enough: the caller has locked the cell since (or owns its biased region), and a thread
/// that notes a read does so before it changes the cell.
#[inline]
pub fn clear_summary(summary: &AtomicEntry) {
    if summary.at() != 0 {
        summary.set_at(0);
        fence(Release);
    }
}
