//! Whole granules side by side, accessed at once: what goes through memory in bulk is handled, and written, block by block.
//!
//! Most cells of such a block are alike. Those whose access is kept get their entries one after the other; those where the thread arrives are
//! one record, with one time: all of them are held from before it is taken until the record is written. So each cell has
//! its arrivals in the order of their times, and nobody comes in between.

use super::access::{Access, Among, Placed};
use super::cell::{Cell, EMPTY, Half, Halves, Words, is_known};
use super::memory::Filter;
use super::recorder::{Outcome, Recorder, put_timed_by};
use super::runs::Runs;
use super::{ENTRY_WORDS, Sink};
use crate::handover::When;
use crate::record::{Kind, head};

/// Bytes of a block.
pub const BLOCK_BYTES: usize = 64;
pub(super) const GRANULES: usize = BLOCK_BYTES / 8;

/// Words that a block can need at most if its cells have no nodes: of each cell the two entries that it has, and one that
/// gives its place to another.
pub(super) const BULK_WORDS: usize = 3 * GRANULES * ENTRY_WORDS + 2;

/// An access of whole granules of a block.
#[derive(Clone, Copy, Debug)]
pub struct Block<'c> {
    /// The address of the block.
    pub address: u64,
    /// The halves of its cells. For [`Recorder::blocks_alike`], also of those behind them.
    pub halves: [&'c [Half]; 2],
    /// Which of its granules, the lowest first; they are side by side.
    pub granules: u8,
    /// Whether it writes.
    pub write: bool,
}

impl<'c> Block<'c> {
    /// The cell of a granule.
    #[inline(always)]
    pub(super) fn cell(&self, number: usize) -> Cell<'c> {
        let [first, second] = self.halves;
        Cell::new(&first[number], &second[number])
    }

    /// Its granules in the line that the block is in; those of the blocks behind it are in it, too.
    #[inline(always)]
    fn bits(&self) -> u64 {
        let behind = self.halves[0].len() - GRANULES;
        let all = u64::from(self.granules) | (1u64 << behind).wrapping_sub(1) << GRANULES;
        all << (self.address >> 3 & 63)
    }
}

/// The numbers of granules, the lowest first.
#[inline(always)]
fn each(mut granules: u8) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let number = granules.trailing_zeros() as usize;
        granules &= granules.wrapping_sub(1);
        (number < GRANULES).then_some(number)
    })
}

impl Recorder {
    /// The granules from the first one on whose access is not covered. `line`: this thread's, where the block is.
    #[inline]
    pub fn uncovered(&self, line: &Half, block: &Block) -> u8 {
        if !block.write && self.is_long() {
            // As in `has_read`.
            let granules = line.what_first();
            if block.bits() & !granules == 0 && self.is_own(line.at()) {
                return 0;
            }
        }
        let mut covered = each(block.granules);
        let first = covered.find(|&number| !self.covered(block.cell(number), 0xff, block.write));
        first.map_or(0, |number| block.granules & u8::MAX << number)
    }

    /// As [`Recorder::note_read`], of all granules of an access that is about to go its way.
    #[inline]
    pub fn note_reads(&mut self, line: &Half, block: &Block) {
        if !block.write {
            self.note(line, block.bits());
        }
    }

    /// Accesses of granules, the first of which is not covered; `alone` as for one of them ([`Recorder::access`]). The granules that are left, which
    /// must be accessed one after the other.
    pub fn accesses<S: Sink>(
        &mut self,
        filter: &Filter,
        sink: &mut S,
        mut block: Block,
        alone: impl FnOnce() -> bool,
        place: u32,
    ) -> u8 {
        sink.reserve(BULK_WORDS);
        let alone = alone();
        if self.block_alike(filter, sink, &block, alone, place) {
            return 0;
        }
        // Most cells are alike: where one needs more, so do the others.
        for number in each(block.granules) {
            let cell = block.cell(number);
            let is_done = if self.covered(cell, 0xff, block.write) {
                true
            } else if alone {
                self.again(cell, 0xff, block.write, place)
            } else {
                self.renews(cell, 0xff, block.write, place) || self.again_among_others(cell, 0xff, block.write, place)
            };
            if !is_done {
                break;
            }
            block.granules &= !(1 << number);
        }
        if block.granules == 0 || self.all_at_once(filter, sink, &block, alone, place) { 0 } else { block.granules }
    }

    /// Changes all cells as one. False: there is one among them that takes more, and nothing was done.
    fn all_at_once(&mut self, filter: &Filter, sink: &mut impl Sink, block: &Block, alone: bool, place: u32) -> bool {
        if !self.has_ranks_for(GRANULES as u32) {
            return false;
        }
        let mut states = [EMPTY; GRANULES];
        for number in each(block.granules) {
            let cell = block.cell(number);
            let locked = cell.lock(sink, alone, |a| a == EMPTY || is_known(a));
            if let Ok(a) = locked {
                states[number] = a;
                if a == EMPTY || !cell.has_nodes() {
                    continue;
                }
            }
            let up_to = if locked.is_ok() { number + 1 } else { number };
            for number in each(block.granules).take_while(|&number| number < up_to) {
                block.cell(number).unlock(states[number]);
            }
            return false;
        }
        let among = Among::new(self.position());
        let mut runs = Runs::new(sink, block.address);
        let mut after = [Halves::default(); GRANULES];
        let mut arrived = 0;
        for number in each(block.granules) {
            let was = match states[number] {
                EMPTY => Default::default(),
                a => block.cell(number).take(a),
            };
            let (outcome, words) = self.change(filter, &mut runs, &among, block, number, was, place);
            after[number] = words.entries();
            arrived |= u8::from(outcome == Outcome::Written) << number;
        }
        self.write(&mut runs, &among, block, arrived, place);
        for number in each(block.granules) {
            block.cell(number).put(after[number]);
        }
        true
    }

    /// Changes a cell of a block that is held, which has this in its halves.
    #[allow(clippy::too_many_arguments)]
    #[inline]
    pub(super) fn change(
        &mut self,
        filter: &Filter,
        runs: &mut Runs<impl Sink>,
        among: &Among,
        block: &Block,
        number: usize,
        was: Halves,
        place: u32,
    ) -> (Outcome, Words) {
        let mut words = Words::of(was);
        let access = Access { granule: block.address + 8 * number as u64, mask: 0xff, write: block.write };
        let outcome = self.changes_words(filter, runs, &mut words, &Placed { access, place, among: Some(among) });
        (outcome, words)
    }

    /// Writes what there is to write of a block that is held, with the arrivals at some of its granules, and at all blocks behind it that are meant.
    #[inline]
    pub(super) fn write<S: Sink>(&mut self, runs: &mut Runs<S>, among: &Among, block: &Block, arrived: u8, place: u32) {
        runs.flush();
        if arrived == 0 {
            return;
        }
        let kind = if block.write { Kind::ArriveWrites } else { Kind::ArriveReads };
        // What was written since is owed, too.
        let when = if self.may_be_handed() { among.when.get() } else { When::Now };
        let head = head(kind, arrived, block.address | runs.behind());
        put_timed_by(runs.sink(), head, place, None, |sink| sink.time(when));
        if !arrived.is_power_of_two() {
            // One of them again comes after the others, and what they have seen: it is not covered.
            self.next_rank(true);
        }
    }
}
