//! Critical sections: which lock events count, and which sections are open.
//!
//! Of nested acquires of one lock by one thread only the outermost counts. `wait` gives a lock up at every depth,
//! `woken` takes it back at the same depth.

use event::{Batch, Event, LockId, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

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
    /// A wait of a thread that holds it both ways closes both sections.
    CloseBoth(LockId),
    /// Its wake-up opens them again.
    OpenBoth(LockId),
}

impl Effect {
    /// One after the other; what needs more of the lock is last.
    pub(crate) fn parts(self) -> [Effect; 2] {
        match self {
            Effect::CloseBoth(lock) => [Effect::CloseShared(lock), Effect::Close(lock)],
            Effect::OpenBoth(lock) => [Effect::OpenShared(lock), Effect::Open(lock)],
            one => [Effect::None, one],
        }
    }
}

/// How deep a thread is in a lock.
#[derive(Clone, Copy, Default, Debug)]
struct Depth {
    exclusive: u32,
    shared: u32,
    /// What a wait gave up, while it lasts.
    given_up: Option<(u32, u32)>,
}

/// Who holds what.
#[derive(Clone, Default, Debug)]
pub(crate) struct Sections {
    depth: FxHashMap<(LockId, ThreadId), Depth>,
}

impl Sections {
    /// Sections that are open from the beginning: what the trace closes without having opened it.
    pub(crate) fn at_first(trace: &Batch) -> Sections {
        let mut first = Sections::default();
        let mut now = Sections::default();
        // Which there have been: lock, thread, and whether exclusive.
        let mut known: FxHashSet<(LockId, ThreadId, bool)> = FxHashSet::default();
        for &event in &trace.events {
            let thread = event.thread();
            for effect in now.step(trace, event).parts() {
                match effect {
                    Effect::Open(lock) => known.insert((lock, thread, true)),
                    Effect::OpenShared(lock) => known.insert((lock, thread, false)),
                    Effect::Close(lock) if known.insert((lock, thread, true)) => {
                        first.depth.entry((lock, thread)).or_default().exclusive = 1;
                        true
                    }
                    Effect::CloseShared(lock) if known.insert((lock, thread, false)) => {
                        first.depth.entry((lock, thread)).or_default().shared = 1;
                        true
                    }
                    _ => false,
                };
            }
        }
        first
    }

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
                let held = (std::mem::take(&mut depth.exclusive), std::mem::take(&mut depth.shared));
                depth.given_up = Some(held);
                match held {
                    (0, 0) => Effect::None,
                    (0, _) => Effect::CloseShared(lock),
                    (_, 0) => Effect::Close(lock),
                    _ => Effect::CloseBoth(lock),
                }
            }
            Op::Woken => {
                // Without its wait in the trace, it takes the lock as an acquire does.
                let taken = depth.given_up.take().unwrap_or((1, 0));
                let before = (depth.exclusive, depth.shared);
                depth.exclusive += taken.0;
                depth.shared += taken.1;
                match (before.0 == 0 && taken.0 > 0, before.1 == 0 && taken.1 > 0) {
                    (false, false) => Effect::None,
                    (false, true) => Effect::OpenShared(lock),
                    (true, false) => Effect::Open(lock),
                    (true, true) => Effect::OpenBoth(lock),
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
