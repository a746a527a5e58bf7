//! Which notify woke which waiting thread (docs/causality.md).

use event::{Batch, CondId, Op, ThreadId, Wake};
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};

/// A wake-up with the notify that it is paired with, as indexes of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pair {
    pub(crate) wait: u64,
    pub(crate) notify: u64,
    pub(crate) woken: u64,
}

/// The notifies of a condition that can still wake somebody who waits now.
#[derive(Default)]
struct Condition {
    unpaired: BTreeSet<u64>,
    all: VecDeque<u64>,
    /// When each waiting thread began.
    waiting: FxHashMap<ThreadId, u64>,
}

impl Condition {
    /// Notifies before everyone's wait wake nobody any more.
    fn forget(&mut self) {
        let oldest = self.waiting.values().copied().min().unwrap_or(u64::MAX);
        while self.unpaired.first().is_some_and(|&notify| notify < oldest) {
            self.unpaired.pop_first();
        }
        while self.all.front().is_some_and(|&notify| notify < oldest) {
            self.all.pop_front();
        }
    }
}

/// All pairs of a trace, by the order of the wake-ups.
pub(crate) fn pairs(trace: &Batch) -> Vec<Pair> {
    let mut conditions: FxHashMap<CondId, Condition> = FxHashMap::default();
    let mut pairs = Vec::new();
    for (index, &event) in (trace.first..).zip(&trace.events) {
        if !matches!(event.op(), Op::Wait | Op::Woken | Op::Notify | Op::NotifyAll) {
            continue;
        }
        let condition = conditions.entry(event.cond()).or_default();
        match event.op() {
            Op::Wait => {
                condition.waiting.insert(event.thread(), index);
            }
            Op::Notify if !condition.waiting.is_empty() => {
                condition.unpaired.insert(index);
            }
            Op::NotifyAll if !condition.waiting.is_empty() => condition.all.push_back(index),
            Op::Woken => {
                let Some(wait) = condition.waiting.remove(&event.thread()) else { continue };
                if trace.extra(event).wake == Wake::Notified {
                    let one = condition.unpaired.range(wait..).next().copied();
                    let all = condition.all.get(condition.all.partition_point(|&notify| notify < wait)).copied();
                    let notify = one.into_iter().chain(all).min();
                    if let Some(notify) = notify {
                        condition.unpaired.remove(&notify);
                        pairs.push(Pair { wait, notify, woken: index });
                    }
                }
                condition.forget();
            }
            _ => {}
        }
    }
    pairs
}
