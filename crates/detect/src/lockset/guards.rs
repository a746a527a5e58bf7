//! What keeps accesses apart as the trace goes on: the locks that protect them, and the order that every run keeps.

use crate::kept_order::{KeptOrder, ThreadSegment};
use crate::locksets::{LockSets, Protection, SetId};
use event::{Batch, Event, Id, Names, Op, Space, ThreadId};
use sync::Sections;

#[derive(Default, Debug)]
pub(super) struct Guards {
    /// By thread.
    protections: Vec<Protection>,
    locks: Sections,
    pub(super) order: KeptOrder,
    pub(super) sets: LockSets,
}

impl Guards {
    /// Makes room for the threads with these names.
    pub(super) fn grow(&mut self, names: &Names) {
        let threads = names.space(Space::Thread).len();
        self.protections.resize(threads, Protection::default());
        self.order.grow(threads);
    }

    /// The locks that protect an access of a thread now.
    #[inline]
    pub(super) fn protecting(&self, thread: ThreadId, writes: bool) -> SetId {
        let protection = &self.protections[thread.index()];
        if writes { protection.writes.id() } else { protection.reads.id() }
    }

    #[inline]
    pub(super) fn now(&self, thread: ThreadId) -> ThreadSegment {
        self.order.now(thread.0)
    }

    /// Takes an event that is no access.
    #[inline]
    pub(super) fn step(&mut self, batch: &Batch, event: Event) {
        let (thread, object) = (event.thread().index(), event.object() as usize);
        match event.op() {
            Op::Fork => self.order.fork(thread, object),
            Op::Join => self.order.join(thread, object),
            Op::Post => self.order.post(thread, object),
            Op::Await => self.order.awaits(thread, object),
            _ => {
                if let Some(effect) = self.locks.step(batch, event, |_| ()) {
                    self.protections[thread].update(&mut self.sets, &effect);
                }
            }
        }
    }
}
