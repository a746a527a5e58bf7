//! An access that is not covered: which way it goes.

use super::cell::{
    BYTES_SHIFT, Cell, EMPTY, Entry, FREED, NEXT_RANK, SHARED, VERSION, WATCHED, Words, is_known, is_shared, same,
    same_slot, unread,
};
use super::memory::Filter;
use super::recorder::{Outcome, Recorder, put_timed};
use super::{ARRIVAL_WORDS, Sink};
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
pub(super) struct Placed {
    pub(super) access: Access,
    pub(super) place: u32,
    /// It is one of several that are written as one: the position at which they began.
    pub(super) among: Option<u64>,
}

impl Deref for Placed {
    type Target = Access;
    fn deref(&self) -> &Access {
        &self.access
    }
}

impl Recorder {
    /// An access of bytes of a granule that [`Recorder::covered`] denied. `alone` is asked when nothing is waited for any more:
    /// whether no other thread comes to the cell meanwhile.
    #[inline]
    pub fn access<S: Sink>(
        &mut self,
        filter: &Filter,
        sink: &mut S,
        cell: Cell,
        alone: impl FnOnce() -> bool,
        access: Access,
        place: impl FnOnce(&mut S) -> u32,
    ) -> Outcome {
        if cell.is_watched() {
            return Outcome::Watched;
        }
        let place = place(sink);
        self.make_ranks(sink);
        sink.reserve(ARRIVAL_WORDS);
        let Ok(a) = cell.lock(sink, alone(), |a| a != WATCHED) else { return Outcome::Watched };
        self.changes(filter, sink, cell, a, &Placed { access, place, among: None })
    }

    /// An access that [`Recorder::covered`] denied, if it is one that threads do most of the time with memory of their own: the
    /// same again, or the same as at an earlier position; of a cell that no other thread comes to meanwhile. False: nothing was done.
    #[inline(always)]
    pub fn again(&mut self, cell: Cell, mask: u8, write: bool, place: u32) -> bool {
        let a = cell.state();
        // An empty cell is as good as one that this thread owns.
        if !same_slot(a, self.here()) || !self.has_ranks() {
            return false;
        }
        if write { self.second_again(cell, a, mask, true, place) } else { self.reads_again(cell, a, mask, place) }
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

    /// [`Recorder::again`] for a cell that others may come to.
    #[inline(always)]
    pub fn again_among_others(&mut self, cell: Cell, mask: u8, write: bool, place: u32) -> bool {
        let a = cell.state();
        let is_first = !write && same_slot(a, self.here());
        let entry = if is_first { cell.first.entry() } else { cell.second.entry() };
        // Whether it is worth the lock.
        let may = same(entry.at, self.here())
            || same_slot(entry.at, self.here()) && (entry.is_lost_or_out() || self.is_hot(&entry));
        if !may || !self.has_ranks() || !is_known(a) || !cell.try_lock(a) {
            return false;
        }
        let done = if is_first {
            self.reads_again(cell, a, mask, place)
        } else {
            self.second_again(cell, a, mask, write, place)
        };
        if !done {
            cell.unlock(a);
        }
        done
    }

    /// The same of a read by a thread that is the entry where it belongs ([`Recorder::is_second`]), at an earlier position: without
    /// the lock, and without a look at the other half.
    #[inline(always)]
    pub fn reads_again_at_home(&mut self, cell: Cell, mask: u8, place: u32) -> bool {
        let is_second = self.is_second();
        let half = if is_second { cell.second } else { cell.first };
        let old = half.entry();
        let here = self.here();
        let is_mine = same_slot(old.at, here) && !same(old.at, here) && !(is_second && old.is_write());
        // It knows of the bytes that it has read, and of no others without a further look.
        if !is_mine || mask & !old.mask() != 0 || !(old.is_silent() || self.is_hot(&old)) || !self.has_ranks() {
            return false;
        }
        let mut new = old.renewed(self.now() + NEXT_RANK, mask, place);
        if !is_second {
            new.what = new.what & !(0xff << BYTES_SHIFT) | u64::from(mask) << BYTES_SHIFT;
        }
        let is_done = half.exchange(old, new);
        if is_done {
            self.next_rank(false);
        }
        is_done
    }

    /// This thread's read is the first entry of the locked cell. Done with the words as they are; unlocked if it was.
    #[inline(always)]
    fn reads_again(&mut self, cell: Cell, a: u64, mask: u8, place: u32) -> bool {
        let here = self.here();
        let first = Entry { at: a, what: cell.first.what() };
        let bytes = u64::from(mask) << BYTES_SHIFT;
        let is_here = same(a, here);
        let entry = if is_here && first.mask() == mask && first.is_kept() {
            let mut entry = first;
            entry.set_last(self.next_rank(false));
            entry
        } else {
            let knows = if a & SHARED != 0 { is_known_by(a, &first, mask) } else { has_arrived(cell, &first, mask) };
            if !knows {
                return false;
            }
            if is_here
                && first.what & bytes == 0
                && first.is_kept()
                && first.place() == place
                && self.is_newest(a)
                && !same(cell.second.at(), here)
            {
                // Byte after byte in a loop: taken for one read, the first.
                Entry { what: first.what | u64::from(mask) | bytes, ..first }
            } else if self.may_renew(a, &first, is_here) {
                let read = if is_here { first.what & 0xff << BYTES_SHIFT } else { 0 };
                self.next_rank(false);
                let entry = first.renewed(self.now(), mask, place);
                Entry { what: entry.what & !(0xff << BYTES_SHIFT) | read | bytes, ..entry }
            } else {
                return false;
            }
        };
        cell.set_first(entry);
        true
    }

    /// The same of the second entry: the owner's write, or the other reader's read.
    #[inline(always)]
    fn second_again(&mut self, cell: Cell, a: u64, mask: u8, write: bool, place: u32) -> bool {
        let here = self.here();
        let second = cell.second.entry();
        // A thread may have written last what another one owns by now, which has read it since.
        let is_owner = !write || same_slot(a, here);
        if !is_owner
            || !same_slot(second.at, here)
            || second.is_write() != write
            || is_shared(a) == write
            || second.mask() == 0
        {
            return false;
        }
        let is_here = same(second.at, here);
        let mut entry = second;
        if is_here && second.mask() == mask && second.is_kept() {
            entry.set_last(self.next_rank(write));
        } else {
            let foreign = (second.what >> BYTES_SHIFT) as u8;
            let knows = if write { foreign & mask == 0 } else { is_known_by(a, &second, mask) };
            if !knows {
                return false;
            }
            if write && is_here && self.goes_on(&second, mask, place) {
                entry.add_bytes(mask);
            } else if self.may_renew(a, &second, is_here) {
                self.next_rank(write);
                entry = second.renewed(self.now(), mask, place);
            } else {
                return false;
            }
        }
        cell.second.set(entry.at, entry.what);
        cell.unlock(a);
        true
    }

    /// Whether an entry can give its place to a later one without a word: it is in the trace, or of a place of which this
    /// thread keeps only the newest.
    #[inline(always)]
    fn may_renew(&self, a: u64, entry: &Entry, is_here: bool) -> bool {
        if entry.is_silent() {
            return !is_here;
        }
        self.is_hot(entry) || !is_here && entry.is_lost() && a & SHARED == 0
    }

    /// Whether a write is the next part of one that goes upwards, byte after byte, with nothing in between that the trace will
    /// have: both are one.
    #[inline(always)]
    pub(super) fn goes_on(&self, old: &Entry, mask: u8, place: u32) -> bool {
        old.is_kept()
            && old.place() == place
            && old.last() == self.rank()
            && old.first() == old.last()
            && mask.trailing_zeros() >= 8 - old.mask().leading_zeros()
    }

    /// Everything else, by what is in the cell.
    #[inline(never)]
    fn changes(&mut self, filter: &Filter, sink: &mut impl Sink, cell: Cell, a: u64, access: &Placed) -> Outcome {
        if !is_known(a) && a != EMPTY {
            self.put_arrival(sink, access);
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
            self.put_arrival(sink, access);
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
        !words.version
            && self.is_after(filter, &words.first)
            && self.is_after(filter, &words.second)
            && filter.list(words.nodes).all(|(_, entry)| self.is_after(filter, &entry))
    }

    /// Writes an access that sees what others did, or that others see. What follows is at another position.
    pub(super) fn put_arrival(&mut self, sink: &mut impl Sink, access: &Placed) {
        if let Some(begun) = access.among {
            // The record comes when all have had their turn; none of the cells is seen by others until then.
            if self.position() == begun {
                self.synchronised();
            }
            return;
        }
        let kind = if access.write { Kind::ArriveWrite } else { Kind::ArriveRead };
        put_timed(sink, head(kind, access.mask, access.granule), access.place, None);
        self.synchronised();
    }
}

/// Whether the owner of a cell has no bytes of others to arrive at by this read.
#[inline(always)]
fn has_arrived(cell: Cell, first: &Entry, mask: u8) -> bool {
    let second = cell.second.entry();
    (second.what >> BYTES_SHIFT) as u8 & mask == 0
        || mask & !first.mask() == 0
        || unread(second.at, second.what) & mask == 0
}

/// Whether a reader of a shared cell that begins so has no version of these bytes to arrive at.
#[inline(always)]
fn is_known_by(a: u64, entry: &Entry, mask: u8) -> bool {
    a & VERSION == 0 || mask & !entry.mask() == 0
}
