//! `weak-hb` and `maximal`: a wake-up needs its notify, and that after its wait.

use super::places::Places;
use super::refused::{Broken, Rule};
use event::{Batch, Names, Op, Space, Wake};
use std::collections::BTreeSet;

#[derive(Clone, Default)]
struct Condition {
    /// The notifies that woke nobody yet.
    notifies: BTreeSet<u32>,
    notify_alls: Vec<u32>,
}

impl Condition {
    /// The notify that woke the thread that waits since then.
    fn wake(&mut self, since: u32) -> Option<u32> {
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

/// A wait that goes on: the condition, the lock, and the event.
type Waiting = (u32, u32, u32);

/// A wake-up that a notify ended, as offsets in the trace.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) wait: u32,
    pub(super) notify: u32,
    pub(super) woken: u32,
}

/// Which notify woke whom, in the order of the wake-ups.
pub(super) fn pairs(names: &Names, trace: &Batch) -> Vec<Pair> {
    let mut conditions = vec![Condition::default(); names.space(Space::Cond).len()];
    let mut waiting: Vec<Option<Waiting>> = vec![None; names.space(Space::Thread).len()];
    let mut pairs = Vec::new();
    for (at, &event) in (0u32..).zip(&trace.events) {
        match event.op() {
            Op::Notify => {
                conditions[event.cond().0 as usize].notifies.insert(at);
            }
            Op::NotifyAll => conditions[event.cond().0 as usize].notify_alls.push(at),
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

/// Looks through the recorded order.
pub(super) fn check(names: &Names, trace: &Batch, places: &mut Places) {
    for Pair { wait, notify, woken } in pairs(names, trace) {
        places.need(woken, places.of(notify), Rule::Notify);
        if places.has(woken) && !places.of(notify).is_after(places.of(wait)) {
            let (notify, wait) = (places.index(notify), places.index(wait));
            places.refuse(woken, Broken::Lost { notify, wait });
        }
    }
}
