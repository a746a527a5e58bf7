//! Memory with strips and biased regions, as the agent has it, and the paths of a thread to its cells.

use crate::memory::{Cells, Records, cells};
use runtime::filter::{
    Access, Atomic, AtomicEntry, BLOCK_BYTES, Block, Cell, Filter, Outcome, Ownership, Recorder, STRIP_BYTES, Scan,
    ScanMemory, ScanStep, Strip,
};
use runtime::record::{Kind, head};
use std::sync::Mutex;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32, fence};

/// Where it begins.
pub(crate) const BASE: usize = 1 << 20;
/// Bytes of a biased region.
pub(crate) const REGION: usize = 2 * STRIP_BYTES;
const UNBIASED: u32 = u32::MAX;
const BEING_REVOKED: u32 = u32::MAX - 1;
const SECOND: u32 = 1 << 8;
/// The context of the call that everything is in.
const PARENT: u32 = 1;

/// Memory.
pub(crate) struct BiasedMemory {
    cells: Cells,
    strips: Vec<Strip>,
    owners: Vec<AtomicU32>,
    inside: Vec<AtomicBool>,
    scans: Vec<Scan>,
    revoking: Mutex<()>,
    /// Without scans, each access goes to its cell.
    with_scans: bool,
}

/// The memory as a thread sees it.
struct Own<'l>(&'l BiasedMemory, usize);

impl ScanMemory for Own<'_> {
    fn cell(&self, word: usize) -> Cell<'_> {
        self.0.cell(word)
    }
    fn strip(&self, addr: usize) -> &Strip {
        &self.0.strips[(addr - BASE) / STRIP_BYTES]
    }
    fn ownership(&self, addr: usize) -> Ownership {
        match self.0.owners.get((addr - BASE) / REGION).map(|owner| owner.load(SeqCst)) {
            Some(BEING_REVOKED) => Ownership::Revoking,
            Some(now) if now != UNBIASED && now & !SECOND == self.1 as u32 + 1 => Ownership::Own,
            _ => Ownership::Foreign,
        }
    }
}

impl BiasedMemory {
    pub(crate) fn new(regions: usize, threads: usize, with_scans: bool) -> BiasedMemory {
        BiasedMemory {
            cells: cells(regions * REGION / 8),
            strips: (0..regions * REGION / STRIP_BYTES).map(|_| Strip::default()).collect(),
            owners: (0..regions).map(|_| AtomicU32::new(0)).collect(),
            inside: (0..threads).map(|_| AtomicBool::new(false)).collect(),
            scans: (0..threads).map(|_| Scan::default()).collect(),
            revoking: Mutex::new(()),
            with_scans,
        }
    }

    fn cell(&self, word: usize) -> Cell<'_> {
        self.cells.cell((word - BASE) / 8)
    }

    fn owner(&self, addr: usize) -> &AtomicU32 {
        &self.owners[(addr - BASE) / REGION]
    }

    /// Enters the critical region of a thread. Returns whether it owns the biased region; `None`: it must claim it
    /// first.
    fn try_begin(&self, t: usize, addr: usize) -> Option<bool> {
        self.inside[t].store(true, SeqCst);
        match self.owner(addr).load(SeqCst) {
            UNBIASED => Some(false),
            owner if owner != BEING_REVOKED && owner & !SECOND == t as u32 + 1 => Some(true),
            _ => None,
        }
    }

    /// Enters the critical region, after claiming or revoking the biased region if need be.
    pub(crate) fn begin(&self, t: usize, addr: usize) -> bool {
        loop {
            match self.try_begin(t, addr) {
                Some(true) => {
                    let own = Own(self, t);
                    if own.strip(addr).is_scanned() {
                        self.scans[t].write_back(&own, addr);
                    }
                    return true;
                }
                Some(false) => return false,
                None => {
                    self.end(t);
                    self.take(addr, |old| match old {
                        0 => t as u32 + 1,
                        old if old & SECOND == 0 => (t as u32 + 1) | SECOND,
                        _ => UNBIASED,
                    });
                }
            }
        }
    }

    pub(crate) fn end(&self, t: usize) {
        self.inside[t].store(false, SeqCst);
    }

    fn take(&self, addr: usize, new: impl Fn(u32) -> u32) {
        let _taking = self.revoking.lock().expect("no panics");
        let owner = self.owner(addr);
        let old = owner.load(SeqCst);
        if old == UNBIASED {
            return;
        }
        if old != 0 {
            owner.store(BEING_REVOKED, SeqCst);
            let thread = (old & !SECOND) as usize - 1;
            while self.inside[thread].load(SeqCst) {
                std::thread::yield_now();
            }
            let region = BASE + (addr - BASE) / REGION * REGION;
            for base in (region..region + REGION).step_by(STRIP_BYTES) {
                let own = Own(self, thread);
                own.strip(base).write_back(base, &self.scans[thread], |word| self.cell(word));
            }
        }
        owner.store(new(old), SeqCst);
    }

    /// Makes the region of an address unbiased.
    fn share(&self, addr: usize) {
        self.take(addr, |_| UNBIASED);
    }
}

/// A thread.
pub(crate) struct Walker<'w> {
    pub(crate) memory: &'w BiasedMemory,
    pub(crate) filter: &'w Filter,
    pub(crate) recorder: Recorder,
    pub(crate) sink: Records<'w>,
    /// Reads that skipped the cells.
    pub(crate) scanned: u64,
    /// Accesses that were done in blocks.
    pub(crate) in_blocks: u64,
    /// Blocks that were done with the one before them.
    pub(crate) side_by_side: u64,
}

impl<'w> Walker<'w> {
    pub(crate) fn begin(memory: &'w BiasedMemory, filter: &'w Filter, t: usize, sink: Records<'w>) -> Walker<'w> {
        let recorder = Recorder::begin(filter, t as u32, false);
        let mut walker = Walker { memory, filter, recorder, sink, scanned: 0, in_blocks: 0, side_by_side: 0 };
        walker.sync(Kind::ThreadStart, 0, Some(0));
        walker
    }

    fn t(&self) -> usize {
        self.recorder.slot() as usize
    }

    /// Its present point: sync index and sequence number.
    pub(crate) fn now(&self) -> (u64, u32) {
        (self.recorder.sync_index(), self.recorder.seq_with(&self.memory.scans[self.t()]))
    }

    pub(crate) fn use_up_seq(&mut self, left: u32) {
        self.finish_scan();
        self.recorder.use_up_seq(left);
    }

    /// Finishes the scan, before anything but its next read.
    fn finish_scan(&mut self) {
        self.recorder.finish_scan(&self.memory.scans[self.t()]);
    }

    /// An access within a word.
    pub(crate) fn access(&mut self, addr: usize, log2: usize, write: bool, pc: usize) {
        let (t, memory) = (self.t(), self.memory);
        let scan = &memory.scans[t];
        if !write && scan.is_next(addr, log2) {
            let own = Own(memory, t);
            // Ownership is asked here, too, so that the test is exact where no other thread interferes.
            if scan.goes_on_at(pc, PARENT) && own.ownership(addr) == Ownership::Own {
                scan.goes_on(addr, log2);
                fence(SeqCst);
                if own.ownership(addr) == Ownership::Own {
                    if (addr + (1 << log2)).is_multiple_of(STRIP_BYTES) {
                        self.end_strip(&own, addr);
                    }
                    self.scanned += 1;
                    return;
                }
            }
            self.finish_scan();
        }
        let (word, context) = (addr & !7, pc as u32);
        let mask = (((1u32 << (1 << log2)) - 1) << (addr & 7)) as u8;
        let cell = memory.cell(word);
        if self.recorder.is_covered(cell, mask, write) || self.repeat_biased(cell, mask, addr, log2, write, pc) {
            return;
        }
        let access = Access { word: word as u64, mask, write };
        let biased = || memory.begin(t, addr);
        let outcome = self.recorder.record_access(self.filter, &mut self.sink, cell, biased, access, context);
        memory.end(t);
        assert_ne!(outcome, Outcome::Watched);
    }

    /// An access of several whole words.
    pub(crate) fn range(&mut self, addr: usize, size: usize, write: bool, pc: usize) {
        let (t, memory) = (self.t(), self.memory);
        self.finish_scan();
        let mut at = addr;
        while at < addr + size {
            let base = at & !(BLOCK_BYTES - 1);
            let end = (addr + size).min(base + BLOCK_BYTES);
            let words = (((1u32 << ((end - at) / 8)) - 1) << ((at - base) / 8)) as u8;
            let number = (base - BASE) / 8;
            let entries = memory.cells.side_by_side(number..number + 8);
            let mut block = Block { address: base as u64, entries, words, write };
            // There are no read summaries here.
            block.words = self.recorder.first_uncovered(&AtomicEntry::default(), &block);
            if block.words == 0 {
                at = end;
                continue;
            }
            let blocks = (addr + size).min((base | (STRIP_BYTES - 1)) + 1).saturating_sub(base) / BLOCK_BYTES;
            if block.words == 0xff && blocks > 1 {
                let blocks = Block { entries: memory.cells.side_by_side(number..number + 8 * blocks), ..block };
                let biased = || memory.begin(t, base);
                let done = self.recorder.record_uniform_blocks(self.filter, &mut self.sink, &blocks, biased, pc as u32);
                memory.end(t);
                if done > 0 {
                    self.in_blocks += 8 * done as u64;
                    self.side_by_side += done as u64 - 1;
                    at += done * BLOCK_BYTES;
                    continue;
                }
            }
            at = end;
            let biased = || memory.begin(t, base);
            let left = self.recorder.record_block(self.filter, &mut self.sink, block, biased, pc as u32);
            memory.end(t);
            self.in_blocks += u64::from((block.words & !left).count_ones());
            for number in (0..8).filter(|number| left >> number & 1 == 1) {
                self.access(base + 8 * number, 3, write, pc);
            }
        }
    }

    fn end_strip(&mut self, own: &Own<'_>, addr: usize) {
        let t = self.t();
        let scan = &self.memory.scans[t];
        self.memory.inside[t].store(true, SeqCst);
        if own.ownership(addr) == Ownership::Own {
            self.recorder.end_strip(own, scan);
        } else {
            self.recorder.finish_scan(scan);
        }
        self.memory.end(t);
    }

    fn repeat_biased(&mut self, cell: Cell<'_>, mask: u8, addr: usize, log2: usize, write: bool, pc: usize) -> bool {
        let (t, memory) = (self.t(), self.memory);
        let (own, scan) = (Own(memory, t), &memory.scans[t]);
        self.finish_scan();
        let context = pc as u32;
        let done = match memory.try_begin(t, addr) {
            Some(true) => {
                let step = ScanStep { addr, log2, write, context, pc, parent: PARENT };
                let strip = own.strip(addr);
                strip.is_scanned() && self.recorder.access_scanned(&own, scan, strip, &step) || {
                    let before = self.recorder.now();
                    let done = self.recorder.repeat_biased(cell, mask, write, context)
                        || !strip.is_scanned() && self.recorder.first_touch(self.filter, cell, mask, write, context);
                    let may_scan = !write && (addr.is_multiple_of(STRIP_BYTES) || scan.may_follow(addr));
                    if memory.with_scans && done && may_scan {
                        self.recorder.note_scan_step(&own, scan, strip, cell, &step, before);
                    }
                    done
                }
            }
            Some(false) => {
                self.recorder.renew_shared(cell, mask, write, context)
                    || self.recorder.repeat_locked(cell, mask, write, context)
            }
            None => false,
        };
        memory.end(t);
        done
    }

    pub(crate) fn sync(&mut self, kind: Kind, object: u64, word: Option<u64>) {
        self.finish_scan();
        self.recorder.timed(&mut self.sink, head(kind, 0, object), 0, word);
    }

    pub(crate) fn free(&mut self, addr: usize, size: usize) {
        let t = self.t();
        self.sync(Kind::Free, addr as u64, Some(size as u64));
        for word in (addr..addr + size).step_by(8) {
            let biased = || self.memory.begin(t, word);
            self.recorder.free(self.filter, &mut self.sink, self.memory.cell(word), biased, word as u64);
            self.memory.end(t);
        }
    }

    pub(crate) fn alloc(&mut self, addr: usize, size: usize) {
        let t = self.t();
        self.finish_scan();
        self.recorder.allocated(&mut self.sink, addr as u64, size as u64, 0);
        for word in (addr..addr + size).step_by(8) {
            let biased = || self.memory.begin(t, word);
            self.recorder.alloc(self.filter, &mut self.sink, self.memory.cell(word), biased, word as u64);
            self.memory.end(t);
        }
    }

    /// A large block is allocated: as in the agent, its record comes first, so that no scan goes on across this.
    pub(crate) fn forget(&mut self, addr: usize, size: usize) {
        let t = self.t();
        self.finish_scan();
        self.recorder.allocated(&mut self.sink, addr as u64, size as u64, 0);
        for word in (addr..addr + size).step_by(8) {
            let biased = || self.memory.begin(t, word);
            self.recorder.forget(self.filter, &self.sink, self.memory.cell(word), biased);
            self.memory.end(t);
        }
    }

    pub(crate) fn atomic(&mut self, addr: usize, kind: Kind) {
        let word = addr & !7;
        self.finish_scan();
        self.memory.share(word);
        let cells = [(self.memory.cell(word), word as u64)];
        self.recorder.atomic(self.filter, &mut self.sink, &cells, addr as u64, 0, || Atomic {
            kind,
            aux: 0,
            value: 0,
            is_unchanging: false,
            result: (),
        });
    }

    /// The thread ends.
    pub(crate) fn finish(mut self) -> Vec<u64> {
        let t = self.t();
        loop {
            self.memory.inside[t].store(true, SeqCst);
            let is_over = self.memory.scans[t].end(&Own(self.memory, t));
            self.memory.end(t);
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
