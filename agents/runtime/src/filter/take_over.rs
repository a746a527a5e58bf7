//! A short path for words that are handed from thread to thread: all that their cells show is before this thread in
//! every run, and what they show is not to be kept.

use super::bits::{
    BYTES_SHIFT, CONTENDED, DROPPED, LOWER_FOREIGN_TO_READS, OWN_BITS, SHARED, VERSION, is_known, same_epoch, same_slot,
};
use super::cell::Cell;
use super::contents::foreign_to_reads;
use super::entry::Entry;
use super::memory::Filter;
use super::recorder::Recorder;

impl Recorder {
    /// Handles an access that is not covered in one of the short ways, if the caller owns the cell's biased region or
    /// has leased its block.
    /// Returns false if nothing was done.
    #[inline]
    pub fn defer_at_once(&mut self, filter: &Filter, cell: Cell, mask: u8, write: bool, context: u32) -> bool {
        self.repeat_biased(cell, mask, write, context)
            || !write && self.repeat_among_readers(cell, mask, context)
            || self.first_touch(filter, cell, mask, write, context)
            || self.take_over(filter, cell, mask, write, context)
    }

    /// Handles an access to an Exclusive cell without nodes, if the caller owns its biased region (or has leased its
    /// block) and
    ///
    /// * all entries are before this thread, so that the access is deferred;
    /// * entries that the new one replaces are in the trace, or of hot call contexts.
    ///
    /// It has the effect of [`Recorder::record_access`], in fewer steps: data that is handed over comes here with each
    /// word. Returns false if nothing was done.
    #[inline]
    pub fn take_over(&mut self, filter: &Filter, cell: Cell, mask: u8, write: bool, context: u32) -> bool {
        let a = cell.state();
        if !is_known(a) || a & SHARED != 0 || self.records_everything() || !self.has_seq_left() || cell.has_nodes() {
            return false;
        }
        let (packed, old) = (cell.first.what(), cell.second.entry());
        let first = Entry { at: a & !VERSION, what: packed & OWN_BITS };
        let second = Entry { at: old.at & !LOWER_FOREIGN_TO_READS, what: old.what & OWN_BITS };
        let is_mine = same_slot(a, self.epoch());
        let conflicts = if write {
            (old.what >> BYTES_SHIFT) as u8 & mask != 0
        } else {
            foreign_to_reads(old.at, old.what) & mask != 0 && !(is_mine && mask & !first.mask() == 0)
        };
        if conflicts
            || second.at != 0 && !second.is_write()
            || !self.is_all_handed(filter, &first, &second, old.what & CONTENDED != 0, context)
        {
            return false;
        }
        // Which entries give way.
        let mine = if write { &second } else { &first };
        if is_mine && same_epoch(mine.at, self.epoch()) && mine.mask() != 0 && !mine.needs_no_record() {
            return false;
        }
        let gives_way = |entry: &Entry| !entry.is_deferred() || entry.has_dropped() || self.is_hot(entry);
        let (is_first_over, is_second_over) = (!is_mine || !write, write);
        if is_first_over && !gives_way(&first) || is_second_over && !gives_way(&second) {
            return false;
        }
        let mut give_way = |entry: &Entry| {
            if entry.is_deferred() && !entry.has_dropped() {
                self.count_dropped(filter, 1);
            }
            // What was deferred is dropped now.
            entry.is_deferred() || entry.has_dropped()
        };
        let has_dropped_first = is_first_over && give_way(&first);
        let has_dropped_second = is_second_over && give_way(&second);
        let flag = |dropped| if dropped { DROPPED } else { 0 };
        let mut version = a & VERSION;
        let is_same_epoch = is_mine && same_epoch(a, self.epoch()) && first.mask() != 0;
        let new = Entry::deferred(self.epoch(), self.next_seq(write), mask, context, write);
        if !is_mine {
            // Another thread that is looking at the cell must not take what is stored next for its own.
            cell.hide();
        }
        if write {
            let rest = Entry { at: old.at & LOWER_FOREIGN_TO_READS, what: old.what & !OWN_BITS };
            cell.second.set(new.at | flag(has_dropped_second) | rest.at, new.what | rest.what);
            if is_mine {
                return true;
            }
            if has_dropped_second {
                version = VERSION;
            }
            let nothing = Entry::nothing(self.epoch());
            cell.set_first(Entry { at: nothing.at | flag(has_dropped_first) | version, ..nothing });
        } else {
            let read = if is_same_epoch && self.is_newest(a) { packed & 0xff << BYTES_SHIFT } else { 0 };
            let at = new.at | flag(has_dropped_first) | version;
            cell.set_first(Entry { at, what: new.what | read | u64::from(mask) << BYTES_SHIFT });
        }
        true
    }

    /// Whether all that an Exclusive cell shows is before this thread in every run, so that an access is deferred.
    #[inline(always)]
    fn is_all_handed(&self, filter: &Filter, first: &Entry, second: &Entry, contended: bool, context: u32) -> bool {
        // What this thread knows by itself comes before the clocks that all share.
        let is_mine = |entry: &Entry| entry.at == 0 || entry.slot() == self.slot();
        let is_known = |entry: &Entry| is_mine(entry) || entry.sync_index() != 0 && self.reads_from.has(entry.at);
        if is_known(first) && is_known(second) {
            if is_mine(first) && is_mine(second) || !contended && self.is_frequent_pair(first, second, context) {
                return true;
            }
            return self.is_ordered_after(filter, first) && self.is_ordered_after(filter, second);
        }
        if self.is_ordered_after(filter, first) && self.is_ordered_after(filter, second) {
            return true;
        }
        !contended
            && (is_known(first) || self.is_before(filter, first, 0, None))
            && (is_known(second) || self.is_before(filter, second, 0, None))
            && self.is_frequent_pair(first, second, context)
    }
}
