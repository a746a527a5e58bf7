//! What a thread records.

use runtime::filter::{ARRIVAL_WORDS, Access, BLOCK_BYTES, Block, Cell, Outcome, ROW_BYTES, Sink};
use runtime::record::{ADDRESS_BITS, Class, Kind, MAX_TEXT, TextFor, head};

use crate::machine::tls;
use crate::memory::filter;
use crate::slots::{self, life};
use crate::stripes::Stripe;
use crate::thread::Thread;
use crate::{alone, frames, lines, shadow, stacks};

const ADDRESSES: u64 = (1 << ADDRESS_BITS) - 1;
/// In the upper half of `Frame::place`: the region that the call began, + 1.
const REGION_SHIFT: u32 = 32;

/// What is known of the time of a synchronisation, by [`runtime::handover`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    /// Nothing.
    None,
    /// The thread has got a lock that is handed over.
    Taken,
    /// It is about to give it back.
    Given,
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
        self.timed(kind, class as u8, object as u64, None);
    }

    /// Writes a timed record of three words.
    pub fn sync_with(&mut self, kind: Kind, class: Class, object: usize, word: u64) {
        self.timed(kind, class as u8, object as u64, Some(word));
    }

    /// Writes any timed record that is not an access.
    pub fn timed(&mut self, kind: Kind, aux: u8, payload: u64, word: Option<u64>) {
        debug_assert_eq!(kind.words(), if word.is_some() { 3 } else { 2 });
        let place = self.place();
        self.recorder.timed(&mut self.ring, head(kind, aux, payload & ADDRESSES), place, word);
    }

    /// Writes a timed record of two words if nothing else is to be done: the place is known, and there is room. False: nothing was done.
    #[inline(always)]
    pub fn sync_at_once(&mut self, parent: u32, pc: usize, sync: Sync) -> bool {
        let Some(place) = self.places.known(parent, pc) else { return false };
        if !self.ring.has_room(2) {
            return false;
        }
        self.sync_in_room(place, sync);
        true
    }

    /// Writes a timed record of two words.
    pub fn sync_by(&mut self, sync: Sync) {
        let place = self.place();
        if sync.hand != Hand::None {
            // Made here, for the way that only looks for it.
            shadow::handover_of(sync.object);
        }
        self.ring.reserve(2);
        self.sync_in_room(place, sync);
    }

    #[inline(always)]
    fn sync_in_room(&mut self, place: u32, Sync { kind, class, object, hand }: Sync) {
        let Thread { recorder, ring, .. } = self;
        let head = head(kind, class as u8, object as u64 & ADDRESSES);
        let handover = if hand == Hand::None { None } else { shadow::handover(object) };
        match (hand, handover) {
            (Hand::Taken, Some(lock)) => recorder.taken(ring, head, place, lock),
            (Hand::Given, Some(lock)) => recorder.given(ring, head, place, lock),
            (Hand::Notified, Some(condition)) => {
                recorder.notified(ring, head, place, condition, |mutex| shadow::handover(mutex as usize));
            }
            _ => recorder.timed_in_room(ring, head, place, None),
        }
    }

    /// Writes that the thread gives a mutex back and waits on a condition.
    pub fn waits(&mut self, condition: usize, mutex: usize) {
        let (head, place) = self.wait(Kind::Wait, condition);
        let handovers = shadow::handover_of(condition).zip(shadow::handover_of(mutex)).map(|(c, m)| [c, m]);
        self.recorder.waits(&mut self.ring, head, place, mutex as u64, handovers);
    }

    /// Writes that it has been woken, and has the mutex again.
    pub fn woken(&mut self, condition: usize, mutex: usize, word: u64) {
        let (head, place) = self.wait(Kind::Woken, condition);
        self.recorder.woken(&mut self.ring, head, place, word, shadow::handover(mutex));
    }

    fn wait(&mut self, kind: Kind, condition: usize) -> (u64, u32) {
        let place = self.place();
        self.ring.reserve(3);
        (head(kind, Class::Condition as u8, condition as u64 & ADDRESSES), place)
    }

    /// Writes a text for what follows, with the address it names.
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

    /// An access of any size.
    pub fn access(&mut self, addr: usize, size: usize, write: bool) {
        let end = addr.saturating_add(size);
        let mut at = addr;
        while at < end {
            let block = at & !(BLOCK_BYTES - 1);
            let whole = end.min(block.saturating_add(BLOCK_BYTES)) & !7;
            if at & 7 == 0 && whole > at + 8 {
                let granules = ((1u32 << ((whole - at) / 8)) - 1) << ((at - block) / 8);
                let blocks = end.min((block | (ROW_BYTES - 1)).saturating_add(1)).saturating_sub(block) / BLOCK_BYTES;
                let done = self.granules(block, granules as u8, blocks, write);
                at = if done > 1 { block + done * BLOCK_BYTES } else { whole };
                continue;
            }
            let granule = at & !7;
            let next = end.min(granule.saturating_add(8));
            let mask = ((1u32 << (next - at)) - 1) << (at & 7);
            self.granule(granule, mask as u8, write);
            at = next;
        }
    }

    /// An access of whole granules of a block. If all of it is accessed, and so many blocks with it that are in its row, as many are done as can be at once: how many.
    fn granules(&mut self, address: usize, granules: u8, blocks: usize, write: bool) -> usize {
        if shadow::cell(address).is_none() {
            return 1;
        }
        // SAFETY: it has been looked at.
        let leaf = unsafe { shadow::leaf_unchecked(address) };
        let line = lines::to_look_at(address, self.recorder.is_second());
        let mut block = Block { address: address as u64, halves: leaf.blocks(address, 1), granules, write };
        block.granules = self.recorder.uncovered(line, &block);
        if block.granules == 0 {
            return 1;
        }
        let place = self.place();
        let Thread { recorder, ring, frames, turn, slot, .. } = self;
        let (mut done, mut left) = (0, 0);
        if block.granules == 0xff && blocks > 1 {
            let all = Block { halves: leaf.blocks(address, blocks), ..block };
            let is_noted = !write && recorder.notes_reads();
            lines::note(address, recorder, |recorder, line| recorder.note_reads(line, &all));
            done = recorder.blocks_alike(filter(), ring, &all, || turn.begin(address, *slot), place);
            turn.end();
            if is_noted && done < blocks {
                // More was noted than was done.
                lines::forget(address);
            }
        }
        if done == 0 {
            done = 1;
            lines::note(address, recorder, |recorder, line| recorder.note_reads(line, &block));
            left = recorder.accesses(filter(), ring, block, || turn.begin(address, *slot), place);
            turn.end();
        }
        if write {
            lines::forget(address);
        }
        let (first, last) = (block.granules.trailing_zeros() as usize, 7 - block.granules.leading_zeros() as usize);
        for end in [first, last + 8 * (done - 1)].map(|number| address + 8 * number) {
            if !frames.on_stack(end) {
                stacks::touched(end);
            }
        }
        while left != 0 {
            self.granule(address + 8 * left.trailing_zeros() as usize, 0xff, write);
            left &= left - 1;
        }
        done
    }

    /// An access within a granule.
    pub fn granule(&mut self, addr: usize, mask: u8, write: bool) {
        if let Some(cell) = shadow::cell(addr)
            && !self.recorder.covered(cell, mask, write)
        {
            self.uncovered(addr, cell, mask, write);
        }
    }

    /// One that is not covered.
    fn uncovered(&mut self, addr: usize, cell: Cell, mask: u8, write: bool) {
        let place = self.place();
        self.uncovered_at::<false>(addr, cell, mask, write, place);
    }

    /// The same at a place that is known. `COMMON`: the granule is of a unit that is everybody's.
    #[inline]
    pub fn uncovered_at<const COMMON: bool>(&mut self, addr: usize, cell: Cell, mask: u8, write: bool, place: u32) {
        let Thread { recorder, ring, frames, turn, slot, .. } = self;
        let access = Access { granule: addr as u64, mask, write };
        if !write && mask == 0xff {
            lines::note_read(addr, recorder);
        }
        let outcome = recorder.access(filter(), ring, cell, || !COMMON && turn.begin(addr, *slot), access, place);
        if !COMMON {
            turn.end();
        }
        if write {
            lines::forget(addr);
        }
        match outcome {
            Outcome::Kept | Outcome::Written => {
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

    /// An atomic access of up to 16 bytes. `act` does it, and gives the record's kind, auxiliary byte and value, and what the
    /// program gets.
    pub fn atomic<R>(&mut self, addr: usize, size: usize, act: impl FnOnce() -> (Kind, u8, u64, R)) -> R {
        let place = self.place();
        let granules = [addr & !7, (addr + size - 1) & !7];
        let (Some(first), Some(last)) = (shadow::cell(granules[0]), shadow::cell(granules[1])) else {
            return act().3;
        };
        for granule in granules {
            if !self.frames.on_stack(granule) {
                stacks::touched(granule);
            }
        }
        let both = [(first, granules[0] as u64), (last, granules[1] as u64)];
        let cells = if granules[0] == granules[1] { &both[..1] } else { &both };
        for granule in granules {
            alone::share(granule);
        }
        // The cell is the lock, but for a watched one.
        self.ring.reserve(2 * ARRIVAL_WORDS);
        let stripe = cells.iter().any(|(cell, _)| cell.is_watched()).then(|| Stripe::lock(addr));
        let act = || {
            for granule in granules {
                lines::forget(granule);
            }
            act()
        };
        let result = self.recorder.atomic(filter(), &mut self.ring, cells, addr as u64 & ADDRESSES, place, act);
        // A reader may have been at its half of the cell still while it was done.
        for granule in granules {
            lines::forget(granule);
        }
        drop(stripe);
        result
    }

    /// Memory given to the program. It is this thread's, unless it is so large that its shadow should stay untouched.
    pub fn alloc(&mut self, addr: usize, size: usize) {
        const SMALL: usize = 1 << 12;
        let place = self.place();
        if size <= SMALL {
            self.end_lives(addr, size);
        }
        self.recorder.allocated(&mut self.ring, addr as u64 & ADDRESSES, size as u64, place);
        if size > SMALL {
            return self.empty(addr, size);
        }
        for granule in (addr & !7..addr + size).step_by(8) {
            if let Some(cell) = shadow::cell(granule) {
                let alone = || self.turn.begin(granule, self.slot);
                self.recorder.alloc(filter(), &mut self.ring, cell, alone, granule as u64);
                self.turn.end();
                lines::forget(granule);
            }
        }
    }

    /// What was kept of memory that nobody was seen to take back is written, before its next life begins.
    fn end_lives(&mut self, addr: usize, size: usize) {
        for granule in (addr & !7..addr + size).step_by(8) {
            if let Some(cell) = shadow::find(granule)
                && cell.is_in_use()
            {
                let alone = || self.turn.begin(granule, self.slot);
                self.recorder.free(filter(), &mut self.ring, cell, alone, granule as u64);
                self.turn.end();
            }
        }
    }

    /// Memory about to be taken back.
    pub fn free(&mut self, addr: usize, size: usize) {
        /// Blocks of this size give their shadow back.
        const LARGE: usize = 1 << 16;
        // What others have kept is written before the record: it goes with it, and somebody else may have the memory before this thread's next one.
        shadow::each_touched(addr, size, |granule, cell| {
            let alone = || self.turn.begin(granule, self.slot);
            self.recorder.free(filter(), &mut self.ring, cell, alone, granule as u64);
            self.turn.end();
            lines::forget(granule);
        });
        shadow::forget_locks(addr, size);
        self.timed(Kind::Free, 0, addr as u64, Some(size as u64));
        if size >= LARGE {
            shadow::discard(addr, size);
        }
    }

    /// The cells of a range are empty: nothing that was there matters any more.
    pub fn empty(&mut self, addr: usize, size: usize) {
        shadow::each_touched(addr, size, |granule, cell| {
            let alone = || self.turn.begin(granule, self.slot);
            self.recorder.forget(filter(), &self.ring, cell, alone);
            self.turn.end();
            lines::forget(granule);
        });
        shadow::forget_locks(addr, size);
    }

    /// Part of the stack is left, and others have touched it: what is there next is something else.
    pub fn renew(&mut self, addr: usize, size: usize) {
        self.free(addr, size);
        self.alloc(addr, size);
    }

    /// A slot for a thread about to be created. Records the `Fork`.
    pub fn new_slot(&mut self) -> Option<u32> {
        let slot = slots::allocate(|slot| filter().may_use_again(slot, &self.recorder))?;
        self.timed(Kind::Fork, 0, 0, Some(u64::from(slot)));
        self.recorder.fork(filter(), slot);
        Some(slot)
    }

    /// The thread could not be created.
    pub fn abandon_slot(&mut self, slot: u32) {
        slots::mark(slot, life::ENDED | life::RELEASED);
    }

    /// Has waited for the thread of a slot. Records the `Join`.
    pub fn joined(&mut self, slot: u32) {
        self.timed(Kind::Join, 0, 0, Some(u64::from(slot)));
        self.recorder.join(filter(), slot);
        slots::mark(slot, life::RELEASED);
    }

    /// Nobody will wait for the thread of the slot: it can be used again when the thread has ended.
    pub fn detached(&mut self, slot: u32) {
        slots::mark(slot, life::RELEASED);
    }

    /// The program goes back to where it had this stack pointer (longjmp): calls below are left without an exit.
    pub fn unwind(&mut self, sp: usize) {
        // Inside the hook of its entry, the pointer was one word lower.
        self.frames.unwind(tls(), sp.saturating_sub(8));
    }

    /// The place of the hook being served.
    #[inline(always)]
    pub fn place(&mut self) -> u32 {
        // SAFETY: this thread's own calls.
        let parent = unsafe { frames::parent(tls()) };
        match self.places.known(parent, self.pc) {
            Some(place) => place,
            None => self.places.place(&mut self.frames, &mut self.ring, self.pc),
        }
    }

    /// A call of a function that a specification speaks of; `here` is inside it.
    pub fn begin_region(&mut self, number: u16, here: usize) {
        if let Some(frame) = self.frames.last(tls()) {
            frame.place |= (usize::from(number) + 1) << REGION_SHIFT;
            self.pc = here;
            self.timed(Kind::Begin, 1, u64::from(number), None);
        }
    }

    /// A function that is an event of a specification is entered or left; `here` is inside it.
    pub fn called(&mut self, number: u16, here: usize) {
        self.pc = here;
        self.timed(Kind::Internal, 1, u64::from(number), Some(0));
    }

    /// The call is left.
    pub fn end_region(&mut self) {
        if let Some(frame) = self.frames.last(tls()) {
            let region = frame.place >> REGION_SHIFT;
            if region != 0 {
                self.pc = 0;
                self.timed(Kind::End, 1, region as u64 - 1, None);
            }
        }
    }
}
