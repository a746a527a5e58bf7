//! Bulk accesses of words whose cells are uniform, as they are after an earlier bulk access: what becomes of the first
//! cell becomes of all.
//!
//! Deferred accesses have consecutive sequence numbers. So cells are uniform if each of their entries equals that of
//! the first cell, or is deferred and has as many sequence numbers more as the cell is further. Then their new contents
//! are uniform, too: nothing that decides about them depends on the sequence number of an access of a whole word,
//! except which one is covered, and the number of the next.

use super::access::Bulk;
use super::bits::{EMPTY, NEXT_SEQ, is_known, is_shared, same_point};
use super::block::{Block, WORDS};
use super::cell::{AtomicEntry, Cell};
use super::contents::Packed;
use super::entry::Entry;
use super::memory::Filter;
use super::recorder::{Outcome, Recorder};
use super::runs::Runs;
use super::{BULK_ROOM, Sink};

/// Cells of words side by side.
#[derive(Clone, Copy)]
struct Cells<'c> {
    first: &'c [AtomicEntry],
    second: &'c [AtomicEntry],
}

impl<'c> Cells<'c> {
    #[inline(always)]
    fn each(self) -> impl Iterator<Item = Cell<'c>> {
        self.first.iter().zip(self.second).map(|(first, second)| Cell::new(first, second))
    }

    /// The first `count` cells, and the others.
    #[inline(always)]
    fn split(self, count: usize) -> [Self; 2] {
        let ((first, behind_first), (second, behind_second)) =
            (self.first.split_at(count), self.second.split_at(count));
        [Cells { first, second }, Cells { first: behind_first, second: behind_second }]
    }
}

/// The contents of uniform cells: those of the first, and how far each of its entries is from that of the next cell.
#[derive(Clone, Copy)]
struct Pattern {
    packed: Packed,
    strides: [u64; 2],
}

impl Pattern {
    #[inline(always)]
    fn of(packed: Packed) -> Pattern {
        Pattern { packed, strides: [stride(&packed[0]), stride(&packed[1])] }
    }

    /// The contents of each cell, from the first on.
    #[inline(always)]
    fn each(self) -> impl Iterator<Item = Packed> {
        let Pattern { mut packed, strides } = self;
        core::iter::repeat_with(move || {
            let now = packed;
            packed[0].at = packed[0].at.wrapping_add(strides[0]);
            packed[1].at = packed[1].at.wrapping_add(strides[1]);
            now
        })
    }

    /// The pattern after all cells were changed: an entry that was there keeps its stride.
    #[inline(always)]
    fn becomes(&self, packed: Packed) -> Pattern {
        let was = |old: usize, entry: &Entry| self.strides[old] != 0 && same_point(self.packed[old].at, entry.at);
        let stride = |entry: &Entry| {
            if entry.mask() != 0 && (was(0, entry) || was(1, entry)) { NEXT_SEQ } else { stride(entry) }
        };
        Pattern { packed, strides: [stride(&packed[0]), stride(&packed[1])] }
    }

    /// Whether all that is written of it has a sequence number that goes on from cell to cell.
    #[inline(always)]
    fn is_sequenced(&self) -> bool {
        let [first, second] = &self.packed;
        (first.is_deferred() || !first.has_dropped()) && (second.is_deferred() || !second.has_dropped())
    }

    /// Locks the cells that match, from the first on, up to one that does not, and takes their contents out. Returns
    /// how many. (With `biased`, they need no lock.)
    #[inline]
    fn hold(&self, cells: Cells, biased: bool) -> usize {
        let is_empty = self.packed[0].at == EMPTY;
        let is_held = |(cell, was): (Cell, Packed)| {
            let a = was[0].at;
            if biased && cell.state() != a || !biased && !cell.try_lock(a) {
                return false;
            }
            if biased {
                cell.hide();
            }
            if is_empty {
                return true;
            }
            let now = cell.take_packed(a);
            if now != was {
                cell.second.set_at(now[1].at);
                cell.unlock(a);
            }
            now == was
        };
        cells.each().zip(self.each()).take_while(|&both| is_held(both)).count()
    }

    /// Unlocks cells with their old contents.
    #[cold]
    fn let_go(&self, cells: Cells) {
        for (cell, [first, second]) in cells.each().zip(self.each()) {
            if is_shared(first.at) {
                cell.second.set_at(second.at);
            }
            cell.unlock(first.at);
        }
    }

    /// The pattern of the cells this many steps further.
    #[inline]
    fn behind(&self, steps: usize) -> Pattern {
        let Pattern { packed: [first, second], strides } = *self;
        let at = |entry: Entry, stride: u64| Entry { at: entry.at.wrapping_add(stride * steps as u64), ..entry };
        Pattern { packed: [at(first, strides[0]), at(second, strides[1])], strides }
    }
}

#[inline(always)]
fn stride(entry: &Entry) -> u64 {
    if entry.is_deferred() { NEXT_SEQ } else { 0 }
}

impl Recorder {
    /// Records accesses of whole blocks side by side, the first word of which is not covered: as many blocks as are
    /// uniform. `biased` is as in [`Recorder::record_access`]. Returns how many blocks were done.
    #[inline]
    pub fn record_uniform_blocks<S: Sink>(
        &mut self,
        filter: &Filter,
        sink: &mut S,
        block: &Block,
        biased: impl FnOnce() -> bool,
        context: u32,
    ) -> usize {
        debug_assert_eq!(block.words, 0xff);
        sink.reserve(BULK_ROOM);
        let biased = biased();
        let [first, second] = block.entries;
        self.update_uniform(filter, sink, block, Cells { first, second }, biased, context) / WORDS
    }

    /// Records accesses of words of one block. Returns whether they were done.
    #[inline]
    pub(super) fn record_uniform_block(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        block: &Block,
        biased: bool,
        context: u32,
    ) -> bool {
        let (begin, count) = (block.words.trailing_zeros() as usize, block.words.count_ones() as usize);
        let [first, second] = block.entries.map(|entries| &entries[begin..begin + count]);
        count > 1 && self.update_uniform(filter, sink, block, Cells { first, second }, biased, context) != 0
    }

    /// Updates the cells of these words: all of them, if they are of one block; else as many whole blocks as are
    /// uniform.
    fn update_uniform(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        block: &Block,
        cells: Cells,
        biased: bool,
        context: u32,
    ) -> usize {
        let Some(cell) = cells.each().next() else { return 0 };
        let was = match cell.state() {
            EMPTY => Pattern::of(Packed::default()),
            a if is_known(a) && !cell.has_nodes() => {
                Pattern::of([Entry { at: a, what: cell.first.what() }, cell.second.entry()])
            }
            _ => return 0,
        };
        let held = was.hold(cells, biased);
        let count = match held {
            _ if held < block.words.count_ones() as usize => 0,
            _ if block.words == 0xff => held - held % WORDS,
            _ => held,
        };
        let [cells, others] = cells.split(held)[0].split(count);
        was.behind(count).let_go(others);
        if count == 0 {
            return 0;
        }
        // Behind the first one, deferred accesses may be covered.
        let [one, other] = was.behind(count - 1).packed.map(AtomicEntry::new);
        if self.is_covered(Cell::new(&one, &other), 0xff, block.write) || !self.has_seq_left_for(count as u32) {
            was.let_go(cells);
            return 0;
        }
        let first = block.words.trailing_zeros() as usize;
        let (now, [dropped, deferred]) = (self.now(), self.dropped_and_kept());
        let bulk = Bulk::new(self.sync_index());
        let mut runs = Runs::new(sink, block.address);
        let (outcome, contents) = self.update_block_cell(filter, &mut runs, &bulk, block, first, was.packed, context);
        let [dropped_now, kept_now] = self.dropped_and_kept();
        // What was kept of a call context counts for the next cell.
        let goes_for_all = contents.nodes == 0
            && kept_now == deferred
            && match outcome {
                Outcome::Deferred => self.now() == now + NEXT_SEQ && runs.is_empty(),
                _ => was.is_sequenced() && runs.widen(block.words, count / WORDS),
            };
        let packed = contents.pack();
        if !goes_for_all {
            let [these, others] = cells.split(count.min(WORDS));
            was.behind(WORDS).let_go(others);
            let rest = Rest { was, cells: these, done: (outcome, packed) };
            return self.update_rest(filter, &mut runs, &bulk, block, rest, context);
        }
        if outcome == Outcome::Written {
            self.write(&mut runs, &bulk, block, block.words, context);
        } else {
            for _ in 1..count {
                self.next_seq(block.write);
            }
        }
        self.count_dropped(filter, (dropped_now - dropped) * (count as u64 - 1));
        for (cell, packed) in cells.each().zip(was.becomes(packed).each()) {
            cell.put(packed);
        }
        count
    }

    /// Updates the other cells of a block one by one, because they do not follow the first.
    #[cold]
    #[inline(never)]
    fn update_rest<S: Sink>(
        &mut self,
        filter: &Filter,
        runs: &mut Runs<S>,
        bulk: &Bulk,
        block: &Block,
        rest: Rest,
        context: u32,
    ) -> usize {
        let first = block.words.trailing_zeros() as usize;
        let (outcome, packed) = rest.done;
        let mut after = [packed; WORDS];
        let mut conflicting = u8::from(outcome == Outcome::Written) << first;
        let count = rest.cells.first.len();
        for ((number, was), after) in (first..first + count).zip(rest.was.each()).zip(&mut after).skip(1) {
            let (outcome, contents) = self.update_block_cell(filter, runs, bulk, block, number, was, context);
            *after = contents.pack();
            conflicting |= u8::from(outcome == Outcome::Written) << number;
        }
        self.write(runs, bulk, block, conflicting, context);
        for (cell, after) in rest.cells.each().zip(after) {
            cell.put(after);
        }
        count
    }
}

/// The cells of a block after the first was changed.
struct Rest<'c> {
    was: Pattern,
    cells: Cells<'c>,
    done: (Outcome, Packed),
}
