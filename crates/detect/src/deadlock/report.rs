//! What the detector reports: deadlocks with the orders that lead there, and what was not looked at.

use crate::Schedule;
use crate::lock_order::LockMode;
use crate::sync_preserving::NoIndex;
use event::{Batch, LockId, SiteId, StackId, ThreadId};
use rustc_hash::FxHashMap;
use sync::Sections;

/// How a deadlock is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Evidence {
    /// The trace ends in it.
    Observed,
    /// The recorded order, with events left out, leads there.
    SyncPreserving,
    /// Another order of a window leads there.
    Maximal,
}

/// A lock that a thread holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TakenLock {
    /// The lock.
    pub lock: LockId,
    /// How it is held.
    pub mode: LockMode,
    /// The event that took it.
    pub event: u64,
    /// Where that is.
    pub site: SiteId,
    /// The call stack there, 0 if not recorded.
    pub stack: StackId,
}

/// A thread of a deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// The thread.
    pub thread: ThreadId,
    /// The event that asks.
    pub event: u64,
    /// Where it asks.
    pub site: SiteId,
    /// The call stack there, 0 if not recorded.
    pub stack: StackId,
    /// The lock that it asks for.
    pub lock: LockId,
    /// How it asks for it.
    pub mode: LockMode,
    /// What it holds, and the one before it in the cycle asks for.
    pub holds: TakenLock,
}

/// Requests that wait for each other: each asks for a lock that the next one holds, the last for one of the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// How it is known.
    pub evidence: Evidence,
    /// The requests, one of each thread; first that of the thread with the least number.
    pub blocked: Vec<Blocked>,
    /// The events before them, in an order that leads there.
    pub prefix: Schedule,
}

impl Deadlock {
    /// The events that ask, in the order of the cycle.
    pub fn requests(&self) -> Vec<u64> {
        self.blocked.iter().map(|blocked| blocked.event).collect()
    }
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Deadlocks {
    /// The deadlocks: those that happened, and those predicted, in the order of their first requests.
    pub deadlocks: Vec<Deadlock>,
    /// Deadlocks found beyond [`DeadlockOptions::most`](super::DeadlockOptions::most).
    pub left_out: u64,
    /// Different deadlocks that the locks alone would allow.
    pub candidates: u64,
    /// Cycles of abstract requests, of which these are made.
    pub patterns: u64,
    /// All cycles were looked at.
    pub all_patterns: bool,
    /// Windows that were searched.
    pub windows: u64,
    /// Windows in which some question was not answered in its time.
    pub undecided_windows: u64,
    /// Candidates that are none of the deadlocks found, and for which some question was not answered in its time.
    pub undecided: u64,
    /// Why the whole trace was not searched, if it was not.
    pub too_large: Option<NoIndex>,
    /// Candidates that are none of the deadlocks found, and for that reason were looked for in windows only.
    pub windows_only: u64,
    /// Candidates that are none of the deadlocks found, and have requests too far apart for a window.
    pub apart: u64,
    /// Requests and locks that found no room in the bounds of memory. 0: nothing is missing.
    pub unrecorded: u64,
}

/// A deadlock by its requests, and the events before them.
pub(super) type FoundDeadlock = (Evidence, Vec<u64>, Schedule);

/// Finds what the thread of each request holds, in one more pass along the trace.
pub(super) fn describe(batch: &Batch, found: Vec<FoundDeadlock>) -> Vec<Deadlock> {
    // By request: the locks that others ask for.
    let mut wanted: FxHashMap<u64, Vec<LockId>> = FxHashMap::default();
    for (_, requests, _) in &found {
        for (k, &request) in requests.iter().enumerate() {
            let before = requests[(k + requests.len() - 1) % requests.len()];
            wanted.entry(request).or_default().push(batch.events[before as usize].lock());
        }
    }
    let mut blocked: FxHashMap<(u64, LockId), Blocked> = FxHashMap::default();
    // With each hold the event that took the lock.
    let mut locks: Sections<u32> = Sections::new();
    for (at, &event) in (0u32..).zip(&batch.events).filter(|_| !wanted.is_empty()) {
        let index = u64::from(at);
        if let Some(all) = wanted.get(&index)
            && let Some(mode) = locks.request(event)
        {
            for &lock in all {
                let held = |mode| locks.get(event.thread(), lock, mode).map(|(event, _)| (mode, event));
                let Some((mode_held, opened)) = LockMode::BOTH.into_iter().find_map(held) else { continue };
                let taken = batch.events[opened as usize];
                let holds = TakenLock {
                    lock,
                    mode: mode_held,
                    event: u64::from(opened),
                    site: taken.site(),
                    stack: batch.extra(taken).stack,
                };
                let (thread, site, stack) = (event.thread(), event.site(), batch.extra(event).stack);
                let asks = Blocked { thread, event: index, site, stack, lock: event.lock(), mode, holds };
                blocked.insert((index, lock), asks);
            }
        }
        locks.step(batch, event, |_| at);
    }
    let mut deadlocks: Vec<Deadlock> = Vec::new();
    for (evidence, requests, prefix) in found {
        let before = |k: usize| batch.events[requests[(k + requests.len() - 1) % requests.len()] as usize].lock();
        let cycle = requests.iter().enumerate().map(|(k, &request)| blocked.get(&(request, before(k))).cloned());
        if let Some(mut cycle) = cycle.collect::<Option<Vec<Blocked>>>() {
            let least = (0..cycle.len()).min_by_key(|&k| cycle[k].thread).unwrap_or(0);
            cycle.rotate_left(least);
            deadlocks.push(Deadlock { evidence, blocked: cycle, prefix });
        }
    }
    deadlocks.sort_by_key(|deadlock| deadlock.requests().into_iter().min());
    deadlocks
}
