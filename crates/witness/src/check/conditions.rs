//! "Which notify woke whom", and its rule in `weak-hb` and `maximal`: wait, notify and wake-up come in this order.

use super::positions::Positions;
use super::refusal::{Reason, Rule};
use event::{Batch, Names, Op, Space, Wake};
use std::collections::BTreeSet;

#[derive(Clone, Default)]
pub(super) struct Condition {
    /// The notifies that are not paired yet.
    notifies: BTreeSet<u32>,
    notify_alls: Vec<u32>,
}

impl Condition {
    /// Notes a notify.
    pub(super) fn notify(&mut self, all: bool, at: u32) {
        if all {
            self.notify_alls.push(at);
        } else {
            self.notifies.insert(at);
        }
    }

    /// Pairs the wake-up of a thread that has been waiting since event `since`.
    pub(super) fn wake(&mut self, since: u32) -> Option<u32> {
        let one = self.notifies.range(since..).next().copied();
        let all = self.notify_alls.get(self.notify_alls.partition_point(|&all| all < since)).copied();
        match (one, all) {
            (Some(one), all) if all.is_none_or(|all| one < all) => {
                self.notifies.remove(&one);
                Some(one)
            }
            (_, all) => all,
        }
    }
}

/// A wait in progress: its condition, its lock, and the event.
type Waiting = (u32, u32, u32);

/// A wake-up with its wait and its notify, as offsets in the trace.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) wait: u32,
    pub(super) notify: u32,
    pub(super) woken: u32,
}

/// All pairs of a trace, in the order of the wake-ups.
pub(super) fn pairs(names: &Names, trace: &Batch) -> Vec<Pair> {
    let mut conditions = vec![Condition::default(); names.space(Space::Cond).len()];
    let mut waiting: Vec<Option<Waiting>> = vec![None; names.space(Space::Thread).len()];
    let mut pairs = Vec::new();
    for (at, &event) in (0u32..).zip(&trace.events) {
        match event.op() {
            Op::Notify | Op::NotifyAll => {
                conditions[event.cond().0 as usize].notify(event.op() == Op::NotifyAll, at);
            }
            Op::Wait => {
                let wait = (event.cond().0, trace.extra(event).lock.0, at);
                waiting[event.thread().0 as usize] = Some(wait);
            }
            Op::Woken => {
                let extra = trace.extra(event);
                let Some((cond, lock, wait)) = waiting[event.thread().0 as usize].take() else { continue };
                if extra.wake != Wake::Notified || (cond, lock) != (event.cond().0, extra.lock.0) {
                    continue;
                }
                if let Some(notify) = conditions[cond as usize].wake(wait) {
                    pairs.push(Pair { wait, notify, woken: at });
                }
            }
            _ => {}
        }
    }
    pairs
}

/// Checks the rule for all pairs.
pub(super) fn check(names: &Names, trace: &Batch, positions: &mut Positions) {
    for Pair { wait, notify, woken } in pairs(names, trace) {
        positions.require(woken, positions.get(notify), Rule::Notify);
        if positions.contains(woken) && !positions.get(notify).is_after(positions.get(wait)) {
            let (notify, wait) = (positions.index(notify), positions.index(wait));
            positions.refuse(woken, Reason::Lost { notify, wait });
        }
    }
}
