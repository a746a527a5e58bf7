//! The validator: says which events of a trace could not have happened as recorded.
//!
//! It checks lock discipline, waits and wake-ups, fork before the child's first event, join after its last, balanced
//! blocks, semaphores that stay non-negative, and reads that agree with the last write where values are given. It
//! streams, holds only what the names need, and after a problem repairs its state in the likeliest way and goes on.
//!
//! What a recording may end with is no problem: locks still held, threads still waiting, blocks still open.

mod blocks;
mod conditions;
mod locks;
mod threads;
mod values;

use blocks::Blocks;
pub use conditions::Conditions;
use event::{Batch, Event, Names, Op, Wake};
use locks::{HeldBeforeWait, Locks};
use threads::{Threads, Waiting};
use values::Values;

/// An event that does not fit the events before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The event's index in the trace.
    pub event: u64,
    /// What is wrong with it.
    pub message: String,
}

/// Problems kept in words; the others are only counted.
const KEPT: usize = 1000;

/// Checks a trace, batch by batch.
#[derive(Default)]
pub struct Validator {
    threads: Threads,
    locks: Locks,
    conditions: Conditions,
    blocks: Blocks,
    values: Values,
    problems: Vec<Problem>,
    count: u64,
}

impl Validator {
    /// A validator before the first event.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many problems there were so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first thousand problems so far.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Checks the next events. The problems found among them are returned, as far as they are kept in words.
    pub fn check(&mut self, names: &Names, batch: &Batch) -> &[Problem] {
        let kept = self.problems.len();
        self.threads.grow(names);
        self.locks.grow(names);
        self.blocks.grow(names);
        self.values.grow(names, batch);
        let mut from = 0;
        for init in &batch.inits {
            let to = init.before as usize;
            self.events(names, batch, from, to);
            from = to;
            if let Err(message) = self.values.init(names, init) {
                self.problem(batch.first + to as u64, message);
            }
        }
        self.events(names, batch, from, batch.events.len());
        &self.problems[kept..]
    }

    fn events(&mut self, names: &Names, batch: &Batch, from: usize, to: usize) {
        for (index, &event) in (from..to).zip(&batch.events[from..to]) {
            if self.threads.is_unusual(event.thread())
                && let Some(message) = self.threads.enter(names, batch, event)
            {
                self.problem(batch.first + index as u64, message);
            }
            match event.op() {
                op if op.has_value() => {
                    self.values.touch(event.var());
                    if self.values.any
                        && let Some(message) = self.values.access(names, batch, event)
                    {
                        self.problem(batch.first + index as u64, message);
                    }
                }
                _ => self.rare(names, batch, batch.first + index as u64, event),
            }
        }
    }

    /// Everything but accesses.
    fn rare(&mut self, names: &Names, batch: &Batch, index: u64, event: Event) {
        let thread = event.thread();
        let found = match event.op() {
            op if op.takes_exclusively() => self.locks.acquire(names, thread, event.lock(), index),
            Op::Release => self.locks.release(names, thread, event.lock()),
            Op::ReadAcquire => self.locks.read_acquire(names, thread, event.lock(), index),
            Op::ReadRelease => self.locks.read_release(names, thread, event.lock()),
            op if op.announces() => {
                self.threads.request(event);
                None
            }
            Op::Fork => self.threads.fork(names, thread, event.child()),
            Op::Join => self.threads.join(names, thread, event.child(), index),
            Op::Wait => {
                let lock = batch.extra(event).lock;
                let held = self.locks.give_up(thread, lock);
                let since = self.conditions.wait(event.cond());
                self.threads.wait(thread, Waiting { cond: event.cond(), lock, held, since });
                held.is_none().then(|| {
                    let (t, c, l) = (names.thread(thread), names.cond(event.cond()), names.lock(lock));
                    format!("{t} waits on {c} without holding {l}")
                })
            }
            Op::Woken => self.woken(names, batch, index, event),
            Op::Notify => {
                self.conditions.notify(event.cond());
                None
            }
            Op::NotifyAll => {
                self.conditions.notify_all(event.cond());
                None
            }
            Op::Begin => {
                self.blocks.begin(thread, event.block());
                None
            }
            Op::End => self.blocks.end(names, thread, event.block()),
            op if op.counts() => self.values.semaphore(names, event),
            op if op.bounds_lifetime() => {
                self.values.forget(event.var());
                None
            }
            _ => None,
        };
        if let Some(message) = found {
            self.problem(index, message);
        }
    }

    fn woken(&mut self, names: &Names, batch: &Batch, index: u64, event: Event) -> Option<String> {
        let thread = event.thread();
        let extra = batch.extra(event);
        let (t, c) = (names.thread(thread), names.cond(event.cond()));
        let Some(wait) = self.threads.wake(thread).filter(|w| w.cond == event.cond() && w.lock == extra.lock) else {
            // Whatever it was doing, it says it has the lock now.
            self.locks.acquire(names, thread, extra.lock, index);
            return Some(format!("{t} is woken on {c} without waiting on it with lock {}", names.lock(extra.lock)));
        };
        let notified = match extra.wake {
            Wake::Notified => self.conditions.wake(event.cond(), wait.since),
            // It used no notify: that is there for another.
            Wake::Timeout | Wake::Spurious => {
                self.conditions.leave(event.cond());
                true
            }
        };
        if let Some(message) =
            self.locks.take_back(names, thread, extra.lock, wait.held.unwrap_or(HeldBeforeWait::ONCE), index)
        {
            return Some(message);
        }
        (!notified)
            .then(|| format!("{t} is woken on {c} without a notify since its wait (a timeout? then say so: =timeout)"))
    }

    #[cold]
    fn problem(&mut self, event: u64, message: String) {
        self.count += 1;
        if self.problems.len() < KEPT {
            self.problems.push(Problem { event, message });
        }
    }
}
