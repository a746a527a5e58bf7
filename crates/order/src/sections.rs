//! Critical sections: which lock events count, and which sections are open.
//!
//! Of nested acquires of one lock by one thread only the outermost counts. `wait` gives a lock up at every depth, `woken`
//! takes it back at the same depth.

use event::{Batch, Event, LockId, Op, ThreadId};
use rustc_hash::FxHashMap;

/// What an event does to a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing: it is no lock event, or a nested one.
    None,
    /// Opens an exclusive section.
    Open(LockId),
    /// Closes it.
    Close(LockId),
    /// Opens a shared section.
    OpenShared(LockId),
    /// Closes it.
    CloseShared(LockId),
    /// A try-lock that failed.
    Fail(LockId),
}

/// How deep a thread is in a lock.
#[derive(Clone, Copy, Default, Debug)]
struct Depth {
    exclusive: u32,
    shared: u32,
    /// What a wait gave up: of exclusive holds if there were any, else of shared ones.
    given_up: u32,
    given_up_shared: u32,
}

/// Who holds what.
#[derive(Clone, Default, Debug)]
pub(crate) struct Sections {
    depth: FxHashMap<(LockId, ThreadId), Depth>,
}

impl Sections {
    /// Takes the next event of the recorded order.
    pub(crate) fn step(&mut self, trace: &Batch, event: Event) -> Effect {
        let thread = event.thread();
        let lock = match event.op() {
            Op::Acquire | Op::TryAcquire | Op::Release | Op::ReadAcquire | Op::ReadRelease => event.lock(),
            Op::Wait | Op::Woken => trace.extra(event).lock,
            Op::TryFail => return Effect::Fail(event.lock()),
            _ => return Effect::None,
        };
        let depth = self.depth.entry((lock, thread)).or_default();
        match event.op() {
            Op::Acquire | Op::TryAcquire => {
                depth.exclusive += 1;
                if depth.exclusive == 1 { Effect::Open(lock) } else { Effect::None }
            }
            Op::Release => {
                depth.exclusive = depth.exclusive.saturating_sub(1);
                if depth.exclusive == 0 { Effect::Close(lock) } else { Effect::None }
            }
            Op::ReadAcquire => {
                depth.shared += 1;
                if depth.shared == 1 { Effect::OpenShared(lock) } else { Effect::None }
            }
            Op::ReadRelease => {
                depth.shared = depth.shared.saturating_sub(1);
                if depth.shared == 0 { Effect::CloseShared(lock) } else { Effect::None }
            }
            Op::Wait => {
                depth.given_up = std::mem::take(&mut depth.exclusive);
                depth.given_up_shared = if depth.given_up == 0 { std::mem::take(&mut depth.shared) } else { 0 };
                match (depth.given_up, depth.given_up_shared) {
                    (0, 0) => Effect::None,
                    (0, _) => Effect::CloseShared(lock),
                    _ => Effect::Close(lock),
                }
            }
            Op::Woken => {
                depth.exclusive += std::mem::take(&mut depth.given_up);
                let shared = std::mem::take(&mut depth.given_up_shared);
                depth.shared += shared;
                match (depth.exclusive, shared) {
                    (0, 0) => Effect::None,
                    (0, _) => Effect::OpenShared(lock),
                    _ => Effect::Open(lock),
                }
            }
            _ => Effect::None,
        }
    }

    /// The open sections: lock, thread, and whether exclusive.
    pub(crate) fn open(&self) -> Vec<(LockId, ThreadId, bool)> {
        let mut open = Vec::new();
        for (&(lock, thread), depth) in &self.depth {
            if depth.exclusive > 0 {
                open.push((lock, thread, true));
            }
            if depth.shared > 0 {
                open.push((lock, thread, false));
            }
        }
        open.sort_unstable();
        open
    }
}
