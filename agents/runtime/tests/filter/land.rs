//! Memory with rows and units, as the agent has it, and a thread's ways to its cells.

use crate::memory::{Cells, Records, cells};
use runtime::filter::{
    Access, BLOCK_BYTES, Block, Cell, Filter, Ground, Half, Outcome, ROW_BYTES, Recorder, Row, Step, Sweep, Whose,
};
use runtime::record::{Kind, head};
use std::sync::Mutex;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32, fence};

/// Where it begins.
pub(crate) const BASE: usize = 1 << 20;
/// Bytes that a thread has to itself, or not.
pub(crate) const UNIT: usize = 2 * ROW_BYTES;
const COMMON: u32 = u32::MAX;
const IN_BETWEEN: u32 = u32::MAX - 1;
const SECOND: u32 = 1 << 8;
/// The place of the call that everything is in.
const PARENT: u32 = 1;

/// Memory.
pub(crate) struct Land {
    cells: Cells,
    rows: Vec<Row>,
    owners: Vec<AtomicU32>,
    turns: Vec<AtomicBool>,
    sweeps: Vec<Sweep>,
    taking: Mutex<()>,
    /// Without it, each access goes to its cell.
    with_sweeps: bool,
}

/// The memory as a thread has it.
struct Own<'l>(&'l Land, usize);

impl Ground for Own<'_> {
    fn cell(&self, granule: usize) -> Cell<'_> {
        self.0.cell(granule)
    }
    fn row(&self, addr: usize) -> &Row {
        &self.0.rows[(addr - BASE) / ROW_BYTES]
    }
    fn whose(&self, addr: usize) -> Whose {
        match self.0.owners.get((addr - BASE) / UNIT).map(|owner| owner.load(SeqCst)) {
            Some(IN_BETWEEN) => Whose::InBetween,
            Some(now) if now != COMMON && now & !SECOND == self.1 as u32 + 1 => Whose::Mine,
            _ => Whose::Others,
        }
    }
}

impl Land {
    pub(crate) fn new(units: usize, threads: usize, with_sweeps: bool) -> Land {
        Land {
            cells: cells(units * UNIT / 8),
            rows: (0..units * UNIT / ROW_BYTES).map(|_| Row::default()).collect(),
            owners: (0..units).map(|_| AtomicU32::new(0)).collect(),
            turns: (0..threads).map(|_| AtomicBool::new(false)).collect(),
            sweeps: (0..threads).map(|_| Sweep::default()).collect(),
            taking: Mutex::new(()),
            with_sweeps,
        }
    }

    fn cell(&self, granule: usize) -> Cell<'_> {
        self.cells.cell((granule - BASE) / 8)
    }

    fn owner(&self, addr: usize) -> &AtomicU32 {
        &self.owners[(addr - BASE) / UNIT]
    }

    /// Begins the turn of a thread: whether it has the unit to itself; None: it must take it first.
    fn try_begin(&self, t: usize, addr: usize) -> Option<bool> {
        self.turns[t].store(true, SeqCst);
        match self.owner(addr).load(SeqCst) {
            COMMON => Some(false),
            owner if owner != IN_BETWEEN && owner & !SECOND == t as u32 + 1 => Some(true),
            _ => None,
        }
    }

    /// The same, after taking it if need be.
    pub(crate) fn begin(&self, t: usize, addr: usize) -> bool {
        loop {
            match self.try_begin(t, addr) {
                Some(true) => {
                    let own = Own(self, t);
                    if own.row(addr).is_swept() {
                        self.sweeps[t].dissolve(&own, addr);
                    }
                    return true;
                }
                Some(false) => return false,
                None => {
                    self.end(t);
                    self.take(addr, |old| match old {
                        0 => t as u32 + 1,
                        old if old & SECOND == 0 => (t as u32 + 1) | SECOND,
                        _ => COMMON,
                    });
                }
            }
        }
    }

    pub(crate) fn end(&self, t: usize) {
        self.turns[t].store(false, SeqCst);
    }

    fn take(&self, addr: usize, new: impl Fn(u32) -> u32) {
        let _taking = self.taking.lock().expect("no panics");
        let owner = self.owner(addr);
        let old = owner.load(SeqCst);
        if old == COMMON {
            return;
        }
        if old != 0 {
            owner.store(IN_BETWEEN, SeqCst);
            let thread = (old & !SECOND) as usize - 1;
            while self.turns[thread].load(SeqCst) {
                std::thread::yield_now();
            }
            let unit = BASE + (addr - BASE) / UNIT * UNIT;
            for base in (unit..unit + UNIT).step_by(ROW_BYTES) {
                let own = Own(self, thread);
                own.row(base).dissolve(base, &self.sweeps[thread], |granule| self.cell(granule));
            }
        }
        owner.store(new(old), SeqCst);
    }

    /// Makes the unit of an address everybody's.
    fn share(&self, addr: usize) {
        self.take(addr, |_| COMMON);
    }
}

/// A thread.
pub(crate) struct Walker<'w> {
    pub(crate) land: &'w Land,
    pub(crate) filter: &'w Filter,
    pub(crate) recorder: Recorder,
    pub(crate) sink: Records<'w>,
    /// Reads that left the cells.
    pub(crate) swept: u64,
    /// Accesses that were done in blocks.
    pub(crate) in_blocks: u64,
    /// Blocks that were done with the one before them.
    pub(crate) side_by_side: u64,
}

impl<'w> Walker<'w> {
    pub(crate) fn begin(land: &'w Land, filter: &'w Filter, t: usize, sink: Records<'w>) -> Walker<'w> {
        let recorder = Recorder::begin(filter, t as u32, false);
        let mut walker = Walker { land, filter, recorder, sink, swept: 0, in_blocks: 0, side_by_side: 0 };
        walker.sync(Kind::ThreadStart, 0, Some(0));
        walker
    }

    fn t(&self) -> usize {
        self.recorder.slot() as usize
    }

    /// When it did what it did last: position and rank.
    pub(crate) fn now(&self) -> (u64, u32) {
        (self.recorder.position(), self.recorder.rank_with(&self.land.sweeps[self.t()]))
    }

    pub(crate) fn use_ranks(&mut self, left: u32) {
        self.settle();
        self.recorder.use_ranks(left);
    }

    /// Before anything but the next read of a sweep.
    fn settle(&mut self) {
        self.recorder.settle_sweep(&self.land.sweeps[self.t()]);
    }

    /// An access within a granule.
    pub(crate) fn access(&mut self, addr: usize, log2: usize, write: bool, pc: usize) {
        let (t, land) = (self.t(), self.land);
        let sweep = &land.sweeps[t];
        if !write && sweep.is_next(addr, log2) {
            let own = Own(land, t);
            // Whose it is is asked here, too, so that what nobody does meanwhile is exact.
            if sweep.goes_on_at(pc, PARENT) && own.whose(addr) == Whose::Mine {
                sweep.goes_on(addr, log2);
                fence(SeqCst);
                if own.whose(addr) == Whose::Mine {
                    if (addr + (1 << log2)).is_multiple_of(ROW_BYTES) {
                        self.ends_row(&own, addr);
                    }
                    self.swept += 1;
                    return;
                }
            }
            self.settle();
        }
        let (granule, place) = (addr & !7, pc as u32);
        let mask = (((1u32 << (1 << log2)) - 1) << (addr & 7)) as u8;
        let cell = land.cell(granule);
        if self.recorder.covered(cell, mask, write) || self.again(cell, mask, addr, log2, write, pc) {
            return;
        }
        let access = Access { granule: granule as u64, mask, write };
        let alone = || land.begin(t, addr);
        let outcome = self.recorder.access(self.filter, &mut self.sink, cell, alone, access, place);
        land.end(t);
        assert_ne!(outcome, Outcome::Watched);
    }

    /// An access of several whole granules.
    pub(crate) fn range(&mut self, addr: usize, size: usize, write: bool, pc: usize) {
        let (t, land) = (self.t(), self.land);
        self.settle();
        let mut at = addr;
        while at < addr + size {
            let base = at & !(BLOCK_BYTES - 1);
            let end = (addr + size).min(base + BLOCK_BYTES);
            let granules = (((1u32 << ((end - at) / 8)) - 1) << ((at - base) / 8)) as u8;
            let number = (base - BASE) / 8;
            let halves = land.cells.side_by_side(number..number + 8);
            let mut block = Block { address: base as u64, halves, granules, write };
            // There are no lines here.
            block.granules = self.recorder.uncovered(&Half::default(), &block);
            if block.granules == 0 {
                at = end;
                continue;
            }
            let blocks = (addr + size).min((base | (ROW_BYTES - 1)) + 1).saturating_sub(base) / BLOCK_BYTES;
            if block.granules == 0xff && blocks > 1 {
                let blocks = Block { halves: land.cells.side_by_side(number..number + 8 * blocks), ..block };
                let alone = || land.begin(t, base);
                let done = self.recorder.blocks_alike(self.filter, &mut self.sink, &blocks, alone, pc as u32);
                land.end(t);
                if done > 0 {
                    self.in_blocks += 8 * done as u64;
                    self.side_by_side += done as u64 - 1;
                    at += done * BLOCK_BYTES;
                    continue;
                }
            }
            at = end;
            let alone = || land.begin(t, base);
            let left = self.recorder.accesses(self.filter, &mut self.sink, block, alone, pc as u32);
            land.end(t);
            self.in_blocks += u64::from((block.granules & !left).count_ones());
            for number in (0..8).filter(|number| left >> number & 1 == 1) {
                self.access(base + 8 * number, 3, write, pc);
            }
        }
    }

    fn ends_row(&mut self, own: &Own<'_>, addr: usize) {
        let t = self.t();
        let sweep = &self.land.sweeps[t];
        self.land.turns[t].store(true, SeqCst);
        if own.whose(addr) == Whose::Mine {
            self.recorder.ends_row(own, sweep);
        } else {
            self.recorder.settle_sweep(sweep);
        }
        self.land.end(t);
    }

    fn again(&mut self, cell: Cell<'_>, mask: u8, addr: usize, log2: usize, write: bool, pc: usize) -> bool {
        let (t, land) = (self.t(), self.land);
        let (own, sweep) = (Own(land, t), &land.sweeps[t]);
        self.settle();
        let place = pc as u32;
        let done = match land.try_begin(t, addr) {
            Some(true) => {
                let step = Step { addr, log2, write, place, pc, parent: PARENT };
                let row = own.row(addr);
                row.is_swept() && self.recorder.comes_to(&own, sweep, row, &step) || {
                    let before = self.recorder.now();
                    let done = self.recorder.again(cell, mask, write, place)
                        || !row.is_swept() && self.recorder.first(self.filter, cell, mask, write, place);
                    let may_sweep = !write && (addr.is_multiple_of(ROW_BYTES) || sweep.may_follow(addr));
                    if land.with_sweeps && done && may_sweep {
                        self.recorder.has_followed(&own, sweep, row, cell, &step, before);
                    }
                    done
                }
            }
            Some(false) => {
                self.recorder.renews(cell, mask, write, place)
                    || self.recorder.again_among_others(cell, mask, write, place)
            }
            None => false,
        };
        land.end(t);
        done
    }

    pub(crate) fn sync(&mut self, kind: Kind, object: u64, word: Option<u64>) {
        self.settle();
        self.recorder.timed(&mut self.sink, head(kind, 0, object), 0, word);
    }

    pub(crate) fn free(&mut self, addr: usize, size: usize) {
        let t = self.t();
        self.sync(Kind::Free, addr as u64, Some(size as u64));
        for granule in (addr..addr + size).step_by(8) {
            let alone = || self.land.begin(t, granule);
            self.recorder.free(self.filter, &mut self.sink, self.land.cell(granule), alone, granule as u64);
            self.land.end(t);
        }
    }

    pub(crate) fn alloc(&mut self, addr: usize, size: usize) {
        let t = self.t();
        self.settle();
        self.recorder.allocated(&mut self.sink, addr as u64, size as u64, 0);
        for granule in (addr..addr + size).step_by(8) {
            let alone = || self.land.begin(t, granule);
            self.recorder.alloc(self.filter, &mut self.sink, self.land.cell(granule), alone, granule as u64);
            self.land.end(t);
        }
    }

    pub(crate) fn forget(&mut self, addr: usize, size: usize) {
        let t = self.t();
        self.settle();
        for granule in (addr..addr + size).step_by(8) {
            let alone = || self.land.begin(t, granule);
            self.recorder.forget(self.filter, &self.sink, self.land.cell(granule), alone);
            self.land.end(t);
        }
    }

    pub(crate) fn atomic(&mut self, addr: usize, kind: Kind) {
        let granule = addr & !7;
        self.settle();
        self.land.share(granule);
        let cells = [(self.land.cell(granule), granule as u64)];
        self.recorder.atomic(self.filter, &mut self.sink, &cells, addr as u64, 0, || (kind, 0, 0, ()));
    }

    /// The thread ends.
    pub(crate) fn finish(mut self) -> Vec<u64> {
        let t = self.t();
        loop {
            self.land.turns[t].store(true, SeqCst);
            let is_over = self.land.sweeps[t].end(&Own(self.land, t));
            self.land.end(t);
            if is_over {
                break;
            }
            std::thread::yield_now();
        }
        self.sync(Kind::ThreadEnd, 0, None);
        self.recorder.end(self.filter);
        self.sink.words
    }
}
