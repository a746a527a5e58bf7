//! Locks and semaphores: what threads learn from each other by them.

use super::clocks::{Clocks, Gathered, Given, Thread, Time};
use event::ThreadId;
use std::collections::VecDeque;

/// What the releases of a lock give to later acquires.
#[derive(Default, Debug)]
pub(super) struct Lock {
    /// The last exclusive release.
    released: Given,
    /// Shared releases that it does not come after.
    read_released: Gathered,
}

impl Lock {
    pub(super) fn acquire(&self, clocks: &mut Clocks, thread: ThreadId) {
        clocks.learn(thread, self.released);
        clocks.learn_all(thread, &self.read_released);
    }

    pub(super) fn read_acquire(&self, clocks: &mut Clocks, thread: ThreadId) {
        clocks.learn(thread, self.released);
    }

    pub(super) fn release(&mut self, clocks: &mut Clocks, me: Thread, now: Time) {
        clocks.give(&mut self.released, me, now);
        if !self.read_released.is_empty() && clocks.knows_all(me, &self.read_released) {
            self.read_released.clear();
        }
    }

    pub(super) fn read_release(&mut self, clocks: &mut Clocks, me: Thread, now: Time) {
        clocks.gather(&mut self.read_released, me.given(now));
    }
}

/// Ups of a semaphore that are kept apart; later ones are one.
const MOST_UPS: usize = 1 << 16;

/// A counting semaphore: the ups whose downs are still to come, in order.
#[derive(Default, Debug)]
pub(super) struct Semaphore {
    pub(super) used: bool,
    /// Downs that the initial count allows.
    pub(super) initial: u64,
    ups: VecDeque<Given>,
    /// How many came after these, for which there was no room, and what all of them gave: rather too much order than a
    /// queue as long as the trace.
    more: u64,
    all: Gathered,
}

impl Semaphore {
    /// Forgets all clocks, whose rows are gone, but not the count.
    pub(super) fn forget_clocks(&mut self) {
        self.ups.iter_mut().for_each(|given| *given = Given::default());
        self.all = Gathered::default();
    }

    /// Whether the up was kept apart from others.
    pub(super) fn up(&mut self, clocks: &mut Clocks, me: Thread, now: Time) -> bool {
        let apart = self.more == 0 && self.ups.len() < MOST_UPS;
        if apart {
            let mut given = Given::default();
            clocks.give(&mut given, me, now);
            self.ups.push_back(given);
        } else {
            self.more += 1;
            clocks.gather(&mut self.all, Given { slot: me.slot, time: now, row: me.row });
        }
        apart
    }

    pub(super) fn down(&mut self, clocks: &mut Clocks, thread: ThreadId) {
        if self.initial > 0 {
            self.initial -= 1;
        } else if let Some(given) = self.ups.pop_front() {
            clocks.learn(thread, given);
            clocks.drop(given.row);
        } else if self.more > 0 {
            self.more -= 1;
            clocks.learn_all(thread, &self.all);
            if self.more == 0 {
                self.all.clear();
            }
        }
    }
}
