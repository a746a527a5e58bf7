//! Memory that is allocated, freed and forgotten.

use super::bits::{EMPTY, FREED, LOWER_FOREIGN_TO_READS, SHARED, VERSION, WATCHED, is_known};
use super::cell::Cell;
use super::contents::Contents;
use super::entry::Entry;
use super::memory::Filter;
use super::recorder::Recorder;
use super::{CONFLICT_ROOM, Sink};

impl Recorder {
    /// Frees a word of a block. The `Free` record is written next, behind what others have deferred. `biased` is as for
    /// accesses.
    pub fn free(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        cell: Cell,
        biased: impl FnOnce() -> bool,
        word: u64,
    ) {
        if cell.state() != FREED && self.end_life(filter, sink, cell, biased, word) {
            cell.clear(FREED);
        }
    }

    /// Allocates a word of a block for this thread; the `Alloc` record is already written.
    pub fn alloc(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        cell: Cell,
        biased: impl FnOnce() -> bool,
        word: u64,
    ) {
        if self.end_life(filter, sink, cell, biased, word) {
            if self.records_everything() {
                cell.clear(EMPTY);
            } else {
                cell.set(&Contents { first: Entry::nothing(self.epoch()), version: true, ..Contents::default() });
            }
        }
    }

    /// [`Recorder::free`], if the caller owns the cell's biased region (or has leased its block) and nothing is to be
    /// written or given back.
    /// Returns false if nothing was done.
    #[inline]
    pub fn free_at_once(&mut self, filter: &Filter, cell: Cell) -> bool {
        if cell.state() == FREED {
            return true;
        }
        let is_over = self.ends_at_once(filter, cell);
        if is_over {
            cell.clear(FREED);
        }
        is_over
    }

    /// [`Recorder::alloc`], as [`Recorder::free_at_once`] is to [`Recorder::free`].
    #[inline]
    pub fn alloc_at_once(&mut self, filter: &Filter, cell: Cell) -> bool {
        if self.records_everything() || cell.state() != FREED && !self.ends_at_once(filter, cell) {
            return false;
        }
        let nothing = Entry::nothing(self.epoch());
        cell.second.set(0, 0);
        cell.set_first(Entry { at: nothing.at | VERSION, ..nothing });
        true
    }

    /// Whether the lifetime of a word can end without a record: nothing is known of it, or all comes before this thread
    /// in every run, and the cell has no nodes.
    #[inline(always)]
    fn ends_at_once(&self, filter: &Filter, cell: Cell) -> bool {
        let a = cell.state();
        if !is_known(a) || self.records_everything() || cell.has_nodes() || cell.is_contended() {
            return a == EMPTY;
        }
        let first = Entry { at: a & !(SHARED | VERSION), what: cell.first.what() };
        let second = Entry { at: cell.second.at() & !LOWER_FOREIGN_TO_READS, what: cell.second.what() };
        (first.at == 0 || self.is_before(filter, &first, 0, None))
            && (second.at == 0 || self.is_before(filter, &second, 0, None))
    }

    /// Forgets a word without a record of its own: of the stack of a thread that has ended, or of a large new block.
    ///
    /// The caller has just written another record, or has written none yet: a scan that goes cell by cell must not go
    /// on across this, because it would take the empty cells for scanned ones.
    pub fn forget(&mut self, filter: &Filter, sink: &impl Sink, cell: Cell, biased: impl FnOnce() -> bool) {
        if cell.is_empty() {
            return;
        }
        if let Ok(a) = cell.lock(sink, biased(), |a| a != WATCHED) {
            if is_known(a) {
                self.give_history(filter, cell.contents(a).nodes);
            }
            cell.clear(EMPTY);
        }
    }

    /// Locks a cell, and ends the lifetime of its word: what others have deferred is written. Returns false if it is
    /// watched.
    fn end_life(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        cell: Cell,
        biased: impl FnOnce() -> bool,
        word: u64,
    ) -> bool {
        sink.reserve(CONFLICT_ROOM);
        let Ok(a) = cell.lock(sink, biased(), |a| a != WATCHED) else { return false };
        if is_known(a) {
            let contents = cell.contents(a);
            // What was deferred of a contended word may race with what is in the trace.
            if !self.records_everything()
                && !contents.contended
                && (self.is_own_or_ordered(filter, &contents)
                    || self.is_last(filter, &contents)
                    || self.ends_after_all(filter, &contents))
            {
                self.give_history(filter, contents.nodes);
            } else {
                self.write_out(filter, sink, word, &contents);
                self.need_clock();
            }
        }
        true
    }
}
