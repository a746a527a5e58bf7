//! Short paths for accesses that a thread repeats: at the same sync index, or as at an earlier one. Most accesses that
//! are not covered are repetitions. Each function handles its case with the packed words of the cell, or returns false
//! and has done nothing.

use super::bits::{
    BYTES_SHIFT, DROPPED, EPOCH_SHIFT, NEXT_SEQ, OWN_BITS, RECORDED, SHARED, SLOT_SHIFT, VERSION, is_known, is_shared,
    is_write, renewed, same_epoch, same_slot,
};
use super::cell::{AtomicEntry, Cell};
use super::contents::foreign_to_reads;
use super::entry::Entry;
use super::recorder::Recorder;

impl Recorder {
    /// Repeats an access in a biased region of this thread: an access at this sync index, or one like that at an
    /// earlier one. Returns false if nothing was done.
    #[inline(always)]
    pub fn repeat_biased(&mut self, cell: Cell, mask: u8, write: bool, context: u32) -> bool {
        let a = cell.state();
        // Slot 0 also matches an empty cell, which is treated below as its own.
        if !same_slot(a, self.epoch()) || !self.has_seq_left() {
            return false;
        }
        if write {
            self.repeat_second(cell, a, mask, true, context)
        } else {
            self.repeat_read::<true>(cell, a, mask, context)
        }
    }

    /// [`Recorder::repeat_biased`] for a read of a Shared cell, whose entry may be any.
    pub fn repeat_among_readers(&mut self, cell: Cell, mask: u8, context: u32) -> bool {
        let a = cell.state();
        if !is_shared(a) || !self.has_seq_left() {
            return false;
        }
        let home = self.home_entry(cell);
        if self.may_renew_read(home, cell, mask) && self.renew_read::<true>(home, cell, mask, context) {
            return true;
        }
        if same_slot(a, self.epoch()) {
            self.repeat_read::<true>(cell, a, mask, context)
        } else {
            self.repeat_second(cell, a, mask, false, context)
        }
    }

    /// [`Recorder::repeat_biased`] for a cell of an unbiased region.
    #[inline(always)]
    pub fn repeat_locked(&mut self, cell: Cell, mask: u8, write: bool, context: u32) -> bool {
        let a = cell.state();
        if !self.has_seq_left() || !is_known(a) {
            return false;
        }
        if !write && same_slot(a, self.epoch()) {
            return self.repeat_read::<false>(cell, a, mask, context);
        }
        let entry = cell.second.entry();
        // Whether the lock is worth its cost.
        let may = same_epoch(entry.at, self.epoch())
            || same_slot(entry.at, self.epoch()) && (entry.is_dropped_or_recorded() || self.is_hot(&entry));
        if !may || !cell.try_lock(a) {
            return false;
        }
        let done = self.repeat_second(cell, a, mask, write, context);
        if !done {
            cell.unlock(a);
        }
        done
    }

    /// The common case of [`Recorder::repeat_locked`], without the lock: this thread's entry is in the trace, or its
    /// call context is hot, and the entry gives way to this later access. Returns false if nothing was done.
    #[inline(always)]
    pub fn renew_shared(&mut self, cell: Cell, mask: u8, write: bool, context: u32) -> bool {
        if write {
            return self.renew_write(cell, mask, context);
        }
        let home = self.home_entry(cell);
        self.may_renew_read(home, cell, mask) && self.renew_read::<false>(home, cell, mask, context)
    }

    /// The entry where this thread's reads of a cell in an unbiased region mostly are: its home entry in a Shared
    /// cell, and the first of an Exclusive one. The first may be another thread's.
    #[inline(always)]
    pub fn home_entry<'a>(&self, cell: Cell<'a>) -> HomeEntry<'a> {
        if self.is_second() {
            // The order of the loads matters: if the entry is this thread's afterwards, it was before.
            let what = cell.second.what_first();
            let entry = Entry { at: cell.second.at(), what };
            if is_read_of(entry.at, self.epoch()) {
                return HomeEntry { atomic: cell.second, entry, read: entry.mask(), others: OWN_BITS };
            }
        }
        let what = cell.first.what_first();
        let entry = Entry { at: cell.first.at(), what };
        HomeEntry {
            atomic: cell.first,
            entry,
            read: (entry.what >> BYTES_SHIFT) as u8,
            others: OWN_BITS | 0xff << BYTES_SHIFT,
        }
    }

    /// Whether a read is covered by its home entry.
    #[inline(always)]
    pub fn is_covered_by_home(&self, home: HomeEntry, mask: u8) -> bool {
        self.is_newest(home.entry.at) && mask & !home.read == 0
    }

    /// Whether a read may replace that entry.
    #[inline(always)]
    pub fn may_renew_read(&self, home: HomeEntry, cell: Cell, mask: u8) -> bool {
        let old = home.entry;
        if !is_of(old.at, self.epoch()) || !self.has_seq_left() {
            return false;
        }
        let is_shared = home.is_shared();
        // The entry knows of the bytes that it has read. For others without a further look, there must be nothing to
        // know.
        if mask & !old.mask() != 0
            && if is_shared { !cell.is_version_known() } else { old.mask() == 0 || cell.has_foreign_to_reads() }
        {
            return false;
        }
        let is_same_epoch = same_epoch(old.at, self.epoch());
        // A repetition at the same sync index is not a new entry.
        if is_same_epoch && if is_shared { old.mask() == mask } else { mask & home.read != 0 } {
            return false;
        }
        self.gives_way(&old, is_same_epoch, is_shared)
    }

    /// Replaces the entry by one exchange, if it is unchanged. The lock is part of a first entry, and a thread that
    /// holds the lock takes a second one out. `BIASED`: the caller owns the cell's biased region
    /// or has leased its block.
    #[inline(always)]
    pub fn renew_read<const BIASED: bool>(&mut self, home: HomeEntry, cell: Cell, mask: u8, context: u32) -> bool {
        let HomeEntry { atomic, entry: old, others, .. } = home;
        let mut read = u64::from(mask) << BYTES_SHIFT;
        let mut goes_on = false;
        if same_epoch(old.at, self.epoch()) {
            if self.is_newest(old.at) {
                read |= old.what;
            }
            if old.context() == context && others != OWN_BITS {
                // The next byte of a loop extends the entry instead.
                goes_on = old.is_deferred()
                    && mask & home.read == 0
                    && self.is_newest(old.at)
                    && !same_epoch(cell.second.at(), self.epoch());
                if !goes_on {
                    return false;
                }
            }
        }
        let now = self.now() + NEXT_SEQ;
        let what = old.what & !others | Entry::what(mask, context) | read & others & 0xff << BYTES_SHIFT;
        let entry = if goes_on {
            Entry { what: old.what | u64::from(mask) | read & 0xff << BYTES_SHIFT, ..old }
        } else {
            Entry { at: renewed(old.at, now), what }
        };
        let done = if BIASED {
            atomic.set(entry.at, entry.what);
            true
        } else {
            atomic.exchange(old, entry)
        };
        if done && !goes_on {
            self.next_seq(false);
        }
        done
    }

    /// [`Recorder::renew_shared`] for a write to a cell that is Exclusive of this thread.
    #[inline(always)]
    pub fn renew_write(&mut self, cell: Cell, mask: u8, context: u32) -> bool {
        let a = cell.state();
        // If the cell is still this thread's when it is locked, no other thread has changed this.
        let old = cell.second.entry();
        let is_same_epoch = same_epoch(old.at, self.epoch());
        if !is_of(a, self.epoch())
            || a & SHARED != 0
            || !old.is_write()
            || !is_of(old.at, self.epoch())
            || old.mask() == 0
            || cell.foreign() & mask != 0
            || is_same_epoch && (old.mask() == mask || old.context() == context)
            || !self.has_seq_left()
            || !self.gives_way(&old, is_same_epoch, false)
            || !cell.try_lock(a)
        {
            return false;
        }
        self.next_seq(true);
        let new = old.renewed(self.now(), mask, context);
        cell.second.set(new.at, new.what);
        cell.unlock(a);
        true
    }

    /// [`Recorder::may_renew`] for an entry with bytes.
    #[inline(always)]
    fn gives_way(&self, entry: &Entry, is_same_epoch: bool, is_shared: bool) -> bool {
        if self.is_hot(entry) {
            return true;
        }
        let flags = entry.at & (RECORDED | DROPPED);
        !is_same_epoch && flags != 0 && (flags == RECORDED || !is_shared)
    }

    /// Repeats a read whose entry is the first of the cell. In an unbiased region both words are exchanged at once: as
    /// long as they are unchanged, the cell is this thread's, or this thread is one of its readers.
    #[inline(always)]
    fn repeat_read<const BIASED: bool>(&mut self, cell: Cell, a: u64, mask: u8, context: u32) -> bool {
        let (epoch, before) = (self.epoch(), self.now());
        let first = Entry { at: a, what: cell.first.what() };
        let bytes = u64::from(mask) << BYTES_SHIFT;
        let is_same_epoch = same_epoch(a, epoch);
        // What the thread has read since it wrote last.
        let read = if is_same_epoch && self.is_newest(a) { first.what & 0xff << BYTES_SHIFT } else { 0 };
        let entry = if is_same_epoch && first.mask() == mask && first.is_deferred() {
            let mut entry = Entry { what: first.what & !(0xff << BYTES_SHIFT) | read | bytes, ..first };
            entry.set_last(self.next_seq(false));
            entry
        } else {
            let knows =
                if a & SHARED != 0 { is_known_by(a, &first, mask) } else { has_nothing_foreign(cell, &first, mask) };
            if !knows {
                return false;
            }
            if is_same_epoch
                && first.what & bytes == 0
                && first.is_deferred()
                && first.context() == context
                && self.is_newest(a)
                && !same_epoch(cell.second.at(), epoch)
            {
                // Byte after byte in a loop counts as one read, the first.
                Entry { what: first.what | u64::from(mask) | bytes, ..first }
            } else if self.may_renew(a, &first, is_same_epoch) {
                self.next_seq(false);
                let entry = first.renewed(self.now(), mask, context);
                Entry { what: entry.what & !(0xff << BYTES_SHIFT) | read | bytes, ..entry }
            } else {
                return false;
            }
        };
        if BIASED {
            cell.set_first(entry);
        } else if !cell.first.exchange(first, entry) {
            self.take_back(before);
            return false;
        }
        true
    }

    /// Repeats an access whose entry is the second of the locked cell: the owner's write, or the other reader's read.
    /// Unlocks the cell if it was done.
    #[inline(always)]
    fn repeat_second(&mut self, cell: Cell, a: u64, mask: u8, write: bool, context: u32) -> bool {
        let epoch = self.epoch();
        let second = cell.second.entry();
        // A thread may have made the last write to a word that another one owns by now, and has read since.
        let is_owner = !write || same_slot(a, epoch);
        if !is_owner
            || !same_slot(second.at, epoch)
            || second.is_write() != write
            || is_shared(a) == write
            || second.mask() == 0
        {
            return false;
        }
        let is_same_epoch = same_epoch(second.at, epoch);
        let mut entry = second;
        if is_same_epoch && second.mask() == mask && second.is_deferred() {
            entry.set_last(self.next_seq(write));
        } else {
            let foreign = (second.what >> BYTES_SHIFT) as u8;
            let knows = if write { foreign & mask == 0 } else { is_known_by(a, &second, mask) };
            if !knows {
                return false;
            }
            if write && is_same_epoch && self.goes_on(&second, mask, context) {
                entry.add_bytes(mask);
            } else if self.may_renew(a, &second, is_same_epoch) {
                self.next_seq(write);
                entry = second.renewed(self.now(), mask, context);
            } else {
                return false;
            }
        }
        cell.second.set(entry.at, entry.what);
        cell.unlock(a);
        true
    }

    /// Whether a later access can replace an entry without a record: the entry is in the trace, or its call context is
    /// hot.
    #[inline(always)]
    fn may_renew(&self, a: u64, entry: &Entry, is_same_epoch: bool) -> bool {
        if entry.needs_no_record() {
            return !is_same_epoch;
        }
        self.is_hot(entry) || !is_same_epoch && entry.has_dropped() && a & SHARED == 0
    }

    /// Whether a write continues one that goes upwards, byte after byte, with nothing in between that the trace will
    /// have: both are one write.
    #[inline(always)]
    pub(super) fn goes_on(&self, old: &Entry, mask: u8, context: u32) -> bool {
        old.is_deferred()
            && old.context() == context
            && old.last() == self.seq()
            && old.first() == old.last()
            && mask.trailing_zeros() >= 8 - old.mask().leading_zeros()
    }
}

/// Whether this read of a cell's owner touches no foreign bytes that it has not read yet.
#[inline(always)]
fn has_nothing_foreign(cell: Cell, first: &Entry, mask: u8) -> bool {
    let second = cell.second.entry();
    (second.what >> BYTES_SHIFT) as u8 & mask == 0
        || mask & !first.mask() == 0
        || foreign_to_reads(second.at, second.what) & mask == 0
}

/// Whether a reader of a Shared cell has already read the version of these bytes.
#[inline(always)]
fn is_known_by(a: u64, entry: &Entry, mask: u8) -> bool {
    a & VERSION == 0 || mask & !entry.mask() == 0
}

/// See [`Recorder::home_entry`].
#[derive(Clone, Copy)]
pub struct HomeEntry<'a> {
    atomic: &'a AtomicEntry,
    entry: Entry,
    /// The bytes read at its sync index.
    read: u8,
    /// The bits of `what` that describe the entry, and not the cell.
    others: u64,
}

impl HomeEntry<'_> {
    /// Whether it is an entry of a Shared cell.
    #[inline(always)]
    fn is_shared(&self) -> bool {
        self.others == OWN_BITS || self.entry.at & SHARED != 0
    }
}

/// Whether an entry with this `at` belongs to the thread of this epoch. (No locked or freed cell does, not even for a
/// thread that records everything.)
#[inline(always)]
const fn is_of(at: u64, epoch: u64) -> bool {
    at ^ epoch < (1 << SLOT_SHIFT) - (1 << EPOCH_SHIFT)
}

/// Whether a second entry with this `at` is a read of the thread of this epoch.
#[inline(always)]
const fn is_read_of(at: u64, epoch: u64) -> bool {
    !is_write(at) && is_of(at, epoch)
}
