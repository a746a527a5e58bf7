//! Lost wake-ups, as docs/detectors.md defines them.

use crate::definition::Definition;
use crate::prefixes::Memory;
use event::Op;
use std::collections::BTreeSet;

/// A `wait`, the notify that should end it, and the test before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Wait {
    /// The `wait`.
    pub wait: usize,
    /// The notify.
    pub notify: usize,
    /// The read.
    pub test: usize,
}

/// By wait: whether its test came before its notify.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Tested {
    waits: Vec<(Wait, bool)>,
}

impl Memory for Tested {
    fn after(&self, _: &Definition, prefix: &[usize], e: usize) -> Self {
        let step = |&(wait, tested): &(Wait, bool)| {
            (wait, if e == wait.notify { prefix.contains(&wait.test) } else { tested })
        };
        Tested { waits: self.waits.iter().map(step).collect() }
    }
}

impl Definition {
    /// The test of a wait, if it is ended by this notify.
    fn test(&self, wait: usize, notify: usize) -> Option<usize> {
        let events = self.events();
        let reads = |e: usize| matches!(events[e].op, Op::Read | Op::AtomicLoad);
        let writes = |e: usize| matches!(events[e].op, Op::Write | Op::AtomicStore | Op::AtomicRmw);
        let [own, by_notifier] = [wait, notify].map(|of| move |e: usize| events[e].thread == events[of].thread);
        if own(notify) {
            return None;
        }
        // Reads before the end of an earlier wait belong to the test of that wait.
        let since = (0..wait).rfind(|&e| own(e) && events[e].op == Op::Woken).unwrap_or(0);
        let is_last = |read: &usize| {
            let again = |e: &usize| own(*e) && events[*e].object == events[*read].object;
            !(*read + 1..wait).filter(again).any(|e| reads(e) || writes(e))
        };
        let mut candidates: Vec<usize> = (since..wait).filter(|&e| own(e) && reads(e)).filter(is_last).collect();
        // If a variable that notifiers write was read since the last release of the lock, only such reads are the test.
        let (lock, end) = (events[wait].lock, events.len());
        let given = (0..wait).rfind(|&e| own(e) && events[e].op == Op::Release && events[e].lock == lock);
        let is_announced = |read: usize| {
            let is_by = |e: usize, t: usize| events[e].thread == events[t].thread;
            let notifies = (0..end).filter(|&e| self.notifies(e, events[wait].object) && !own(e));
            notifies
                .into_iter()
                .any(|t| (0..end).any(|e| is_by(e, t) && writes(e) && events[e].object == events[read].object))
        };
        if candidates.iter().any(|&read| Some(read) > given && is_announced(read)) {
            candidates.retain(|&read| Some(read) > given);
        }
        let is_of = |e: usize, read: usize| writes(e) && by_notifier(e) && events[e].object == events[read].object;
        // A notify announces what its thread wrote since the notify before the last such write.
        let written = (0..notify).rfind(|&e| candidates.iter().any(|&read| is_of(e, read)))?;
        let from = (0..written).rfind(|&e| self.notifies(e, events[notify].object) && by_notifier(e)).unwrap_or(0);
        let test = candidates.into_iter().rfind(|&read| (from..notify).any(|e| is_of(e, read)))?;
        (test + 1..notify).any(|e| is_of(e, test)).then_some(test)
    }

    /// The next event of the thread of a `wait`.
    fn goes_on(&self, wait: usize) -> Option<usize> {
        (wait + 1..self.events().len()).find(|&e| self.events()[e].thread == self.events()[wait].thread)
    }

    fn notifies(&self, e: usize, condition: u32) -> bool {
        matches!(self.events()[e].op, Op::Notify | Op::NotifyAll) && self.events()[e].object == condition
    }

    /// The waits that have a test, each with the notifies of its condition recorded after it and before its thread goes
    /// on: if the `woken` is paired, the one it is paired with; if the thread never goes on, the first `notifyall`, or
    /// `notify` that is not paired; else none.
    pub fn waits(&self) -> Vec<Wait> {
        let mut waits = Vec::new();
        for (wait, event) in self.events().iter().enumerate().filter(|(_, event)| event.op == Op::Wait) {
            let goes_on = self.goes_on(wait);
            let paired = |n: usize| self.run.woken_by.values().any(|&(_, notify)| notify == n);
            let meanwhile =
                (wait + 1..goes_on.unwrap_or(self.events().len())).filter(|&n| self.notifies(n, event.object));
            let notifies: Vec<usize> = match goes_on.map(|woken| self.run.woken_by.get(&woken)) {
                Some(Some(&(_, notify))) => meanwhile.filter(|&n| n == notify).collect(),
                Some(None) => Vec::new(),
                None => meanwhile.filter(|&n| self.events()[n].op == Op::NotifyAll || !paired(n)).take(1).collect(),
            };
            for notify in notifies {
                waits.extend(self.test(wait, notify).map(|test| Wait { wait, notify, test }));
            }
        }
        waits
    }

    /// The waits for which there is a feasible prefix with the `wait` as its last event in which the test comes before
    /// the notify, and the notify before the `wait`.
    pub fn lost_wakeups(&self) -> BTreeSet<Wait> {
        let waits = self.waits();
        let mut lost = BTreeSet::new();
        if waits.is_empty() {
            return lost;
        }
        let start = Tested { waits: waits.into_iter().map(|wait| (wait, false)).collect() };
        self.each_prefix(start, &mut |prefix, tested| {
            for &(wait, _) in tested.waits.iter().filter(|(_, tested)| *tested) {
                if self.may_come(prefix, wait.wait) {
                    lost.insert(wait);
                }
            }
        });
        lost
    }

    /// Whether this order of events is a witness of a lost wake-up.
    pub fn shows_lost_wakeup(&self, prefix: &[usize], lost: Wait) -> bool {
        let place = |e: usize| prefix.iter().position(|&p| p == e);
        self.waits().contains(&lost)
            && self.is_feasible(prefix)
            && prefix.last() == Some(&lost.wait)
            && place(lost.test).is_some()
            && place(lost.test) < place(lost.notify)
    }

    /// The waits that are lost in the recorded run, each with its test: the thread never goes on, no notify of the
    /// condition comes after the `wait`, and the last one before it comes after the test and after the last read of the
    /// thread. The trace must be complete.
    pub fn observed_lost_wakeups(&self) -> BTreeSet<(usize, usize)> {
        let mut lost = BTreeSet::new();
        for (wait, event) in self.events().iter().enumerate().filter(|(_, event)| event.op == Op::Wait) {
            let notified = |range: std::ops::Range<usize>| range.rev().find(|&n| self.notifies(n, event.object));
            if self.goes_on(wait).is_some() || notified(wait + 1..self.events().len()).is_some() {
                continue;
            }
            let Some(notify) = notified(0..wait) else { continue };
            let reads = |e: usize| {
                let by = &self.events()[e];
                by.thread == event.thread && matches!(by.op, Op::Read | Op::AtomicLoad)
            };
            if !(notify..wait).any(reads) {
                lost.extend(self.test(wait, notify).map(|test| (wait, test)));
            }
        }
        lost
    }
}
