//! Sweeps: a loop that reads memory of its thread's own, element after element, at one place.
//!
//! Each read of such a loop would only bring the entry of its cell up to date. Once that was done for a whole [`Row`], the row
//! remembers it, and the next sweep leaves the cells as they are: it counts the ranks on, and tells the row at its end. Whoever comes to
//! a cell of the row in any other way first brings them up to date ([`Sweep::dissolve`]), with what one read after the other would have left.

use super::cell::{Cell, NEXT_RANK, rank_of, same, same_slot};
use super::recorder::Recorder;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

/// Bytes of memory that are one row.
pub const ROW_BYTES: usize = 512;
/// Granules of a row: a sweep takes so many ranks.
pub(super) const GRANULES: u32 = (ROW_BYTES / 8) as u32;

/// The newest sweep through a row of granules, to its end, by the thread that has it to itself. Zeroed memory: none. Else the cells from
/// where it began are Exclusive of that thread, and what they say of its reads may be out of date.
#[derive(Default, Debug)]
#[repr(C)]
pub struct Row {
    /// When the first granule was read, as in first words of cells. Each of the others has the next rank.
    at: AtomicU64,
    place: AtomicU32,
    /// In which granule it began.
    from: AtomicU32,
}

impl Row {
    /// Whether the cells may be out of date.
    #[inline(always)]
    pub fn is_swept(&self) -> bool {
        self.at.load(Relaxed) != 0
    }

    /// Where it began, if the row at this address was swept.
    fn from(&self, base: usize) -> usize {
        base + self.from.load(Relaxed) as usize * 8
    }

    fn set(&self, at: u64, place: u32) {
        self.at.store(at, Relaxed);
        self.place.store(place, Relaxed);
    }

    /// Brings the cells of the row at this address up to date. `sweep`: of the thread that has it. Only that thread does so, or
    /// one that is taking the row from it.
    pub fn dissolve<'c>(&self, base: usize, sweep: &Sweep, cell: impl Fn(usize) -> Cell<'c>) {
        let at = self.at.load(Relaxed);
        if at == 0 {
            return;
        }
        let place = self.place.load(Relaxed);
        let (new, new_place, reached) = sweep.through(base);
        let from = self.from.load(Relaxed);
        for granule in from..GRANULES {
            let address = base + granule as usize * 8;
            let later = u64::from(granule - from) * NEXT_RANK;
            let cell = cell(address);
            match reached.saturating_sub(address) {
                0 => cell.was_read(at + later, 0xff, place),
                1..8 => cell.was_read(new + later, (1 << (reached - address)) - 1, new_place),
                _ => cell.was_read(new + later, 0xff, new_place),
            }
        }
        self.at.store(0, Relaxed);
    }
}

/// Whose the memory of an address is, for a thread that is changing cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whose {
    /// The thread's own.
    Mine,
    /// Another is taking it, and looks at this thread's sweep.
    InBetween,
    /// Not any more, or never.
    Others,
}

/// The memory that a sweep goes through.
pub trait Ground {
    /// The cell of a granule.
    fn cell(&self, granule: usize) -> Cell<'_>;
    /// The row of an address.
    fn row(&self, addr: usize) -> &Row;
    /// Whose it is.
    fn whose(&self, addr: usize) -> Whose;
}

/// An access within a granule, of 1, 2, 4 or 8 bytes, and where in the program it is.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Its address.
    pub addr: usize,
    /// Its bytes, as a power of two.
    pub log2: usize,
    /// Whether it writes.
    pub write: bool,
    /// Its place.
    pub place: u32,
    /// The address of the code, and the place of the call that it is in: together, they say the place.
    pub pc: usize,
    /// The place of the call.
    pub parent: u32,
}

impl Step {
    fn mask(&self) -> u8 {
        (((1u32 << (1 << self.log2)) - 1) << (self.addr & 7)) as u8
    }
}

/// The sweep that a thread is at. Others may look at it while they take memory from the thread. `next` goes on before the thread asks whether the memory still is [`Whose::Mine`];
/// if it is not, that read goes the way of others once more. All else that they look at changes only while it is.
#[derive(Default, Debug)]
#[repr(C)]
pub struct Sweep {
    /// With which address it goes on and leaves the cells, by the size of its elements; 0: it does not.
    pub(super) next: [AtomicU64; 4],
    /// Where it does: `pc`; 0 if it does not, so that a read of address 0 is none of it.
    pub(super) next_pc: AtomicU64,
    /// When the thread did what it did last, if that was of this sweep; while it leaves the cells of a row, before the row's second granule.
    pub(super) now: AtomicU64,
    pub(super) parent: AtomicU32,
    place: AtomicU32,
    pc: AtomicU64,
    /// When the first granule in its row was read, and its address.
    start: AtomicU64,
    from: AtomicUsize,
    /// The row whose cells it leaves; 0: it leaves none.
    base: AtomicUsize,
    /// How far it has come in that row, when it does not go on.
    reached: AtomicUsize,
    /// With which address it goes on cell by cell; 0: it does not.
    follows: AtomicUsize,
}

/// What only its own thread ever changes, as that thread sees it. The compiler makes a load of its own of an atomic one.
#[inline(always)]
#[allow(unsafe_code)]
fn own(word: &AtomicU64) -> u64 {
    // SAFETY: the only thread that stores to it is the one that is here.
    unsafe { word.as_ptr().read() }
}

impl Sweep {
    /// Whether a read at this address may be the next of it.
    #[inline(always)]
    pub fn is_next(&self, addr: usize, log2: usize) -> bool {
        own(&self.next[log2]) == addr as u64
    }

    /// Whether it is at this place.
    #[inline(always)]
    pub fn is_at(&self, pc: usize, parent: u32) -> bool {
        own(&self.pc) == pc as u64 && self.parent.load(Relaxed) == parent
    }

    /// Whether it goes on and leaves the cells, at this place.
    #[inline(always)]
    pub fn goes_on_at(&self, pc: usize, parent: u32) -> bool {
        own(&self.next_pc) == pc as u64 && self.parent.load(Relaxed) == parent
    }

    /// It goes on with a read at this address, which is counted when it stops, or at the end of the row. If the row is not this thread's afterwards, who has
    /// taken it may know of the read or not: the read goes the way of others once more.
    #[inline(always)]
    pub fn goes_on(&self, addr: usize, log2: usize) {
        self.next[log2].store(addr as u64 + (1 << log2), Relaxed);
    }

    /// Whether it may go on cell by cell with this address.
    #[inline(always)]
    pub fn may_follow(&self, addr: usize) -> bool {
        self.follows.load(Relaxed) == addr
    }

    /// The row whose cells it leaves, or 0.
    pub fn base(&self) -> usize {
        self.base.load(Acquire)
    }

    /// It does not go on. What it has done stays.
    pub fn stop(&self) {
        if let Some(next) = self.next() {
            // In this order, for who looks at it meanwhile.
            self.reached.store(next as usize, Release);
            for next in &self.next {
                next.store(0, Release);
            }
            self.next_pc.store(0, Relaxed);
        }
    }

    /// Whether it goes on and leaves the cells.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        own(&self.next_pc) != 0
    }

    /// With which address it goes on, if it does.
    fn next(&self) -> Option<u64> {
        self.next.iter().map(|next| next.load(Acquire)).find(|&next| next != 0)
    }

    /// When the newest granule was read that it has left.
    fn newest(&self) -> u64 {
        let from = self.base.load(Relaxed).max(self.from.load(Relaxed));
        let granules = self.next().map_or(0, |next| (next as usize).saturating_sub(from).div_ceil(8));
        match granules as u64 {
            0 => self.now.load(Relaxed),
            granules => self.start.load(Relaxed) + (granules - 1) * NEXT_RANK,
        }
    }

    /// There is none.
    pub fn clear(&self) {
        self.base.store(0, Relaxed);
        self.reached.store(0, Relaxed);
        self.follows.store(0, Relaxed);
        for next in &self.next {
            next.store(0, Relaxed);
        }
        self.next_pc.store(0, Relaxed);
    }

    /// What it has done in a row: when it began there, its place, and the address it has come to.
    fn through(&self, base: usize) -> (u64, u32, usize) {
        if self.base() != base {
            return (0, 0, 0);
        }
        let reached = self.next().map_or_else(|| self.reached.load(Acquire), |next| next as usize);
        (self.start.load(Relaxed), self.place.load(Relaxed), reached)
    }

    /// Brings the cells of the row of an address, which is this thread's, up to date.
    #[cold]
    #[inline(never)]
    pub fn dissolve(&self, ground: &impl Ground, addr: usize) {
        let base = addr & !(ROW_BYTES - 1);
        ground.row(addr).dissolve(base, self, |granule| ground.cell(granule));
        if self.base() == base {
            self.clear();
        }
    }

    /// Ends it. False: it cannot be now.
    pub fn end(&self, ground: &impl Ground) -> bool {
        let base = self.base();
        if base != 0 {
            match ground.whose(base) {
                Whose::Mine if self.through(base).2 > ground.row(base).from(base) => self.dissolve(ground, base),
                Whose::Mine | Whose::Others => {}
                Whose::InBetween => return false,
            }
        }
        self.clear();
        true
    }

    fn begin(&self, step: &Step, now: u64) {
        self.pc.store(step.pc as u64, Relaxed);
        self.parent.store(step.parent, Relaxed);
        self.place.store(step.place, Relaxed);
        self.start.store(now, Relaxed);
        self.from.store(step.addr, Relaxed);
        self.now.store(now, Relaxed);
    }
}

impl Recorder {
    /// Before anything else that takes a rank: the reads of the sweep have theirs, and it does not go on.
    #[inline(always)]
    pub fn settle_sweep(&mut self, sweep: &Sweep) {
        if sweep.is_on() {
            self.settle_now(sweep);
        }
    }

    #[cold]
    #[inline(never)]
    fn settle_now(&mut self, sweep: &Sweep) {
        self.set_now(self.now_with(sweep));
        sweep.stop();
    }

    /// [`Recorder::now`], with what its sweep has read since.
    fn now_with(&self, sweep: &Sweep) -> u64 {
        if sweep.is_on() && own(&sweep.now) == self.now() { sweep.newest() } else { self.now() }
    }

    /// [`Recorder::rank`], likewise.
    #[doc(hidden)]
    pub fn rank_with(&self, sweep: &Sweep) -> u32 {
        rank_of(self.now_with(sweep))
    }

    /// The sweep has come to the end of its row: the row remembers it, and it goes on in the next, if that is remembered, too.
    pub fn ends_row(&mut self, ground: &impl Ground, sweep: &Sweep) {
        let base = sweep.base();
        self.set_now(sweep.newest());
        ground.row(base).set(sweep.start.load(Relaxed), sweep.place.load(Relaxed));
        let next = base + ROW_BYTES;
        if ground.whose(next) == Whose::Mine && self.may_leave(ground.row(next)) && ground.row(next).from(next) == next
        {
            sweep.start.store(self.now() + NEXT_RANK, Relaxed);
            sweep.now.store(self.now(), Relaxed);
            sweep.base.store(next, Relaxed);
        } else {
            sweep.clear();
        }
    }

    /// Whether a read of each granule of a row would do nothing but to take the place of the one that the row remembers.
    fn may_leave(&self, row: &Row) -> bool {
        let at = row.at.load(Relaxed);
        at != 0
            && same_slot(at, self.here())
            && self.is_before_segment(at)
            && self.is_hot_place(row.place.load(Relaxed))
            && self.has_ranks_for(GRANULES)
    }

    /// An access of a row that was swept, which is this thread's. True: it is done. Else it goes its way, [`Recorder::again`] or another.
    #[cold]
    #[inline(never)]
    pub fn comes_to(&mut self, ground: &impl Ground, sweep: &Sweep, row: &Row, step: &Step) -> bool {
        let base = step.addr & !(ROW_BYTES - 1);
        let from = row.from(base);
        if step.addr < from {
            return false;
        }
        // The end of a sweep that was here before dissolves the row.
        if !step.write && step.addr == from && sweep.end(ground) && self.may_leave(row) {
            self.next_rank(false);
            sweep.begin(step, self.now());
            sweep.base.store(base, Relaxed);
            sweep.next[step.log2].store(step.addr as u64 + (1 << step.log2), Relaxed);
            sweep.next_pc.store(step.pc as u64, Relaxed);
            return true;
        }
        sweep.dissolve(ground, step.addr);
        self.covered(ground.cell(step.addr & !7), step.mask(), step.write)
    }

    /// A read was done by [`Recorder::again`] or [`Recorder::first`], at the first address of a row or where a sweep goes on cell by cell: from the beginning of a
    /// row, or of a position, if that is in the first half of one. `before`: when the thread did what it did before.
    #[inline]
    pub fn has_followed(&self, ground: &impl Ground, sweep: &Sweep, row: &Row, cell: Cell, step: &Step, before: u64) {
        let ranks = if step.addr & 7 == 0 { NEXT_RANK } else { 0 };
        let is_next = sweep.may_follow(step.addr) && sweep.is_at(step.pc, step.parent);
        let last = own(&sweep.now);
        let next = step.addr + (1 << step.log2);
        if self.now() != before + ranks || !cell.is_exclusive() {
            sweep.follows.store(0, Relaxed);
        } else if is_next && last == before {
            sweep.now.store(self.now(), Relaxed);
            sweep.follows.store(next, Relaxed);
            if next & (ROW_BYTES - 1) == 0 {
                sweep.follows.store(0, Relaxed);
                row.from.store((sweep.from.load(Relaxed) & (ROW_BYTES - 1)) as u32 / 8, Relaxed);
                row.set(sweep.start.load(Relaxed), step.place);
            }
        } else {
            let base = step.addr & !(ROW_BYTES - 1);
            let goes_on = is_next && ranks != 0 && step.addr - base <= ROW_BYTES / 2 && !same(last, before);
            sweep.follows.store(0, Relaxed);
            if (step.addr == base || goes_on) && sweep.end(ground) {
                sweep.begin(step, self.now());
                sweep.follows.store(next, Relaxed);
            }
        }
    }
}
