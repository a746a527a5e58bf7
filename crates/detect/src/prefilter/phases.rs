//! The accesses of a variable in phases, and whether two of them can meet.

use crate::kept_order::{KeptOrder, ThreadSegment};
use crate::locksets::{LockSets, SetId};

/// Threads of one phase that are distinguished; of more, no later phase begins.
const MOST_THREADS: usize = 64;

/// An access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) thread: u32,
    pub(super) kind: u8,
    pub(super) locks: SetId,
}

impl Access {
    pub(super) const READ: u8 = 1;
    pub(super) const WRITE: u8 = 2;
    pub(super) const PLAIN: u8 = 4;
    pub(super) const ATOMIC: u8 = 8;
}

/// What is remembered of the variable as a whole, beside the kinds of its phase.
pub(super) const MAY_RACE: u8 = 32;
pub(super) const HAD_ATOMIC: u8 = 64;

/// A variable.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Var {
    /// Held at all accesses of the phase.
    pub(super) locks: u32,
    /// Everything before the phase comes before this, or is it.
    base: ThreadSegment,
    /// The threads of the phase, each at its last access.
    one: ThreadSegment,
    two: ThreadSegment,
    /// The list of more of them, from 1 on.
    more: u32,
    flags: u8,
    begun: bool,
}

impl Var {
    /// Its memory is new: what comes is after all that was, in every run.
    pub(super) fn renew(&mut self) {
        let more = self.more;
        let flags = self.flags & (MAY_RACE | HAD_ATOMIC);
        *self = Var { more, flags, ..Var::default() };
    }

    /// Nothing is known of it any more.
    pub(super) fn forget(&mut self) {
        *self = Var { more: self.more, ..Var::default() };
    }

    /// What is known of it for good.
    pub(super) fn marks(&self) -> u8 {
        self.flags & (MAY_RACE | HAD_ATOMIC)
    }

    /// A phase begins with this access.
    fn begin(&mut self, base: ThreadSegment, now: ThreadSegment, access: Access) {
        self.base = base;
        (self.one, self.two) = (now, ThreadSegment::default());
        self.locks = known(access.locks);
        self.flags = self.flags & (MAY_RACE | HAD_ATOMIC) | access.kind;
    }
}

/// A set that is not known has nothing for sure.
fn known(set: SetId) -> u32 {
    if set == SetId::ALL { SetId::EMPTY.word() } else { set.word() }
}

/// The threads of phases that have many.
#[derive(Default, Debug)]
pub(super) struct Phases {
    lists: Vec<Vec<ThreadSegment>>,
}

impl Phases {
    #[inline]
    pub(super) fn access(&mut self, var: &mut Var, access: Access, order: &KeptOrder, sets: &mut LockSets) {
        if access.kind & Access::ATOMIC != 0 {
            var.flags |= HAD_ATOMIC;
        }
        let now = order.now(access.thread);
        if !var.begun {
            var.begun = true;
            var.begin(ThreadSegment::default(), now, access);
            return;
        }
        if var.flags & MAY_RACE != 0 {
            return;
        }
        if var.base.segment != 0 && !order.is_before(var.base, access.thread) {
            var.flags |= MAY_RACE;
        }
        if var.two.segment == 0 {
            if var.one.thread != access.thread {
                if order.is_before(var.one, access.thread) {
                    var.begin(var.one, now, access);
                    return;
                }
                var.two = now;
                if var.more > 0 {
                    self.lists[var.more as usize - 1].clear();
                }
            } else {
                var.one = now;
            }
        } else if self.enters(var, now, order) {
            var.begin(now, now, access);
            return;
        }
        var.flags |= access.kind & (Access::READ | Access::WRITE | Access::PLAIN | Access::ATOMIC);
        let locks = known(access.locks);
        if var.locks != locks {
            var.locks = known(sets.meet(SetId::from_word(var.locks), SetId::from_word(locks)));
        }
        const CONFLICT: u8 = Access::WRITE | Access::PLAIN;
        if var.two.segment != 0 && var.locks == SetId::EMPTY.word() && var.flags & CONFLICT == CONFLICT {
            var.flags |= MAY_RACE;
        }
    }

    /// A thread accesses a variable that several access. Whether it comes after all that the others did.
    #[inline]
    fn enters(&mut self, var: &mut Var, now: ThreadSegment, order: &KeptOrder) -> bool {
        // It knew no more when it was last here, and the others have done no less since.
        if var.one == now || var.two == now {
            return false;
        }
        self.begins_phase(var, now, order)
    }

    fn begins_phase(&mut self, var: &mut Var, now: ThreadSegment, order: &KeptOrder) -> bool {
        let list = (var.more as usize).checked_sub(1);
        let others = list.map(|list| self.lists[list].as_slice()).unwrap_or_default();
        if others.contains(&now) {
            return false;
        }
        // A full list has forgotten some.
        let full = others.len() >= MOST_THREADS;
        let before = |&segment: &ThreadSegment| order.is_before(segment, now.thread);
        if !full && before(&var.one) && before(&var.two) && others.iter().all(before) {
            return true;
        }
        for slot in [&mut var.one, &mut var.two] {
            if slot.thread == now.thread {
                *slot = now;
                return false;
            }
        }
        let list = list.unwrap_or_else(|| {
            self.lists.push(Vec::new());
            var.more = self.lists.len() as u32;
            self.lists.len() - 1
        });
        let list = &mut self.lists[list];
        match list.iter_mut().find(|segment| segment.thread == now.thread) {
            Some(known) => *known = now,
            None if full => {}
            None => list.push(now),
        }
        false
    }
}
