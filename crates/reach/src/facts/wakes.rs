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

/// The notifies of a condition since somebody waits: those before wake nobody.
#[derive(Default)]
struct Condition {
    waiting: usize,
    unpaired: BTreeSet<u32>,
    all: Vec<u32>,
}

impl Condition {
    fn notify(&mut self, at: u32, all: bool) {
        if self.waiting == 0 {
        } else if all {
            self.all.push(at);
        } else {
            self.unpaired.insert(at);
        }
    }

    /// A thread waits no more.
    fn over(&mut self) {
        self.waiting -= 1;
        if self.waiting == 0 {
            self.unpaired.clear();
            self.all.clear();
        }
    }

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
            Op::Notify | Op::NotifyAll => {
                conditions.entry(event.object()).or_default().notify(at, event.op() == Op::NotifyAll);
            }
            Op::Wait => {
                conditions.entry(event.object()).or_default().waiting += 1;
                let wait = (event.object(), trace.extra(event).lock.0, at);
                if let Some((cond, ..)) = waiting.insert(event.thread().0, wait) {
                    conditions.entry(cond).or_default().over();
                }
            }
            Op::Woken => {
                let extra = trace.extra(event);
                if let Some((cond, lock, wait)) = waiting.remove(&event.thread().0) {
                    let condition = conditions.entry(cond).or_default();
                    if extra.wake == Wake::Notified
                        && (cond, lock) == (event.object(), extra.lock.0)
                        && let Some(notify) = condition.wake(wait)
                    {
                        pairs.push(Wakeup { wait, notify, woken: at });
                    }
                    condition.over();
                }
            }
            _ => {}
        }
    }
    pairs
}
