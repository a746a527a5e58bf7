//! Signal handlers that run while their thread waits, on a condition or for a lock.
//!
//! The thread itself cannot act then: it has not got the lock, or not got it again. What the handler does becomes
//! events of a thread of its own, which is forked just before the wait or the request, and joined right after the
//! wake-up or the answer: that is all that is certain of its order.
//!
//! Java has no handlers. There a thread that does something else has given up (it was interrupted), or got the lock
//! unseen: its request becomes an event only if it is the last thing that it does.

use super::Build;
use super::blocks::Actor;
use event::{Event, Op, Space, ThreadId};
use runtime::record::Kind;
use trace::binary::DeferredPosition;

/// A thread that waits.
pub(super) struct Waiting {
    /// Who waits, and where.
    by: Actor,
    /// The class and number of the lock that it waits for; `None`: it waits on a condition.
    pub(super) lock: Option<(u8, u64)>,
    handler: Option<ThreadId>,
    /// The events that the thread had made when its handler began.
    made: u64,
}

impl Build {
    /// A thread waits from here on: what its slot writes next is a handler's.
    pub(super) fn wait(&mut self, by: Actor) {
        let state = self.slot(by.slot);
        state.waiting = Some(Waiting { by, lock: None, handler: None, made: 0 });
        state.thread = None;
    }

    /// A thread waits for a lock from here on.
    pub(super) fn ask(&mut self, by: Actor, class: u8, number: u64) {
        let state = self.slot(by.slot);
        // A handler that waits stays a handler.
        if state.waiting.is_none() {
            state.waiting = Some(Waiting { by, lock: Some((class, number)), handler: None, made: 0 });
            state.thread = None;
        }
    }

    /// Whether a record of this kind ends the wait of a slot's thread.
    pub(super) fn ends_wait(&self, slot: u32, kind: Kind, class: u8, number: u64) -> bool {
        let waits_for =
            self.slots.get(slot as usize).and_then(|state| state.waiting.as_ref()).map(|waiting| waiting.lock);
        match kind {
            Kind::Woken => waits_for == Some(None),
            Kind::Acquire | Kind::ReadAcquire | Kind::TryAcquire | Kind::TryFail => {
                waits_for == Some(Some((class, number)))
            }
            _ => false,
        }
    }

    /// The thread of a slot that waits.
    pub(super) fn waiter(&self, slot: u32) -> Option<ThreadId> {
        self.slots.get(slot as usize)?.waiting.as_ref().map(|waiting| waiting.by.thread)
    }

    /// A handler begins in a slot whose thread waits.
    pub(super) fn begin_handler(&mut self, slot: u32) -> Option<ThreadId> {
        let &Waiting { by, lock, .. } = self.slot(slot).waiting.as_ref()?;
        if self.is_java && lock.is_some() {
            self.go_on(slot);
            return Some(by.thread);
        }
        let state = self.slot(slot);
        state.handlers += 1;
        let number = state.handlers;
        let name = format!("{}-handler{number}", self.names.thread(by.thread));
        let handler = ThreadId(self.names.add(Space::Thread, &name).ok()?);
        let state = self.slot(slot);
        let made = state.event_index.find(u64::MAX)?.after;
        state.event_index.begin(handler);
        state.thread = Some(handler);
        state.waiting = Some(Waiting { by, lock, handler: Some(handler), made });
        let (site, stack) = self.context(slot, by.context);
        // Before the wait or the request, which was the last event, and after all deferred accesses of the thread
        // there.
        let at = DeferredPosition { after: made.saturating_sub(1), sequence: u32::MAX };
        let fork = Event::new(by.thread, Op::Fork, handler.0, site);
        self.out.push_deferred(fork, stack, at, &self.names, &self.meta);
        self.announce_thread(handler, "", site, stack);
        Some(handler)
    }

    /// At the end, records the requests of threads that wait for a lock for ever.
    pub(super) fn record_open_requests(&mut self) {
        if !self.is_java {
            return;
        }
        for slot in 0..self.slots.len() {
            if let Some(Waiting { by, lock: Some((class, number)), .. }) = self.slots[slot].waiting.take()
                && let Some(lock) = self.object(Space::Lock, class, number)
            {
                self.plain(by, Op::Request, lock);
            }
        }
    }

    /// The thread of a slot goes on after its wait. Returns the handler that ran meanwhile.
    pub(super) fn go_on(&mut self, slot: u32) -> Option<ThreadId> {
        let state = self.slot(slot);
        let waiting = state.waiting.take()?;
        state.thread = Some(waiting.by.thread);
        if waiting.handler.is_some() {
            state.event_index.go_on(waiting.by.thread, waiting.made);
        }
        waiting.handler
    }
}
