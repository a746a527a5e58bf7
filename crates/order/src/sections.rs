//! Critical sections: which lock events count, and which sections are open.
//!
//! [`HeldLocks`] decides that; here its effects become cases that the models distinguish.

use event::{Batch, Event, LockId, Op, ThreadId};
use rustc_hash::FxHashSet;
use sync::{Change, HeldLocks, LockMode};

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
    /// The effect on one section after another, the shared one first.
    pub(crate) fn parts(self) -> [Effect; 2] {
        match self {
            Effect::CloseBoth(lock) => [Effect::CloseShared(lock), Effect::Close(lock)],
            Effect::OpenBoth(lock) => [Effect::OpenShared(lock), Effect::Open(lock)],
            one => [Effect::None, one],
        }
    }
}

/// The sections that are open.
#[derive(Clone, Default, Debug)]
pub(crate) struct Sections {
    held: HeldLocks,
}

impl Sections {
    /// Sections that are open from the beginning: what the trace closes without having opened it.
    pub(crate) fn at_first(trace: &Batch) -> Sections {
        let mut first = Sections::default();
        let mut now = HeldLocks::<()>::new();
        // Those that there have been.
        let mut known: FxHashSet<(LockId, ThreadId, LockMode)> = FxHashSet::default();
        for &event in &trace.events {
            let Some(effect) = now.step(trace, event, |_| ()) else { continue };
            for (mode, change) in effect.changes().into_iter().filter(|(_, change)| *change != Change::None) {
                let is_new = known.insert((effect.lock, event.thread(), mode));
                if is_new && change == Change::ClosesInitial {
                    first.held.acquire(event.thread(), effect.lock, mode, |_| ());
                }
            }
        }
        first
    }

    /// Takes the next event of the recorded order.
    pub(crate) fn step(&mut self, trace: &Batch, event: Event) -> Effect {
        if event.op() == Op::TryFail {
            return Effect::Fail(event.lock());
        }
        let Some(effect) = self.held.step(trace, event, |_| ()) else { return Effect::None };
        let (lock, exclusive, shared) = (effect.lock, effect.exclusive, effect.shared);
        match (exclusive.opens(), shared.opens(), exclusive.closes(), shared.closes()) {
            (true, true, ..) => Effect::OpenBoth(lock),
            (true, ..) => Effect::Open(lock),
            (_, true, ..) => Effect::OpenShared(lock),
            (_, _, true, true) => Effect::CloseBoth(lock),
            (_, _, true, _) => Effect::Close(lock),
            (_, _, _, true) => Effect::CloseShared(lock),
            _ => Effect::None,
        }
    }

    /// The open sections: lock, thread, and whether exclusive.
    pub(crate) fn open(&self) -> Vec<(LockId, ThreadId, bool)> {
        let holds = self.held.all().map(|hold| (hold.lock, hold.thread, hold.mode == LockMode::Exclusive));
        let mut open: Vec<(LockId, ThreadId, bool)> = holds.collect();
        open.sort_unstable();
        open
    }
}
