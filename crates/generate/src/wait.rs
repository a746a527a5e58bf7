//! Waiting on conditions and being woken.

use crate::machine::{Machine, Step};
use event::{Op, Wake};

/// Where the sites of the condition operations begin.
mod site {
    pub(super) const WAIT: u32 = 260_000;
    pub(super) const WOKEN: u32 = 270_000;
    pub(super) const NOTIFY: u32 = 280_000;
}

impl Machine {
    /// Begins to wait on the condition of the one lock that the thread holds, at whatever depth.
    pub(crate) fn wait(&mut self, me: u32, lock: u32) {
        // A block that gave its lock up in the middle would not be serialisable.
        self.end_block(me);
        let thread = &mut self.threads[me as usize];
        thread.waiting = Some(lock);
        thread.section.waits = false;
        thread.section.left = if self.options.txn { 0 } else { 1 };
        self.locks.give_back(lock, false);
        self.conds.wait(lock, me, self.out.count);
        self.out.wait(thread, Op::Wait, lock, Wake::Notified, site::WAIT);
    }

    /// Ends a thread's wait, if the lock is free and a notify, a timeout or chance wakes it.
    pub(crate) fn wake(&mut self, me: u32, lock: u32) -> Step {
        if !self.locks.free(lock, false) {
            return Step::Blocked;
        }
        if self.woken_by_notify(me, lock) {
            return Step::Ran;
        }
        let reason = match self.rng.below(64) {
            0 => Wake::Timeout,
            1 => Wake::Spurious,
            _ => return Step::Blocked,
        };
        self.conds.leave(lock, me);
        self.woken(me, lock, reason);
        Step::Ran
    }

    /// Ends a thread's wait on a free lock, if some notify is for it.
    pub(crate) fn woken_by_notify(&mut self, me: u32, lock: u32) -> bool {
        let notified = self.conds.wake_notified(lock, me);
        if notified {
            self.woken(me, lock, Wake::Notified);
        }
        notified
    }

    fn woken(&mut self, me: u32, lock: u32, reason: Wake) {
        self.locks.take(lock, false, me);
        let thread = &mut self.threads[me as usize];
        thread.waiting = None;
        self.out.wait(thread, Op::Woken, lock, reason, site::WOKEN);
    }

    /// Notifies one waiter or all on the condition of a lock.
    pub(crate) fn notify(&mut self, me: u32, lock: u32) {
        if self.rng.one_in(4) || self.conds.saturated(lock) {
            self.conds.notify_all(lock, self.out.count);
            self.out.notify(&mut self.threads[me as usize], Op::NotifyAll, lock, site::NOTIFY);
        } else {
            self.notify_one(me, lock);
        }
    }

    pub(crate) fn notify_one(&mut self, me: u32, lock: u32) {
        self.conds.notify(lock, self.out.count);
        self.out.notify(&mut self.threads[me as usize], Op::Notify, lock, site::NOTIFY);
    }
}
