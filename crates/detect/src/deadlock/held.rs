//! What threads hold along the recorded run, and which events ask for a lock.

use crate::lock_order::LockMode::{self, Exclusive, Shared};
use event::{Batch, Event, Id, LockId, Op, SiteId};

/// Locks nested deeper than this are not followed: every request looks through what is held.
const DEEPEST: usize = 128;

/// A lock that a thread holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) lock: LockId,
    pub(super) mode: LockMode,
    /// Where it was taken, and by which event.
    pub(super) site: SiteId,
    pub(super) event: u32,
    depth: u32,
}

/// One thread.
#[derive(Clone, Default, Debug)]
struct Thread {
    held: Vec<Held>,
    /// What waits gave up: how deep, exclusive and shared.
    given_up: Vec<(LockId, [u32; 2])>,
}

/// All threads.
#[derive(Clone, Debug)]
pub(super) struct Locks {
    threads: Vec<Thread>,
    /// Locks that were not followed.
    pub(super) too_deep: u64,
}

impl Locks {
    pub(super) fn new(threads: usize) -> Locks {
        Locks { threads: vec![Thread::default(); threads], too_deep: 0 }
    }

    /// What the thread of an event holds.
    pub(super) fn held(&self, event: Event) -> &[Held] {
        &self.threads[event.thread().index()].held
    }

    /// How the event asks for its lock, if it does; before its step.
    pub(super) fn asks(&self, event: Event) -> Option<LockMode> {
        let has = |mode| self.held(event).iter().any(|held| held.lock == event.lock() && held.mode == mode);
        match event.op() {
            Op::Acquire | Op::Request if !has(Exclusive) => Some(Exclusive),
            Op::ReadAcquire if !has(Shared) => Some(Shared),
            _ => None,
        }
    }

    /// The event happens.
    pub(super) fn step(&mut self, batch: &Batch, at: u32, event: Event) {
        let (op, site) = (event.op(), event.site());
        let Some(thread) = self.threads.get_mut(event.thread().index()) else { return };
        match op {
            Op::Acquire | Op::TryAcquire | Op::ReadAcquire => {
                let mode = if op == Op::ReadAcquire { Shared } else { Exclusive };
                let taken = Held { lock: event.lock(), mode, site, event: at, depth: 1 };
                self.too_deep += u64::from(!thread.take(taken));
            }
            Op::Release => thread.release(event.lock(), Exclusive),
            Op::ReadRelease => thread.release(event.lock(), Shared),
            Op::Wait => thread.give_up(batch.extra(event).lock),
            Op::Woken => {
                let lock = batch.extra(event).lock;
                let given = thread.given_up.iter().position(|given| given.0 == lock);
                let [exclusive, shared] = given.map_or([1, 0], |place| thread.given_up.swap_remove(place).1);
                for (mode, depth) in [(Exclusive, exclusive), (Shared, shared)] {
                    if depth > 0 {
                        self.too_deep += u64::from(!thread.take(Held { lock, mode, site, event: at, depth }));
                    }
                }
            }
            _ => {}
        }
    }
}

impl Thread {
    fn find(&self, lock: LockId, mode: LockMode) -> Option<usize> {
        self.held.iter().rposition(|held| held.lock == lock && held.mode == mode)
    }

    /// Whether there was room.
    fn take(&mut self, taken: Held) -> bool {
        match self.find(taken.lock, taken.mode) {
            Some(again) => self.held[again].depth = self.held[again].depth.saturating_add(taken.depth),
            None if self.held.len() < DEEPEST => self.held.push(taken),
            None => return false,
        }
        true
    }

    fn release(&mut self, lock: LockId, mode: LockMode) {
        if let Some(place) = self.find(lock, mode) {
            self.held[place].depth -= 1;
            if self.held[place].depth == 0 {
                self.held.remove(place);
            }
        }
    }

    /// A wait gives the lock up at every depth.
    fn give_up(&mut self, lock: LockId) {
        let mut depths = [0; 2];
        for (depth, mode) in depths.iter_mut().zip([Exclusive, Shared]) {
            if let Some(place) = self.find(lock, mode) {
                *depth = self.held.remove(place).depth;
            }
        }
        self.given_up.retain(|given| given.0 != lock);
        if depths != [0, 0] {
            self.given_up.push((lock, depths));
        }
    }
}
