//! What is no plain access: atomic ones, and memory given and taken back.

use super::cell::{Cell, Contents, EMPTY, Entry, FREED, WATCHED, epoch_of, is_known, is_shared};
use super::memory::Filter;
use super::recorder::{Recorder, put_timed};
use super::{CONFLICT_ROOM, Sink};
use crate::record::{Kind, head};

impl Recorder {
    /// An atomic access: holds the cells still (those of the granules it touches, the lowest first) while `act` does it, then
    /// writes it. `act` gives the record's kind, auxiliary byte and value, and what the program gets.
    pub fn atomic<R>(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        cells: &[(Cell, u64)],
        address: u64,
        context: u32,
        act: impl FnOnce() -> (Kind, u8, u64, R),
    ) -> R {
        debug_assert!(cells.len() <= 2);
        sink.reserve(2 * CONFLICT_ROOM);
        let mut before = [WATCHED; 2];
        for (&(cell, word), before) in cells.iter().zip(&mut before) {
            if let Ok(a) = cell.lock(sink, false, |a| a != WATCHED) {
                *before = a;
                // Readers that stay need not be told yet.
                if is_known(a) && !is_shared(a) {
                    self.write_out(filter, sink, word, &cell.contents(a));
                }
            }
        }
        let (kind, aux, value, result) = act();
        for (&(cell, word), &a) in cells.iter().zip(&before) {
            if is_shared(a) && kind != Kind::AtomicLoad {
                self.write_out(filter, sink, word, &cell.contents(a));
            }
        }
        put_timed(sink, head(kind, aux, address), context, Some(value));
        self.synchronised();
        for (&(cell, _), a) in cells.iter().zip(before) {
            match a {
                WATCHED => {}
                FREED => cell.unlock(FREED),
                _ if is_shared(a) && kind == Kind::AtomicLoad => match cell.contents(a) {
                    // The readers do not know of this one: who writes asks the clock.
                    contents if !contents.is_nobody() => cell.set(&Contents { unread: 0xff, ..contents }),
                    contents => cell.set(&contents),
                },
                _ => {
                    let first = Entry::nothing(epoch_of(self.slot(), 0));
                    cell.set(&Contents { first, shared: true, version: true, ..Contents::default() });
                }
            }
        }
        result
    }

    /// A granule of a block that is taken back. Its `Free` is written next, behind what others have kept. `biased` as for accesses.
    pub fn free(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        cell: Cell,
        biased: impl FnOnce() -> bool,
        word: u64,
    ) {
        if cell.state() != FREED && self.settle(filter, sink, cell, biased, word) {
            cell.clear(FREED);
        }
    }

    /// A granule of a block that was given to this thread, whose `Alloc` is written: it is this thread's.
    pub fn alloc(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        cell: Cell,
        biased: impl FnOnce() -> bool,
        word: u64,
    ) {
        if self.settle(filter, sink, cell, biased, word) {
            if self.records_everything() {
                cell.clear(EMPTY);
            } else {
                cell.set(&Contents { first: Entry::nothing(self.epoch()), version: true, ..Contents::default() });
            }
        }
    }

    /// Nothing is known of a granule any more, and nothing is said about it: the stack of a thread that has ended, a block whose
    /// shadow is given back.
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

    /// Locks a cell, and ends what was there: what others have kept is written. False if it is a watched variable's.
    fn settle(
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
            if !self.records_everything()
                && (self.is_own_or_ordered(filter, &contents) || self.is_last(filter, &contents))
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
