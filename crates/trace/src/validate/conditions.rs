//! Which wake-ups a notify can account for: each notify serves one thread that waited then, a notify-all
//! every one of them.

use event::{CondId, Id};
use std::collections::BTreeSet;

#[derive(Clone, Default, Debug)]
struct Condition {
    /// How many threads wait.
    waiting: u64,
    /// When each notify came that no wake-up has used. At most one for each waiting thread, the newest: a waiter that
    /// an older one can have woken, a newer one can have woken, too.
    notifies: BTreeSet<u64>,
    /// When the last notify-all came.
    all: u64,
    /// Counts the events of this condition.
    clock: u64,
}

impl Condition {
    fn trim(&mut self) {
        while self.notifies.len() as u64 > self.waiting {
            self.notifies.pop_first();
        }
    }
}

/// Who waits on conditions, and what may wake them.
#[derive(Default, Debug)]
pub struct Conditions {
    conditions: Vec<Condition>,
}

impl Conditions {
    /// The condition, its clock moved on.
    fn tick(&mut self, cond: CondId) -> &mut Condition {
        if cond.index() >= self.conditions.len() {
            self.conditions.resize_with(cond.index() + 1, Condition::default);
        }
        let condition = &mut self.conditions[cond.index()];
        condition.clock += 1;
        condition
    }

    /// A thread begins to wait; the time it does.
    pub fn wait(&mut self, cond: CondId) -> u64 {
        let condition = self.tick(cond);
        condition.waiting += 1;
        condition.clock
    }

    /// One that waits may wake.
    pub fn notify(&mut self, cond: CondId) {
        let condition = self.tick(cond);
        if condition.waiting > 0 {
            condition.notifies.insert(condition.clock);
            condition.trim();
        }
    }

    /// All that wait may.
    pub fn notify_all(&mut self, cond: CondId) {
        let condition = self.tick(cond);
        condition.all = condition.clock;
    }

    /// A waiting thread wakes, or will never wake, without a notify.
    pub fn leave(&mut self, cond: CondId) {
        let condition = self.tick(cond);
        condition.waiting = condition.waiting.saturating_sub(1);
        condition.trim();
    }

    /// A thread that has waited since then wakes; whether a notify since then can have woken it.
    pub fn wake(&mut self, cond: CondId, since: u64) -> bool {
        let condition = self.tick(cond);
        condition.waiting = condition.waiting.saturating_sub(1);
        let notified = if condition.all > since {
            true
        } else if let Some(&notify) = condition.notifies.range(since + 1..).next() {
            condition.notifies.remove(&notify);
            true
        } else {
            false
        };
        condition.trim();
        notified
    }
}
