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

/// Looks through the recorded order.
pub(super) fn check(names: &Names, trace: &Batch, places: &mut Places) {
    let mut conditions = vec![Condition::default(); names.space(Space::Cond).len()];
    let mut waiting: Vec<Option<Waiting>> = vec![None; names.space(Space::Thread).len()];
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
                    places.need(at, places.of(notify), Rule::Notify);
                    if places.has(at) && !places.of(notify).is_after(places.of(wait)) {
                        let (notify, wait) = (places.index(notify), places.index(wait));
                        places.refuse(at, Broken::Lost { notify, wait });
                    }
                }
            }
            _ => {}
        }
    }
}
