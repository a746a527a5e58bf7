//! Locks, conditions and blocks: what their operations mean for each other.

use super::graph::Mark;
use event::{BlockId, CondId, LockId, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// Blocks nested deeper than this are counted, and no longer told apart.
const MAX_DEPTH: usize = 1 << 10;

/// The blocks that a thread is in.
#[derive(Clone, Default, Debug)]
pub(super) struct Blocks {
    open: Vec<BlockId>,
    deeper: u64,
}

impl Blocks {
    pub(super) fn begin(&mut self, block: BlockId) {
        if self.open.len() < MAX_DEPTH {
            self.open.push(block);
        } else {
            self.deeper += 1;
        }
    }

    /// A nameless end closes the innermost block; another one those inside its own, too, or nothing if it has none.
    pub(super) fn end(&mut self, block: BlockId) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if block == BlockId(0) {
            self.open.pop();
        } else if let Some(at) = self.open.iter().rposition(|&open| open == block) {
            self.open.truncate(at);
        }
    }

    /// How many are open.
    pub(super) fn depth(&self) -> u64 {
        self.open.len() as u64 + self.deeper
    }
}

/// How often a thread holds a lock.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Depth {
    lock: LockId,
    exclusive: u32,
    shared: u32,
}

/// The locks that a thread holds: few.
#[derive(Default, Debug)]
pub(super) struct Held(Vec<Depth>);

impl Held {
    fn of(&mut self, lock: LockId) -> &mut Depth {
        let at = self.0.iter().position(|held| held.lock == lock).unwrap_or_else(|| {
            self.0.push(Depth { lock, ..Depth::default() });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    fn tidy(&mut self) {
        self.0.retain(|held| held.exclusive + held.shared > 0);
    }

    /// Whether this has an effect: it is not inside another such section of the same lock.
    pub(super) fn acquire(&mut self, lock: LockId) -> bool {
        let held = self.of(lock);
        held.exclusive = held.exclusive.saturating_add(1);
        held.exclusive == 1
    }

    pub(super) fn read_acquire(&mut self, lock: LockId) -> bool {
        let held = self.of(lock);
        held.shared = held.shared.saturating_add(1);
        held.shared == 1
    }

    pub(super) fn release(&mut self, lock: LockId) -> bool {
        let held = self.of(lock);
        held.exclusive = held.exclusive.saturating_sub(1);
        let effect = held.exclusive == 0;
        self.tidy();
        effect
    }

    pub(super) fn read_release(&mut self, lock: LockId) -> bool {
        let held = self.of(lock);
        held.shared = held.shared.saturating_sub(1);
        let effect = held.shared == 0;
        self.tidy();
        effect
    }

    /// A wait gives the lock up at every depth.
    pub(super) fn give_up(&mut self, lock: LockId) -> Depth {
        let held = std::mem::take(self.of(lock));
        self.tidy();
        Depth { lock, ..held }
    }

    /// Its end takes back what it gave up; a thread that says it woke has the lock in any case.
    pub(super) fn take_back(&mut self, lock: LockId, given_up: Option<Depth>) {
        let given_up = given_up.filter(|given| given.exclusive + given.shared > 0);
        let (exclusive, shared) = given_up.map_or((1, 0), |given| (given.exclusive, given.shared));
        let held = self.of(lock);
        held.exclusive = held.exclusive.saturating_add(exclusive);
        held.shared = held.shared.saturating_add(shared);
    }
}

/// A wait that goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) cond: CondId,
    pub(super) lock: LockId,
    pub(super) since: u64,
    pub(super) given_up: Depth,
}

/// A condition: the notifies that may still be paired with a `woken`, by their indexes.
#[derive(Default, Debug)]
pub(super) struct Cond {
    waits: BTreeSet<(u64, ThreadId)>,
    pub(super) notifies: BTreeMap<u64, (Mark, bool)>,
    /// Notifies since the last wait that more would be of no use after: as many as threads waited then, none after a
    /// notify-all.
    room: usize,
}

impl Cond {
    pub(super) fn wait(&mut self, thread: ThreadId, now: u64) {
        self.waits.insert((now, thread));
        self.room = self.waits.len();
    }

    /// A notify, of one or of all that wait.
    pub(super) fn notify(&mut self, mark: Mark, now: u64, all: bool) {
        if self.room > 0 && !self.waits.is_empty() {
            self.room = if all { 0 } else { self.room - 1 };
            self.notifies.insert(now, (mark, all));
        }
    }

    /// The thread, which has waited since then, waits no longer: the notify that it is paired with, if one ended it.
    pub(super) fn woken(&mut self, thread: ThreadId, since: u64, notified: bool) -> Option<Mark> {
        self.waits.remove(&(since, thread));
        let mut paired = None;
        if notified && let Some((&at, &(mark, all))) = self.notifies.range(since + 1..).next() {
            paired = Some(mark);
            if !all {
                self.notifies.remove(&at);
            }
        }
        let oldest = self.waits.first().map_or(u64::MAX, |wait| wait.0);
        while let Some(entry) = self.notifies.first_entry().filter(|entry| *entry.key() < oldest) {
            entry.remove();
        }
        paired
    }
}
