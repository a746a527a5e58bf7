//! Which notify woke whom: the earliest behind the wait that is a `notifyall`, or a `notify` that woke nobody yet.

use event::{Batch, Event, Op, Wake};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

#[derive(Default)]
struct Condition {
    unused: BTreeSet<u32>,
    alls: Vec<u32>,
}

/// The conditions of a trace, along the recorded run.
#[derive(Default)]
pub(super) struct Notifies {
    conditions: FxHashMap<u32, Condition>,
    /// By thread: the wait that goes on, as condition, lock and event.
    waiting: FxHashMap<u32, (u32, u32, u32)>,
}

impl Notifies {
    /// The next event; the notify that it needs, if it is a wake-up that has one.
    pub(super) fn step(&mut self, trace: &Batch, at: u32, event: Event) -> Option<u32> {
        let (thread, cond) = (event.thread().0, event.object());
        match event.op() {
            Op::Notify => {
                self.conditions.entry(cond).or_default().unused.insert(at);
                None
            }
            Op::NotifyAll => {
                self.conditions.entry(cond).or_default().alls.push(at);
                None
            }
            Op::Wait => {
                self.waiting.insert(thread, (cond, trace.extra(event).lock.0, at));
                None
            }
            Op::Woken => {
                let extra = trace.extra(event);
                let (waited, lock, since) = self.waiting.remove(&thread)?;
                if extra.wake != Wake::Notified || (waited, lock) != (cond, extra.lock.0) {
                    return None;
                }
                self.conditions.get_mut(&cond)?.wake(since)
            }
            _ => None,
        }
    }
}

impl Condition {
    fn wake(&mut self, since: u32) -> Option<u32> {
        let one = self.unused.range(since..).next().copied();
        let all = self.alls.get(self.alls.partition_point(|&all| all < since)).copied();
        match (one, all) {
            (Some(one), all) if all.is_none_or(|all| one < all) => {
                self.unused.remove(&one);
                Some(one)
            }
            (_, all) => all,
        }
    }
}
