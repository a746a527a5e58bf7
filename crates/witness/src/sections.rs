//! Which lock events open and close sections, by docs/causality.md ("Sections"). The crate `sync` is not used on
//! purpose.

use event::{Batch, Event, Op};
use std::collections::HashMap;

/// Stands for no event.
pub(crate) const NONE: u32 = u32::MAX;

/// What an event does to the sections of its lock, as bits.
pub(crate) mod effect {
    pub(crate) const OPENS: u8 = 1;
    pub(crate) const CLOSES: u8 = 2;
    pub(crate) const OPENS_SHARED: u8 = 4;
    pub(crate) const CLOSES_SHARED: u8 = 8;
    /// It closes a section that was open from the beginning.
    pub(crate) const FROM_BEGINNING: u8 = 16;
    /// Before the event, its own thread has an exclusive section open that one of its events opened.
    pub(crate) const OWN: u8 = 32;
    /// As [`OWN`], of a shared section.
    pub(crate) const OWN_SHARED: u8 = 64;
}

/// What one event does.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Step {
    pub(crate) effect: u8,
    /// The event that opened the exclusive section that it closes, or [`NONE`].
    pub(crate) opened: u32,
    /// The event that opened the shared section that it closes, or [`NONE`].
    pub(crate) opened_shared: u32,
}

/// How often a thread holds a lock, and the events that opened its sections.
#[derive(Clone, Copy, Default)]
struct Depth {
    exclusive: u32,
    shared: u32,
    opened: u32,
    opened_shared: u32,
}

/// A wait in progress, and the holds that it gave up.
struct Waiting {
    cond: u32,
    lock: u32,
    exclusive: u32,
    shared: u32,
}

/// Follows the recorded run. Threads keep their program order in every feasible prefix, so the effect of an event is
/// the same in all of them.
#[derive(Default)]
pub(crate) struct Sections {
    depths: HashMap<(u32, u32), Depth>,
    waiting: HashMap<u32, Waiting>,
}

/// The lock of an event that can open or close a section, or of a `tfail`.
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
            Some(lock) if event.op() != Op::TryFail => self.apply(at, event, lock),
            _ => Step::default(),
        }
    }

    fn apply(&mut self, at: u32, event: Event, lock: u32) -> Step {
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
                // A thread that has woken holds the lock, even if its wait is not recorded.
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
