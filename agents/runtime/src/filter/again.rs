//! Accesses that a thread does again: the same at its position, or what it did at an earlier one. Most of those that are not covered are so; each way
//! here does the common case with the words of the cell as they are, or denies it and has done nothing.

use super::cell::{
    BYTES_SHIFT, Cell, Entry, Half, LOST, LOW, NEXT_RANK, OUT, SHARED, SLOT_SHIFT, TAG_SHIFT, VERSION, is_known,
    is_shared, is_write, renewed, same, same_slot, unread,
};
use super::recorder::Recorder;

impl Recorder {
    /// An access that [`Recorder::covered`] denied, if it is one that threads do most of the time with memory of their own: the
    /// same again, or the same as at an earlier position; of a cell that no other thread comes to meanwhile. False: nothing was done.
    #[inline(always)]
    pub fn again(&mut self, cell: Cell, mask: u8, write: bool, place: u32) -> bool {
        let a = cell.state();
        // An empty cell is as good as one that this thread owns.
        if !same_slot(a, self.here()) || !self.has_ranks() {
            return false;
        }
        if write {
            self.second_again(cell, a, mask, true, place)
        } else {
            self.reads_again::<true>(cell, a, mask, place)
        }
    }

    /// [`Recorder::again`] for a cell that others may come to.
    #[inline(always)]
    pub fn again_among_others(&mut self, cell: Cell, mask: u8, write: bool, place: u32) -> bool {
        let a = cell.state();
        if !self.has_ranks() || !is_known(a) {
            return false;
        }
        if !write && same_slot(a, self.here()) {
            return self.reads_again::<false>(cell, a, mask, place);
        }
        let entry = cell.second.entry();
        // Whether it is worth the lock.
        let may = same(entry.at, self.here())
            || same_slot(entry.at, self.here()) && (entry.is_lost_or_out() || self.is_hot(&entry));
        if !may || !cell.try_lock(a) {
            return false;
        }
        let done = self.second_again(cell, a, mask, write, place);
        if !done {
            cell.unlock(a);
        }
        done
    }

    /// What [`Recorder::again_among_others`] does most, in few steps: this thread's entry is in the trace, or of a place of which only the newest is kept, and gives its place to this
    /// access at a later moment. False: nothing was done.
    #[inline(always)]
    pub fn renews(&mut self, cell: Cell, mask: u8, write: bool, place: u32) -> bool {
        if write {
            return self.renews_write(cell, mask, place);
        }
        let home = self.at_home(cell);
        self.may_renew_read(home, cell, mask) && self.renews_read(home, mask, place)
    }

    /// The entry where this thread's reads of a cell that others may come to most often are: where it belongs in a Shared cell, and the first of an Exclusive one, or any.
    /// The first may be another's.
    #[inline(always)]
    pub fn at_home<'a>(&self, cell: Cell<'a>) -> Home<'a> {
        if self.is_second() {
            // In this order: if the entry is this thread's afterwards, it was before.
            let what = cell.second.what_first();
            let entry = Entry { at: cell.second.at(), what };
            if is_read_of(entry.at, self.here()) {
                return Home { half: cell.second, entry, read: entry.mask(), others: LOW };
            }
        }
        let what = cell.first.what_first();
        let entry = Entry { at: cell.first.at(), what };
        Home { half: cell.first, entry, read: (entry.what >> BYTES_SHIFT) as u8, others: LOW | 0xff << BYTES_SHIFT }
    }

    /// Whether a read is covered by it.
    #[inline(always)]
    pub fn covers(&self, home: Home, mask: u8) -> bool {
        self.is_newest(home.entry.at) && mask & !home.read == 0
    }

    /// Whether a read may take the place of that entry.
    #[inline(always)]
    pub fn may_renew_read(&self, home: Home, cell: Cell, mask: u8) -> bool {
        let old = home.entry;
        if !is_of(old.at, self.here()) || !self.has_ranks() {
            return false;
        }
        let is_shared = home.is_shared();
        // It knows of the bytes that it has read; of others without a further look only if there is nothing to know.
        if mask & !old.mask() != 0 && (is_shared || old.mask() == 0 || cell.has_unread()) {
            return false;
        }
        let is_here = same(old.at, self.here());
        // The same again is not a new entry.
        if is_here && (is_shared || mask & home.read != 0) {
            return false;
        }
        self.gives_way(&old, is_here, is_shared)
    }

    /// Does it, if the entry is still the same: one exchange. The lock is part of a first entry, and who has it takes a second one out.
    #[inline(always)]
    pub fn renews_read(&mut self, home: Home, mask: u8, place: u32) -> bool {
        let Home { half, entry: old, others, .. } = home;
        let mut read = u64::from(mask) << BYTES_SHIFT;
        if same(old.at, self.here()) {
            // The next byte of a loop is not one either.
            if old.place() == place {
                return false;
            }
            read |= old.what;
        }
        let now = self.now() + NEXT_RANK;
        let what = old.what & !others | Entry::what(mask, place) | read & others & 0xff << BYTES_SHIFT;
        let done = half.exchange(old, Entry { at: renewed(old.at, now), what });
        if done {
            self.next_rank(false);
        }
        done
    }

    /// [`Recorder::renews`] for a write, to a cell that is Exclusive of this thread.
    #[inline(always)]
    pub fn renews_write(&mut self, cell: Cell, mask: u8, place: u32) -> bool {
        let a = cell.state();
        // If the cell is still this thread's when it is locked, nobody else has changed this.
        let old = cell.second.entry();
        let is_here = same(old.at, self.here());
        if !is_of(a, self.here())
            || a & SHARED != 0
            || !old.is_write()
            || !is_of(old.at, self.here())
            || old.mask() == 0
            || cell.foreign() & mask != 0
            || is_here && (old.mask() == mask || old.place() == place)
            || !self.has_ranks()
            || !self.gives_way(&old, is_here, false)
            || !cell.try_lock(a)
        {
            return false;
        }
        self.next_rank(true);
        let new = old.renewed(self.now(), mask, place);
        cell.second.set(new.at, new.what);
        cell.unlock(a);
        true
    }

    /// [`Recorder::may_renew`], of an entry with bytes.
    #[inline(always)]
    fn gives_way(&self, entry: &Entry, is_here: bool, is_shared: bool) -> bool {
        if self.is_hot(entry) {
            return true;
        }
        let flags = entry.at & (OUT | LOST);
        !is_here && flags != 0 && (flags == OUT || !is_shared)
    }

    /// This thread's read is the first entry of the cell. If it is not alone, both words are exchanged at once: as long as they are the same, the cell is this thread's, or
    /// it is one of its readers.
    #[inline(always)]
    fn reads_again<const ALONE: bool>(&mut self, cell: Cell, a: u64, mask: u8, place: u32) -> bool {
        let (here, before) = (self.here(), self.now());
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
        if ALONE {
            cell.set_first(entry);
        } else if !cell.first.exchange(first, entry) {
            self.take_back(before);
            return false;
        }
        true
    }

    /// This thread's is the second entry of the locked cell: the owner's write, or the other reader's read. Unlocked if it was done.
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

/// See [`Recorder::at_home`].
#[derive(Clone, Copy)]
pub struct Home<'a> {
    half: &'a Half,
    entry: Entry,
    /// The bytes read at its position.
    read: u8,
    /// What its second word says of it, and not of the cell.
    others: u64,
}

impl Home<'_> {
    /// Whether it is that of a reader among others.
    #[inline(always)]
    fn is_shared(&self) -> bool {
        self.others == LOW || self.entry.at & SHARED != 0
    }
}

/// Whether an entry that begins so is of the thread that is here. (No cell that is locked or freed is, also for a thread that records everything.)
#[inline(always)]
const fn is_of(at: u64, here: u64) -> bool {
    at ^ here < (1 << SLOT_SHIFT) - (1 << TAG_SHIFT)
}

/// Whether a second entry that begins so is a read of the thread that is here.
#[inline(always)]
const fn is_read_of(at: u64, here: u64) -> bool {
    !is_write(at) && is_of(at, here)
}
