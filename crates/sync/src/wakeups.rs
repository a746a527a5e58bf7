//! Which notify of a condition ended which wait: the earliest one after it that no other wait has used.

use event::{Batch, CondId, Event, Id, LockId, Op, ThreadId, Wake};
use std::collections::{BTreeMap, BTreeSet};

/// A `woken` with the notify that it is paired with. Events are their indexes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair<T> {
    /// The `wait`.
    pub wait: u64,
    /// The `notify` or `notifyall`.
    pub notify: u64,
    /// What is kept with the notify.
    pub data: T,
}

/// A wake-up with its wait and the notify that it is paired with, as indexes of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wakeup {
    /// The `wait`.
    pub wait: u64,
    /// The `notify` or `notifyall`.
    pub notify: u64,
    /// The `woken`.
    pub woken: u64,
}

/// The wake-ups of a trace that are paired, in recorded order.
pub fn wakeups(batch: &Batch) -> Vec<Wakeup> {
    let mut wakeups = Wakeups::new();
    let events = (batch.first..).zip(&batch.events).filter(|(_, event)| event.op().acts_on_condition());
    let pair = |(woken, &event)| {
        let Pair { wait, notify, .. } = wakeups.step(batch, woken, event, || ())?;
        Some(Wakeup { wait, notify, woken })
    };
    events.filter_map(pair).collect()
}

/// What becomes of a notify.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// A later event may be paired with it: its data is kept.
    Kept,
    /// The present event is paired with it.
    Paired,
    /// No later event can be paired with it: its data is forgotten.
    Forgotten,
}

/// A wait that goes on.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    cond: CondId,
    lock: LockId,
    since: u64,
}

/// Pairs wake-ups with notifies, with data of the user's for each notify.
#[derive(Clone, Debug)]
pub struct Wakeups<T = ()> {
    conds: Vec<Condition<T>>,
    /// By thread.
    waiting: Vec<Option<Waiting>>,
}

impl<T> Default for Wakeups<T> {
    fn default() -> Self {
        Wakeups { conds: Vec::new(), waiting: Vec::new() }
    }
}

impl<T: Clone> Wakeups<T> {
    /// Before the first event.
    pub fn new() -> Wakeups<T> {
        Wakeups::default()
    }

    /// Takes the event with this index, the next of the recorded order; the pair, if it is a `woken` that is paired.
    /// `data` is asked for what to keep with a notify.
    #[inline]
    pub fn step(&mut self, batch: &Batch, at: u64, event: Event, data: impl FnOnce() -> T) -> Option<Pair<T>> {
        self.step_with(batch, at, event, data, |_, _| ())
    }

    /// As [`Wakeups::step`]; `fate` sees what becomes of notifies, first that one is paired, then that it is forgotten.
    #[inline]
    pub fn step_with(
        &mut self,
        batch: &Batch,
        at: u64,
        event: Event,
        data: impl FnOnce() -> T,
        fate: impl FnMut(Fate, &T),
    ) -> Option<Pair<T>> {
        match event.op() {
            Op::Wait => self.wait(batch, at, event, fate),
            Op::Notify | Op::NotifyAll => self.notify(at, event, data, fate),
            Op::Woken => return self.woken(batch, event, fate),
            _ => {}
        }
        None
    }

    /// A `wait`.
    pub fn wait(&mut self, batch: &Batch, at: u64, event: Event, fate: impl FnMut(Fate, &T)) {
        self.leave(event.thread(), fate);
        let (cond, lock) = (event.cond(), batch.extra(event).lock);
        self.waiting[event.thread().index()] = Some(Waiting { cond, lock, since: at });
        self.cond(cond).wait(at);
    }

    /// A `notify` or `notifyall`.
    pub fn notify(&mut self, at: u64, event: Event, data: impl FnOnce() -> T, mut fate: impl FnMut(Fate, &T)) {
        self.cond(event.cond()).notify(at, data, event.op() == Op::NotifyAll, &mut fate);
    }

    /// A `woken`.
    pub fn woken(&mut self, batch: &Batch, event: Event, mut fate: impl FnMut(Fate, &T)) -> Option<Pair<T>> {
        let Waiting { cond, lock, since } = self.waiting.get_mut(event.thread().index())?.take()?;
        let extra = batch.extra(event);
        let notified = (cond, lock, Wake::Notified) == (event.cond(), extra.lock, extra.wake);
        self.cond(cond).over(since, notified, &mut fate)
    }

    /// The thread waits no more, if it did: it goes on without a `woken`.
    pub fn leave(&mut self, thread: ThreadId, mut fate: impl FnMut(Fate, &T)) {
        if self.waiting.len() <= thread.index() {
            self.waiting.resize(thread.index() + 1, None);
        }
        if let Some(Waiting { cond, since, .. }) = self.waiting[thread.index()].take() {
            self.cond(cond).over(since, false, &mut fate);
        }
    }

    /// The notify that a thread which waits would be paired with, if it woke now.
    pub fn next(&self, thread: ThreadId) -> Option<&T> {
        let Waiting { cond, since, .. } = self.waiting.get(thread.index()).copied()??;
        self.conds[cond.index()].first_since(since).map(|(_, notify)| &notify.data)
    }

    /// The data of all notifies that a later event may be paired with.
    pub fn notifies_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.conds.iter_mut().flat_map(|cond| cond.notifies.values_mut()).map(|notify| &mut notify.data)
    }

    #[inline]
    fn cond(&mut self, cond: CondId) -> &mut Condition<T> {
        if self.conds.len() <= cond.index() {
            self.conds.resize_with(cond.index() + 1, Condition::default);
        }
        &mut self.conds[cond.index()]
    }
}

#[derive(Clone, Debug)]
struct Notify<T> {
    data: T,
    all: bool,
}

/// One condition: who waits, and the notifies that may still end a wait.
#[derive(Clone, Debug)]
struct Condition<T> {
    /// Since when threads wait.
    waits: BTreeSet<u64>,
    notifies: BTreeMap<u64, Notify<T>>,
    /// How many more notifies can be of use before the next wait: one for each thread that waited when the last wait
    /// began, none after a notify of all.
    room: usize,
}

impl<T> Default for Condition<T> {
    fn default() -> Self {
        Condition { waits: BTreeSet::new(), notifies: BTreeMap::new(), room: 0 }
    }
}

impl<T: Clone> Condition<T> {
    fn wait(&mut self, since: u64) {
        self.waits.insert(since);
        self.room = self.waits.len();
    }

    fn notify(&mut self, at: u64, data: impl FnOnce() -> T, all: bool, fate: &mut impl FnMut(Fate, &T)) {
        if self.room > 0 && !self.waits.is_empty() {
            self.room = if all { 0 } else { self.room - 1 };
            let data = data();
            fate(Fate::Kept, &data);
            self.notifies.insert(at, Notify { data, all });
            if self.notifies.len() > 2 * self.waits.len() {
                self.trim(fate);
            }
        }
    }

    /// Forgets the notifies that are of no use to the threads that wait. Each wait is paired with the earliest notify
    /// that it can have; so a notify is left over if as many came before it as waits had begun by then.
    fn trim(&mut self, fate: &mut impl FnMut(Fate, &T)) {
        let mut waits = self.waits.iter().peekable();
        let (mut waiting, mut served) = (0, 0);
        self.notifies.retain(|&at, notify| {
            while waits.next_if(|&&since| since < at).is_some() {
                waiting += 1;
            }
            let useful = served < waiting;
            if useful {
                served = if notify.all { waiting } else { served + 1 };
            } else {
                fate(Fate::Forgotten, &notify.data);
            }
            useful
        });
    }

    fn first_since(&self, since: u64) -> Option<(u64, &Notify<T>)> {
        self.notifies.range(since..).next().map(|(&at, notify)| (at, notify))
    }

    /// The wait since then is over; the pair, if a notify ended it.
    fn over(&mut self, since: u64, notified: bool, fate: &mut impl FnMut(Fate, &T)) -> Option<Pair<T>> {
        self.waits.remove(&since);
        let mut pair = None;
        if notified && let Some((at, notify)) = self.first_since(since) {
            fate(Fate::Paired, &notify.data);
            let all = notify.all;
            pair = Some(Pair { wait: since, notify: at, data: notify.data.clone() });
            if !all {
                self.forget(at, fate);
            }
        }
        let oldest = self.waits.first().copied().unwrap_or(u64::MAX);
        while let Some((&at, _)) = self.notifies.first_key_value().filter(|(at, _)| **at < oldest) {
            self.forget(at, fate);
        }
        pair
    }

    fn forget(&mut self, at: u64, fate: &mut impl FnMut(Fate, &T)) {
        if let Some(notify) = self.notifies.remove(&at) {
            fate(Fate::Forgotten, &notify.data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept for a thread that waits for ever does not grow with what others do.
    #[test]
    fn a_wait_without_end_keeps_no_notifies_of_others() {
        let mut cond = Condition::default();
        let mut forgotten = 0;
        let mut fate = |fate, _: &u64| forgotten += u64::from(fate == Fate::Forgotten);
        cond.wait(0);
        for round in 1..1000 {
            cond.wait(10 * round);
            cond.notify(10 * round + 1, || round, false, &mut fate);
            let pair = cond.over(10 * round, true, &mut fate);
            assert_eq!(pair, Some(Pair { wait: 10 * round, notify: 10 * round + 1, data: round }));
            cond.notify(10 * round + 2, || round, round % 7 == 0, &mut fate);
            assert!(cond.notifies.len() <= 3, "{cond:?}");
        }
        assert_eq!(cond.first_since(0).map(|(_, notify)| notify.data), Some(1));
        assert!(forgotten > 1900, "{forgotten}");
    }
}
