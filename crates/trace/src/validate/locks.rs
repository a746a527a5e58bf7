//! Who holds which lock, how often, and whether shared.

use event::{LockId, Names, Space, ThreadId};
use std::collections::BTreeMap;

/// How a thread held a lock that it gave up in a wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldBeforeWait {
    exclusive: u32,
    shared: u32,
}

impl HeldBeforeWait {
    pub(super) const ONCE: HeldBeforeWait = HeldBeforeWait { exclusive: 1, shared: 0 };
}

#[derive(Clone, Default)]
struct Lock {
    /// The exclusive holder and how often it holds the lock.
    owner: Option<ThreadId>,
    depth: u32,
    /// The event at which the lock was last taken.
    since: u64,
    /// Shared holders.
    readers: BTreeMap<ThreadId, u32>,
}

#[derive(Default)]
pub(super) struct Locks {
    locks: Vec<Lock>,
}

impl Locks {
    pub(super) fn grow(&mut self, names: &Names) {
        self.locks.resize_with(names.space(Space::Lock).len(), Lock::default);
    }

    #[inline]
    pub(super) fn acquire(&mut self, names: &Names, thread: ThreadId, lock: LockId, index: u64) -> Option<String> {
        let state = &mut self.locks[lock.0 as usize];
        if state.owner == Some(thread) {
            state.depth += 1;
            return None;
        }
        let conflict = state.owner.or_else(|| state.readers.keys().copied().find(|&reader| reader != thread));
        let message = conflict.map(|holder| taken(names, thread, lock, holder, state.since));
        state.owner = Some(thread);
        state.depth = 1;
        state.since = index;
        message
    }

    #[inline]
    pub(super) fn release(&mut self, names: &Names, thread: ThreadId, lock: LockId) -> Option<String> {
        let state = &mut self.locks[lock.0 as usize];
        if state.owner != Some(thread) {
            return Some(format!("{} releases {}, which it does not hold", names.thread(thread), names.lock(lock)));
        }
        state.depth -= 1;
        if state.depth == 0 {
            state.owner = None;
        }
        None
    }

    pub(super) fn read_acquire(&mut self, names: &Names, thread: ThreadId, lock: LockId, index: u64) -> Option<String> {
        let state = &mut self.locks[lock.0 as usize];
        let conflict = state.owner.filter(|&owner| owner != thread);
        let message = conflict.map(|holder| taken(names, thread, lock, holder, state.since));
        *state.readers.entry(thread).or_default() += 1;
        state.since = index;
        message
    }

    pub(super) fn read_release(&mut self, names: &Names, thread: ThreadId, lock: LockId) -> Option<String> {
        let state = &mut self.locks[lock.0 as usize];
        let Some(depth) = state.readers.get_mut(&thread) else {
            let (t, l) = (names.thread(thread), names.lock(lock));
            return Some(format!("{t} releases {l} as a reader, which it does not hold shared"));
        };
        *depth -= 1;
        if *depth == 0 {
            state.readers.remove(&thread);
        }
        None
    }

    /// A wait gives the lock up at every depth. `None` if the thread did not hold it.
    pub(super) fn give_up(&mut self, thread: ThreadId, lock: LockId) -> Option<HeldBeforeWait> {
        let state = &mut self.locks[lock.0 as usize];
        let mut held = HeldBeforeWait { exclusive: 0, shared: 0 };
        if state.owner == Some(thread) {
            held.exclusive = state.depth;
            state.owner = None;
            state.depth = 0;
        }
        held.shared = state.readers.remove(&thread).unwrap_or(0);
        (held.exclusive + held.shared > 0).then_some(held)
    }

    /// A wake-up takes back what the wait gave up.
    pub(super) fn take_back(
        &mut self,
        names: &Names,
        thread: ThreadId,
        lock: LockId,
        held: HeldBeforeWait,
        index: u64,
    ) -> Option<String> {
        let mut message = None;
        if held.exclusive > 0 {
            message = self.acquire(names, thread, lock, index);
            self.locks[lock.0 as usize].depth = held.exclusive;
        }
        if held.shared > 0 {
            message = message.or(self.read_acquire(names, thread, lock, index));
            self.locks[lock.0 as usize].readers.insert(thread, held.shared);
        }
        message
    }
}

#[cold]
fn taken(names: &Names, thread: ThreadId, lock: LockId, holder: ThreadId, since: u64) -> String {
    let (t, l, h) = (names.thread(thread), names.lock(lock), names.thread(holder));
    format!("{t} takes {l} while {h} holds it (since event {since})")
}
