//! Critical sections: taking locks, accesses under them, giving them back.

use crate::machine::{Machine, Step};
use crate::thread::{Hold, Want};
use event::Op;

/// The fraction of accesses in a critical section that are to the variables of its lock.
const PROTECTED: f64 = 0.6;
/// Variables of locks are written somewhat more often than others.
const MORE_WRITES: f64 = 0.1;

/// Where the sites of the lock operations begin.
mod site {
    pub(super) const ACQUIRE: u32 = 100_000;
    pub(super) const REVERSED: u32 = 150_000;
    pub(super) const READ_ACQUIRE: u32 = 160_000;
    pub(super) const TRY: u32 = 170_000;
    pub(super) const AGAIN: u32 = 190_000;
    pub(super) const RELEASE: u32 = 200_000;
    pub(super) const READ_RELEASE: u32 = 250_000;
}

impl Machine {
    /// Tries to take the lock that the thread wants.
    pub(crate) fn take(&mut self, me: u32, want: Want) -> Step {
        if !self.locks.free(want.lock, want.shared) {
            return self.refused(me, want);
        }
        self.begin_block(me, want.lock);
        self.threads[me as usize].want = None;
        let (op, site) = match want {
            Want { shared: true, .. } => (Op::ReadAcquire, site::READ_ACQUIRE),
            Want { attempt: true, .. } => (Op::TryAcquire, site::TRY),
            _ => (Op::Acquire, site::ACQUIRE),
        };
        self.acquire(me, op, Hold { lock: want.lock, shared: want.shared }, site);
        Step::Ran
    }

    fn refused(&mut self, me: u32, want: Want) -> Step {
        if want.attempt && self.locks.owned(want.lock) {
            self.threads[me as usize].want = None;
            self.out.lock(&mut self.threads[me as usize], Op::TryFail, want.lock, site::TRY);
            return Step::Ran;
        }
        if self.options.all_ops && !want.attempt && !want.requested && self.rng.one_in(4) {
            self.begin_block(me, want.lock);
            let thread = &mut self.threads[me as usize];
            thread.want = Some(Want { requested: true, ..want });
            let site = if want.shared { site::READ_ACQUIRE } else { site::ACQUIRE };
            self.out.lock(thread, Op::Request, want.lock, site);
        }
        Step::Blocked
    }

    /// Opens the atomic block around an outermost critical section.
    fn begin_block(&mut self, me: u32, lock: u32) {
        let thread = &mut self.threads[me as usize];
        if self.options.txn && thread.held.is_empty() && thread.block.is_none() {
            let block = lock % 97;
            thread.block = Some(block);
            self.block(me, Op::Begin, block);
        }
    }

    fn acquire(&mut self, me: u32, op: Op, hold: Hold, site: u32) {
        self.locks.take(hold.lock, hold.shared, me);
        let thread = &mut self.threads[me as usize];
        thread.held.push(hold);
        self.out.lock(thread, op, hold.lock, site);
    }

    /// Takes the exclusive lock that the thread holds once more.
    pub(crate) fn acquire_again(&mut self, me: u32, hold: Hold) {
        let thread = &mut self.threads[me as usize];
        thread.held.push(hold);
        self.out.lock(thread, Op::Acquire, hold.lock, site::AGAIN);
    }

    /// Gives the innermost lock back.
    pub(crate) fn release(&mut self, me: u32) {
        let thread = &mut self.threads[me as usize];
        let Some(hold) = thread.held.pop() else { return };
        if !thread.held.contains(&hold) {
            self.locks.give_back(hold.lock, hold.shared);
        }
        let (op, site) = if hold.shared { (Op::ReadRelease, site::READ_RELEASE) } else { (Op::Release, site::RELEASE) };
        self.out.lock(thread, op, hold.lock, site);
        if self.threads[me as usize].held.is_empty() {
            self.end_block(me);
        }
    }

    /// Closes the atomic block around the critical section, if there is one.
    pub(crate) fn end_block(&mut self, me: u32) {
        if let Some(block) = self.threads[me as usize].block.take() {
            self.block(me, Op::End, block);
        }
    }

    /// One step of a thread in a critical section: an access, another lock, a notify, a wait, or the end of it.
    pub(crate) fn section(&mut self, me: u32, top: Hold) -> Step {
        let thread = &mut self.threads[me as usize];
        let section = thread.section;
        let depth = thread.held.len();
        if section.left == 0 {
            return self.end_section(me, top);
        }
        if section.nest_at == section.left && depth == 1 {
            thread.section.nest_at = 0;
            if let Some(step) = self.nest(me, top) {
                return step;
            }
        }
        if self.options.all_ops && depth == 1 && !top.shared && self.rng.one_in(64) {
            self.acquire_again(me, top);
            return Step::Ran;
        }
        self.threads[me as usize].section.left -= 1;
        if self.rng.chance(PROTECTED) {
            let (first, many) = self.layout.protected_by(top.lock);
            let var = first + self.rng.skewed(many);
            let write = self.rng.chance(self.options.writes + MORE_WRITES) && !top.shared;
            self.access(me, write, var, 300_000 + var % 3000 + if write { 5000 } else { 0 });
        } else {
            self.access_local(me);
        }
        Step::Ran
    }

    /// Turns to a second lock: a later one, waiting for it if need be, or, in a reversed section, an earlier one that
    /// happens to be free. So a cycle of threads that wait for each other can happen in another run, never in this.
    fn nest(&mut self, me: u32, top: Hold) -> Option<Step> {
        let other = self.rng.skewed(self.options.locks);
        if other > top.lock {
            self.threads[me as usize].want = Some(self.choose_want(other));
            return Some(Step::Ran);
        }
        let reversed = self.threads[me as usize].section.reversed;
        if reversed && other < top.lock && self.locks.free(other, false) {
            self.acquire(me, Op::Acquire, Hold { lock: other, shared: false }, site::REVERSED);
            return Some(Step::Ran);
        }
        None
    }

    fn end_section(&mut self, me: u32, top: Hold) -> Step {
        if self.conds.waiting() > 0 && !top.shared && self.conds.wants_notify(top.lock) && self.rng.one_in(2) {
            self.notify(me, top.lock);
            return Step::Ran;
        }
        let thread = &self.threads[me as usize];
        if thread.section.waits && thread.held.iter().all(|&h| h == top) {
            if self.options.all_ops && thread.held.len() == 1 && self.rng.one_in(4) {
                self.acquire_again(me, top);
                return Step::Ran;
            }
            self.wait(me, top.lock);
            return Step::Blocked;
        }
        self.release(me);
        Step::Ran
    }
}
