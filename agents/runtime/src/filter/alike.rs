//! Granules side by side whose cells are all alike, as after an access in bulk: what becomes of the first becomes of all.
//!
//! Accesses that are kept have ranks one after the other. So cells are alike if each of their entries is the same as in the first one, or is kept and is as many ranks
//! further as the cell is. Then the same goes for what they become: nothing that decides about it depends on the rank of an access of a whole granule, but which one is
//! covered, and the number of the next.

use super::access::Among;
use super::block::{Block, GRANULES};
use super::cell::{Cell, EMPTY, Entry, Half, Halves, NEXT_RANK, is_known, is_shared, same_moment};
use super::memory::Filter;
use super::recorder::{Outcome, Recorder};
use super::runs::Runs;
use super::{BULK_WORDS, Sink};

/// Cells side by side.
#[derive(Clone, Copy)]
struct Cells<'c> {
    first: &'c [Half],
    second: &'c [Half],
}

impl<'c> Cells<'c> {
    #[inline(always)]
    fn each(self) -> impl Iterator<Item = Cell<'c>> {
        self.first.iter().zip(self.second).map(|(first, second)| Cell::new(first, second))
    }

    /// The first so many, and the others.
    #[inline(always)]
    fn split(self, count: usize) -> [Self; 2] {
        let ((first, behind_first), (second, behind_second)) =
            (self.first.split_at(count), self.second.split_at(count));
        [Cells { first, second }, Cells { first: behind_first, second: behind_second }]
    }
}

/// What is in cells that are alike: what is in the first, and how far each of its entries is from that of the next.
#[derive(Clone, Copy)]
struct Model {
    halves: Halves,
    strides: [u64; 2],
}

impl Model {
    #[inline(always)]
    fn of(halves: Halves) -> Model {
        Model { halves, strides: [stride(&halves[0]), stride(&halves[1])] }
    }

    /// What is in each cell from the first on.
    #[inline(always)]
    fn each(self) -> impl Iterator<Item = Halves> {
        let Model { mut halves, strides } = self;
        core::iter::repeat_with(move || {
            let now = halves;
            halves[0].at = halves[0].at.wrapping_add(strides[0]);
            halves[1].at = halves[1].at.wrapping_add(strides[1]);
            now
        })
    }

    /// When all cells have become something: an entry that was there stays as far as it was.
    #[inline(always)]
    fn becomes(&self, halves: Halves) -> Model {
        let was = |old: usize, entry: &Entry| self.strides[old] != 0 && same_moment(self.halves[old].at, entry.at);
        let stride = |entry: &Entry| {
            if entry.mask() != 0 && (was(0, entry) || was(1, entry)) { NEXT_RANK } else { stride(entry) }
        };
        Model { halves, strides: [stride(&halves[0]), stride(&halves[1])] }
    }

    /// Whether whatever is written of it has a rank that goes on from cell to cell.
    #[inline(always)]
    fn is_ranked(&self) -> bool {
        let [first, second] = &self.halves;
        (first.is_kept() || !first.is_lost()) && (second.is_kept() || !second.is_lost())
    }

    /// Locks the cells that are so, from the first on up to one that is not, and takes what is in them. How many. (If `alone`, they need no lock.)
    #[inline]
    fn hold(&self, cells: Cells, alone: bool) -> usize {
        let is_empty = self.halves[0].at == EMPTY;
        let is_held = |(cell, was): (Cell, Halves)| {
            let a = was[0].at;
            if alone && cell.state() != a || !alone && !cell.try_lock(a) {
                return false;
            }
            if is_empty {
                return true;
            }
            let now = cell.take(a);
            if now != was {
                cell.second.set_at(now[1].at);
                cell.unlock(a);
            }
            now == was
        };
        cells.each().zip(self.each()).take_while(|&both| is_held(both)).count()
    }

    /// Lets go of cells as they were.
    #[cold]
    fn let_go(&self, cells: Cells) {
        for (cell, [first, second]) in cells.each().zip(self.each()) {
            if is_shared(first.at) {
                cell.second.set_at(second.at);
            }
            cell.unlock(first.at);
        }
    }

    /// The same of cells so many further.
    #[inline]
    fn behind(&self, steps: usize) -> Model {
        let Model { halves: [first, second], strides } = *self;
        let at = |entry: Entry, stride: u64| Entry { at: entry.at.wrapping_add(stride * steps as u64), ..entry };
        Model { halves: [at(first, strides[0]), at(second, strides[1])], strides }
    }
}

#[inline(always)]
fn stride(entry: &Entry) -> u64 {
    if entry.is_kept() { NEXT_RANK } else { 0 }
}

impl Recorder {
    /// Accesses of whole blocks side by side, the first granule of which is not covered: as many of them as are alike. `alone` as for one of them
    /// ([`Recorder::access`]). How many were done.
    #[inline]
    pub fn blocks_alike<S: Sink>(
        &mut self,
        filter: &Filter,
        sink: &mut S,
        block: &Block,
        alone: impl FnOnce() -> bool,
        place: u32,
    ) -> usize {
        debug_assert_eq!(block.granules, 0xff);
        sink.reserve(BULK_WORDS);
        let alone = alone();
        let [first, second] = block.halves;
        self.all_alike(filter, sink, block, Cells { first, second }, alone, place) / GRANULES
    }

    /// The same of the granules of one block. Whether they were done.
    #[inline]
    pub(super) fn block_alike(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        block: &Block,
        alone: bool,
        place: u32,
    ) -> bool {
        let (begin, count) = (block.granules.trailing_zeros() as usize, block.granules.count_ones() as usize);
        let [first, second] = block.halves.map(|halves| &halves[begin..begin + count]);
        count > 1 && self.all_alike(filter, sink, block, Cells { first, second }, alone, place) != 0
    }

    /// Accesses of granules that begin with those of this block: all of them, if they are not more than those; else as many blocks as are alike.
    fn all_alike(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        block: &Block,
        cells: Cells,
        alone: bool,
        place: u32,
    ) -> usize {
        let Some(cell) = cells.each().next() else { return 0 };
        let was = match cell.state() {
            EMPTY => Model::of(Halves::default()),
            a if is_known(a) && !cell.has_nodes() => {
                Model::of([Entry { at: a, what: cell.first.what() }, cell.second.entry()])
            }
            _ => return 0,
        };
        let held = was.hold(cells, alone);
        let count = match held {
            _ if held < block.granules.count_ones() as usize => 0,
            _ if block.granules == 0xff => held - held % GRANULES,
            _ => held,
        };
        let [cells, others] = cells.split(held)[0].split(count);
        was.behind(count).let_go(others);
        if count == 0 {
            return 0;
        }
        // Of kept ones, those behind the first may be covered.
        let [one, other] = was.behind(count - 1).halves.map(Half::of);
        if self.covered(Cell::new(&one, &other), 0xff, block.write) || !self.has_ranks_for(count as u32) {
            was.let_go(cells);
            return 0;
        }
        let first = block.granules.trailing_zeros() as usize;
        let (now, [dropped, kept]) = (self.now(), self.drops_and_keeps());
        let among = Among::new(self.position());
        let mut runs = Runs::new(sink, block.address);
        let (outcome, words) = self.change(filter, &mut runs, &among, block, first, was.halves, place);
        let [dropped_now, kept_now] = self.drops_and_keeps();
        // What was kept counts for the next cell.
        let goes_for_all = words.nodes == 0
            && kept_now == kept
            && match outcome {
                Outcome::Kept => self.now() == now + NEXT_RANK && runs.is_empty(),
                _ => was.is_ranked() && runs.widen(block.granules, count / GRANULES),
            };
        let halves = words.entries();
        if !goes_for_all {
            let [these, others] = cells.split(count.min(GRANULES));
            was.behind(GRANULES).let_go(others);
            let rest = Rest { was, cells: these, done: (outcome, halves) };
            return self.one_by_one(filter, &mut runs, &among, block, rest, place);
        }
        if outcome == Outcome::Written {
            self.write(&mut runs, &among, block, block.granules, place);
        } else {
            for _ in 1..count {
                self.next_rank(block.write);
            }
        }
        self.has_pinned(filter, (dropped_now - dropped) * (count as u64 - 1));
        for (cell, halves) in cells.each().zip(was.becomes(halves).each()) {
            cell.put(halves);
        }
        count
    }

    /// What became of the first cell of a block does not go for the others that are held with it.
    #[cold]
    #[inline(never)]
    fn one_by_one<S: Sink>(
        &mut self,
        filter: &Filter,
        runs: &mut Runs<S>,
        among: &Among,
        block: &Block,
        rest: Rest,
        place: u32,
    ) -> usize {
        let first = block.granules.trailing_zeros() as usize;
        let (outcome, halves) = rest.done;
        let mut after = [halves; GRANULES];
        let mut arrived = u8::from(outcome == Outcome::Written) << first;
        let count = rest.cells.first.len();
        for ((number, was), after) in (first..first + count).zip(rest.was.each()).zip(&mut after).skip(1) {
            let (outcome, words) = self.change(filter, runs, among, block, number, was, place);
            *after = words.entries();
            arrived |= u8::from(outcome == Outcome::Written) << number;
        }
        self.write(runs, among, block, arrived, place);
        for (cell, after) in rest.cells.each().zip(after) {
            cell.put(after);
        }
        count
    }
}

/// The cells of a block of which the first has become something.
struct Rest<'c> {
    was: Model,
    cells: Cells<'c>,
    done: (Outcome, Halves),
}
