//! Waits whose thread goes on without looking again: `if` around a wait, where `while` should be.
//!
//! **Follows** docs/detectors.md ("Waits without a loop"). A thread tests variables under a lock, waits, is woken by a
//! thread that has written one of them, and takes what it waited for without having looked at any of them again.
//! Another thread, which takes in the same way, may have come first.
//!
//! **Deviates** in what it remembers: of each thread the last access of each of `RECENT` variables since it took its
//! lock, which one variable may take from another; of each wait `MOST` writes by others.
//!
//! **May miss** waits whose thread reads a tested variable for another reason than to test it, or to change it at once,
//! and those that no other thread was seen to take from after the wait began.
//!
//! **Is quiet**: one-shot events, barriers and gates take nothing, a hand-over leaves nothing to take, and a loop reads
//! at least what the notifier wrote, or another part of its test that has changed. It is a warning all the same: the
//! program may know that no other thread takes then.

use crate::place::Place;
use event::{Batch, CondId, Event, Id, LockId, Names, Op, SiteId, Space, ThreadId, VarId};
use sync::{HeldLocks, LockMode, Wakeups};

/// Variables of which a thread's last access is remembered.
const RECENT: usize = 64;
/// Writes by others that are remembered of a wait, and warnings that wait for another thread to take.
const MOST: usize = 256;
/// Warnings that are kept.
const MOST_FOUND: usize = 1000;

/// A wait without a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnloopedWait {
    /// The condition of the wait.
    pub cond: CondId,
    /// Its lock.
    pub lock: LockId,
    /// The variable that the notifier wrote, and that was not looked at again.
    pub news: VarId,
    /// The last read of it before the wait.
    pub test: Place,
    /// The wait.
    pub wait: Place,
    /// Its wake-up.
    pub woken: Place,
    /// What the thread wrote then.
    pub taken: VarId,
    /// That write.
    pub take: Place,
    /// How another thread wrote the same.
    pub other: Place,
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct UnloopedWaits {
    /// The first of them.
    pub waits: Vec<UnloopedWait>,
    /// How many more there were.
    pub left_out: u64,
}

/// The last access of a variable by a thread.
#[derive(Clone, Copy, Debug)]
struct Access {
    variable: VarId,
    place: Place,
    reads: bool,
}

/// A write by another thread while a thread waited, or had just been woken.
#[derive(Clone, Copy, Debug)]
struct Written {
    variable: VarId,
    place: Place,
}

/// A wait in progress, up to where its thread gives the lock up again.
#[derive(Debug)]
struct Waiting {
    cond: CondId,
    lock: LockId,
    wait: Place,
    /// What the thread read last of variables under the lock.
    tested: Vec<(VarId, Place)>,
    written: Vec<Written>,
    woken: Option<Woken>,
}

/// What a thread did since it was woken.
#[derive(Debug)]
struct Woken {
    place: Place,
    /// Tested variables that the notifier wrote.
    news: Vec<VarId>,
    /// A read of a tested variable that may be half of a modification.
    read: Option<(VarId, SiteId)>,
    /// The first write of a tested variable.
    took: Option<Written>,
}

#[derive(Default, Debug)]
struct Thread {
    recent: Vec<Option<Access>>,
    waiting: Option<Box<Waiting>>,
}

/// Finds waits without a loop, batch by batch.
#[derive(Default, Debug)]
pub struct WaitWithoutLoop {
    held: HeldLocks<u64>,
    /// With each notify the thread that it is of.
    wakeups: Wakeups<ThreadId>,
    threads: Vec<Thread>,
    /// Threads with a wait in progress.
    active: Vec<ThreadId>,
    /// By variable: how many waits and warnings in progress it matters to.
    watched: Vec<u32>,
    /// Complete but for another thread that takes in the same way: none has been seen yet.
    alone: Vec<UnloopedWait>,
    found: UnloopedWaits,
}

impl WaitWithoutLoop {
    /// Before the first event.
    pub fn new() -> WaitWithoutLoop {
        WaitWithoutLoop::default()
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        self.threads.resize_with(names.space(Space::Thread).len(), Thread::default);
        self.watched.resize(names.space(Space::Var).len(), 0);
        // Without a condition nothing waits. Which locks are held matters all the same.
        let waits = !names.space(Space::Cond).is_empty();
        for (index, &event) in (batch.first..).zip(&batch.events) {
            let op = event.op();
            if waits {
                self.event(batch, index, event);
            }
            if op.takes_lock() || op.gives_lock() || op.has_lock_argument() {
                self.held.step(batch, event, |_| index);
            }
        }
    }

    /// What was found.
    pub fn finish(self) -> UnloopedWaits {
        self.found
    }

    #[inline]
    fn event(&mut self, batch: &Batch, index: u64, event: Event) {
        let (op, thread) = (event.op(), event.thread());
        let place = Place::new(event, index);
        let is_woken = self.threads[thread.index()].waiting.as_ref().is_some_and(|waiting| waiting.woken.is_some());
        if is_woken {
            self.after_woken(batch, event, place);
        }
        match op {
            Op::Read | Op::AtomicLoad => self.remember(event.var(), place, true),
            Op::Write | Op::AtomicStore | Op::AtomicRmw => {
                self.remember(event.var(), place, false);
                if self.watched[event.object() as usize] > 0 {
                    self.watched_write(event.var(), place);
                }
            }
            Op::Wait => {
                self.wakeups.step(batch, index, event, || thread);
                self.begin(event, batch.extra(event).lock, place);
            }
            Op::Woken => {
                let pair = self.wakeups.step(batch, index, event, || thread);
                let notify = pair.map(|pair| (pair.data, pair.notify));
                self.wake(event, batch.extra(event).lock, place, notify);
            }
            Op::Notify | Op::NotifyAll => drop(self.wakeups.step(batch, index, event, || thread)),
            _ => {}
        }
    }

    #[inline]
    fn remember(&mut self, variable: VarId, place: Place, reads: bool) {
        if self.held.count(place.thread) == 0 {
            return;
        }
        let recent = &mut self.threads[place.thread.index()].recent;
        if recent.is_empty() {
            recent.resize(RECENT, None);
        }
        recent[variable.index() % RECENT] = Some(Access { variable, place, reads });
    }

    fn holds(&self, thread: ThreadId, lock: LockId) -> Option<u64> {
        self.held.get(thread, lock, LockMode::Exclusive).map(|(since, _)| since)
    }

    /// A thread begins to wait.
    fn begin(&mut self, event: Event, lock: LockId, wait: Place) {
        self.end(event.thread());
        let Some(since) = self.holds(event.thread(), lock) else { return };
        let recent = self.threads[event.thread().index()].recent.iter().flatten();
        let tested = recent.filter(|access| access.reads && access.place.event > since);
        let tested: Vec<(VarId, Place)> = tested.map(|access| (access.variable, access.place)).collect();
        if tested.is_empty() {
            return;
        }
        tested.iter().for_each(|(variable, _)| self.watched[variable.index()] += 1);
        let waiting = Waiting { cond: event.cond(), lock, wait, tested, written: Vec::new(), woken: None };
        self.threads[event.thread().index()].waiting = Some(Box::new(waiting));
        self.active.push(event.thread());
    }

    /// The wait of a thread is over; `notify`: by whom and when, if it was notified.
    fn wake(&mut self, event: Event, lock: LockId, place: Place, notify: Option<(ThreadId, u64)>) {
        let Some(waiting) = &mut self.threads[event.thread().index()].waiting else { return };
        let by = notify.filter(|_| (waiting.cond, waiting.lock) == (event.cond(), lock));
        let is_news = |variable: &VarId| {
            let written = |written: &&Written| written.variable == *variable;
            let by_notifier = |written: &Written| {
                by.is_some_and(|(thread, notify)| written.place.thread == thread && written.place.event < notify)
            };
            waiting.written.iter().filter(written).any(by_notifier)
        };
        let news: Vec<VarId> = waiting.tested.iter().map(|tested| tested.0).filter(is_news).collect();
        if news.is_empty() {
            self.end(event.thread());
        } else {
            waiting.woken = Some(Woken { place, news, read: None, took: None });
        }
    }

    /// An event of a thread between its wake-up and where it gives the lock up.
    fn after_woken(&mut self, batch: &Batch, event: Event, place: Place) {
        let thread = event.thread().index();
        let Some(waiting) = &mut self.threads[thread].waiting else { return };
        let Some(woken) = &mut waiting.woken else { return };
        let op = event.op();
        let test = waiting.tested.iter().find(|(variable, _)| variable.0 == event.object());
        let test = test.filter(|_| op.is_access() || op.is_drop_barrier());
        let modifies = |&(variable, site): &(VarId, SiteId)| {
            op == Op::Write && variable.0 == event.object() && site == event.site()
        };
        let looks = match op {
            // What was read may be changed at once: then nothing was decided by it.
            Op::Read => test.is_some_and(|(_, test)| test.site == event.site()),
            Op::Write => false,
            _ => test.is_some(),
        };
        if looks || woken.read.as_ref().is_some_and(|read| !modifies(read)) {
            return self.end(event.thread());
        }
        woken.read = (op == Op::Read && test.is_some()).then(|| (event.var(), event.site()));
        if op == Op::Write && woken.took.is_none() && test.is_some() {
            woken.took = Some(Written { variable: event.var(), place });
        }
        let lock = waiting.lock;
        let gives = match op {
            Op::Release => event.lock() == lock && self.is_outermost(event.thread(), lock),
            Op::Wait => batch.extra(event).lock == lock,
            _ => false,
        };
        if gives {
            self.goes_on(event.thread());
        }
    }

    /// Whether a release gives the lock up. A thread that was woken holds it as deep as before it waited.
    fn is_outermost(&self, thread: ThreadId, lock: LockId) -> bool {
        self.held.get(thread, lock, LockMode::Exclusive).is_none_or(|(_, depth)| depth <= 1)
    }

    /// A thread gives the lock up, and has not looked.
    fn goes_on(&mut self, thread: ThreadId) {
        let Some(waiting) = &self.threads[thread.index()].waiting else { return };
        let Some(woken) = &waiting.woken else { return };
        let (Some(&news), Some(took)) = (woken.news.first(), woken.took) else { return self.end(thread) };
        let other = waiting.written.iter().find(|other| is_alike(&took, other)).map(|other| other.place);
        let unlooped = UnloopedWait {
            cond: waiting.cond,
            lock: waiting.lock,
            news,
            test: waiting.tested.iter().find(|tested| tested.0 == news).map_or(waiting.wait, |tested| tested.1),
            wait: waiting.wait,
            woken: woken.place,
            taken: took.variable,
            take: took.place,
            other: other.unwrap_or(took.place),
        };
        match other {
            Some(_) => self.found(unlooped),
            None if took.place.site == SiteId(0) => {}
            None if self.alone.len() < MOST => {
                self.watched[took.variable.index()] += 1;
                self.alone.push(unlooped);
            }
            None => self.found.left_out += 1,
        }
        self.end(thread);
    }

    fn found(&mut self, found: UnloopedWait) {
        if self.found.waits.len() < MOST_FOUND {
            self.found.waits.push(found);
        } else {
            self.found.left_out += 1;
        }
    }

    /// Forgets the wait of a thread.
    fn end(&mut self, thread: ThreadId) {
        if let Some(waiting) = self.threads[thread.index()].waiting.take() {
            waiting.tested.iter().for_each(|(variable, _)| self.watched[variable.index()] -= 1);
            self.active.retain(|&other| other != thread);
        }
    }

    /// A write of a variable that a thread tested before it waited.
    fn watched_write(&mut self, variable: VarId, place: Place) {
        let written = Written { variable, place };
        for k in 0..self.active.len() {
            let thread = self.active[k];
            let Some(lock) = self.threads[thread.index()].waiting.as_ref().map(|waiting| waiting.lock) else {
                continue;
            };
            if thread == place.thread || self.holds(place.thread, lock).is_none() {
                continue;
            }
            let Some(waiting) = &mut self.threads[thread.index()].waiting else { continue };
            let is_known = |known: &Written| {
                known.variable == variable && known.place.thread == place.thread && known.place.site == place.site
            };
            let matters = waiting.tested.iter().any(|tested| tested.0 == variable);
            if matters && waiting.written.len() < MOST && !waiting.written.iter().any(is_known) {
                waiting.written.push(written);
            }
        }
        let mut k = 0;
        while k < self.alone.len() {
            let alone = &self.alone[k];
            let took = Written { variable: alone.taken, place: alone.take };
            if is_alike(&took, &written) && self.holds(place.thread, alone.lock).is_some() {
                let mut found = self.alone.swap_remove(k);
                self.watched[found.taken.index()] -= 1;
                found.other = place;
                self.found(found);
            } else {
                k += 1;
            }
        }
    }
}

/// Whether another thread takes in the same way.
fn is_alike(took: &Written, other: &Written) -> bool {
    took.variable == other.variable
        && took.place.thread != other.place.thread
        && took.place.site == other.place.site
        && took.place.site != SiteId(0)
}
