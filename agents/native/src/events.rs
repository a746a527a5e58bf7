//! What a thread records.

use runtime::record::{ADDRESS_BITS, Class, Kind, MAX_TEXT, PLACE_BITS, TextFor, head, ticketed};

use crate::machine::tls;
use crate::slots::{self, life};
use crate::stripes::Stripe;
use crate::thread::Thread;
use crate::{shadow, stacks};

const ADDRESSES: u64 = (1 << ADDRESS_BITS) - 1;
/// In the upper half of `Frame::place`: the region that the call began, + 1.
const REGION_SHIFT: u32 = 32;

impl Thread {
    /// Its slot.
    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// Writes a ticketed record of two words.
    pub fn sync(&mut self, kind: Kind, class: Class, object: usize) {
        self.ticketed(kind, class as u8, object as u64, None);
    }

    /// Writes a ticketed record of three words.
    pub fn sync_with(&mut self, kind: Kind, class: Class, object: usize, word: u64) {
        self.ticketed(kind, class as u8, object as u64, Some(word));
    }

    /// Writes any ticketed record that is not an access.
    pub fn ticketed(&mut self, kind: Kind, aux: u8, payload: u64, word: Option<u64>) {
        debug_assert_eq!(kind.words(), if word.is_some() { 3 } else { 2 });
        let place = self.place();
        self.ring.reserve(3);
        let second = ticketed(self.ring.ticket(), place);
        let head = head(kind, aux, payload & ADDRESSES);
        match word {
            Some(word) => self.ring.put(&[head, second, word]),
            None => self.ring.put(&[head, second]),
        };
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
        self.ring.put(&record[..words]);
    }

    /// An access of any size.
    pub fn access(&mut self, addr: usize, size: usize, write: bool) {
        let end = addr.saturating_add(size);
        let mut at = addr;
        while at < end {
            let granule = at & !7;
            let next = end.min(granule + 8);
            let mask = ((1u32 << (next - at)) - 1) << (at & 7);
            let Some(cell) = shadow::cell(granule) else { return };
            if cell.is_watched() {
                self.watched(at, next - at, write);
            } else {
                if !self.frames.on_stack(granule) {
                    stacks::touched(granule);
                }
                self.granule(granule, mask as u8, write);
            }
            at = next;
        }
    }

    fn granule(&mut self, granule: usize, mask: u8, write: bool) {
        let place = self.place();
        self.ring.reserve(2);
        let kind = if write { Kind::ArriveWrite } else { Kind::ArriveRead };
        let second = ticketed(self.ring.ticket(), place);
        self.ring.put(&[head(kind, mask, granule as u64), second]);
    }

    /// An atomic access of up to 16 bytes. `act` does it, and gives the record's kind, auxiliary byte and value, and what the
    /// program gets.
    pub fn atomic<R>(&mut self, addr: usize, size: usize, act: impl FnOnce() -> (Kind, u8, u64, R)) -> R {
        let place = self.place();
        let _ = size;
        self.ring.reserve(3);
        let stripe = Stripe::lock(addr);
        let (kind, aux, value, result) = act();
        let second = ticketed(self.ring.ticket(), place);
        drop(stripe);
        self.ring.put(&[head(kind, aux, addr as u64 & ADDRESSES), second, value]);
        result
    }

    /// Memory given to the program.
    pub fn alloc(&mut self, addr: usize, size: usize) {
        self.empty(addr, size);
        let place = self.place();
        self.ring.reserve(4);
        let stamp = self.ring.stamp();
        self.ring.stamped(stamp);
        self.ring.put(&[head(Kind::Alloc, 0, addr as u64 & ADDRESSES), u64::from(place), size as u64]);
    }

    /// Memory about to be taken back.
    pub fn free(&mut self, addr: usize, size: usize) {
        self.ticketed(Kind::Free, 0, addr as u64, Some(size as u64));
    }

    /// The cells of a range are empty: nothing that was there matters any more.
    pub fn empty(&mut self, addr: usize, size: usize) {
        let _ = (addr, size);
    }

    /// Part of the stack is left, and others have touched it: what is there next is something else.
    pub fn renew(&mut self, addr: usize, size: usize) {
        self.free(addr, size);
        self.alloc(addr, size);
    }

    /// A slot for a thread about to be created. Records the `Fork`.
    pub fn new_slot(&mut self) -> Option<u32> {
        let slot = slots::allocate()?;
        self.ticketed(Kind::Fork, 0, 0, Some(u64::from(slot)));
        Some(slot)
    }

    /// The thread could not be created.
    pub fn abandon_slot(&mut self, slot: u32) {
        slots::mark(slot, life::ENDED | life::RELEASED);
    }

    /// Has waited for the thread of a slot. Records the `Join`.
    pub fn joined(&mut self, slot: u32) {
        self.ticketed(Kind::Join, 0, 0, Some(u64::from(slot)));
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
    #[inline]
    pub fn place(&mut self) -> u32 {
        let parent = match self.frames.calls(tls()).last() {
            Some(frame) if frame.place as u32 != 0 => frame.place as u32,
            Some(_) => self.place_of_calls(),
            None => 0,
        };
        if self.pc == 0 { parent } else { self.intern(parent, self.pc) }
    }

    /// Numbers the calls under way that have no place yet.
    #[cold]
    fn place_of_calls(&mut self) -> u32 {
        let calls = self.frames.calls(tls());
        let count = calls.len();
        let known = calls.iter().rposition(|frame| frame.place as u32 != 0).map_or(0, |at| at + 1);
        let mut place = if known == 0 { 0 } else { calls[known - 1].place as u32 };
        for at in known..count {
            let pc = self.frames.calls(tls())[at].pc;
            place = self.intern(place, pc);
            self.frames.calls(tls())[at].place |= place as usize;
        }
        place
    }

    #[inline]
    fn intern(&mut self, parent: u32, pc: usize) -> u32 {
        let (place, new) = self.places.intern(parent, pc as u64);
        if new {
            self.ring.reserve(2);
            self.ring.put(&[head(Kind::Place, 0, u64::from(place) | u64::from(parent) << PLACE_BITS), pc as u64]);
        }
        // Without room for more, the caller's place is the best there is.
        if place == 0 { parent } else { place }
    }

    /// A call of a function that a specification speaks of; `here` is inside it.
    pub fn begin_region(&mut self, number: u16, here: usize) {
        if let Some(frame) = self.frames.calls(tls()).last_mut() {
            frame.place |= (usize::from(number) + 1) << REGION_SHIFT;
            self.pc = here;
            self.ticketed(Kind::Begin, 1, u64::from(number), None);
        }
    }

    /// The call is left.
    pub fn end_region(&mut self) {
        if let Some(frame) = self.frames.calls(tls()).last() {
            let region = frame.place >> REGION_SHIFT;
            if region != 0 {
                self.pc = 0;
                self.ticketed(Kind::End, 1, region as u64 - 1, None);
            }
        }
    }
}
