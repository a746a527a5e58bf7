//! The state of the recorded run before a window, and the events that bring it about.

use super::Touched;
use super::ahead::Ahead;
use crate::facts::{initial_counts, is_barrier, is_read, lock_of};
use event::{Batch, Event, Id, LockId, Names, Op, SemId, Space, ThreadId};
use rustc_hash::FxHashMap;

/// An event of an excerpt, and the index of the one that it is or stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) index: u32,
    pub(super) event: Event,
}

/// By what a thread holds a lock: the events, one for each level, exclusive and shared.
type Levels = [Vec<u32>; 2];

/// A wait that goes on, and how deep the thread was in the lock.
#[derive(Clone)]
struct Waiting {
    wait: u32,
    cond: u32,
    lock: LockId,
    levels: [usize; 2],
}

#[derive(Clone, Default)]
struct Thread {
    held: FxHashMap<LockId, Levels>,
    waiting: Option<Waiting>,
    fork: Option<u32>,
}

#[derive(Clone, Copy, Default)]
struct Variable {
    barrier: Option<u32>,
    /// The last write since.
    write: Option<u32>,
}

/// What the events so far have left.
pub(super) struct Past {
    at: usize,
    threads: Vec<Thread>,
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
            Op::Alloc | Op::Free => self.vars[event.var().index()] = Variable { barrier: Some(at), write: None },
            Op::Up => {
                let count = &mut self.counts[event.sem().index()];
                *count = count.saturating_add(1);
                self.ups[event.sem().index()] = Some(Source { index: at, event });
            }
            Op::Down => self.counts[event.sem().index()] -= 1,
            Op::Fork => self.threads[event.child().index()].fork = Some(at),
            op if op.has_value() && !is_read(op) && !is_barrier(op) => {
                self.vars[event.var().index()].write = Some(at);
            }
            Op::TryFail => {}
            _ => {
                if let Some(lock) = lock_of(batch, event) {
                    self.lock(at, event, lock);
                }
            }
        }
    }

    fn lock(&mut self, at: u32, event: Event, lock: LockId) {
        let by = event.thread();
        let thread = &mut self.threads[by.index()];
        let held = thread.held.entry(lock).or_default();
        let before = !held.iter().all(Vec::is_empty);
        match event.op() {
            Op::Acquire | Op::TryAcquire => held[0].push(at),
            Op::ReadAcquire => held[1].push(at),
            Op::Release => drop(held[0].pop()),
            Op::ReadRelease => drop(held[1].pop()),
            Op::Wait => {
                let levels = [held[0].len(), held[1].len()];
                held.iter_mut().for_each(Vec::clear);
                thread.waiting = Some(Waiting { wait: at, cond: event.object(), lock, levels });
            }
            _ => {
                let wait = thread.waiting.take().filter(|wait| wait.cond == event.object() && wait.lock == lock);
                let levels = wait.map(|wait| wait.levels).filter(|&levels| levels != [0; 2]).unwrap_or([1, 0]);
                for (held, levels) in held.iter_mut().zip(levels) {
                    held.extend(std::iter::repeat_n(at, levels));
                }
            }
        }
        let after = !held.iter().all(Vec::is_empty);
        if !after {
            thread.held.remove(&lock);
        }
        if before != after {
            let holders = self.holders.entry(lock).or_default();
            if after {
                holders.push(by);
            } else {
                holders.retain(|holder| *holder != by);
            }
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
            let mut locks: Vec<LockId> = state.held.keys().copied().collect();
            locks.sort_unstable();
            for lock in locks {
                self.hold(batch, thread, lock, &mut kept);
            }
            if let Some(wait) = &state.waiting {
                for (shared, levels) in [false, true].into_iter().zip(wait.levels) {
                    kept.extend((0..levels).map(|_| taken(batch, wait.wait, wait.lock, shared)));
                }
                kept.push(real(wait.wait));
                if let Some(&(notify, _)) = ahead.woken.get(&wait.wait)
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
            kept.extend(variable.barrier.into_iter().chain(variable.write).map(real));
        }
        // One notify can wake many.
        kept.sort_by_key(|source| source.index);
        kept.dedup_by(|a, b| a.index == b.index && a.event == b.event && a.event.op() == Op::NotifyAll);
        kept
    }

    fn hold(&self, batch: &Batch, thread: ThreadId, lock: LockId, kept: &mut Vec<Source>) {
        let Some(levels) = self.threads[thread.index()].held.get(&lock) else { return };
        for (shared, events) in [false, true].into_iter().zip(levels) {
            kept.extend(events.iter().map(|&event| taken(batch, event, lock, shared)));
        }
    }
}

/// A lock that was taken at this event: by it, or by a made-up one if it does more than that.
fn taken(batch: &Batch, at: u32, lock: LockId, shared: bool) -> Source {
    let event = batch.events[at as usize];
    let made = matches!(event.op(), Op::Wait | Op::Woken);
    let op = if shared { Op::ReadAcquire } else { Op::Acquire };
    let event = if made { Event::new(event.thread(), op, lock.0, event.site()) } else { event };
    Source { index: at, event }
}
