//! Waits that threads announce: for the end of a thread, a semaphore, a latch-like object.
//!
//! An announcement becomes an event only if it is the last thing that its thread does: then the thread waited when the
//! run ended, and the detector `hang` reports it. An announcement that was answered orders nothing and is dropped.

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
