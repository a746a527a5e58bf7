//! What a thread records: synchronisation, threads, calls of watched functions; its accesses and its memory are in
//! modules of their own.

mod accesses;
mod memory;

use runtime::filter::{Look, Sink};
use runtime::record::{ADDRESS_BITS, Class, Kind, MAX_TEXT, TextFor, head};

use crate::machine::{Tls, tls};
use crate::memory::filter;
use crate::slots::{self, slot_state};
use crate::thread::Thread;
use crate::{frames, shadow};

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
    pub unsafe fn sync_at_once(&mut self, tls: *mut Tls, pc: usize, sync: Sync) -> bool {
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
