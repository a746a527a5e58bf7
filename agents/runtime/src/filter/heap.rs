//! Memory that is allocated, freed and forgotten.

use super::bits::{EMPTY, FREED, WATCHED, is_known};
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
