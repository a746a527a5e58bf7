//! One event in 16 bytes, and the rarely needed rest of it out of line.

use crate::{BlockId, CondId, LabelId, LatchId, LockId, Op, Order, SemId, SiteId, StackId, ThreadId, Value, VarId};

const OP_BITS: u32 = 6;

/// How many threads a trace can have: thread ids share a word with the operation.
pub const MAX_THREADS: usize = 1 << (32 - OP_BITS);

/// One event of one thread.
///
/// The object is an index whose meaning the operation decides ([`Op::space`]); the typed accessors ([`Event::var`],
/// [`Event::lock`], …) read it. What most events do not have lives in an [`Extra`] of the event's
/// [`Batch`](crate::Batch).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Event {
    tag: u32,
    object: u32,
    site: SiteId,
    extra: u32,
}

impl Event {
    /// An event without an extra. The object is 0 for an operation that has none.
    #[inline]
    pub fn new(thread: ThreadId, op: Op, object: u32, site: SiteId) -> Event {
        Event::with_extra(thread, op, object, site, 0)
    }

    /// An event whose extra has this index in its batch; 0 is the extra that says nothing.
    #[inline]
    pub fn with_extra(thread: ThreadId, op: Op, object: u32, site: SiteId, extra: u32) -> Event {
        debug_assert!((thread.0 as usize) < MAX_THREADS);
        Event { tag: thread.0 << OP_BITS | op as u32, object, site, extra }
    }

    /// The thread that made it happen.
    #[inline]
    pub fn thread(self) -> ThreadId {
        ThreadId(self.tag >> OP_BITS)
    }

    /// What happened.
    #[inline]
    pub fn op(self) -> Op {
        Op::from_valid_code(self.tag)
    }

    /// The index of the object it happened to, in the space of its operation.
    #[inline]
    pub fn object(self) -> u32 {
        self.object
    }

    /// Where in the program it happened.
    #[inline]
    pub fn site(self) -> SiteId {
        self.site
    }

    /// The index of its extra in its batch; 0 if it has none.
    #[inline]
    pub fn extra(self) -> u32 {
        self.extra
    }
}

macro_rules! typed_object {
    ($($(#[$doc:meta])* $name:ident: $id:ident, $space:ident;)*) => {
        impl Event {$(
            $(#[$doc])*
            #[inline]
            pub fn $name(self) -> $id {
                debug_assert_eq!(self.op().space(), Some(crate::Space::$space));
                $id(self.object)
            }
        )*}
    };
}

typed_object! {
    /// The variable accessed, allocated, freed, or that a drop barrier is for.
    var: VarId, Var;
    /// The lock taken, given back or waited for (for `wait` and `woken`, see [`Extra::lock`]).
    lock: LockId, Lock;
    /// The thread started or waited for.
    child: ThreadId, Thread;
    /// The condition waited on or notified.
    cond: CondId, Cond;
    /// The latch-like object released (`post`), acquired (`await`) or waited for.
    latch: LatchId, Latch;
    /// The semaphore.
    sem: SemId, Sem;
    /// The block entered or left.
    block: BlockId, Block;
    /// The internal event's name.
    label: LabelId, Label;
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "T{}|{}({})|{}", self.thread().0, self.op().text(), self.object, self.site.0)?;
        if self.extra != 0 { write!(f, "+{}", self.extra) } else { Ok(()) }
    }
}

/// Why a thread stopped waiting on a condition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[repr(u8)]
pub enum Wake {
    /// A notify woke it.
    #[default]
    Notified = 0,
    /// Its time ran out.
    Timeout = 1,
    /// Nothing woke it.
    Spurious = 2,
}

impl Wake {
    /// Every reason, in the order of their numbers.
    pub const ALL: [Wake; 3] = [Wake::Notified, Wake::Timeout, Wake::Spurious];

    /// The reason with this number, if there is one.
    pub fn from_code(code: u8) -> Option<Wake> {
        Wake::ALL.get(usize::from(code)).copied()
    }
}

/// What only some events have. The default says nothing at all.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Extra {
    /// What was read or written; for a drop barrier, its n as an integer (unknown in a deferred one that names itself).
    pub value: Value,
    /// The lock of a `wait` or `woken`.
    pub lock: LockId,
    /// The call stack, leaf first; 0 if not recorded.
    pub stack: StackId,
    /// Where an internal event's arguments begin in [`Batch::args`](crate::Batch::args).
    pub args_start: u32,
    /// How many arguments an internal event has.
    pub args_len: u16,
    /// The memory order of an atomic access or fence.
    pub order: Order,
    /// Why a `woken` thread woke.
    pub wake: Wake,
    /// The recorder could not be sure of the event's value or place.
    pub inexact: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_small_and_keeps_its_parts() {
        assert_eq!(size_of::<Event>(), 16);
        assert!(size_of::<Extra>() <= 40);
        for &op in Op::ALL {
            let e = Event::with_extra(ThreadId(MAX_THREADS as u32 - 1), op, u32::MAX, SiteId(7), 9);
            assert_eq!(
                (e.thread().0 as usize, e.op(), e.object(), e.site().0, e.extra()),
                (MAX_THREADS - 1, op, u32::MAX, 7, 9)
            );
        }
    }
}
