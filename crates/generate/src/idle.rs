//! What a thread does outside critical sections.

use crate::machine::{Machine, Step};
use crate::thread::{Presence, Section, Thread, Want};
use event::Op;

/// The fraction of a worker's accesses that read variables which are no longer written.
const READ_SHARED: f64 = 0.22;

impl Machine {
    /// One step of a thread that holds nothing: an access, or the decision to enter a critical section.
    pub(crate) fn idle(&mut self, me: u32) -> Step {
        if self.out.count >= self.watch.next {
            self.occasion(me);
            return Step::Ran;
        }
        if self.options.all_ops && self.rng.one_in(12) {
            return self.sprinkle(me);
        }
        if self.conds.waiting() > 0 && self.rng.one_in(64) {
            let k = self.rng.below(self.conds.waiting());
            self.notify(me, self.conds.waited_on(k));
            return Step::Ran;
        }
        if self.rng.chance(self.options.pcs) {
            self.choose_section(me);
            return Step::Chose;
        }
        self.access_without_lock(me);
        if self.violation_due && self.options.viol.is_some_and(|k| self.out.count > k) && self.violation_possible() {
            self.violate();
        }
        Step::Ran
    }

    fn choose_section(&mut self, me: u32) {
        let lock = self.rng.skewed(self.options.locks);
        let left = self.section_length.draw(&mut self.rng);
        let nest_at = if self.rng.chance(self.options.nest) {
            1 + u64::from(self.rng.below(left.min(u64::from(u32::MAX)) as u32))
        } else {
            0
        };
        let reversed = self.rng.chance(self.options.rev);
        let want = self.choose_want(lock);
        let may_wait = me != 0 && !want.shared && self.options.waits > 0.0;
        let waits = may_wait && self.rng.chance(self.options.waits);
        let thread = &mut self.threads[me as usize];
        thread.section = Section { left, nest_at, reversed, waits };
        thread.want = Some(want);
    }

    /// Decides how the lock is to be taken.
    pub(crate) fn choose_want(&mut self, lock: u32) -> Want {
        let readers = self.options.readers;
        let shared = readers > 0.0 && self.rng.chance(readers);
        let attempt = self.options.all_ops && !shared && self.rng.one_in(8);
        Want { lock, shared, attempt, requested: false }
    }

    fn access_without_lock(&mut self, me: u32) {
        let u = self.rng.unit();
        let racy = self.options.racy;
        if u < racy {
            let k = self.rng.below(self.layout.racy);
            let write = self.rng.chance(self.options.writes);
            let site = 500_000 + k % 200 + if write { 1000 } else { 0 };
            self.access(me, write, self.layout.racy(k), site);
        } else if u < racy + READ_SHARED && me != 0 {
            let var = self.rng.skewed(self.layout.read_shared);
            self.access(me, false, var, 600_000 + var % 3000);
        } else {
            self.access_local(me);
        }
    }

    /// An access of one of the thread's own variables.
    #[inline]
    pub(crate) fn access_local(&mut self, me: u32) {
        let (first, many) = self.layout.local_to(me);
        let var = first + self.rng.skewed(many);
        let write = self.rng.chance(self.options.writes);
        self.access(me, write, var, 400_000 + var % 3000 + if write { 5000 } else { 0 });
    }

    #[inline]
    pub(crate) fn access(&mut self, me: u32, write: bool, var: u32, site: u32) {
        if write {
            let value = self.value();
            self.out.write(&mut self.threads[me as usize], var, value, site);
        } else {
            self.out.read(&mut self.threads[me as usize], var, site);
        }
    }

    /// Whether two workers are free for the atomicity violation.
    pub(crate) fn violation_possible(&self) -> bool {
        let free = |t: &Thread| t.presence == Presence::Alive && t.idle();
        self.threads.get(1..3).is_some_and(|workers| workers.iter().all(free))
    }

    /// A read and a write of one block with another block's write between them.
    pub(crate) fn violate(&mut self) {
        const OUTER: u32 = 98;
        const INNER: u32 = 99;
        let var = self.layout.racy(0);
        self.block(1, Op::Begin, OUTER);
        self.access(1, false, var, 700_001);
        self.block(2, Op::Begin, INNER);
        self.access(2, true, var, 700_002);
        self.block(2, Op::End, INNER);
        self.access(1, true, var, 700_003);
        self.block(1, Op::End, OUTER);
        self.violation_due = false;
    }

    pub(crate) fn block(&mut self, me: u32, op: Op, block: u32) {
        self.out.block(&mut self.threads[me as usize], op, block);
    }
}
