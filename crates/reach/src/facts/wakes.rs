//! Which notify woke whom.

use event::{Batch, Op, Wake};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A wake-up with its wait and the notify that it is paired with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wakeup {
    pub(crate) wait: u32,
    pub(crate) notify: u32,
    pub(crate) woken: u32,
}

/// The notifies of a condition.
#[derive(Default)]
struct Condition {
    unpaired: BTreeSet<u32>,
    all: Vec<u32>,
}

impl Condition {
    /// Takes the notify that woke the thread that waits since then.
    fn wake(&mut self, since: u32) -> Option<u32> {
        let one = self.unpaired.range(since..).next().copied();
        let all = self.all.get(self.all.partition_point(|&all| all < since)).copied();
        let notify = one.into_iter().chain(all).min()?;
        self.unpaired.remove(&notify);
        Some(notify)
    }
}

/// All pairs, in the order of the wake-ups.
pub(crate) fn wakeups(trace: &Batch) -> Vec<Wakeup> {
    let mut conditions: FxHashMap<u32, Condition> = FxHashMap::default();
    // By thread: condition, lock and event of its wait.
    let mut waiting: FxHashMap<u32, (u32, u32, u32)> = FxHashMap::default();
    let mut pairs = Vec::new();
    for (at, &event) in (0u32..).zip(&trace.events) {
        match event.op() {
            Op::Notify => {
                conditions.entry(event.object()).or_default().unpaired.insert(at);
            }
            Op::NotifyAll => conditions.entry(event.object()).or_default().all.push(at),
            Op::Wait => {
                waiting.insert(event.thread().0, (event.object(), trace.extra(event).lock.0, at));
            }
            Op::Woken => {
                let extra = trace.extra(event);
                if let Some((cond, lock, wait)) = waiting.remove(&event.thread().0)
                    && extra.wake == Wake::Notified
                    && (cond, lock) == (event.object(), extra.lock.0)
                    && let Some(notify) = conditions.entry(cond).or_default().wake(wait)
                {
                    pairs.push(Wakeup { wait, notify, woken: at });
                }
            }
            _ => {}
        }
    }
    pairs
}
