//! Waits that threads announce: for the end of a thread, a semaphore, a latch-like object.
//!
//! An announcement becomes an event if the next thing that its thread does answers it, right before the answer: the
//! detector `deadlock` asks who could have waited there for ever. It also becomes one if it is the last thing that its
//! thread does: then the thread waited when the run ended. What was given up is dropped.

use super::Build;
use super::blocks::Actor;
use crate::decode::{aux, payload};
use event::{Op, Space};
use runtime::record::Class;

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
                class if class == Class::Semaphore as u8 => {
                    self.object(Space::Sem, class, number).map(|sem| (Op::DownRequest, sem))
                }
                class => self.object(Space::Latch, class, number).map(|latch| (Op::AwaitRequest, latch)),
            };
            if let Some((op, object)) = waits_for {
                self.plain(by, op, object);
            }
        }
    }
}
