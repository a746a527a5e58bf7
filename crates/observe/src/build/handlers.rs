//! Signal handlers that run while their thread waits on a condition.
//!
//! The thread itself cannot act then: it has given its lock back and not got it again. What the handler does is told as done by a thread of its own, which was
//! forked just before the wait and is joined right after the wake-up: that is all that is sure of its order.

use super::Build;
use super::blocks::Doer;
use event::{Event, Op, Space, ThreadId};
use trace::binary::LateRecord;

/// A thread that waits on a condition.
pub(super) struct Waiting {
    /// Who waits, and where.
    by: Doer,
    handler: Option<ThreadId>,
    /// The events that the thread had made when its handler began.
    made: u64,
}

impl Build {
    /// A thread waits from here on: whatever its slot writes next is a handler's.
    pub(super) fn wait(&mut self, by: Doer) {
        let state = self.slot(by.slot);
        state.waiting = Some(Waiting { by, handler: None, made: 0 });
        state.thread = None;
    }

    /// The thread of a slot that waits.
    pub(super) fn waiter(&self, slot: u32) -> Option<ThreadId> {
        self.slots.get(slot as usize)?.waiting.as_ref().map(|waiting| waiting.by.thread)
    }

    /// A handler begins in a slot whose thread waits.
    pub(super) fn begin_handler(&mut self, slot: u32) -> Option<ThreadId> {
        let by = self.slot(slot).waiting.as_ref()?.by;
        let state = self.slot(slot);
        state.handlers += 1;
        let number = state.handlers;
        let name = format!("{}-handler{number}", self.names.thread(by.thread));
        let handler = ThreadId(self.names.add(Space::Thread, &name).ok()?);
        let state = self.slot(slot);
        let (_, made) = state.positions.find(u64::MAX)?;
        state.positions.begin(handler);
        state.thread = Some(handler);
        state.waiting = Some(Waiting { by, handler: Some(handler), made });
        let (site, stack) = self.place(slot, by.place);
        // Before the wait, which was the last event, and after everything that is told late of the thread there.
        let at = LateRecord { after: made.saturating_sub(1), rank: u32::MAX };
        let fork = Event::new(by.thread, Op::Fork, handler.0, site);
        self.out.push_late(fork, stack, at, &self.names, &self.meta);
        self.tell_thread(handler, "", site, stack);
        Some(handler)
    }

    /// The thread of a slot goes on after its wait; the handler that ran meanwhile.
    pub(super) fn go_on(&mut self, slot: u32) -> Option<ThreadId> {
        let state = self.slot(slot);
        let waiting = state.waiting.take()?;
        state.thread = Some(waiting.by.thread);
        if waiting.handler.is_some() {
            state.positions.go_on(waiting.by.thread, waiting.made);
        }
        waiting.handler
    }
}
