//! Notifies that come too early: after the test that made a thread wait, and before it waits.
//!
//! **Follows** Havelund, Lowry, Penix, *Formal analysis of a space-craft controller using SPIN*, TSE 2001: the error of
//! the remote agent, where a thread tests a counter, and before it waits another one counts and notifies. The paper
//! finds it with a model checker; here one pass over the recorded run pairs every wait with the notify that ended it,
//! or should have, and with its test, and `predict` asks for an order in which the notify comes between the two.
//!
//! **Deviates** from the definition in docs/detectors.md in that of waits at the same sites it takes a few only. A wait
//! that went on without a notify (a timeout) has none to lose, and is no candidate.
//!
//! **May miss** lost wake-ups whose wait and notify are not in a common window, and those beyond the limits; these are
//! counted. A test is missed if the thread has read many variables since, if who changes the variable is not who
//! notifies, or if that one has written so many since that it is not known what the notify announces. With more than 64
//! threads it is missed where it depends on which of them wrote what.
//!
//! **Raises no false alarm** as to the order: each one is a feasible prefix that passes `witness::check_lost_wakeup`.
//! Whether the thread is then left waiting for good depends on later notifies, and the report says whether one is
//! recorded.

mod predict;
mod reads;
mod writes;

pub use crate::place::Place;
pub use predict::{Predicted, predict};

use crate::windows::Schedule;
use event::{Batch, CondId, Event, Id, LockId, Names, Op, SiteId, Space, ThreadId};
use reads::{Reads, Test, bit};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use sync::Wakeups;
use writes::{Notify, NotifyTimes, Writes};

/// So many waits with the same sites are candidates.
const SAME_SITES: u32 = 8;
/// So many candidates are kept.
const MOST: usize = 100_000;

/// What distinguishes an event from others: its site, or if that is unknown itself.
type Key = (SiteId, u64);

fn key(place: Place) -> Key {
    (place.site, if place.site == SiteId(0) { place.event } else { 0 })
}

/// A wait, the notify that ends it or should, and the test before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wakeup {
    /// The condition.
    pub cond: CondId,
    /// The lock that the wait gives up.
    pub lock: LockId,
    /// The `wait`.
    pub wait: Place,
    /// The `notify` or `notifyall`.
    pub notify: Place,
    /// The last read of the waiting thread before it waits, of something that the notify announces; the notifier wrote
    /// it then.
    pub test: Place,
    /// Another notify of the condition that is recorded after that one, and may still wake the thread.
    pub later: Option<u64>,
}

/// A wake-up that another run loses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LostWakeup {
    /// Its events.
    pub wakeup: Wakeup,
    /// The order that shows it.
    pub schedule: Schedule,
}

/// What one pass found.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Waits {
    /// Waits that are lost in the recorded run, if the trace is complete.
    pub observed: Vec<Wakeup>,
    /// Those whose notify may come too early in another run.
    pub candidates: Vec<Wakeup>,
    /// How many more candidates there are, most of them at the same sites as others.
    pub left_out: u64,
    /// Waits with a notify, but without a test: nothing is claimed of these.
    pub untested: u64,
}

#[derive(Clone, Debug)]
struct Waiting {
    cond: CondId,
    lock: LockId,
    wait: Place,
    /// When the thread last gave that lock back.
    given: Option<u64>,
    /// The last read of the thread before it.
    read: Option<u64>,
    /// The last notify of the condition before it.
    before: Option<Arc<Notify>>,
}

/// A wait whose test is known when all is.
#[derive(Debug)]
struct Undecided {
    cond: CondId,
    lock: LockId,
    wait: Place,
    notify: Place,
    test: Test,
}

#[derive(Default, Debug)]
struct Cond {
    /// The last notify.
    last: Option<Arc<Notify>>,
    notified: NotifyTimes,
    /// Who has notified it ([`bit`]s).
    notifiers: u64,
}

#[derive(Clone, Default, Debug)]
struct Thread {
    read: Option<u64>,
    waiting: Option<Waiting>,
}

/// Pairs waits with notifies and tests, batch by batch.
#[derive(Default, Debug)]
pub struct LostWakeups {
    threads: Vec<Thread>,
    conds: Vec<Cond>,
    wakeups: Wakeups<Arc<Notify>>,
    reads: Reads,
    writes: Writes,
    /// When threads last gave locks back.
    given: FxHashMap<(ThreadId, LockId), u64>,
    counts: FxHashMap<(CondId, [Option<Key>; 4]), u32>,
    undecided: Vec<Undecided>,
    found: Waits,
}

impl LostWakeups {
    /// Before the first event.
    pub fn new() -> Self {
        LostWakeups::default()
    }

    /// As [`LostWakeups::new`], with room for so many accesses of each thread since its last wait.
    pub fn remembering(accesses: usize) -> Self {
        LostWakeups { reads: Reads::remembering(accesses), ..LostWakeups::default() }
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        self.threads.resize(names.space(Space::Thread).len(), Thread::default());
        self.conds.resize_with(names.space(Space::Cond).len(), Cond::default);
        self.reads.grow(self.threads.len(), names.space(Space::Var).len());
        self.writes.grow(self.threads.len());
        for (index, &event) in (batch.first..).zip(&batch.events) {
            let thread = &mut self.threads[event.thread().index()];
            if thread.waiting.is_some()
                && let Some(waiting) = thread.waiting.take()
            {
                self.goes_on(batch, waiting, event);
            }
            match event.op() {
                Op::Read | Op::AtomicLoad => {
                    self.threads[event.thread().index()].read = Some(index);
                    self.reads.read(event, index);
                }
                Op::Write | Op::AtomicStore | Op::AtomicRmw => {
                    self.reads.write(event, index);
                    self.writes.write(event, index);
                }
                Op::Release => {
                    self.given.insert((event.thread(), event.lock()), index);
                }
                Op::Wait | Op::Woken | Op::Notify | Op::NotifyAll => self.condition(batch, index, event),
                _ => {}
            }
        }
    }

    /// An event of a condition.
    #[inline(never)]
    fn condition(&mut self, batch: &Batch, index: u64, event: Event) {
        match event.op() {
            Op::Woken => self.reads.forget(event.thread()),
            Op::Wait => {
                let (place, lock) = (Place::new(event, index), batch.extra(event).lock);
                let cond = &mut self.conds[event.cond().index()];
                let thread = &mut self.threads[event.thread().index()];
                let (read, before) = (thread.read, cond.last.clone());
                self.wakeups.wait(batch, index, event, |_, _| ());
                let given = self.given.get(&(event.thread(), lock)).copied();
                thread.waiting = Some(Waiting { cond: event.cond(), lock, wait: place, given, read, before });
            }
            Op::Notify | Op::NotifyAll => {
                let cond = &mut self.conds[event.cond().index()];
                let notify = self.writes.notify(Place::new(event, index), &mut cond.notified);
                cond.notifiers |= bit(event.thread().index());
                cond.last = Some(Arc::clone(&notify));
                self.wakeups.notify(index, event, || notify, |_, _| ());
            }
            _ => {}
        }
    }

    /// The waiting thread goes on with this event.
    fn goes_on(&mut self, batch: &Batch, waiting: Waiting, event: Event) {
        if event.op() != Op::Woken {
            self.wakeups.leave(event.thread(), |_, _| ());
        } else if let Some(pair) = self.wakeups.woken(batch, event, |_, _| ()) {
            self.candidate(waiting, &pair.data);
        }
    }

    fn candidate(&mut self, waiting: Waiting, notify: &Notify) {
        let Waiting { cond, lock, wait, given, .. } = waiting;
        // It has read nothing since.
        let Some(test) = self.reads.test(wait.thread, given, notify) else {
            self.found.untested += 1;
            return;
        };
        // Where sites are unknown every wait is one of its own: no more are distinguished than are kept.
        if self.undecided.len() >= MOST {
            self.found.left_out += 1;
            return;
        }
        let places = [Some(wait), Some(notify.place), test.any, test.last];
        let count = self.counts.entry((cond, places.map(|place| place.map(key)))).or_default();
        if *count >= SAME_SITES {
            self.found.left_out += 1;
        } else {
            *count += 1;
            self.undecided.push(Undecided { cond, lock, wait, notify: notify.place, test });
        }
    }

    /// What was found.
    pub fn finish(mut self) -> Waits {
        for waiting in std::mem::take(&mut self.threads).into_iter().filter_map(|thread| thread.waiting) {
            let cond = &self.conds[waiting.cond.index()];
            if let Some(notify) = self.wakeups.next(waiting.wait.thread).cloned() {
                self.candidate(waiting, &notify);
            } else if cond.last.as_ref().is_none_or(|last| last.place.event < waiting.wait.event)
                && let Some(notify) = waiting.before.filter(|notify| Some(notify.place.event) > waiting.read)
                && let Some(test) = self.reads.test(waiting.wait.thread, waiting.given, &notify)
                && let Some(test) = self.reads.decide(&test, cond.notifiers)
            {
                let Waiting { cond, lock, wait, .. } = waiting;
                self.found.observed.push(Wakeup { cond, lock, wait, notify: notify.place, test, later: None });
            }
        }
        for Undecided { cond, lock, wait, notify, test } in std::mem::take(&mut self.undecided) {
            match self.reads.decide(&test, self.conds[cond.index()].notifiers) {
                Some(test) => self.found.candidates.push(Wakeup { cond, lock, wait, notify, test, later: None }),
                None => self.found.untested += 1,
            }
        }
        let last: Vec<Option<u64>> =
            self.conds.iter().map(|cond| cond.last.as_ref().map(|last| last.place.event)).collect();
        for wakeup in &mut self.found.candidates {
            wakeup.later = last[wakeup.cond.index()].filter(|&last| last > wakeup.notify.event);
        }
        self.found
    }
}
