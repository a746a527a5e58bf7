//! The state of the recorded run before a window, and the events that bring it about.

use super::Touched;
use super::ahead::Ahead;
use crate::facts::{initial_counts, is_read};
use event::{Batch, Event, Id, LockId, Names, Op, SemId, Space, ThreadId};
use rustc_hash::FxHashMap;
use sync::{HeldLocks, LockMode};

/// An event of a window, and the index of the one that it is or stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) index: u32,
    pub(super) event: Event,
}

#[derive(Clone, Default)]
struct Thread {
    /// Its last `wait`.
    wait: u32,
    fork: Option<u32>,
}

#[derive(Clone, Copy, Default)]
struct Variable {
    boundary: Option<u32>,
    /// The last write since.
    write: Option<u32>,
}

/// What the events so far have left.
pub(super) struct Past {
    at: usize,
    threads: Vec<Thread>,
    /// With each hold the event that took the lock.
    held: HeldLocks<u32>,
    /// By lock: who holds it.
    holders: FxHashMap<LockId, Vec<ThreadId>>,
    vars: Vec<Variable>,
    /// By semaphore: what it counts.
    pub(super) counts: Vec<i64>,
    /// By semaphore: its last `up`.
    ups: Vec<Option<Source>>,
}

impl Past {
    pub(super) fn new(names: &Names, batch: &Batch) -> Past {
        let counts = initial_counts(names, batch);
        Past {
            at: 0,
            threads: vec![Thread::default(); names.space(Space::Thread).len()],
            held: HeldLocks::new(),
            holders: FxHashMap::default(),
            vars: vec![Variable::default(); names.space(Space::Var).len()],
            ups: vec![None; counts.len()],
            counts,
        }
    }

    /// An `up` of a semaphore that has come.
    pub(super) fn last_up(&self, semaphore: SemId) -> Option<Source> {
        self.ups[semaphore.index()]
    }

    /// Goes on along the recorded run.
    pub(super) fn advance(&mut self, batch: &Batch, to: usize) {
        for at in self.at..to {
            self.step(batch, at as u32, batch.events[at]);
        }
        self.at = to;
    }

    fn step(&mut self, batch: &Batch, at: u32, event: Event) {
        let op = event.op();
        match op {
            Op::Alloc | Op::Free => self.vars[event.var().index()] = Variable { boundary: Some(at), write: None },
            Op::Up => {
                let count = &mut self.counts[event.sem().index()];
                *count = count.saturating_add(1);
                self.ups[event.sem().index()] = Some(Source { index: at, event });
            }
            Op::Down => self.counts[event.sem().index()] -= 1,
            Op::Fork => self.threads[event.child().index()].fork = Some(at),
            op if op.has_value() && !is_read(op) && !op.bounds_lifetime() => {
                self.vars[event.var().index()].write = Some(at);
            }
            _ => self.lock(batch, at, event),
        }
    }

    fn lock(&mut self, batch: &Batch, at: u32, event: Event) {
        let Some(effect) = self.held.step(batch, event, |_| at) else { return };
        let by = event.thread();
        if event.op() == Op::Wait {
            self.threads[by.index()].wait = at;
        }
        if effect.takes {
            self.holders.entry(effect.lock).or_default().push(by);
        } else if effect.gives
            && let Some(holders) = self.holders.get_mut(&effect.lock)
        {
            holders.retain(|holder| *holder != by);
        }
    }

    /// What a window that ends there can still see.
    pub(super) fn kept(&self, batch: &Batch, touched: &Touched, ahead: &Ahead, end: u32) -> Vec<Source> {
        let mut kept = Vec::new();
        let real = |index: u32| Source { index, event: batch.events[index as usize] };
        let mut threads: Vec<ThreadId> = touched.threads.iter().copied().collect();
        threads.sort_unstable();
        for &thread in &threads {
            let state = &self.threads[thread.index()];
            kept.extend(state.fork.map(real));
            let mut locks: Vec<LockId> = self.held.locks(thread).map(|hold| hold.lock).collect();
            locks.sort_unstable();
            for lock in locks {
                self.hold(batch, thread, lock, &mut kept);
            }
            if let Some(waiting) = self.held.waiting(thread) {
                let wait = state.wait;
                for mode in LockMode::BOTH {
                    let made = acquire(batch, wait, waiting.lock, mode);
                    kept.extend((0..waiting.depths[mode.index()]).map(|_| made));
                }
                kept.push(real(wait));
                if let Some(&(notify, _)) = ahead.woken.get(&wait)
                    && (notify as usize) < self.at
                {
                    kept.push(real(notify));
                }
            }
        }
        let mut locks: Vec<u32> = touched.locks.iter().copied().collect();
        locks.sort_unstable();
        for lock in locks {
            let others = self.holders.get(&LockId(lock)).into_iter().flatten();
            for &holder in others.filter(|holder| !touched.threads.contains(holder)) {
                self.hold(batch, holder, LockId(lock), &mut kept);
            }
            for section in ahead.from_beginning.get(&lock).into_iter().flatten().filter(|s| s.close >= end) {
                let op = if section.shared { Op::ReadAcquire } else { Op::Acquire };
                let site = batch.events[section.close as usize].site();
                kept.push(Source { index: 0, event: Event::new(section.thread, op, lock, site) });
            }
        }
        let mut vars: Vec<_> = touched.vars.iter().copied().collect();
        vars.sort_unstable();
        for var in vars {
            let variable = self.vars[var.index()];
            kept.extend(variable.boundary.into_iter().chain(variable.write).map(real));
        }
        // One notify can wake many.
        kept.sort_by_key(|source| source.index);
        kept.dedup_by(|a, b| a.index == b.index && a.event == b.event && a.event.op() == Op::NotifyAll);
        kept
    }

    /// The acquires by which a thread holds a lock, one for each level.
    fn hold(&self, batch: &Batch, thread: ThreadId, lock: LockId, kept: &mut Vec<Source>) {
        for mode in LockMode::BOTH {
            if let Some((opened, depth)) = self.held.get(thread, lock, mode) {
                let taken = acquire(batch, opened, lock, mode);
                kept.extend((0..depth).map(|_| taken));
            }
        }
    }
}

/// The acquire of a lock that an event makes: itself, or a made-up one if it does more than that.
fn acquire(batch: &Batch, at: u32, lock: LockId, mode: LockMode) -> Source {
    let event = batch.events[at as usize];
    let made = matches!(event.op(), Op::Wait | Op::Woken);
    let op = if mode == LockMode::Shared { Op::ReadAcquire } else { Op::Acquire };
    let event = if made { Event::new(event.thread(), op, lock.0, event.site()) } else { event };
    Source { index: at, event }
}
