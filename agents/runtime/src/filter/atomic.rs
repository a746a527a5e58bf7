//! Atomic accesses.

use super::bits::{FREED, WATCHED, epoch_of, is_known, is_shared};
use super::cell::Cell;
use super::contents::Contents;
use super::entry::Entry;
use super::memory::Filter;
use super::recorder::{Recorder, put_timed};
use super::{CONFLICT_ROOM, Sink};
use crate::record::{Kind, head};

impl Recorder {
    /// Records an atomic access: holds its cells (of the words it touches, the lowest first) while `act` performs it,
    /// then writes the record. `act` returns the record's kind, auxiliary byte and value, and what the program gets.
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
                // The entries of readers that stay need not be written yet.
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
                    // The readers' entries do not show this load: a later write must ask the clock.
                    contents if !contents.is_nobody() => cell.set(&Contents { foreign_to_reads: 0xff, ..contents }),
                    contents => cell.set(&contents),
                },
                _ => {
                    let first = Entry::nothing(epoch_of(self.slot(), 0));
                    cell.set(&Contents { first, shared: true, version: true, contended: true, ..Contents::default() });
                }
            }
        }
        result
    }
}
