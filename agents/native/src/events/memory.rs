//! How a thread records the lifetimes of memory: what was there before matters no more, or conflicts with the end.

use runtime::filter::{BLOCK_BYTES, Cell, Filter, Recorder};
use runtime::record::{Kind, SILENT};

use super::ADDRESSES;
use crate::memory::filter;
use crate::thread::Thread;
use crate::{read_summaries, shadow};

impl Thread {
    /// Records that memory was allocated. It is this thread's, unless it is so large that its shadow should stay
    /// untouched.
    pub fn alloc(&mut self, addr: usize, size: usize) {
        const SMALL: usize = 1 << 12;
        let context = self.context();
        if size <= SMALL {
            self.end_lives(addr, size);
        }
        self.recorder.allocated(&mut self.ring, addr as u64 & ADDRESSES, size as u64, context);
        if size > SMALL {
            return self.empty(addr, size);
        }
        self.each_word(addr, size, Recorder::alloc_at_once, |thread, word, cell| {
            let biased = || thread.critical.enter(word, thread.slot);
            thread.recorder.alloc(filter(), &mut thread.ring, cell, biased, word as u64);
            thread.critical.leave();
        });
    }

    /// Ends or begins the lives of the words of a small range, block by block: `at_once` those that this thread owns,
    /// if that can be done without a record, and the others one by one.
    fn each_word(
        &mut self,
        addr: usize,
        size: usize,
        at_once: impl Fn(&mut Recorder, &Filter, Cell) -> bool,
        one: impl Fn(&mut Thread, usize, Cell),
    ) {
        let (mut at, end) = (addr & !7, addr + size);
        while at < end {
            let stop = end.min((at | (BLOCK_BYTES - 1)) + 1);
            let mut left = 0u8;
            let is_own = shadow::cell(at).is_some() && self.critical.enter(at, self.slot);
            for word in (at..stop).step_by(8) {
                if let Some(cell) = shadow::find(word)
                    && !(is_own && at_once(&mut self.recorder, filter(), cell))
                {
                    left |= 1 << (word / 8 % 8);
                }
            }
            self.critical.leave();
            while left != 0 {
                let word = (at & !(BLOCK_BYTES - 1)) + 8 * left.trailing_zeros() as usize;
                if let Some(cell) = shadow::find(word) {
                    one(self, word, cell);
                }
                left &= left - 1;
            }
            // All of a block is in one summary.
            read_summaries::forget(at);
            at = stop;
        }
    }

    /// Writes what was deferred of memory that was never seen to be freed, before its next lifetime begins.
    fn end_lives(&mut self, addr: usize, size: usize) {
        for word in (addr & !7..addr + size).step_by(8) {
            if let Some(cell) = shadow::find(word)
                && cell.is_in_use()
            {
                let biased = || self.critical.enter(word, self.slot);
                self.recorder.free(filter(), &mut self.ring, cell, biased, word as u64);
                self.critical.leave();
            }
        }
    }

    /// Records that memory is about to be freed. If that is silent, or the program ignores accesses, it conflicts with
    /// nothing: the memory only gets a new identity.
    pub fn free(&mut self, addr: usize, size: usize, is_silent: bool) {
        if is_silent || self.is_ignoring() {
            self.empty(addr, size);
            return self.timed(Kind::Free, SILENT, addr as u64, Some(size as u64));
        }
        /// Blocks of this size give their shadow back.
        const LARGE: usize = 1 << 16;
        /// Of larger blocks, the kernel knows which shadow was touched.
        const SMALL: usize = 1 << 12;
        // What others have deferred is written before the record: it goes with it, and another thread may have the
        // memory before this thread's next record.
        let free = |thread: &mut Thread, word: usize, cell: Cell| {
            let biased = || thread.critical.enter(word, thread.slot);
            thread.recorder.free(filter(), &mut thread.ring, cell, biased, word as u64);
            thread.critical.leave();
        };
        if size <= SMALL {
            self.each_word(addr, size, Recorder::free_at_once, free);
        } else {
            shadow::each_touched(addr, size, |word, cell| {
                free(self, word, cell);
                read_summaries::forget(word);
            });
        }
        shadow::forget_locks(addr, size);
        self.timed(Kind::Free, 0, addr as u64, Some(size as u64));
        if size >= LARGE {
            shadow::discard(addr, size);
        }
    }

    /// Writes what is still deferred of contended words, because the process ends.
    pub fn write_remaining(&mut self) {
        let mut any = false;
        shadow::each_contended(|word, cell| {
            any = true;
            let biased = || self.critical.enter(word, self.slot);
            self.recorder.write_remaining(filter(), &mut self.ring, cell, biased, word as u64);
            self.critical.leave();
        });
        if any {
            // Deferred accesses go with a timed record.
            self.timed(Kind::Mark, 0, 0, None);
        }
    }

    /// Empties the cells of a range: nothing that was there matters any more.
    pub fn empty(&mut self, addr: usize, size: usize) {
        shadow::each_touched(addr, size, |word, cell| {
            let biased = || self.critical.enter(word, self.slot);
            self.recorder.forget(filter(), &self.ring, cell, biased);
            self.critical.leave();
            read_summaries::forget(word);
        });
        shadow::forget_locks(addr, size);
    }

    /// Gives a part of the stack a new identity: its function has returned, and other threads have touched it.
    pub fn renew(&mut self, addr: usize, size: usize) {
        self.free(addr, size, false);
        self.alloc(addr, size);
    }
}
