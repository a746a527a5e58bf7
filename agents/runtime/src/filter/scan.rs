//! Sequential scans: loops that read memory of their own thread, element after element, in one call context.
//!
//! Each read of such a loop would only bring the entry of its cell up to date. Once that was done for a whole
//! [`Strip`], the strip remembers it, and the next scan does not touch the cells: it counts the sequence numbers on,
//! and updates the strip at its end. A thread that comes to a cell of the strip in any other way first writes it back
//! ([`Scan::write_back`]): the cells get what one read after the other would have left.

use super::bits::{NEXT_SEQ, same_epoch, same_slot, seq_of};
use super::cell::Cell;
use super::recorder::Recorder;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

/// Bytes of memory that are one strip.
pub const STRIP_BYTES: usize = 512;
/// Words of a strip: a scan takes this many sequence numbers.
pub(super) const WORDS: u32 = (STRIP_BYTES / 8) as u32;

/// The newest scan through a strip of words, to its end, by the owner of its biased region. Zeroed memory: none.
/// Otherwise the cells from where it began are Exclusive of that thread, and what they say of its reads may be out of
/// date.
#[derive(Default, Debug)]
#[repr(C)]
pub struct Strip {
    /// The point when the first word was read, as in `at` of entries. Each of the others has the next sequence number.
    at: AtomicU64,
    context: AtomicU32,
    /// In which word the scan began.
    from: AtomicU32,
}

impl Strip {
    /// Whether the cells may be out of date.
    #[inline(always)]
    pub fn is_scanned(&self) -> bool {
        self.at.load(Relaxed) != 0
    }

    /// The address where the scan began, if the strip at this address was scanned.
    fn from(&self, base: usize) -> usize {
        base + self.from.load(Relaxed) as usize * 8
    }

    fn set(&self, at: u64, context: u32) {
        self.at.store(at, Relaxed);
        self.context.store(context, Relaxed);
    }

    /// Brings the cells of the strip at this address up to date, by its owner's `scan`. Only the owner does so, or a
    /// thread that revokes its biased region.
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

/// Who owns the biased region of an address, for a thread in its critical region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ownership {
    /// The thread owns it.
    Own,
    /// Another thread is revoking it, and looks at this thread's scan.
    Revoking,
    /// The thread does not own it, or no longer.
    Foreign,
}

/// The memory that a scan goes through.
pub trait ScanMemory {
    /// The cell of a word.
    fn cell(&self, word: usize) -> Cell<'_>;
    /// The strip of an address.
    fn strip(&self, addr: usize) -> &Strip;
    /// Who owns an address.
    fn ownership(&self, addr: usize) -> Ownership;
}

/// An access within a word, of 1, 2, 4 or 8 bytes, and where in the program it is.
#[derive(Clone, Copy, Debug)]
pub struct ScanStep {
    /// Its address.
    pub addr: usize,
    /// Log2 of its size.
    pub log2: usize,
    /// Whether it writes.
    pub write: bool,
    /// Its call context.
    pub context: u32,
    /// The address of the code; with the context of the call, it determines the call context.
    pub pc: usize,
    /// The context of the call.
    pub parent: u32,
}

impl ScanStep {
    fn mask(&self) -> u8 {
        (((1u32 << (1 << self.log2)) - 1) << (self.addr & 7)) as u8
    }
}

/// The scan of a thread. A revoker may look at it. `next` is stored before the thread asks whether it still owns the
/// memory ([`Ownership::Own`]); if not, that read takes the ordinary path once more. All else that a revoker reads
/// changes only while the thread owns the memory.
#[derive(Default, Debug)]
#[repr(C)]
pub struct Scan {
    /// The expected next address while cells are skipped, by the size of the elements; 0: none.
    pub(super) next: [AtomicU64; 4],
    /// The address of the code that does so: `pc`; 0 if no cells are skipped, so that a read of address 0 does not
    /// match.
    pub(super) next_pc: AtomicU64,
    /// The thread's last point, if that was of this scan; while cells are skipped, the point before the strip's second
    /// word.
    pub(super) now: AtomicU64,
    pub(super) parent: AtomicU32,
    context: AtomicU32,
    pc: AtomicU64,
    /// The point when the first word in its strip was read, and its address.
    start: AtomicU64,
    from: AtomicUsize,
    /// The strip whose cells are skipped; 0: none.
    base: AtomicUsize,
    /// How far it has come in that strip, after it was stopped.
    reached: AtomicUsize,
    /// The expected next address while it goes cell by cell; 0: none.
    follows: AtomicUsize,
}

/// Loads what only its own thread stores. (For an atomic load the compiler would use an instruction of its own.)
#[inline(always)]
#[allow(unsafe_code)]
fn own(word: &AtomicU64) -> u64 {
    // SAFETY: the only thread that stores to it is the one that is here.
    unsafe { word.as_ptr().read() }
}

impl Scan {
    /// Whether a read at this address may be the next of the scan.
    #[inline(always)]
    pub fn is_next(&self, addr: usize, log2: usize) -> bool {
        own(&self.next[log2]) == addr as u64
    }

    /// Whether the scan has this call context.
    #[inline(always)]
    pub fn is_at(&self, pc: usize, parent: u32) -> bool {
        own(&self.pc) == pc as u64 && self.parent.load(Relaxed) == parent
    }

    /// Whether the scan skips cells, in this call context.
    #[inline(always)]
    pub fn goes_on_at(&self, pc: usize, parent: u32) -> bool {
        own(&self.next_pc) == pc as u64 && self.parent.load(Relaxed) == parent
    }

    /// Advances the scan by a read at this address, which is counted when it stops, or at the end of the strip. If the
    /// strip is not this thread's afterwards, the revoker may have seen the read or not: it takes the ordinary path
    /// once more.
    #[inline(always)]
    pub fn goes_on(&self, addr: usize, log2: usize) {
        self.next[log2].store(addr as u64 + (1 << log2), Relaxed);
    }

    /// Whether the scan may go on cell by cell with this address.
    #[inline(always)]
    pub fn may_follow(&self, addr: usize) -> bool {
        self.follows.load(Relaxed) == addr
    }

    /// The strip whose cells are skipped, or 0.
    pub fn base(&self) -> usize {
        self.base.load(Acquire)
    }

    /// Stops the scan. What it has done stays.
    pub fn stop(&self) {
        if let Some(next) = self.next() {
            // In this order, for a revoker that looks at the same time.
            self.reached.store(next as usize, Release);
            for next in &self.next {
                next.store(0, Release);
            }
            self.next_pc.store(0, Relaxed);
        }
    }

    /// Whether the scan skips cells.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        own(&self.next_pc) != 0
    }

    /// The expected next address, if cells are skipped.
    fn next(&self) -> Option<u64> {
        self.next.iter().map(|next| next.load(Acquire)).find(|&next| next != 0)
    }

    /// The point when the newest word was read whose cell was skipped.
    fn newest(&self) -> u64 {
        let from = self.base.load(Relaxed).max(self.from.load(Relaxed));
        let words = self.next().map_or(0, |next| (next as usize).saturating_sub(from).div_ceil(8));
        match words as u64 {
            0 => self.now.load(Relaxed),
            words => self.start.load(Relaxed) + (words - 1) * NEXT_SEQ,
        }
    }

    /// Forgets the scan.
    pub fn clear(&self) {
        self.base.store(0, Relaxed);
        self.reached.store(0, Relaxed);
        self.follows.store(0, Relaxed);
        for next in &self.next {
            next.store(0, Relaxed);
        }
        self.next_pc.store(0, Relaxed);
    }

    /// What the scan has done in a strip: when it began there, its call context, and the address it has come to.
    fn through(&self, base: usize) -> (u64, u32, usize) {
        if self.base() != base {
            return (0, 0, 0);
        }
        let reached = self.next().map_or_else(|| self.reached.load(Acquire), |next| next as usize);
        (self.start.load(Relaxed), self.context.load(Relaxed), reached)
    }

    /// Writes back the strip of an address, which is this thread's.
    #[cold]
    #[inline(never)]
    pub fn write_back(&self, memory: &impl ScanMemory, addr: usize) {
        let base = addr & !(STRIP_BYTES - 1);
        memory.strip(addr).write_back(base, self, |word| memory.cell(word));
        if self.base() == base {
            self.clear();
        }
    }

    /// Ends the scan. Returns false if that is not possible now.
    pub fn end(&self, memory: &impl ScanMemory) -> bool {
        let base = self.base();
        if base != 0 {
            match memory.ownership(base) {
                Ownership::Own if self.through(base).2 > memory.strip(base).from(base) => self.write_back(memory, base),
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
    /// Finishes a scan that skips cells: counts the sequence numbers of its reads, and stops it. Called before anything
    /// else that takes a sequence number.
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

    /// [`Recorder::now`], with what the scan has read since.
    fn now_with(&self, scan: &Scan) -> u64 {
        if scan.is_on() && own(&scan.now) == self.now() { scan.newest() } else { self.now() }
    }

    /// [`Recorder::seq`], with what the scan has read since.
    #[doc(hidden)]
    pub fn seq_with(&self, scan: &Scan) -> u32 {
        seq_of(self.now_with(scan))
    }

    /// Ends a strip: it remembers the scan, which goes on in the next strip if that was scanned, too.
    pub fn end_strip(&mut self, memory: &impl ScanMemory, scan: &Scan) {
        let base = scan.base();
        self.set_now(scan.newest());
        memory.strip(base).set(scan.start.load(Relaxed), scan.context.load(Relaxed));
        let next = base + STRIP_BYTES;
        if memory.ownership(next) == Ownership::Own
            && self.may_skip_cells(memory.strip(next))
            && memory.strip(next).from(next) == next
        {
            scan.start.store(self.now() + NEXT_SEQ, Relaxed);
            scan.now.store(self.now(), Relaxed);
            scan.base.store(next, Relaxed);
        } else {
            scan.clear();
        }
    }

    /// Whether a read of each word of a strip would only replace the one that the strip remembers.
    fn may_skip_cells(&self, strip: &Strip) -> bool {
        let at = strip.at.load(Relaxed);
        at != 0
            && same_slot(at, self.epoch())
            && self.is_before_segment(at)
            && self.is_hot_context(strip.context.load(Relaxed))
            && self.has_seq_left_for(WORDS)
    }

    /// Handles an access of a scanned strip of this thread. Returns true if it is done. Else it goes on with
    /// [`Recorder::repeat_biased`] and the rest.
    #[cold]
    #[inline(never)]
    pub fn access_scanned(&mut self, memory: &impl ScanMemory, scan: &Scan, strip: &Strip, step: &ScanStep) -> bool {
        let base = step.addr & !(STRIP_BYTES - 1);
        let from = strip.from(base);
        if step.addr < from {
            return false;
        }
        // The end of a scan that was here before writes the strip back.
        if !step.write && step.addr == from && scan.end(memory) && self.may_skip_cells(strip) {
            self.next_seq(false);
            scan.begin(step, self.now());
            scan.base.store(base, Relaxed);
            scan.next[step.log2 & 3].store(step.addr as u64 + (1 << step.log2), Relaxed);
            scan.next_pc.store(step.pc as u64, Relaxed);
            return true;
        }
        scan.write_back(memory, step.addr);
        self.is_covered(memory.cell(step.addr & !7), step.mask(), step.write)
    }

    /// Follows a read that [`Recorder::repeat_biased`] or [`Recorder::first_touch`] did at the first address of a
    /// strip, or where a scan goes on cell by cell: from the beginning of a strip, or of a sync index, if that is in
    /// its first half. `before` is the thread's point before the read.
    #[inline]
    pub fn note_scan_step(
        &self,
        memory: &impl ScanMemory,
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
        // A repetition leaves the call context of what it repeats, which may be another one than the strip's.
        if self.now() != before + seqs || !cell.is_read_in(step.context) {
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
            if (step.addr == base || goes_on) && scan.end(memory) {
                scan.begin(step, self.now());
                scan.follows.store(next, Relaxed);
            }
        }
    }
}
