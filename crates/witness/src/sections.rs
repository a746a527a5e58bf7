//! Which lock events open and close sections: of nested pairs of one thread only the outermost counts.

use event::{Batch, Event, Op};
use std::collections::HashMap;

/// Stands for an event that there is not.
pub(crate) const NONE: u32 = u32::MAX;

/// What an event does to the sections of its lock, as bits. 0: nothing.
pub(crate) mod effect {
    pub(crate) const OPENS: u8 = 1;
    pub(crate) const CLOSES: u8 = 2;
    pub(crate) const OPENS_SHARED: u8 = 4;
    pub(crate) const CLOSES_SHARED: u8 = 8;
    /// What it closes was open from the beginning.
    pub(crate) const FROM_BEGINNING: u8 = 16;
    /// Before it, the thread itself has a section open that one of its events opened.
    pub(crate) const OWN: u8 = 32;
    pub(crate) const OWN_SHARED: u8 = 64;
}

/// The effect of one event.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Step {
    pub(crate) effect: u8,
    /// The event that opened the exclusive section it closes, or [`NONE`].
    pub(crate) opened: u32,
    /// The event that opened the shared section it closes, or [`NONE`].
    pub(crate) opened_shared: u32,
}

/// How deep one thread is in one lock, and which events brought it there.
#[derive(Clone, Copy, Default)]
struct Depth {
    exclusive: u32,
    shared: u32,
    opened: u32,
    opened_shared: u32,
}

/// A wait that goes on, and what it gave up.
struct Waiting {
    cond: u32,
    lock: u32,
    exclusive: u32,
    shared: u32,
}

/// Follows the recorded run. Threads keep their own order in every feasible prefix, so what it says of an event holds
/// in all of them.
#[derive(Default)]
pub(crate) struct Sections {
    depths: HashMap<(u32, u32), Depth>,
    waiting: HashMap<u32, Waiting>,
}

/// The lock that an event acts on, if it is of those that can open or close a section, or of `tfail`.
#[inline]
pub(crate) fn lock_of(trace: &Batch, event: Event) -> Option<u32> {
    match event.op() {
        Op::Acquire | Op::Release | Op::ReadAcquire | Op::ReadRelease | Op::TryAcquire | Op::TryFail => {
            Some(event.object())
        }
        Op::Wait | Op::Woken => Some(trace.extra(event).lock.0),
        _ => None,
    }
}

impl Sections {
    /// The effect of the next event of the recorded run.
    #[inline]
    pub(crate) fn step(&mut self, trace: &Batch, at: u32, event: Event) -> Step {
        match lock_of(trace, event) {
            Some(lock) if event.op() != Op::TryFail => self.act(at, event, lock),
            _ => Step::default(),
        }
    }

    fn act(&mut self, at: u32, event: Event, lock: u32) -> Step {
        let thread = event.thread().0;
        let depth = self.depths.entry((thread, lock)).or_default();
        let mut step = Step { effect: 0, opened: NONE, opened_shared: NONE };
        if depth.exclusive > 0 {
            step.effect |= effect::OWN;
        }
        if depth.shared > 0 {
            step.effect |= effect::OWN_SHARED;
        }
        match event.op() {
            Op::Acquire | Op::TryAcquire => depth.enter(&mut step, at, 1),
            Op::ReadAcquire => depth.enter_shared(&mut step, at, 1),
            Op::Release => depth.leave(&mut step, 1),
            Op::ReadRelease => depth.leave_shared(&mut step, 1),
            Op::Wait => {
                let (exclusive, shared) = (depth.exclusive, depth.shared);
                if exclusive > 0 {
                    depth.leave(&mut step, exclusive);
                }
                if shared > 0 {
                    depth.leave_shared(&mut step, shared);
                }
                self.waiting.insert(thread, Waiting { cond: event.object(), lock, exclusive, shared });
            }
            _ => {
                let wait = self.waiting.remove(&thread).filter(|w| w.cond == event.object() && w.lock == lock);
                // A thread that says it woke has the lock, even if its wait is not recorded.
                let (exclusive, shared) = match wait {
                    Some(Waiting { exclusive, shared, .. }) if exclusive + shared > 0 => (exclusive, shared),
                    _ => (1, 0),
                };
                if exclusive > 0 {
                    depth.enter(&mut step, at, exclusive);
                }
                if shared > 0 {
                    depth.enter_shared(&mut step, at, shared);
                }
            }
        }
        step
    }
}

impl Depth {
    fn enter(&mut self, step: &mut Step, at: u32, levels: u32) {
        if self.exclusive == 0 {
            step.effect |= effect::OPENS;
            self.opened = at;
        }
        self.exclusive += levels;
    }

    fn enter_shared(&mut self, step: &mut Step, at: u32, levels: u32) {
        if self.shared == 0 {
            step.effect |= effect::OPENS_SHARED;
            self.opened_shared = at;
        }
        self.shared += levels;
    }

    fn leave(&mut self, step: &mut Step, levels: u32) {
        if self.exclusive == 0 {
            step.effect |= effect::CLOSES | effect::FROM_BEGINNING;
            return;
        }
        self.exclusive -= levels;
        if self.exclusive == 0 {
            step.effect |= effect::CLOSES;
            step.opened = self.opened;
        }
    }

    fn leave_shared(&mut self, step: &mut Step, levels: u32) {
        if self.shared == 0 {
            step.effect |= effect::CLOSES_SHARED | effect::FROM_BEGINNING;
            return;
        }
        self.shared -= levels;
        if self.shared == 0 {
            step.effect |= effect::CLOSES_SHARED;
            step.opened_shared = self.opened_shared;
        }
    }
}
