//! What the detector reports: cycles of requests, and what it did not look at.

use event::{LockId, SiteId, StackId, ThreadId};
pub use sync::LockMode;

/// A lock that a thread holds, and where it took it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HeldLock {
    /// The lock.
    pub lock: LockId,
    /// How it is held.
    pub mode: LockMode,
    /// Where it was taken.
    pub site: SiteId,
    /// The call stack of the first time it was taken so, 0 if not recorded.
    pub stack: StackId,
}

/// A thread that holds locks and asks for another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockRequest {
    /// The thread.
    pub thread: ThreadId,
    /// The lock it asks for.
    pub lock: LockId,
    /// How it asks for it.
    pub mode: LockMode,
    /// Where it asks.
    pub site: SiteId,
    /// The call stack of the request, 0 if not recorded.
    pub stack: StackId,
    /// The event with which it got the lock (or asked, if it never did): the first of its kind in its segment.
    pub event: u64,
    /// What it holds meanwhile, in the order it was taken.
    pub held: Vec<HeldLock>,
    /// Which of these the request before this one in the cycle asks for, as an index of `held`.
    pub holds: usize,
    /// How often this thread asked so: with these locks held and from these sites.
    pub count: u64,
    /// The trace ends without an answer.
    pub unanswered: bool,
}

impl LockRequest {
    /// The lock that the request before this one in the cycle asks for.
    pub fn holder(&self) -> HeldLock {
        self.held[self.holds]
    }
}

/// Requests that can wait for each other: each asks for a lock that the next one holds, the last for one of the first.
///
/// The first is the one that holds the least lock of those asked for. Cycles are distinguished by the locks, how they
/// are held and asked for, and from which sites; the threads are an example.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockCycle {
    /// The requests, one of each thread.
    pub requests: Vec<LockRequest>,
}

impl LockCycle {
    /// The locks around the cycle, each held by the request with its index and asked for by the one before.
    pub fn locks(&self) -> Vec<LockId> {
        self.requests.iter().map(|request| request.holder().lock).collect()
    }

    /// Whether the trace ends in this deadlock: no request was answered.
    pub fn happened(&self) -> bool {
        self.requests.iter().all(|request| request.unanswered)
    }
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LockOrderReport {
    /// The cycles, the shortest first.
    pub cycles: Vec<LockCycle>,
    /// Cycles found beyond [`LockOrderOptions::cycles`](super::LockOrderOptions::cycles).
    pub left_out: u64,
    /// All cycles of up to so many threads were looked at.
    pub searched: usize,
    /// All cycles that were asked for were looked at, whatever their length.
    pub complete: bool,
    /// Acquisitions, forks, joins, edges and requests that found no room in the bounds of memory. 0: nothing is
    /// missing.
    pub unrecorded: u64,
}
