//! Room for older entries: which call contexts are hot, what was dropped, and the free nodes of a thread.

use super::super::entry::Entry;
use super::super::memory::Filter;
use super::{CONTEXTS, Recorder, SPARE};
use core::sync::atomic::Ordering::Relaxed;

impl Recorder {
    #[inline]
    pub(in crate::filter) fn count_dropped(&mut self, filter: &Filter, entries: u64) {
        // A counter that all threads change at once would slow them down.
        self.dropped += entries;
        if self.dropped - self.dropped_reported >= 1 << 10 {
            self.report_dropped(filter);
        }
    }

    /// How many entries it has dropped, and how many it has kept or recorded.
    pub(in crate::filter) fn dropped_and_kept(&self) -> [u64; 2] {
        [self.dropped, self.spent]
    }

    /// Reports to the filter how many entries were dropped.
    pub fn report_dropped(&mut self, filter: &Filter) {
        filter.dropped.0.fetch_add(self.dropped - self.dropped_reported, Relaxed);
        self.dropped_reported = self.dropped;
    }

    /// Whether the call context of an entry is hot: so many of its older accesses were kept that each word keeps only
    /// the newest.
    #[inline(always)]
    pub(in crate::filter) fn is_hot(&self, entry: &Entry) -> bool {
        self.kept_of[kept_of(entry.context(), entry.slot())] >= self.per_context
    }

    /// Whether a call context of this slot is hot.
    #[inline(always)]
    pub(in crate::filter) fn is_hot_context(&self, context: u32) -> bool {
        self.kept_of[kept_of(context, self.slot)] >= self.per_context
    }

    /// Counts an older entry that is kept or recorded.
    #[inline]
    pub(in crate::filter) fn count_kept(&mut self, entry: &Entry) {
        let of = &mut self.kept_of[kept_of(entry.context(), entry.slot())];
        *of = of.saturating_add(1);
        self.spent += 1;
    }

    pub(in crate::filter) fn take_node(&mut self, filter: &Filter) -> Option<u32> {
        match self.spare_count {
            0 => filter.take_node(),
            n => {
                self.spare_count = n - 1;
                Some(self.spare[n as usize - 1])
            }
        }
    }

    pub(in crate::filter) fn give_node(&mut self, filter: &Filter, node: u32) {
        if self.spare_count as usize == SPARE {
            self.give_spare(filter, SPARE as u32 / 2);
        }
        self.spare[self.spare_count as usize] = node;
        self.spare_count += 1;
    }

    pub(super) fn give_spare(&mut self, filter: &Filter, keep: u32) {
        while self.spare_count > keep {
            self.spare_count -= 1;
            filter.give_node(self.spare[self.spare_count as usize]);
        }
    }
}

/// The bucket of a call context. Contexts are numbered one after the other, by each slot.
#[inline(always)]
fn kept_of(context: u32, slot: u32) -> usize {
    (context as usize ^ (slot as usize) << 4) % CONTEXTS
}
