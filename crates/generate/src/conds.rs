//! Who waits on which condition, and which notifies have not woken anybody yet.

use std::collections::{BTreeMap, VecDeque};

/// The conditions, one per lock.
#[derive(Clone, Default, Debug)]
pub(crate) struct Conds {
    /// Those that a thread waits on.
    conds: BTreeMap<u32, Cond>,
    /// Those that a thread waits on, once per waiter.
    waited_on: Vec<u32>,
}

#[derive(Clone, Default, Debug)]
struct Cond {
    waiters: Vec<Waiter>,
    /// The indexes of the single notifies that no wake-up is paired with, in order.
    singles: VecDeque<u64>,
}

#[derive(Clone, Debug)]
struct Waiter {
    thread: u32,
    /// The index of its `wait`.
    since: u64,
    /// The index of the first `notifyall` after it.
    all: Option<u64>,
}

impl Conds {
    /// How many threads wait, on all conditions together.
    #[inline]
    pub(crate) fn waiting(&self) -> u32 {
        self.waited_on.len() as u32
    }

    /// The condition of the k-th waiter, in some order.
    pub(crate) fn waited_on(&self, k: u32) -> u32 {
        self.waited_on[k as usize]
    }

    /// Whether there is a waiter that no single notify so far is for.
    pub(crate) fn wants_notify(&self, cond: u32) -> bool {
        self.conds.get(&cond).is_some_and(|c| c.singles.len() < c.waiters.len())
    }

    /// Whether there are waiters, with a single notify for each of them.
    pub(crate) fn saturated(&self, cond: u32) -> bool {
        self.conds.get(&cond).is_some_and(|c| c.singles.len() >= c.waiters.len())
    }

    pub(crate) fn wait(&mut self, cond: u32, thread: u32, now: u64) {
        self.conds.entry(cond).or_default().waiters.push(Waiter { thread, since: now, all: None });
        self.waited_on.push(cond);
    }

    pub(crate) fn notify(&mut self, cond: u32, now: u64) {
        if let Some(cond) = self.conds.get_mut(&cond) {
            cond.singles.push_back(now);
        }
    }

    pub(crate) fn notify_all(&mut self, cond: u32, now: u64) {
        for waiter in self.conds.get_mut(&cond).into_iter().flat_map(|c| &mut c.waiters) {
            waiter.all.get_or_insert(now);
        }
    }

    /// Wakes the thread by the earliest notify that can be paired with it. `false`: there is none.
    pub(crate) fn wake_notified(&mut self, cond: u32, thread: u32) -> bool {
        let Some(Cond { waiters, singles }) = self.conds.get_mut(&cond) else { return false };
        let Some(waiter) = waiters.iter().find(|w| w.thread == thread) else { return false };
        let single = singles.iter().position(|&at| at > waiter.since);
        match (single, waiter.all) {
            (None, None) => return false,
            (Some(k), all) if all.is_none_or(|all| singles[k] < all) => {
                singles.remove(k);
            }
            _ => {}
        }
        self.leave(cond, thread);
        true
    }

    /// Wakes the thread by no notify.
    pub(crate) fn leave(&mut self, cond: u32, thread: u32) {
        if let Some(k) = self.waited_on.iter().position(|&c| c == cond) {
            self.waited_on.swap_remove(k);
        }
        let Some(Cond { waiters, singles }) = self.conds.get_mut(&cond) else { return };
        waiters.retain(|w| w.thread != thread);
        // A notify older than every wait wakes no thread.
        match waiters.iter().map(|w| w.since).min() {
            Some(oldest) => singles.retain(|&at| at > oldest),
            None => {
                self.conds.remove(&cond);
            }
        }
    }
}
