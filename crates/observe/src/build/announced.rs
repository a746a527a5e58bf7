//! Waits that threads announce: for the end of a thread, a semaphore, a latch-like object.
//!
//! An announcement becomes an event if the next thing that its thread does answers it, right before the answer: the
//! detector `deadlock` asks who could have waited there for ever. It also becomes one if it is the last thing that its
//! thread does: then the thread waited when the run ended. What was given up is dropped.
//!
//! The agent for Java announces nothing of these before the program ends. Then it looks at all threads, and writes what
//! each was seen waiting for, with the sync index of the thread at that moment. It counts if the thread has written no
//! record since.

use super::Build;
use super::barriers::is_barrier;
use super::blocks::Actor;
use crate::decode::{aux, context, payload};
use event::{Extra, Op, Space, ThreadId};
use runtime::layout::SLOTS;
use runtime::record::{Class, SEEN_SLOT_BITS as SLOT_BITS};

/// The internal event by which a trace says that its thread has ended, where that matters: some thread waits.
const ENDED: &str = "foretrace.ended";

/// The slot in a word of a `SeenWaiting`, and the sync index beside it.
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
const INDEX_MASK: u64 = u64::MAX >> SLOT_BITS;

/// A thread that another one has seen waiting.
pub(super) struct Seen {
    /// The class of the object, or 0 for a thread.
    class: u8,
    /// The object; or the slot of a thread, and its number there << 16.
    number: u64,
    context: u32,
    /// The lower bits of the sync index of the waiting thread then.
    records: u64,
}

/// A wait that a thread has announced.
pub(super) struct Announced {
    by: Actor,
    /// The class of the object, or 0 for a thread.
    class: u8,
    /// The object, or the slot of the thread.
    number: u64,
    /// The timed records of the slot up to it.
    records: u64,
}

impl super::Slot {
    /// Whether the next record may answer what its thread has announced: then it is two events.
    pub(super) fn is_answered_next(&self) -> bool {
        self.announced.as_ref().is_some_and(|announced| announced.records == self.event_index.records())
    }
}

impl Build {
    /// A thread is about to wait.
    pub(super) fn announced(&mut self, slot: u32, record: &[u64]) {
        let by = self.actor(slot, record[1]);
        self.count_events(slot, 0);
        let state = self.slot(slot);
        let records = state.event_index.records();
        state.announced = Some(Announced { by, class: aux(record[0]), number: payload(record[0]), records });
    }

    /// A thread has waited for an object of a class, or (0) for the thread of a slot: an event, if that was announced
    /// right before. Returns how many events.
    pub(super) fn answered(&mut self, slot: u32, class: u8, number: u64, (op, object): (Op, u32)) -> u64 {
        let Some(state) = self.slots.get_mut(slot as usize) else { return 0 };
        let records = state.event_index.records();
        let is_it = |it: &mut Announced| (it.class, it.number, it.records) == (class, number, records);
        match state.announced.take_if(is_it) {
            Some(Announced { by, .. }) => {
                self.plain(by, op, object);
                1
            }
            None => 0,
        }
    }

    /// A thread was seen waiting, by another one.
    pub(super) fn seen_waiting(&mut self, slot: u32, record: &[u64]) {
        self.count_events(slot, 0);
        let waiter = record[2] & SLOT_MASK;
        if waiter >= SLOTS as u64 || waiter == u64::from(slot) {
            self.senseless += 1;
            return;
        }
        let (class, number) = (aux(record[0]), payload(record[0]));
        let seen = Seen { class, number, context: context(record[1]), records: record[2] >> SLOT_BITS };
        self.slot(waiter as u32).seen = Some(seen);
    }

    /// At the end, records the waits of threads that were seen waiting, and have done nothing since.
    pub(super) fn record_seen_waits(&mut self) {
        for slot in 0..self.slots.len() {
            let state = &mut self.slots[slot];
            let Some(Seen { class, number, context, records }) = state.seen.take() else { continue };
            // A thread that waits on a condition has said so itself.
            let Some(thread) = state.thread.filter(|_| state.waiting.is_none()) else { continue };
            if state.event_index.records() & INDEX_MASK != records {
                continue;
            }
            let waits_for = match class {
                0 => self.thread_of(number & SLOT_MASK, (number >> SLOT_BITS) as u32).map(|of| (Op::JoinRequest, of.0)),
                class if class == Class::Mutex as u8 => {
                    self.object(Space::Lock, class, number).map(|lock| (Op::Request, lock))
                }
                class => self.object_waited_for(slot as u32, class, number),
            };
            if let Some((op, object)) = waits_for.filter(|&waits_for| waits_for != (Op::JoinRequest, thread.0)) {
                self.plain(Actor { thread, slot: slot as u32, context }, op, object);
            }
        }
    }

    /// At the end, if some thread waits: says which threads have ended, unless another thread has joined them. A lock
    /// that such a thread holds is never given back. (A robust mutex is: its thread has released it at its end.) In C,
    /// idle threads that wait for work on a condition are common, and only a wait for a lock makes the difference.
    pub(super) fn record_ends(&mut self) {
        let is_java = self.is_java;
        let waits = |state: &super::Slot| {
            let waits = |waiting: &super::handlers::Waiting| is_java || waiting.lock.is_some();
            state.waiting.as_ref().is_some_and(waits) || state.seen.is_some()
        };
        if !self.slots.iter().any(waits) {
            return;
        }
        let mut ended: Vec<(ThreadId, u32)> = self.ended.drain().collect();
        ended.sort_unstable();
        let Ok(label) = self.names.add(Space::Label, ENDED) else { return };
        for (thread, slot) in ended {
            self.emit(Actor { thread, slot, context: 0 }, Op::Internal, label, Extra::default());
        }
    }

    /// What is asked of an object that is no lock.
    fn object_waited_for(&mut self, slot: u32, class: u8, number: u64) -> Option<(Op, u32)> {
        if let Some(phase) = self.barriers.waited_for(slot, number).filter(|_| is_barrier(class)) {
            return Some((Op::AwaitRequest, phase));
        }
        let (op, space) = match class {
            class if class == Class::Semaphore as u8 => (Op::DownRequest, Space::Sem),
            _ => (Op::AwaitRequest, Space::Latch),
        };
        self.object(space, class, number).map(|object| (op, object))
    }

    /// At the end, records the waits that were not answered.
    pub(super) fn record_open_announcements(&mut self) {
        for slot in 0..self.slots.len() {
            let Some(Announced { by, class, number, records }) = self.slots[slot].announced.take() else { continue };
            if self.slots[slot].event_index.records() != records {
                continue;
            }
            let waits_for = match class {
                0 => usize::try_from(number).ok().and_then(|child| {
                    let child = self.slots.get(child)?.thread.or(self.waiter(child as u32))?;
                    Some((Op::JoinRequest, child.0)).filter(|_| child != by.thread)
                }),
                class => self.object_waited_for(slot as u32, class, number),
            };
            if let Some((op, object)) = waits_for {
                self.plain(by, op, object);
            }
        }
    }
}
