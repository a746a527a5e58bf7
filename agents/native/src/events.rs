//! What a thread records: synchronisation, accesses, memory, calls of watched functions.

use runtime::filter::{
    Access, Atomic, BLOCK_BYTES, Block, CONFLICT_ROOM, Cell, Filter, Look, Outcome, Recorder, STRIP_BYTES, Sink,
};
use runtime::record::{ADDRESS_BITS, Class, Kind, MAX_TEXT, SILENT, TextFor, head};

use crate::machine::{Tls, tls};
use crate::memory::filter;
use crate::slots::{self, slot_state};
use crate::stripes::Stripe;
use crate::thread::Thread;
use crate::{biased, frames, read_summaries, shadow, stacks};

const ADDRESSES: u64 = (1 << ADDRESS_BITS) - 1;
/// In the upper half of `Frame::context`: the region that the call began, + 1.
const REGION_SHIFT: u32 = 32;

/// How a synchronisation takes part in timestamp hand-off ([`runtime::hand_off`]).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    /// Not at all.
    None,
    /// The thread has acquired a lock that hands timestamps on.
    Acquired,
    /// It is about to release the lock.
    Released,
    /// It is about to notify a condition.
    Notified,
}

/// A synchronisation.
#[derive(Clone, Copy)]
pub struct Sync {
    pub kind: Kind,
    pub class: Class,
    pub object: usize,
    pub hand: Hand,
}

impl Thread {
    /// Writes a timed record of two words.
    pub fn sync(&mut self, kind: Kind, class: Class, object: usize) {
        if self.is_ignoring_sync() && matches!(kind, Kind::Post | Kind::Await) {
            return;
        }
        self.critical.give_back(self.slot);
        self.timed(kind, class as u8, object as u64, None);
    }

    /// Writes a timed record of three words.
    pub fn sync_with(&mut self, kind: Kind, class: Class, object: usize, word: u64) {
        self.critical.give_back(self.slot);
        self.timed(kind, class as u8, object as u64, Some(word));
    }

    /// Writes any timed record that is not an access.
    pub fn timed(&mut self, kind: Kind, aux: u8, payload: u64, word: Option<u64>) {
        debug_assert_eq!(kind.words(), if word.is_some() { 3 } else { 2 });
        let context = self.context();
        self.recorder.timed(&mut self.ring, head(kind, aux, payload & ADDRESSES), context, word);
    }

    /// Writes a timed record of two words if nothing else is to be done: the call context is known, and there is room.
    /// Returns false if nothing was done.
    ///
    /// # Safety
    ///
    /// It is this thread's state, and its hooks are open.
    #[inline(always)]
    pub unsafe fn sync_at_once(&mut self, tls: *const Tls, pc: usize, sync: Sync) -> bool {
        // SAFETY: the caller's own thread.
        let Some(context) = (unsafe { self.contexts.known_here(tls, pc) }) else { return false };
        if !self.ring.has_room(2) {
            return false;
        }
        self.sync_in_room(context, sync);
        true
    }

    /// Writes a timed record of two words.
    pub fn sync_by(&mut self, sync: Sync) {
        let context = self.context();
        if sync.hand != Hand::None {
            // Made here, because the fast path only looks for it.
            shadow::hand_off_or_create(sync.object);
        }
        self.ring.reserve(2);
        self.sync_in_room(context, sync);
    }

    #[inline(always)]
    fn sync_in_room(&mut self, context: u32, Sync { kind, class, object, hand }: Sync) {
        let Thread { recorder, ring, critical, slot, .. } = self;
        if hand != Hand::Acquired && !matches!(kind, Kind::Acquire | Kind::ReadAcquire | Kind::TryAcquire) {
            critical.give_back(*slot);
        }
        let head = head(kind, class as u8, object as u64 & ADDRESSES);
        let hand_off = if hand == Hand::None { None } else { shadow::hand_off(object) };
        match (hand, hand_off) {
            (Hand::Acquired, Some(lock)) => recorder.acquired(ring, head, context, lock),
            (Hand::Released, Some(lock)) => recorder.released(ring, head, context, lock),
            (Hand::Notified, Some(condition)) => {
                recorder.notified(ring, head, context, condition, |mutex| shadow::hand_off(mutex as usize));
            }
            _ => recorder.timed_in_room(ring, head, context, None),
        }
    }

    /// Writes that the thread releases a mutex and waits on a condition.
    pub fn waits(&mut self, condition: usize, mutex: usize) {
        self.critical.give_back(self.slot);
        let (head, context) = self.wait(Kind::Wait, condition);
        let hand_offs =
            shadow::hand_off_or_create(condition).zip(shadow::hand_off_or_create(mutex)).map(|(c, m)| [c, m]);
        self.recorder.waits(&mut self.ring, head, context, mutex as u64, hand_offs);
    }

    /// Writes that the thread has been woken, and holds the mutex again.
    pub fn woken(&mut self, condition: usize, mutex: usize, word: u64) {
        let (head, context) = self.wait(Kind::Woken, condition);
        self.recorder.woken(&mut self.ring, head, context, word, shadow::hand_off(mutex));
    }

    fn wait(&mut self, kind: Kind, condition: usize) -> (u64, u32) {
        let context = self.context();
        self.ring.reserve(3);
        (head(kind, Class::Condition as u8, condition as u64 & ADDRESSES), context)
    }

    /// Writes a text for the next record, with the address that it names.
    pub fn text(&mut self, purpose: TextFor, bytes: &[u8], word: Option<u64>) {
        const WORDS: usize = 1 + MAX_TEXT / 8 + 1;
        let bytes = &bytes[..bytes.len().min(MAX_TEXT)];
        let mut record = [0; WORDS];
        record[0] = head(Kind::Text, purpose as u8, bytes.len() as u64);
        for (i, &byte) in bytes.iter().enumerate() {
            record[1 + i / 8] |= u64::from(byte) << (i % 8 * 8);
        }
        let mut words = 1 + bytes.len().div_ceil(8);
        if let Some(word) = word {
            record[words] = word;
            words += 1;
        }
        self.ring.reserve(words);
        self.ring.write(&record[..words]);
    }

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

    /// Records that a try of a mutex has failed, because of this section if that is known ([`HandOff::section`]).
    pub fn try_failed(&mut self, mutex: usize, section: Option<u64>) {
        let look = section.map(|value| {
            let address = mutex as u64 & ADDRESSES;
            Look { kind: Kind::TryFail, aux: Class::Mutex as u8, address, value }
        });
        if look.is_some_and(|look| self.recorder.is_repeated(None, look)) {
            return;
        }
        let before = self.recorder.now();
        self.sync(Kind::TryFail, Class::Mutex, mutex);
        if let Some(look) = look {
            self.recorder.failed(before, look);
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

    /// A slot for a thread that is about to be created. Records the `Fork`.
    pub fn new_slot(&mut self) -> Option<u32> {
        self.critical.give_back(self.slot);
        let slot = slots::allocate(|slot| filter().may_use_again(slot, &self.recorder))?;
        self.timed(Kind::Fork, 0, 0, Some(u64::from(slot)));
        self.recorder.fork(filter(), slot);
        Some(slot)
    }

    /// The thread could not be created.
    pub fn abandon_slot(&mut self, slot: u32) {
        slots::mark(slot, slot_state::ENDED | slot_state::RELEASED);
    }

    /// Announces a wait for the end of the thread of a slot.
    pub fn joins(&mut self, slot: u32) {
        self.critical.give_back(self.slot);
        self.timed(Kind::Announce, 0, u64::from(slot), None);
    }

    /// Records the `Join` of the thread of a slot.
    pub fn joined(&mut self, slot: u32) {
        self.timed(Kind::Join, 0, 0, Some(u64::from(slot)));
        self.recorder.join(filter(), slot);
        slots::mark(slot, slot_state::RELEASED);
    }

    /// No thread will join this slot: it can be used again when its thread has ended.
    pub fn detached(&mut self, slot: u32) {
        slots::mark(slot, slot_state::RELEASED);
    }

    /// The program returns to an earlier stack pointer (`longjmp`): calls below are left without an exit.
    pub fn unwind(&mut self, sp: usize) {
        // Inside the hook of its entry, the pointer was one word lower.
        self.frames.unwind(tls(), sp.saturating_sub(8));
    }

    /// The call context of the hook that runs.
    #[inline(always)]
    pub fn context(&mut self) -> u32 {
        // SAFETY: this thread's own calls.
        let parent = unsafe { frames::parent(tls()) };
        match self.contexts.known(parent, self.pc) {
            Some(context) => context,
            None => self.contexts.context(&mut self.frames, &mut self.ring, self.pc),
        }
    }

    /// Records the call of a function that a specification names; `here` is inside it.
    pub fn begin_region(&mut self, number: u16, here: usize) {
        if let Some(frame) = self.frames.last(tls()) {
            frame.context |= (usize::from(number) + 1) << REGION_SHIFT;
            self.pc = here;
            self.timed(Kind::Begin, 1, u64::from(number), None);
        }
    }

    /// Records that a function that is an event of a specification is entered or left; `here` is inside it.
    pub fn called(&mut self, number: u16, here: usize) {
        self.pc = here;
        self.timed(Kind::Internal, 1, u64::from(number), Some(0));
    }

    /// Records the end of a call that began a region.
    pub fn end_region(&mut self) {
        if let Some(frame) = self.frames.last(tls()) {
            let region = frame.context >> REGION_SHIFT;
            if region != 0 {
                self.pc = 0;
                self.timed(Kind::End, 1, region as u64 - 1, None);
            }
        }
    }
}
