//! Sweeps: a loop that reads memory of its thread's own, element after element, at one place.
//!
//! Each read of such a loop would only bring the entry of its cell up to date. Once that was done for a whole [`Strip`], the row
//! remembers it, and the next sweep leaves the cells as they are: it counts the ranks on, and tells the row at its end. Whoever comes to
//! a cell of the row in any other way first brings them up to date ([`Scan::write_back`]), with what one read after the other would have left.

use super::cell::{Cell, NEXT_SEQ, same_epoch, same_slot, seq_of};
use super::recorder::Recorder;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

/// Bytes of memory that are one row.
pub const STRIP_BYTES: usize = 512;
/// Granules of a row: a sweep takes so many ranks.
pub(super) const WORDS: u32 = (STRIP_BYTES / 8) as u32;

/// The newest sweep through a row of granules, to its end, by the thread that has it to itself. Zeroed memory: none. Else the cells from
/// where it began are Exclusive of that thread, and what they say of its reads may be out of date.
#[derive(Default, Debug)]
#[repr(C)]
pub struct Strip {
    /// When the first granule was read, as in first words of cells. Each of the others has the next rank.
    at: AtomicU64,
    context: AtomicU32,
    /// In which granule it began.
    from: AtomicU32,
}

impl Strip {
    /// Whether the cells may be out of date.
    #[inline(always)]
    pub fn is_scanned(&self) -> bool {
        self.at.load(Relaxed) != 0
    }

    /// Where it began, if the row at this address was swept.
    fn from(&self, base: usize) -> usize {
        base + self.from.load(Relaxed) as usize * 8
    }

    fn set(&self, at: u64, context: u32) {
        self.at.store(at, Relaxed);
        self.context.store(context, Relaxed);
    }

    /// Brings the cells of the row at this address up to date. `scan`: of the thread that has it. Only that thread does so, or
    /// one that is taking the row from it.
    pub fn write_back<'c>(&self, base: usize, scan: &Scan, cell: impl Fn(usize) -> Cell<'c>) {
        let at = self.at.load(Relaxed);
        if at == 0 {
            return;
        }
        let context = self.context.load(Relaxed);
        let (new, new_context, reached) = scan.through(base);
        let from = self.from.load(Relaxed);
        for word in from..WORDS {
            let address = base + word as usize * 8;
            let later = u64::from(word - from) * NEXT_SEQ;
            let cell = cell(address);
            match reached.saturating_sub(address) {
                0 => cell.was_read(at + later, 0xff, context),
                1..8 => cell.was_read(new + later, (1 << (reached - address)) - 1, new_context),
                _ => cell.was_read(new + later, 0xff, new_context),
            }
        }
        self.at.store(0, Relaxed);
    }
}

/// Ownership the memory of an address is, for a thread that is changing cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ownership {
    /// The thread's own.
    Own,
    /// Another is taking it, and looks at this thread's sweep.
    Revoking,
    /// Not any more, or never.
    Foreign,
}

/// The memory that a sweep goes through.
pub trait ScanMemory {
    /// The cell of a granule.
    fn cell(&self, word: usize) -> Cell<'_>;
    /// The row of an address.
    fn strip(&self, addr: usize) -> &Strip;
    /// Ownership it is.
    fn ownership(&self, addr: usize) -> Ownership;
}

/// An access within a granule, of 1, 2, 4 or 8 bytes, and where in the program it is.
#[derive(Clone, Copy, Debug)]
pub struct ScanStep {
    /// Its address.
    pub addr: usize,
    /// Its bytes, as a power of two.
    pub log2: usize,
    /// Whether it writes.
    pub write: bool,
    /// Its place.
    pub context: u32,
    /// The address of the code, and the place of the call that it is in: together, they say the place.
    pub pc: usize,
    /// The place of the call.
    pub parent: u32,
}

impl ScanStep {
    fn mask(&self) -> u8 {
        (((1u32 << (1 << self.log2)) - 1) << (self.addr & 7)) as u8
    }
}

/// The sweep that a thread is at. Others may look at it while they take memory from the thread. `next` goes on before the thread asks whether the memory still is [`Ownership::Own`];
/// if it is not, that read goes the way of others once more. All else that they look at changes only while it is.
#[derive(Default, Debug)]
#[repr(C)]
pub struct Scan {
    /// With which address it goes on and leaves the cells, by the size of its elements; 0: it does not.
    pub(super) next: [AtomicU64; 4],
    /// Where it does: `pc`; 0 if it does not, so that a read of address 0 is none of it.
    pub(super) next_pc: AtomicU64,
    /// When the thread did what it did last, if that was of this sweep; while it leaves the cells of a row, before the row's second granule.
    pub(super) now: AtomicU64,
    pub(super) parent: AtomicU32,
    context: AtomicU32,
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

impl Scan {
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
        let words = self.next().map_or(0, |next| (next as usize).saturating_sub(from).div_ceil(8));
        match words as u64 {
            0 => self.now.load(Relaxed),
            words => self.start.load(Relaxed) + (words - 1) * NEXT_SEQ,
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
        (self.start.load(Relaxed), self.context.load(Relaxed), reached)
    }

    /// Brings the cells of the row of an address, which is this thread's, up to date.
    #[cold]
    #[inline(never)]
    pub fn write_back(&self, ground: &impl ScanMemory, addr: usize) {
        let base = addr & !(STRIP_BYTES - 1);
        ground.strip(addr).write_back(base, self, |word| ground.cell(word));
        if self.base() == base {
            self.clear();
        }
    }

    /// Ends it. False: it cannot be now.
    pub fn end(&self, ground: &impl ScanMemory) -> bool {
        let base = self.base();
        if base != 0 {
            match ground.ownership(base) {
                Ownership::Own if self.through(base).2 > ground.strip(base).from(base) => self.write_back(ground, base),
                Ownership::Own | Ownership::Foreign => {}
                Ownership::Revoking => return false,
            }
        }
        self.clear();
        true
    }

    fn begin(&self, step: &ScanStep, now: u64) {
        self.pc.store(step.pc as u64, Relaxed);
        self.parent.store(step.parent, Relaxed);
        self.context.store(step.context, Relaxed);
        self.start.store(now, Relaxed);
        self.from.store(step.addr, Relaxed);
        self.now.store(now, Relaxed);
    }
}

impl Recorder {
    /// Before anything else that takes a rank: the reads of the sweep have theirs, and it does not go on.
    #[inline(always)]
    pub fn finish_scan(&mut self, scan: &Scan) {
        if scan.is_on() {
            self.finish_scan_now(scan);
        }
    }

    #[cold]
    #[inline(never)]
    fn finish_scan_now(&mut self, scan: &Scan) {
        self.set_now(self.now_with(scan));
        scan.stop();
    }

    /// [`Recorder::now`], with what its sweep has read since.
    fn now_with(&self, scan: &Scan) -> u64 {
        if scan.is_on() && own(&scan.now) == self.now() { scan.newest() } else { self.now() }
    }

    /// [`Recorder::seq`], likewise.
    #[doc(hidden)]
    pub fn seq_with(&self, scan: &Scan) -> u32 {
        seq_of(self.now_with(scan))
    }

    /// The sweep has come to the end of its row: the row remembers it, and it goes on in the next, if that is remembered, too.
    pub fn end_strip(&mut self, ground: &impl ScanMemory, scan: &Scan) {
        let base = scan.base();
        self.set_now(scan.newest());
        ground.strip(base).set(scan.start.load(Relaxed), scan.context.load(Relaxed));
        let next = base + STRIP_BYTES;
        if ground.ownership(next) == Ownership::Own
            && self.may_skip_cells(ground.strip(next))
            && ground.strip(next).from(next) == next
        {
            scan.start.store(self.now() + NEXT_SEQ, Relaxed);
            scan.now.store(self.now(), Relaxed);
            scan.base.store(next, Relaxed);
        } else {
            scan.clear();
        }
    }

    /// Whether a read of each granule of a row would do nothing but to take the place of the one that the row remembers.
    fn may_skip_cells(&self, strip: &Strip) -> bool {
        let at = strip.at.load(Relaxed);
        at != 0
            && same_slot(at, self.epoch())
            && self.is_before_segment(at)
            && self.is_hot_context(strip.context.load(Relaxed))
            && self.has_seq_left_for(WORDS)
    }

    /// An access of a row that was swept, which is this thread's. True: it is done. Else it goes its way, [`Recorder::repeat_biased`] or another.
    #[cold]
    #[inline(never)]
    pub fn access_scanned(&mut self, ground: &impl ScanMemory, scan: &Scan, strip: &Strip, step: &ScanStep) -> bool {
        let base = step.addr & !(STRIP_BYTES - 1);
        let from = strip.from(base);
        if step.addr < from {
            return false;
        }
        // The end of a sweep that was here before dissolves the row.
        if !step.write && step.addr == from && scan.end(ground) && self.may_skip_cells(strip) {
            self.next_seq(false);
            scan.begin(step, self.now());
            scan.base.store(base, Relaxed);
            scan.next[step.log2].store(step.addr as u64 + (1 << step.log2), Relaxed);
            scan.next_pc.store(step.pc as u64, Relaxed);
            return true;
        }
        scan.write_back(ground, step.addr);
        self.is_covered(ground.cell(step.addr & !7), step.mask(), step.write)
    }

    /// A read was done by [`Recorder::repeat_biased`] or [`Recorder::first_touch`], at the first address of a row or where a sweep goes on cell by cell: from the beginning of a
    /// row, or of a position, if that is in the first half of one. `before`: when the thread did what it did before.
    #[inline]
    pub fn note_scan_step(
        &self,
        ground: &impl ScanMemory,
        scan: &Scan,
        strip: &Strip,
        cell: Cell,
        step: &ScanStep,
        before: u64,
    ) {
        let seqs = if step.addr & 7 == 0 { NEXT_SEQ } else { 0 };
        let is_next = scan.may_follow(step.addr) && scan.is_at(step.pc, step.parent);
        let last = own(&scan.now);
        let next = step.addr + (1 << step.log2);
        if self.now() != before + seqs || !cell.is_exclusive() {
            scan.follows.store(0, Relaxed);
        } else if is_next && last == before {
            scan.now.store(self.now(), Relaxed);
            scan.follows.store(next, Relaxed);
            if next & (STRIP_BYTES - 1) == 0 {
                scan.follows.store(0, Relaxed);
                strip.from.store((scan.from.load(Relaxed) & (STRIP_BYTES - 1)) as u32 / 8, Relaxed);
                strip.set(scan.start.load(Relaxed), step.context);
            }
        } else {
            let base = step.addr & !(STRIP_BYTES - 1);
            let goes_on = is_next && seqs != 0 && step.addr - base <= STRIP_BYTES / 2 && !same_epoch(last, before);
            scan.follows.store(0, Relaxed);
            if (step.addr == base || goes_on) && scan.end(ground) {
                scan.begin(step, self.now());
                scan.follows.store(next, Relaxed);
            }
        }
    }
}
