//! Atomic accesses.

use super::bits::{FREED, WATCHED, is_known, is_shared};
use super::cell::Cell;
use super::contents::Contents;
use super::entry::Entry;
use super::memory::Filter;
use super::recorder::{Recorder, put_timed};
use super::waiting::Look;
use super::{CONFLICT_ROOM, Sink};
use crate::record::{Kind, head};

/// An atomic access that was performed.
#[derive(Clone, Copy, Debug)]
pub struct Atomic<R> {
    /// The kind of its record.
    pub kind: Kind,
    /// The auxiliary byte.
    pub aux: u8,
    /// The value read by a load, or else written.
    pub value: u64,
    /// Whether it left memory as it was, as far as is known.
    pub is_unchanging: bool,
    /// What the program gets.
    pub result: R,
}

impl Recorder {
    /// Records an atomic access: holds its cells (of the words it touches, the lowest first) while `act` performs it,
    /// then writes the record.
    pub fn atomic<R>(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        cells: &[(Cell, u64)],
        address: u64,
        context: u32,
        act: impl FnOnce() -> Atomic<R>,
    ) -> R {
        debug_assert!(cells.len() <= 2);
        sink.reserve(2 * CONFLICT_ROOM);
        let point = self.now();
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
        let Atomic { kind, aux, value, is_unchanging, result } = act();
        // Of Shared cells, taken out once.
        let mut old = [Contents::default(); 2];
        for ((&(cell, word), &a), old) in cells.iter().zip(&before).zip(&mut old) {
            if is_shared(a) {
                *old = cell.contents(a);
                if kind != Kind::AtomicLoad {
                    self.write_out(filter, sink, word, old);
                }
            }
        }
        put_timed(sink, head(kind, aux, address), context, Some(value));
        let sync_index = self.sync_index();
        self.synchronised();
        let look = is_unchanging.then_some(Look { kind, aux, address, value }).filter(|_| cells.len() == 1);
        for ((&(cell, _), a), old) in cells.iter().zip(before).zip(old) {
            let contents = match a {
                WATCHED => continue,
                FREED => {
                    cell.unlock(FREED);
                    continue;
                }
                _ if is_shared(a) && kind == Kind::AtomicLoad => {
                    // The readers' entries do not show this load: a later write must ask the clock.
                    let foreign_to_reads = if old.is_nobody() { old.foreign_to_reads } else { 0xff };
                    Contents { foreign_to_reads, contended: true, ..old }
                }
                _ => {
                    let (first, second) = match look {
                        Some(look) if is_shared(a) && old.is_nobody() => {
                            let mut second = old.second;
                            if !self.tells_nothing(point, &look, old.pack()) {
                                second.count();
                            }
                            (old.first, second)
                        }
                        _ => (Entry::stored(self.slot(), sync_index), Entry::default()),
                    };
                    Contents { first, second, shared: true, version: true, contended: true, ..Contents::default() }
                }
            };
            let packed = contents.pack();
            cell.put(packed);
            if let Some(look) = look {
                self.looked(point, look, packed);
            }
        }
        result
    }
}
