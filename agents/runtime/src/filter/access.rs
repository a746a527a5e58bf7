//! Decides what becomes of an access that is not covered.

use super::bits::{BYTES_SHIFT, EMPTY, FREED, WATCHED, is_known, is_shared, same_epoch};
use super::cell::Cell;
use super::contents::{Contents, foreign_to_reads};
use super::entry::Entry;
use super::memory::Filter;
use super::recorder::{Outcome, Recorder, put_timed_by};
use super::{CONFLICT_ROOM, Sink};
use crate::hand_off::Timing;
use crate::record::{Kind, head};
use core::ops::Deref;

/// An access of bytes of one word.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The word's address.
    pub word: u64,
    /// Which of its bytes, the lowest in bit 0.
    pub mask: u8,
    /// Whether it writes.
    pub write: bool,
}

/// An access with its call context.
pub(super) struct AccessAt<'a> {
    pub(super) access: Access,
    pub(super) context: u32,
    /// Set if this is one of several accesses that share one record.
    pub(super) bulk: Option<&'a Bulk>,
}

/// The common record of a bulk access.
pub(super) struct Bulk {
    /// The sync index at which the accesses began.
    pub(super) begun: u64,
    /// How the time of the record is found: by the clock, if one of the accesses needs it.
    pub(super) timing: core::cell::Cell<Timing>,
}

impl Bulk {
    pub(super) fn new(begun: u64) -> Bulk {
        Bulk { begun, timing: core::cell::Cell::new(Timing::After(0)) }
    }
}

impl Deref for AccessAt<'_> {
    type Target = Access;
    fn deref(&self) -> &Access {
        &self.access
    }
}

impl Recorder {
    /// Records or defers an access that is not covered. `biased` is asked when nothing is waited for any more: whether
    /// this thread owns the cell's biased region, so that the cell needs no lock.
    #[inline]
    pub fn record_access(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        cell: Cell,
        biased: impl FnOnce() -> bool,
        access: Access,
        context: u32,
    ) -> Outcome {
        if cell.is_watched() {
            return Outcome::Watched;
        }
        self.ensure_seq_left(sink);
        sink.reserve(CONFLICT_ROOM);
        let Ok(a) = cell.lock(sink, biased(), |a| a != WATCHED) else { return Outcome::Watched };
        self.update_cell(filter, sink, cell, a, &AccessAt { access, context, bulk: None })
    }

    /// Handles the first access to a word, if the caller owns its biased region: the cell is empty; or this is a read,
    /// and only threads that are ordered before this one have accessed the word, with no read to defer. It has the
    /// effect of [`Recorder::record_access`], in fewer steps, because most memory is accessed for the first time here.
    /// Returns false if nothing was done.
    #[inline]
    pub fn first_touch(&mut self, filter: &Filter, cell: Cell, mask: u8, write: bool, context: u32) -> bool {
        let a = cell.state();
        if self.records_everything() || !self.has_seq_left() {
            return false;
        }
        let bytes = u64::from(mask) << BYTES_SHIFT;
        if a == EMPTY {
            let entry = Entry::deferred(self.epoch(), self.next_seq(write), mask, context, write);
            if write {
                cell.second.set(entry.at, entry.what);
                cell.set_first(Entry::nothing(self.epoch()));
            } else {
                cell.second.set(0, 0);
                cell.set_first(Entry { what: entry.what | bytes, ..entry });
            }
            return true;
        }
        if write || !is_known(a) || is_shared(a) {
            return false;
        }
        let first = Entry { at: a, what: cell.first.what() };
        let second = cell.second.entry();
        let is_nothing = first.needs_no_record() && (first.mask() == 0 || !same_epoch(a, self.epoch()));
        if !is_nothing
            || foreign_to_reads(second.at, second.what) & mask != 0
            || !self.is_ordered_after(filter, &first)
            || !self.is_ordered_after(filter, &second)
        {
            return false;
        }
        self.next_seq(false);
        let entry = first.renewed(self.now(), mask, context);
        cell.set_first(Entry { what: entry.what & !(0xff << BYTES_SHIFT) | bytes, ..entry });
        true
    }

    /// Handles everything else, by the contents of the cell.
    #[inline(never)]
    fn update_cell(&mut self, filter: &Filter, sink: &mut impl Sink, cell: Cell, a: u64, access: &AccessAt) -> Outcome {
        if !is_known(a) && a != EMPTY {
            self.put_conflict(sink, access, Timing::Now);
            cell.unlock(FREED);
            return Outcome::Written;
        }
        let mut contents = if a == EMPTY { Contents::default() } else { cell.contents(a) };
        let outcome = self.update_contents(filter, sink, &mut contents, access);
        cell.set(&contents);
        outcome
    }

    /// Updates the contents of a cell (all zero, if it is empty).
    #[inline]
    pub(super) fn update_contents(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        contents: &mut Contents,
        access: &AccessAt,
    ) -> Outcome {
        if self.records_everything() {
            self.write_out(filter, sink, access.word, contents);
            self.put_conflict(sink, access, Timing::Now);
            *contents = Contents {
                first: Entry::stored(self.slot(), self.sync_index()),
                shared: true,
                version: true,
                ..Contents::default()
            };
            Outcome::Written
        } else if self.is_own_or_ordered(filter, contents)
            || contents.shared && access.write && self.is_last(filter, contents)
        {
            self.defer(filter, sink, contents, access)
        } else {
            let is_before = self.is_all_before(filter, contents, access, None) && self.is_frequent(contents, access);
            if is_before && (access.write || !contents.shared) {
                self.defer(filter, sink, contents, access)
            } else if access.write {
                self.take_ownership(filter, sink, contents, access)
            } else if contents.shared {
                self.read_shared(filter, sink, contents, access, is_before)
            } else {
                self.read_foreign(filter, sink, contents, access)
            }
        }
    }

    /// Whether an Exclusive cell is this thread's, or its entries are ordered before this thread.
    #[inline]
    pub(super) fn is_own_or_ordered(&self, filter: &Filter, contents: &Contents) -> bool {
        !contents.shared
            && self.is_ordered_after(filter, &contents.first)
            && self.is_ordered_after(filter, &contents.second)
    }

    /// Whether all readers of a Shared cell are this thread, or ordered before it.
    pub(super) fn is_last(&self, filter: &Filter, contents: &Contents) -> bool {
        // Atomic loads in between leave no entry.
        !contents.version
            && contents.foreign_to_reads == 0
            && self.is_ordered_after(filter, &contents.first)
            && self.is_ordered_after(filter, &contents.second)
            && filter.list(contents.nodes).all(|(_, entry)| self.is_ordered_after(filter, &entry))
    }

    /// Records a conflicting access. What follows has a new sync index.
    pub(super) fn put_conflict(&mut self, sink: &mut impl Sink, access: &AccessAt, timing: Timing) {
        if let Some(bulk) = access.bulk {
            // The record is written when all words of the bulk access are done; no other thread sees their cells until
            // then.
            if timing == Timing::Now {
                bulk.timing.set(timing);
            }
            if self.sync_index() == bulk.begun {
                self.synchronised();
            }
            return;
        }
        let kind = if access.write { Kind::ConflictWrite } else { Kind::ConflictRead };
        put_timed_by(sink, head(kind, access.mask, access.word), access.context, None, |sink| sink.time(timing));
        self.synchronised();
    }
}
