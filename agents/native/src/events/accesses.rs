//! How a thread records accesses of its program, plain and atomic: each finds its cells, and hands them to the filter.

use runtime::filter::{Access, Atomic, BLOCK_BYTES, Block, CONFLICT_ROOM, Cell, Look, Outcome, STRIP_BYTES, Sink};

use super::ADDRESSES;
use crate::memory::filter;
use crate::stripes::Stripe;
use crate::thread::Thread;
use crate::{biased, read_summaries, shadow, stacks};

impl Thread {
    /// Records an access of any size.
    pub fn record_range(&mut self, addr: usize, size: usize, write: bool) {
        if size <= BLOCK_BYTES && (write || !self.recorder.notes_reads()) && addr.checked_add(size).is_some() {
            self.record_small(addr, size, write);
        } else {
            self.record_large(addr, size, write);
        }
    }

    /// Records a small access: word by word where this thread owns the cells and nothing is to be written.
    fn record_small(&mut self, addr: usize, size: usize, write: bool) {
        let context = self.context();
        let (mut at, end) = (addr, addr + size);
        while at < end {
            let stop = end.min((at | (BLOCK_BYTES - 1)) + 1);
            let Thread { recorder, frames, critical, slot, .. } = self;
            if shadow::cell(at).is_none() || !critical.enter(at, *slot) {
                self.record_large(at, stop - at, write);
                at = stop;
                continue;
            }
            // SAFETY: it has been looked at.
            let leaf = unsafe { shadow::leaf_unchecked(at) };
            let (mut left, mut until) = (stop, at);
            let mut word = at & !7;
            while word < stop {
                let (first, behind) = (at.max(word), stop.min(word + 8));
                let mask = (((1u32 << (behind - first)) - 1) << (first - word)) as u8;
                let cell = leaf.cell(word);
                let is_done = recorder.is_covered(cell, mask, write)
                    || recorder.defer_at_once(filter(), cell, mask, write, context);
                if !is_done {
                    (left, until) = (left.min(first), behind);
                }
                word += 8;
            }
            critical.leave();
            if write {
                read_summaries::forget(at);
            }
            for end in [at, stop - 1] {
                if !frames.on_stack(end) {
                    stacks::touched(end & !7);
                }
            }
            if left < until {
                // Words in between that are done are repeated.
                self.record_large(left, until - left, write);
            }
            at = stop;
        }
    }

    /// Records an access of any size, block by block.
    fn record_large(&mut self, addr: usize, size: usize, write: bool) {
        let end = addr.saturating_add(size);
        let mut at = addr;
        while at < end {
            let block = at & !(BLOCK_BYTES - 1);
            let whole = end.min(block.saturating_add(BLOCK_BYTES)) & !7;
            if at & 7 == 0 && whole > at + 8 {
                let words = ((1u32 << ((whole - at) / 8)) - 1) << ((at - block) / 8);
                let blocks = end.min((block | (STRIP_BYTES - 1)).saturating_add(1)).saturating_sub(block) / BLOCK_BYTES;
                let done = self.record_words(block, words as u8, blocks, write);
                at = if done > 1 { block + done * BLOCK_BYTES } else { whole };
                continue;
            }
            let word = at & !7;
            let next = end.min(word.saturating_add(8));
            let mask = ((1u32 << (next - at)) - 1) << (at & 7);
            self.record_word(word, mask as u8, write);
            at = next;
        }
    }

    /// Records an access of whole words of a block. If all of it is accessed, and `blocks` of its strip, as many are
    /// done as can be at once. Returns how many.
    fn record_words(&mut self, address: usize, words: u8, blocks: usize, write: bool) -> usize {
        if shadow::cell(address).is_none() {
            return 1;
        }
        // SAFETY: it has been looked at.
        let leaf = unsafe { shadow::leaf_unchecked(address) };
        let blocks = biased::leases::alike(leaf, address, blocks);
        let summary = read_summaries::to_look_at(address, self.recorder.is_second());
        let mut block = Block { address: address as u64, entries: leaf.blocks(address, 1), words, write };
        block.words = self.recorder.first_uncovered(summary, &block);
        if block.words == 0 {
            return 1;
        }
        let context = self.context();
        let Thread { recorder, ring, frames, critical, slot, .. } = self;
        let (mut done, mut left) = (0, 0);
        if block.words == 0xff && blocks > 1 {
            let all = Block { entries: leaf.blocks(address, blocks), ..block };
            let is_noted = !write && recorder.notes_reads();
            read_summaries::note(address, recorder, |recorder, summary| recorder.note_reads(summary, &all));
            let enter = || critical.enter_blocks(address, blocks, *slot);
            done = recorder.record_uniform_blocks(filter(), ring, &all, enter, context);
            critical.leave();
            if is_noted && done < blocks {
                // More was noted than was done.
                read_summaries::forget(address);
            }
        }
        if done == 0 {
            done = 1;
            read_summaries::note(address, recorder, |recorder, summary| recorder.note_reads(summary, &block));
            left = recorder.record_block(filter(), ring, block, || critical.enter(address, *slot), context);
            critical.leave();
        }
        if write {
            read_summaries::forget(address);
        }
        let (first, last) = (block.words.trailing_zeros() as usize, 7 - block.words.leading_zeros() as usize);
        for end in [first, last + 8 * (done - 1)].map(|number| address + 8 * number) {
            if !frames.on_stack(end) {
                stacks::touched(end);
            }
        }
        while left != 0 {
            self.record_word(address + 8 * left.trailing_zeros() as usize, 0xff, write);
            left &= left - 1;
        }
        done
    }

    /// Records an access within a word, unless it is covered.
    pub fn record_word(&mut self, addr: usize, mask: u8, write: bool) {
        if let Some(cell) = shadow::cell(addr)
            && !self.recorder.is_covered(cell, mask, write)
        {
            self.record_uncovered(addr, cell, mask, write);
        }
    }

    /// Records an access that is not covered.
    fn record_uncovered(&mut self, addr: usize, cell: Cell, mask: u8, write: bool) {
        let context = self.context();
        self.record_uncovered_at::<false>(addr, cell, mask, write, context);
    }

    /// Records an access that is not covered, in a known call context. `UNBIASED`: the word is in an unbiased region.
    #[inline]
    pub fn record_uncovered_at<const UNBIASED: bool>(
        &mut self,
        addr: usize,
        cell: Cell,
        mask: u8,
        write: bool,
        context: u32,
    ) {
        let Thread { recorder, ring, frames, critical, slot, .. } = self;
        let access = Access { word: addr as u64, mask, write };
        if !write && mask == 0xff {
            read_summaries::note_read(addr, recorder);
        }
        // Once its cell is to be locked, it stays so.
        let is_own = !UNBIASED && critical.enter(addr, *slot);
        if is_own {
            let is_done = recorder.defer_at_once(filter(), cell, mask, write, context);
            critical.leave();
            if is_done {
                if write {
                    read_summaries::forget(addr);
                }
                if !frames.on_stack(addr) {
                    stacks::touched(addr);
                }
                return;
            }
        }
        let outcome =
            recorder.record_access(filter(), ring, cell, || is_own && critical.enter(addr, *slot), access, context);
        if !UNBIASED {
            critical.leave();
        }
        if write {
            read_summaries::forget(addr);
        }
        match outcome {
            Outcome::Deferred | Outcome::Written => {
                if !frames.on_stack(addr) {
                    stacks::touched(addr);
                }
            }
            Outcome::Watched => {
                let first = mask.trailing_zeros() as usize;
                self.watched(addr + first, mask.count_ones() as usize, write);
            }
        }
    }

    /// The program has prepared a value for the atomic access that follows, maybe on its stack.
    pub fn prepared(&mut self, addr: usize) {
        if self.frames.on_stack(addr)
            && let Some(cell) = shadow::find(addr & !7)
        {
            self.recorder.prepared(cell);
        }
    }

    /// Performs an atomic access, if it leaves memory as it is, and repeats what the trace already has of this thread,
    /// which waits. `look` performs it without a lock, if that can be done.
    #[inline]
    pub fn repeat_atomic<R>(&self, addr: usize, look: impl FnOnce() -> Option<Atomic<R>>) -> Option<R> {
        if !self.recorder.may_be_waiting() {
            return None;
        }
        let cell = shadow::find(addr & !7)?;
        let Atomic { kind, aux, value, result, .. } = look()?;
        let look = Look { kind, aux, address: addr as u64 & ADDRESSES, value };
        self.recorder.is_repeated(Some(cell), look).then_some(result)
    }

    /// Performs and records an atomic access of up to 16 bytes. `act` performs it.
    pub fn atomic<R>(&mut self, addr: usize, size: usize, act: impl FnOnce() -> Atomic<R>) -> R {
        let context = self.context();
        let words = [addr & !7, (addr + size - 1) & !7];
        let (Some(first), Some(last)) = (shadow::cell(words[0]), shadow::cell(words[1])) else {
            return act().result;
        };
        for word in words {
            if !self.frames.on_stack(word) {
                stacks::touched(word);
            }
        }
        let both = [(first, words[0] as u64), (last, words[1] as u64)];
        let cells = if words[0] == words[1] { &both[..1] } else { &both };
        self.critical.give_back(self.slot);
        // The cell is the lock, except for a watched one.
        self.ring.reserve(2 * CONFLICT_ROOM);
        let stripe = cells.iter().any(|(cell, _)| cell.is_watched()).then(|| Stripe::lock(addr));
        // No other thread that leases the block comes in between, if this one stays in its critical region.
        let is_leased = cells.len() == 1 && stripe.is_none() && {
            biased::unbias_region(addr);
            self.critical.enter(addr, self.slot)
        };
        if !is_leased {
            words.into_iter().for_each(biased::unbias);
        }
        let act = || {
            for word in words {
                read_summaries::forget(word);
            }
            act()
        };
        let result = self.recorder.atomic(filter(), &mut self.ring, cells, addr as u64 & ADDRESSES, context, act);
        if is_leased {
            self.critical.leave();
            self.critical.give_back(self.slot);
        }
        // A reader may still have changed its entry of the cell meanwhile.
        for word in words {
            read_summaries::forget(word);
        }
        drop(stripe);
        result
    }
}
