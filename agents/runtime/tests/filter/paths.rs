//! The paths of an access, as hooks choose them, and what a test remembers of it.

use crate::memory::{Cells, Owned, Records};
use oracle::random::Random;
use runtime::filter::{Access, AtomicEntry, BLOCK_BYTES, Block, Outcome, Recorder, clear_summary};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The address of a word.
pub(crate) fn address(word: usize) -> u64 {
    8 * word as u64
}

/// What became of events that are accesses.
#[derive(Default)]
pub(crate) struct Fates {
    /// By slot, sync index and sequence number: the events that were deferred; without a sequence number: recorded.
    pub(crate) kept: BTreeMap<(usize, u64, u32), Range<usize>>,
    /// Events that neither were recorded nor will be.
    pub(crate) left_out: BTreeSet<usize>,
    /// Events that are one access of a block: they have no order among themselves.
    pub(crate) together: Vec<Range<usize>>,
}

/// A thread that accesses shared memory.
pub(crate) struct Path<'w, 'c> {
    pub(crate) filter: &'w Owned,
    pub(crate) cells: &'w Cells,
    /// The read summaries of even and of odd slots, for all cells.
    pub(crate) summaries: &'w [AtomicEntry; 2],
    pub(crate) recorder: &'w mut Recorder,
    pub(crate) sink: &'w mut Records<'c>,
    pub(crate) fates: &'w mut Fates,
    pub(crate) context: u32,
    pub(crate) write: bool,
}

impl<'w> Path<'w, '_> {
    fn now(&self) -> (u64, u32) {
        (self.recorder.sync_index(), self.recorder.seq())
    }

    fn summary(&self) -> &'w AtomicEntry {
        &self.summaries[usize::from(self.recorder.is_second())]
    }

    /// One access, which is these events. `asks`: the read summary is asked first.
    pub(crate) fn one(&mut self, at: usize, mask: u8, asks: bool, events: Range<usize>, r: &mut Random) {
        let before = self.now();
        let outcome = self.goes(at, mask, asks, r);
        let now = self.now();
        let slot = self.recorder.slot() as usize;
        if outcome == Some(Outcome::Written) {
            self.fates.kept.insert((slot, now.0, u32::MAX), events);
        } else if before == now {
            // Covered, or part of another.
            self.fates.left_out.extend(events);
        } else {
            self.fates.kept.insert((slot, now.0, now.1), events);
        }
    }

    fn goes(&mut self, at: usize, mask: u8, asks: bool, r: &mut Random) -> Option<Outcome> {
        let (cell, write, context) = (self.cells.cell(at), self.write, self.context);
        let is_whole_read = !write && mask == 0xff;
        let has_read = asks && is_whole_read && self.recorder.has_read(self.summary(), address(at));
        let is_covered = self.recorder.is_covered(cell, mask, write);
        assert!(write || is_covered || !self.recorder.is_covered_by_home(self.recorder.home_entry(cell), mask));
        if has_read || is_covered {
            return None;
        }
        if is_whole_read {
            self.recorder.note_read(self.summary(), address(at));
        }
        let recorder = &mut *self.recorder;
        let is_done = r.percent(75)
            && match r.below(7) {
                0 => recorder.repeat_biased(cell, mask, write, context),
                1 => recorder.repeat_locked(cell, mask, write, context),
                number @ 2..=4 => {
                    let is_done = match number {
                        2 => recorder.first_touch(self.filter, cell, mask, write, context),
                        3 => recorder.take_over(self.filter, cell, mask, write, context),
                        _ => recorder.defer_at_once(self.filter, cell, mask, write, context),
                    };
                    if is_done && write {
                        self.summaries.iter().for_each(clear_summary);
                    }
                    is_done
                }
                5 if !write => recorder.repeat_among_readers(cell, mask, context),
                _ => recorder.renew_shared(cell, mask, write, context),
            };
        if is_done {
            return Some(Outcome::Deferred);
        }
        let access = Access { word: address(at), mask, write };
        let outcome = recorder.record_access(self.filter, self.sink, cell, || r.percent(50), access, context);
        if write {
            self.summaries.iter().for_each(clear_summary);
        }
        Some(outcome)
    }

    /// An access of whole words, one event of each, in their order.
    pub(crate) fn side_by_side(&mut self, words: Range<usize>, events: Range<usize>, r: &mut Random) {
        const EACH: usize = BLOCK_BYTES / 8;
        let event = |at: usize| events.start + (at - words.start);
        let mut at = words.start;
        while at < words.end {
            let base = at / EACH * EACH;
            let end = words.end.min(base + EACH);
            if end - at > 1 {
                self.fates.together.push(event(at)..event(end - 1) + 1);
                let bits = (((1u32 << (end - at)) - 1) << (at - base)) as u8;
                let entries = self.cells.side_by_side(base..base + EACH);
                let block = Block { address: address(base), entries, words: bits, write: self.write };
                let left = self.block(block, |number| event(base + number), &events, r);
                for at in (0..EACH).filter(|number| left >> number & 1 == 1).map(|number| base + number) {
                    // The read summary knows of it already.
                    self.one(at, 0xff, false, event(at)..event(at) + 1, r);
                }
            } else {
                self.one(at, 0xff, true, event(at)..event(at) + 1, r);
            }
            at = end;
        }
    }

    /// Accesses a block, and returns the words that are left.
    fn block(&mut self, mut block: Block, event: impl Fn(usize) -> usize, events: &Range<usize>, r: &mut Random) -> u8 {
        let all = block.words;
        block.words = self.recorder.first_uncovered(self.summary(), &block);
        let is_covered = (0..8).filter(|number| (all & !block.words) >> number & 1 == 1);
        self.fates.left_out.extend(is_covered.map(event));
        if block.words == 0 {
            return 0;
        }
        self.recorder.note_reads(self.summary(), &block);
        let (before, slot) = (self.now(), self.recorder.slot() as usize);
        let left = self.recorder.record_block(self.filter, self.sink, block, || r.percent(50), self.context);
        if self.write {
            self.summaries.iter().for_each(clear_summary);
        }
        let now = self.now();
        let kept = &mut self.fates.kept;
        // All sequence numbers that it can have used; others are used by what comes next, or never.
        for seq in before.1 + 1..=before.1 + 8 {
            kept.insert((slot, before.0, seq), events.clone());
        }
        if now.0 != before.0 {
            for seq in 1..=now.1 {
                kept.insert((slot, now.0, seq), events.clone());
            }
            kept.insert((slot, now.0, u32::MAX), events.clone());
        }
        left
    }
}
