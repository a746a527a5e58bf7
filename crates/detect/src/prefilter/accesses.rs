//! The accesses of a variable, as far as later ones can meet them: of each thread and kind the last.

use super::must_order::MustOrder;
use super::phases::Access;
use crate::locksets::{LockSets, SetId};

/// The accesses of a variable by one thread that are of one kind.
#[derive(Clone, Copy, Debug)]
struct Kind {
    thread: u32,
    kind: u8,
    /// Up to this access, nothing is known of the locks. 0: there is no such access.
    base: u32,
    last: u32,
    /// Held at all accesses behind that one.
    locks: SetId,
}

/// The accesses of a variable. Events are counts of those of their threads.
#[derive(Default, Debug)]
pub(super) struct Accesses {
    kinds: Vec<Kind>,
}

/// `ALL` stands for a set that is not known: no lock is surely in it.
fn known(set: SetId) -> SetId {
    if set == SetId::ALL { SetId::EMPTY } else { set }
}

fn conflict(a: u8, b: u8) -> bool {
    (a | b) & Access::WRITE != 0 && (a | b) & Access::PLAIN != 0
}

impl Accesses {
    pub(super) fn clear(&mut self) {
        self.kinds.clear();
    }

    /// The threads and kinds of accesses that are distinguished.
    #[inline]
    pub(super) fn kinds(&self) -> usize {
        self.kinds.len()
    }

    /// Adds the present event of a thread. Whether it may meet an earlier access.
    #[inline]
    pub(super) fn add(&mut self, access: Access, order: &MustOrder, sets: &mut LockSets) -> bool {
        let Access { thread, kind, locks } = access;
        let (now, locks) = (order.count(thread as usize), known(locks));
        let mut own = None;
        for (place, other) in self.kinds.iter().enumerate() {
            if other.thread == thread {
                own = if other.kind == kind { Some(place) } else { own };
                continue;
            }
            if !conflict(other.kind, kind) || order.is_before(other.thread, other.last, thread) {
                continue;
            }
            let apart = order.is_before(other.thread, other.base, thread)
                && known(sets.meet(other.locks, locks)) != SetId::EMPTY;
            if !apart {
                return true;
            }
        }
        let Some(place) = own else {
            self.kinds.push(Kind { thread, kind, base: 0, last: now, locks });
            return false;
        };
        let own = &mut self.kinds[place];
        if own.locks != locks {
            match known(sets.meet(own.locks, locks)) {
                SetId::EMPTY => (own.base, own.locks) = (own.last, locks),
                both => own.locks = both,
            }
        }
        own.last = now;
        false
    }
}
