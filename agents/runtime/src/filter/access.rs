//! An access that is not covered: which way it goes.

use super::cell::{
    Cell, EMPTY, Entry, FREED, WATCHED, Words, is_known, is_shared, renewable, renewed, renewed_what, same, same_slot,
};
use super::memory::Filter;
use super::recorder::{Outcome, Recorder, put_ticketed};
use super::{ARRIVAL_WORDS, Sink};
use crate::record::{Kind, head};
use core::ops::Deref;
use core::sync::atomic::Ordering::Relaxed;

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
pub(super) struct Placed {
    access: Access,
    pub(super) place: u32,
}

impl Deref for Placed {
    type Target = Access;
    fn deref(&self) -> &Access {
        &self.access
    }
}

impl Recorder {
    /// An access of bytes of a granule that [`Recorder::covered`] denied (or was not asked about). `alone`: no other thread
    /// comes to the cell meanwhile.
    #[inline]
    pub fn access<S: Sink>(
        &mut self,
        filter: &Filter,
        sink: &mut S,
        cell: &Cell,
        alone: bool,
        access: Access,
        place: impl FnOnce(&mut S) -> u32,
    ) -> Outcome {
        if self.covered(cell, access.mask, access.write) {
            return Outcome::Covered;
        }
        if cell.is_watched() {
            return Outcome::Watched;
        }
        let place = place(sink);
        self.make_ranks(sink);
        let access = Placed { access, place };
        sink.reserve(ARRIVAL_WORDS);
        let Ok(a) = cell.lock(sink, alone, |a| a != WATCHED) else { return Outcome::Watched };
        if same_slot(a, self.here()) && self.comes_again(cell, a, &access) {
            return Outcome::Kept;
        }
        self.changes(filter, sink, cell, a, &access)
    }

    /// What threads do most of the time with memory of their own: the same again, or the same as at an earlier position. Done
    /// with the words as they are.
    #[inline(always)]
    fn comes_again(&mut self, cell: &Cell, a: u64, access: &Placed) -> bool {
        let (here, mask) = (self.here(), access.mask);
        let (second_at, second_what) = (cell.second[0].load(Relaxed), cell.second[1].load(Relaxed));
        if access.write {
            let mut entry = Entry { at: second_at, what: second_what };
            if is_shared(a) || !same_slot(second_at, here) || !entry.is_write() {
                return false;
            }
            if same(second_at, here) {
                if entry.mask() != mask || !entry.is_kept() {
                    return false;
                }
                entry.set_last(self.next_rank(true));
                cell.second[1].store(entry.what, Relaxed);
            } else {
                let foreign = (second_what >> super::cell::BYTES_SHIFT) as u8;
                if foreign & mask != 0 || !renewable(second_at, second_what) {
                    return false;
                }
                let rank = self.next_rank(true);
                cell.second[0].store(renewed(second_at, here, rank), Relaxed);
                cell.second[1].store(renewed_what(second_what, mask, access.place), Relaxed);
            }
            cell.unlock(a);
            return true;
        }
        let what = cell.first[1].load(Relaxed);
        let mut entry = Entry { at: a, what };
        if same(a, here) {
            let read = (what >> super::cell::BYTES_SHIFT) as u8;
            if entry.mask() == mask && entry.is_kept() {
                entry.set_last(self.next_rank(false));
            } else if read & mask == 0
                && entry.is_kept()
                && entry.place() == access.place
                && !(same(second_at, here) && Entry { at: second_at, what: second_what }.is_write())
            {
                // Byte after byte in a loop: taken for one read, the first.
                entry.what |= u64::from(mask) | u64::from(mask) << super::cell::BYTES_SHIFT;
            } else {
                return false;
            }
            cell.first[1].store(entry.what, Relaxed);
            cell.unlock(a);
            return true;
        }
        let knows = if is_shared(a) {
            a & super::cell::VERSION == 0 || mask & !entry.mask() == 0
        } else {
            (second_what >> super::cell::BYTES_SHIFT) as u8 & mask == 0
        };
        if !knows || !renewable(a, what) {
            return false;
        }
        let rank = self.next_rank(false);
        let bytes = u64::from(mask) << super::cell::BYTES_SHIFT;
        cell.first[1]
            .store(renewed_what(what & !(0xff << super::cell::BYTES_SHIFT), mask, access.place) | bytes, Relaxed);
        cell.unlock(renewed(a, here, rank));
        true
    }

    /// Everything else, by what is in the cell.
    #[inline(never)]
    fn changes(&mut self, filter: &Filter, sink: &mut impl Sink, cell: &Cell, a: u64, access: &Placed) -> Outcome {
        if !is_known(a) && a != EMPTY {
            self.put_arrival(sink, access);
            cell.unlock(FREED);
            return Outcome::Written;
        }
        let mut words = if a == EMPTY { Words::default() } else { cell.words(a) };
        let outcome = if self.records_everything() {
            self.write_out(filter, sink, access.granule, &words);
            self.put_arrival(sink, access);
            words = Words {
                first: Entry::nothing(super::cell::tag(self.slot(), 0)),
                shared: true,
                version: true,
                ..Words::default()
            };
            Outcome::Written
        } else if a == EMPTY
            || self.is_quiet(filter, &words)
            || words.shared && access.write && self.is_last(filter, &words)
        {
            self.keep(filter, sink, &mut words, access)
        } else if access.write {
            self.arrive_writing(filter, sink, &mut words, access)
        } else if words.shared {
            self.read_shared(filter, sink, &mut words, access)
        } else {
            self.read_anothers(filter, sink, &mut words, access)
        };
        cell.set(&words);
        outcome
    }

    /// Whether an Exclusive cell is this thread's, or of one that comes before it in every run.
    #[inline]
    pub(super) fn is_quiet(&self, filter: &Filter, words: &Words) -> bool {
        !words.shared && self.is_after(filter, &words.first) && self.is_after(filter, &words.second)
    }

    /// Whether nobody has read a Shared cell but this thread, and those who come before it in every run.
    pub(super) fn is_last(&self, filter: &Filter, words: &Words) -> bool {
        !words.version
            && self.is_after(filter, &words.first)
            && self.is_after(filter, &words.second)
            && filter.list(words.nodes).all(|(_, entry)| self.is_after(filter, &entry))
    }

    /// Writes an access that sees what others did, or that others see. What follows is at another position.
    pub(super) fn put_arrival(&mut self, sink: &mut impl Sink, access: &Placed) {
        let kind = if access.write { Kind::ArriveWrite } else { Kind::ArriveRead };
        put_ticketed(sink, head(kind, access.mask, access.granule), access.place, None);
        self.synchronised();
    }
}
