//! Locks, conditions, latches and semaphores: who learns what from whom.

use super::clocks::{Clocks, Gathered, Given, Thread, Time};
use event::{Id, LockId, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A lock.
#[derive(Default, Debug)]
pub(super) struct Lock {
    owner: Option<ThreadId>,
    depth: u32,
    /// The last exclusive release.
    released: Given,
    /// Shared releases that it does not come after.
    read_released: Gathered,
}

/// How often a thread held a lock.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Depth {
    exclusive: u32,
    shared: u32,
}

/// All locks.
#[derive(Default, Debug)]
pub(super) struct Locks {
    locks: Vec<Lock>,
    shared: FxHashMap<(LockId, ThreadId), u32>,
}

impl Locks {
    pub(super) fn grow(&mut self, locks: usize) {
        self.locks.resize_with(locks.max(self.locks.len()), Lock::default);
    }

    /// Forgets all clocks, whose rows are gone.
    pub(super) fn forget_clocks(&mut self) {
        for lock in &mut self.locks {
            lock.released = Given::default();
            lock.read_released = Gathered::new();
        }
    }

    pub(super) fn holds(&self, thread: ThreadId, lock: LockId) -> bool {
        self.locks[lock.index()].owner == Some(thread) || self.shared.contains_key(&(lock, thread))
    }

    pub(super) fn acquire(&mut self, clocks: &mut Clocks, thread: ThreadId, lock: LockId) {
        let lock = &mut self.locks[lock.index()];
        if lock.owner == Some(thread) {
            lock.depth = lock.depth.saturating_add(1);
            return;
        }
        (lock.owner, lock.depth) = (Some(thread), 1);
        clocks.learn(thread, lock.released);
        clocks.learn_all(thread, &lock.read_released);
    }

    pub(super) fn release(&mut self, clocks: &mut Clocks, thread: ThreadId, me: Thread, lock: LockId, now: Time) {
        let lock = &mut self.locks[lock.index()];
        if lock.owner == Some(thread) {
            lock.depth -= 1;
            if lock.depth > 0 {
                return;
            }
            lock.owner = None;
        }
        lock.released_by(clocks, me, now);
    }

    pub(super) fn read_acquire(&mut self, clocks: &mut Clocks, thread: ThreadId, lock: LockId) {
        let depth = self.shared.entry((lock, thread)).or_default();
        *depth = depth.saturating_add(1);
        if *depth == 1 {
            clocks.learn(thread, self.locks[lock.index()].released);
        }
    }

    pub(super) fn read_release(&mut self, clocks: &mut Clocks, thread: ThreadId, me: Thread, lock: LockId, now: Time) {
        if let Some(depth) = self.shared.get_mut(&(lock, thread)) {
            *depth -= 1;
            if *depth > 0 {
                return;
            }
            self.shared.remove(&(lock, thread));
        }
        let given = me.given(now);
        clocks.gather(&mut self.locks[lock.index()].read_released, given);
    }

    /// A wait gives the lock up at every depth.
    pub(super) fn give_up(
        &mut self,
        clocks: &mut Clocks,
        thread: ThreadId,
        me: Thread,
        lock: LockId,
        now: Time,
    ) -> Depth {
        let shared = self.shared.remove(&(lock, thread)).unwrap_or(0);
        let lock = &mut self.locks[lock.index()];
        let mut given_up = Depth { exclusive: 0, shared };
        if lock.owner == Some(thread) {
            given_up.exclusive = std::mem::take(&mut lock.depth);
            lock.owner = None;
        }
        if shared > 0 {
            clocks.gather(&mut lock.read_released, me.given(now));
        }
        // A wait without the lock closes a section that was open from the beginning.
        if given_up.exclusive > 0 || shared == 0 {
            lock.released_by(clocks, me, now);
        }
        given_up
    }

    /// The wake-up takes back what the wait gave up.
    pub(super) fn take_back(&mut self, clocks: &mut Clocks, thread: ThreadId, lock: LockId, depth: Depth) {
        if depth.exclusive > 0 || depth.shared == 0 {
            self.acquire(clocks, thread, lock);
            let lock = &mut self.locks[lock.index()];
            lock.depth = lock.depth.max(depth.exclusive);
        }
        if depth.shared > 0 {
            self.read_acquire(clocks, thread, lock);
            self.shared.insert((lock, thread), depth.shared);
        }
    }
}

impl Lock {
    fn released_by(&mut self, clocks: &mut Clocks, me: Thread, now: Time) {
        clocks.give(&mut self.released, me, now);
        if !self.read_released.is_empty() {
            let mine = clocks.row(me.row);
            if self.read_released.iter().zip(mine).all(|(theirs, mine)| theirs <= mine) {
                self.read_released.clear();
            }
        }
    }
}

/// A condition: the notifies that may still be paired with a `woken`, by their places in the trace.
#[derive(Default, Debug)]
pub(super) struct Cond {
    waits: BTreeSet<(u64, ThreadId)>,
    notifies: BTreeMap<u64, (Given, bool)>,
    /// Notifies since the last wait that more would be of no use after: as many as threads waited then, none after a
    /// notify-all.
    room: usize,
}

impl Cond {
    pub(super) fn wait(&mut self, thread: ThreadId, at: u64) {
        self.waits.insert((at, thread));
        self.room = self.waits.len();
    }

    /// Forgets all clocks, whose rows are gone, but not who is paired with whom.
    pub(super) fn forget_clocks(&mut self) {
        self.notifies.values_mut().for_each(|notify| notify.0 = Given::default());
    }

    /// A notify, of one or of all that wait.
    pub(super) fn notify(&mut self, clocks: &mut Clocks, me: Thread, now: Time, at: u64, all: bool) {
        if self.room > 0 && !self.waits.is_empty() {
            self.room = if all { 0 } else { self.room - 1 };
            let mut given = Given::default();
            clocks.give(&mut given, me, now);
            self.notifies.insert(at, (given, all));
            if self.notifies.len() > 2 * self.waits.len() {
                self.trim(clocks);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.notifies.len()
    }

    /// Forgets the notifies that are of no use to those who wait: each is paired with the earliest that it can have, so
    /// what came when there were as many before as had waited by then stays over.
    fn trim(&mut self, clocks: &mut Clocks) {
        let mut waits = self.waits.iter().peekable();
        let (mut waiting, mut served) = (0, 0);
        self.notifies.retain(|&at, &mut (given, all)| {
            while waits.next_if(|wait| wait.0 < at).is_some() {
                waiting += 1;
            }
            let useful = served < waiting;
            if useful {
                served = if all { waiting } else { served + 1 };
            } else {
                clocks.drop(given.row);
            }
            useful
        });
    }

    /// The thread, which has waited since then, wakes; if by a notify, it learns what that gave.
    pub(super) fn woken(&mut self, clocks: &mut Clocks, thread: ThreadId, since: u64, notified: bool) {
        self.waits.remove(&(since, thread));
        if notified && let Some((&at, &(given, all))) = self.notifies.range(since + 1..).next() {
            clocks.learn(thread, given);
            if !all {
                self.notifies.remove(&at);
                clocks.drop(given.row);
            }
        }
        let oldest = self.waits.first().map_or(u64::MAX, |wait| wait.0);
        while let Some(entry) = self.notifies.first_entry().filter(|entry| *entry.key() < oldest) {
            clocks.drop(entry.remove().0.row);
        }
    }
}

/// Ups of a semaphore that are kept apart; later ones are one.
const MOST_UPS: usize = 1 << 16;

/// A counting semaphore: the ups whose downs are still to come, in order.
#[derive(Default, Debug)]
pub(super) struct Semaphore {
    pub(super) used: bool,
    /// Downs that the initial count allows.
    pub(super) initial: u64,
    ups: VecDeque<Given>,
    /// How many came after these, for which there was no room, and what all of them gave: rather too much order than a queue
    /// as long as the trace.
    more: u64,
    all: Gathered,
}

impl Semaphore {
    /// Forgets all clocks, whose rows are gone, but not the count.
    pub(super) fn forget_clocks(&mut self) {
        self.ups.iter_mut().for_each(|given| *given = Given::default());
        self.all = Gathered::new();
    }

    /// Whether the up was kept apart from others.
    pub(super) fn up(&mut self, clocks: &mut Clocks, me: Thread, now: Time) -> bool {
        let apart = self.more == 0 && self.ups.len() < MOST_UPS;
        if apart {
            let mut given = Given::default();
            clocks.give(&mut given, me, now);
            self.ups.push_back(given);
        } else {
            self.more += 1;
            clocks.gather(&mut self.all, Given { slot: me.slot, time: now, row: me.row });
        }
        apart
    }

    pub(super) fn down(&mut self, clocks: &mut Clocks, thread: ThreadId) {
        if self.initial > 0 {
            self.initial -= 1;
        } else if let Some(given) = self.ups.pop_front() {
            clocks.learn(thread, given);
            clocks.drop(given.row);
        } else if self.more > 0 {
            self.more -= 1;
            clocks.learn_all(thread, &self.all);
            if self.more == 0 {
                self.all.clear();
            }
        }
    }
}
