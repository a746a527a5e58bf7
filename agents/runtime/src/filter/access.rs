//! An access that is not covered: which way it goes.

use super::cell::{BYTES_SHIFT, Cell, EMPTY, Entry, FREED, WATCHED, Words, is_known, is_shared, same, unread};
use super::memory::Filter;
use super::recorder::{Outcome, Recorder, put_timed_by};
use super::{ARRIVAL_WORDS, Sink};
use crate::handover::When;
use crate::record::{Kind, head};
use core::ops::Deref;

/// An access of bytes of a granule.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The granule's address.
    pub granule: u64,
    /// The bytes of it.
    pub mask: u8,
    /// Whether it writes.
    pub write: bool,
}

/// An access with its place.
pub(super) struct Placed<'a> {
    pub(super) access: Access,
    pub(super) place: u32,
    /// It is one of several that are written as one.
    pub(super) among: Option<&'a Among>,
}

/// Accesses of granules that are written as one.
pub(super) struct Among {
    /// The position at which they began.
    pub(super) begun: u64,
    /// How the time of all of them is found: by the clock, if one of them needs it.
    pub(super) when: core::cell::Cell<When>,
}

impl Among {
    pub(super) fn new(begun: u64) -> Among {
        Among { begun, when: core::cell::Cell::new(When::After(0)) }
    }
}

impl Deref for Placed<'_> {
    type Target = Access;
    fn deref(&self) -> &Access {
        &self.access
    }
}

impl Recorder {
    /// An access of bytes of a granule that [`Recorder::covered`] denied. `alone` is asked when nothing is waited for any more:
    /// whether no other thread comes to the cell meanwhile.
    #[inline]
    pub fn access(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        cell: Cell,
        alone: impl FnOnce() -> bool,
        access: Access,
        place: u32,
    ) -> Outcome {
        if cell.is_watched() {
            return Outcome::Watched;
        }
        self.make_ranks(sink);
        sink.reserve(ARRIVAL_WORDS);
        let Ok(a) = cell.lock(sink, alone(), |a| a != WATCHED) else { return Outcome::Watched };
        self.changes(filter, sink, cell, a, &Placed { access, place, among: None })
    }

    /// An access that [`Recorder::again`] denied, if nothing is known of the cell, or a read if only threads that come before this one in every run have
    /// accessed it, and no read is to be kept of them; of a cell that no other thread comes to meanwhile. It does what [`Recorder::access`] would, as most
    /// memory is accessed first. False: nothing was done.
    #[inline]
    pub fn first(&mut self, filter: &Filter, cell: Cell, mask: u8, write: bool, place: u32) -> bool {
        let a = cell.state();
        if self.records_everything() || !self.has_ranks() {
            return false;
        }
        let bytes = u64::from(mask) << BYTES_SHIFT;
        if a == EMPTY {
            let entry = Entry::kept(self.here(), self.next_rank(write), mask, place, write);
            if write {
                cell.second.set(entry.at, entry.what);
                cell.set_first(Entry::nothing(self.here()));
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
        let is_nothing = first.is_silent() && (first.mask() == 0 || !same(a, self.here()));
        if !is_nothing
            || unread(second.at, second.what) & mask != 0
            || !self.is_after(filter, &first)
            || !self.is_after(filter, &second)
        {
            return false;
        }
        self.next_rank(false);
        let entry = first.renewed(self.now(), mask, place);
        cell.set_first(Entry { what: entry.what & !(0xff << BYTES_SHIFT) | bytes, ..entry });
        true
    }

    /// Everything else, by what is in the cell.
    #[inline(never)]
    fn changes(&mut self, filter: &Filter, sink: &mut impl Sink, cell: Cell, a: u64, access: &Placed) -> Outcome {
        if !is_known(a) && a != EMPTY {
            self.put_arrival(sink, access, When::Now);
            cell.unlock(FREED);
            return Outcome::Written;
        }
        let mut words = if a == EMPTY { Words::default() } else { cell.words(a) };
        let outcome = self.changes_words(filter, sink, &mut words, access);
        cell.set(&words);
        outcome
    }

    /// The same of what is in the cell; nothing, if it is empty.
    #[inline]
    pub(super) fn changes_words(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        words: &mut Words,
        access: &Placed,
    ) -> Outcome {
        if self.records_everything() {
            self.write_out(filter, sink, access.granule, words);
            self.put_arrival(sink, access, When::Now);
            *words = Words {
                first: Entry::nothing(super::cell::tag(self.slot(), 0)),
                shared: true,
                version: true,
                ..Words::default()
            };
            Outcome::Written
        } else if self.is_quiet(filter, words) || words.shared && access.write && self.is_last(filter, words) {
            self.keep(filter, sink, words, access)
        } else if access.write {
            self.arrive_writing(filter, sink, words, access)
        } else if words.shared {
            self.read_shared(filter, sink, words, access)
        } else {
            self.read_anothers(filter, sink, words, access)
        }
    }

    /// Whether an Exclusive cell is this thread's, or of one that comes before it in every run.
    #[inline]
    pub(super) fn is_quiet(&self, filter: &Filter, words: &Words) -> bool {
        !words.shared && self.is_after(filter, &words.first) && self.is_after(filter, &words.second)
    }

    /// Whether nobody has read a Shared cell but this thread, and those who come before it in every run.
    pub(super) fn is_last(&self, filter: &Filter, words: &Words) -> bool {
        // Not if atomic loads came in between.
        !words.version
            && words.unread == 0
            && self.is_after(filter, &words.first)
            && self.is_after(filter, &words.second)
            && filter.list(words.nodes).all(|(_, entry)| self.is_after(filter, &entry))
    }

    /// Writes an access that sees what others did, or that others see. What follows is at another position.
    pub(super) fn put_arrival(&mut self, sink: &mut impl Sink, access: &Placed, when: When) {
        if let Some(among) = access.among {
            // The record comes when all have had their turn; none of the cells is seen by others until then.
            if when == When::Now {
                among.when.set(when);
            }
            if self.position() == among.begun {
                self.synchronised();
            }
            return;
        }
        let kind = if access.write { Kind::ArriveWrite } else { Kind::ArriveRead };
        put_timed_by(sink, head(kind, access.mask, access.granule), access.place, None, |sink| sink.time(when));
        self.synchronised();
    }
}
