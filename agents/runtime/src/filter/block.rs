//! Bulk accesses: whole words side by side, handled and recorded block by block.
//!
//! Most cells of such a block are uniform. Deferred accesses get entries one after the other. Conflicting ones share
//! one record, with one time: all their cells are held from before the time is taken until the record is written. So
//! each cell has its conflicts in the order of their times, and no other thread comes in between.

use super::access::{Access, AccessAt, Bulk};
use super::bits::{EMPTY, is_known};
use super::cell::{AtomicEntry, Cell};
use super::contents::{Contents, Packed};
use super::memory::Filter;
use super::recorder::{Outcome, Recorder, put_timed_by};
use super::runs::Runs;
use super::{ENTRY_ROOM, Sink};
use crate::hand_off::Timing;
use crate::record::{Kind, head};

/// Bytes of a block.
pub const BLOCK_BYTES: usize = 64;
pub(super) const WORDS: usize = BLOCK_BYTES / 8;

/// Record words that a block can need at most if its cells have no nodes: the two entries of each cell, and one that
/// gives way to another.
pub(super) const BULK_ROOM: usize = 3 * WORDS * ENTRY_ROOM + 2;

/// An access of whole words of a block.
#[derive(Clone, Copy, Debug)]
pub struct Block<'c> {
    /// The address of the block.
    pub address: u64,
    /// The first and the second entries of its cells. For [`Recorder::record_uniform_blocks`], also those of the blocks
    /// behind it.
    pub entries: [&'c [AtomicEntry]; 2],
    /// Which of its words, the lowest in bit 0; they are side by side.
    pub words: u8,
    /// Whether it writes.
    pub write: bool,
}

impl<'c> Block<'c> {
    /// The cell of a word.
    #[inline(always)]
    pub(super) fn cell(&self, number: usize) -> Cell<'c> {
        let [first, second] = self.entries;
        Cell::new(&first[number], &second[number])
    }

    /// Its words as bits of the read summary; those of the blocks behind it are in the same summary.
    #[inline(always)]
    fn bits(&self) -> u64 {
        let behind = self.entries[0].len() - WORDS;
        let all = u64::from(self.words) | (1u64 << behind).wrapping_sub(1) << WORDS;
        all << (self.address >> 3 & 63)
    }
}

/// The numbers of the words, the lowest first.
#[inline(always)]
fn each(mut words: u8) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let number = words.trailing_zeros() as usize;
        words &= words.wrapping_sub(1);
        (number < WORDS).then_some(number)
    })
}

impl Recorder {
    /// The words from the first one on whose access is not covered. `summary` is this thread's read summary of the
    /// block.
    #[inline]
    pub fn first_uncovered(&self, summary: &AtomicEntry, block: &Block) -> u8 {
        if !block.write && self.is_long() {
            // The order of the loads is that of `has_read`.
            let words = summary.what_first();
            if block.bits() & !words == 0 && self.is_own(summary.at()) {
                return 0;
            }
        }
        let mut is_covered = each(block.words);
        let first = is_covered.find(|&number| !self.is_covered(block.cell(number), 0xff, block.write));
        first.map_or(0, |number| block.words & u8::MAX << number)
    }

    /// Notes a read of all words of a block ([`Recorder::note_read`]), before their cells are changed.
    #[inline]
    pub fn note_reads(&mut self, summary: &AtomicEntry, block: &Block) {
        if !block.write {
            self.note(summary, block.bits());
        }
    }

    /// Records accesses of words, the first of which is not covered; `biased` is as in [`Recorder::record_access`].
    /// Returns the words that are left, which must be accessed one by one.
    pub fn record_block<S: Sink>(
        &mut self,
        filter: &Filter,
        sink: &mut S,
        mut block: Block,
        biased: impl FnOnce() -> bool,
        context: u32,
    ) -> u8 {
        sink.reserve(BULK_ROOM);
        let biased = biased();
        if !biased && self.record_uniform_block(filter, sink, &block, biased, context) {
            return 0;
        }
        // Most cells are uniform: where one needs more, so do the others.
        for number in each(block.words) {
            let cell = block.cell(number);
            let is_done = if self.is_covered(cell, 0xff, block.write) {
                true
            } else if biased {
                self.defer_at_once(filter, cell, 0xff, block.write, context)
            } else {
                self.renew_shared(cell, 0xff, block.write, context)
                    || self.repeat_locked(cell, 0xff, block.write, context)
            };
            if !is_done {
                break;
            }
            block.words &= !(1 << number);
        }
        if block.words == 0 || self.update_together(filter, sink, &block, biased, context) { 0 } else { block.words }
    }

    /// Changes all cells together. Returns false, and has done nothing, if one of them needs more.
    fn update_together(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        block: &Block,
        biased: bool,
        context: u32,
    ) -> bool {
        if !self.has_seq_left_for(WORDS as u32) {
            return false;
        }
        let mut states = [EMPTY; WORDS];
        for number in each(block.words) {
            let cell = block.cell(number);
            let locked = cell.lock(sink, biased, |a| a == EMPTY || is_known(a));
            if let Ok(a) = locked {
                states[number] = a;
                if a == EMPTY || !cell.has_nodes() {
                    continue;
                }
            }
            let up_to = if locked.is_ok() { number + 1 } else { number };
            for number in each(block.words).take_while(|&number| number < up_to) {
                block.cell(number).unlock(states[number]);
            }
            return false;
        }
        let bulk = Bulk::new(self.sync_index());
        let mut runs = Runs::new(sink, block.address);
        let mut after = [Packed::default(); WORDS];
        let mut conflicting = 0;
        for number in each(block.words) {
            let was = match states[number] {
                EMPTY => Default::default(),
                a => block.cell(number).take_packed(a),
            };
            let (outcome, contents) = self.update_block_cell(filter, &mut runs, &bulk, block, number, was, context);
            after[number] = contents.pack();
            conflicting |= u8::from(outcome == Outcome::Written) << number;
        }
        self.write(&mut runs, &bulk, block, conflicting, context);
        for number in each(block.words) {
            block.cell(number).put(after[number]);
        }
        true
    }

    /// Updates the contents `was` of one cell of a block that is held.
    #[allow(clippy::too_many_arguments)]
    #[inline]
    pub(super) fn update_block_cell(
        &mut self,
        filter: &Filter,
        runs: &mut Runs<impl Sink>,
        bulk: &Bulk,
        block: &Block,
        number: usize,
        was: Packed,
        context: u32,
    ) -> (Outcome, Contents) {
        let mut contents = Contents::unpack(was);
        let access = Access { word: block.address + 8 * number as u64, mask: 0xff, write: block.write };
        let outcome =
            self.update_contents(filter, runs, &mut contents, &AccessAt { access, context, bulk: Some(bulk) });
        (outcome, contents)
    }

    /// Writes the records of a block that is held: deferred accesses, and the conflicts at some of its words and at all
    /// blocks behind it that are included.
    #[inline]
    pub(super) fn write<S: Sink>(
        &mut self,
        runs: &mut Runs<S>,
        bulk: &Bulk,
        block: &Block,
        conflicting: u8,
        context: u32,
    ) {
        runs.flush();
        if conflicting == 0 {
            return;
        }
        let kind = if block.write { Kind::ConflictWriteBulk } else { Kind::ConflictReadBulk };
        // Deferred records written since then need the clock, too.
        let timing = if self.may_hand_off() { bulk.timing.get() } else { Timing::Now };
        let head = head(kind, conflicting, block.address | runs.behind());
        put_timed_by(runs.sink(), head, context, None, |sink| sink.time(timing));
        if !conflicting.is_power_of_two() {
            // A repetition of one of them comes after the others, and after what they have seen: it is not covered.
            self.next_seq(true);
        }
    }
}
