//! An entry of a shadow cell: one kind of access by one thread.

use super::bits::{
    CONTEXT_BITS, CONTEXT_SHIFT, DROPPED, EPOCH_SHIFT, LOWER_FOREIGN_TO_READS, MAX_SEQ, MAX_SYNC_INDEX, OWN_BITS,
    RECORDED, SEQ_SHIFT, SHARED, SPAN_SHIFT, VERSION, WRITE, epoch_of, seq_of, slot_of,
};

/// An entry: an access, and the first one like it at its sync index.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Entry {
    /// Slot, sync index, sequence number, flags.
    pub(super) at: u64,
    /// Bytes, call context, span.
    pub(super) what: u64,
}

impl Entry {
    /// An access that is deferred.
    #[inline(always)]
    pub(super) fn deferred(epoch: u64, seq: u32, mask: u8, context: u32, write: bool) -> Entry {
        Entry {
            at: epoch | (seq as u64) << SEQ_SHIFT | if write { WRITE } else { 0 },
            what: Entry::what(mask, context),
        }
    }

    /// `what` of a deferred access.
    #[inline(always)]
    pub(super) const fn what(mask: u8, context: u32) -> u64 {
        mask as u64 | (context as u64) << CONTEXT_SHIFT
    }

    /// An access that is in the trace.
    #[inline]
    pub(super) fn recorded(epoch: u64, mask: u8, write: bool) -> Entry {
        let entry = Entry::deferred(epoch, 0, mask, 0, write);
        Entry { at: entry.at | RECORDED, ..entry }
    }

    /// No access, but the thread knows of what was there before.
    #[inline]
    pub(super) fn nothing(epoch: u64) -> Entry {
        Entry { at: epoch | 1 << SEQ_SHIFT, what: 0 }
    }

    /// No access, but the identity of a recorded store: slot and sync index of its thread. (They are not in `at`, which
    /// would say that all accesses of that thread before it have been seen.)
    #[inline]
    pub(super) fn stored(slot: u32, sync_index: u64) -> Entry {
        Entry { what: sync_index << CONTEXT_SHIFT & OWN_BITS, ..Entry::nothing(epoch_of(slot, 0)) }
    }

    /// No access, but one more than before of those that left the stored value as it was.
    #[inline]
    pub(super) fn count(&mut self) {
        self.what = self.what.wrapping_add(1 << CONTEXT_SHIFT) & OWN_BITS;
    }

    #[inline(always)]
    pub(super) fn slot(&self) -> u32 {
        slot_of(self.at)
    }

    #[inline(always)]
    pub(super) fn sync_index(&self) -> u64 {
        self.at >> EPOCH_SHIFT & MAX_SYNC_INDEX
    }

    #[inline(always)]
    pub(super) fn mask(&self) -> u8 {
        self.what as u8
    }

    #[inline(always)]
    pub(super) fn context(&self) -> u32 {
        (self.what >> CONTEXT_SHIFT) as u32 & ((1 << CONTEXT_BITS) - 1)
    }

    /// The sequence number of the first access like it.
    #[inline(always)]
    pub(super) fn first(&self) -> u32 {
        self.last() - (self.what >> SPAN_SHIFT & u64::from(MAX_SEQ)) as u32
    }

    /// Its sequence number.
    #[inline(always)]
    pub(super) fn last(&self) -> u32 {
        seq_of(self.at)
    }

    /// The access is repeated with this sequence number.
    #[inline(always)]
    pub(super) fn set_last(&mut self, seq: u32) {
        let further = u64::from(seq - self.last());
        self.at += further << SEQ_SHIFT;
        self.what += further << SPAN_SHIFT;
    }

    #[inline(always)]
    pub(super) fn add_bytes(&mut self, mask: u8) {
        self.what |= u64::from(mask);
    }

    #[inline(always)]
    pub(super) fn is_write(&self) -> bool {
        self.at & WRITE != 0
    }

    /// Whether it is a write at this point.
    #[inline(always)]
    pub(super) fn is_write_at(&self, point: u64) -> bool {
        self.at & !(RECORDED | DROPPED | LOWER_FOREIGN_TO_READS) == point | WRITE
    }

    #[inline(always)]
    pub(super) fn has_dropped(&self) -> bool {
        self.at & DROPPED != 0
    }

    #[inline(always)]
    pub(super) fn set_dropped(&mut self) {
        self.at |= DROPPED;
    }

    /// Drops the first access like it: only the last one stays.
    #[inline]
    pub(super) fn forget_first(&mut self) {
        self.what &= !(u64::from(MAX_SEQ) << SPAN_SHIFT);
    }

    /// Forgets that accesses before it were dropped.
    #[inline]
    pub(super) fn clear_dropped(&mut self) {
        self.at &= !DROPPED;
    }

    /// The entry after it was recorded, with these bytes added.
    #[inline]
    pub(super) fn recorded_with(&self, mask: u8) -> Entry {
        Entry { at: self.at | RECORDED, what: self.what | u64::from(mask) }
    }

    /// Notes that it was recorded, with the drop barrier before it.
    pub(super) fn set_recorded(&mut self) {
        if self.mask() != 0 {
            self.at = self.at & !DROPPED | RECORDED;
        }
    }

    /// Whether it is to be recorded when another thread's access conflicts.
    #[inline(always)]
    pub(super) fn is_deferred(&self) -> bool {
        self.mask() != 0 && self.at & RECORDED == 0
    }

    /// Whether its flags allow a later access to replace it without a record.
    #[inline(always)]
    pub(super) fn is_dropped_or_recorded(&self) -> bool {
        self.at & (DROPPED | RECORDED) != 0
    }

    /// Replaces this entry, which is dropped, by a later access. The bits that describe the cell stay.
    #[inline(always)]
    pub(super) fn renewed(&self, point: u64, mask: u8, context: u32) -> Entry {
        let dropped = if self.is_deferred() { DROPPED } else { self.at & DROPPED };
        Entry {
            at: point | self.at & (SHARED | VERSION) | dropped,
            what: self.what & !OWN_BITS | Entry::what(mask, context),
        }
    }

    /// Whether nothing is to be written for it, not even a drop barrier.
    #[inline(always)]
    pub(super) fn needs_no_record(&self) -> bool {
        !self.is_deferred() && !self.has_dropped()
    }
}
