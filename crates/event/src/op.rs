//! The operations an event can be, and the memory orders of the atomic ones.

use crate::Space;

macro_rules! ops {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal, $space:expr;)*) => {
        /// The operation of an event. Its number is part of the binary trace format: never renumber, only add.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Op { $($(#[$doc])* $name = $code,)* }

        impl Op {
            /// Every operation, in the order of their numbers.
            pub const ALL: &'static [Op] = &[$(Op::$name,)*];

            /// The operation with this code, if there is one.
            #[inline]
            pub const fn from_code(code: u8) -> Option<Op> {
                // A match of numbers to themselves costs a comparison, a table of them a look at memory.
                match code { $($code => Some(Op::$name),)* _ => None }
            }

            /// The operation's spelling in text traces.
            pub const fn text(self) -> &'static str {
                match self { $(Op::$name => $text,)* }
            }

            /// The kind of object the operation acts on.
            #[inline]
            pub const fn space(self) -> Option<Space> {
                match self { $(Op::$name => $space,)* }
            }
        }
    };
}

ops! {
    /// `r(x)`: reads a variable.
    Read = 0, "r", Some(Space::Var);
    /// `w(x)`: writes a variable.
    Write = 1, "w", Some(Space::Var);
    /// `acq(l)`: takes a lock exclusively.
    Acquire = 2, "acq", Some(Space::Lock);
    /// `rel(l)`: gives an exclusive lock back.
    Release = 3, "rel", Some(Space::Lock);
    /// `racq(l)`: takes a lock shared.
    ReadAcquire = 4, "racq", Some(Space::Lock);
    /// `rrel(l)`: gives a shared lock back.
    ReadRelease = 5, "rrel", Some(Space::Lock);
    /// `tacq(l)`: a try-lock or timed lock that succeeded; never a blocking request.
    TryAcquire = 6, "tacq", Some(Space::Lock);
    /// `tfail(l)`: a try-lock or timed lock that failed.
    TryFail = 7, "tfail", Some(Space::Lock);
    /// `req(l)`: a blocking request that was not (yet) answered.
    Request = 8, "req", Some(Space::Lock);
    /// `fork(t)`: starts a thread.
    Fork = 9, "fork", Some(Space::Thread);
    /// `join(t)`: has waited for a thread's end.
    Join = 10, "join", Some(Space::Thread);
    /// `wait(c,l)`: begins to wait on a condition; gives the lock up at every depth.
    Wait = 11, "wait", Some(Space::Cond);
    /// `woken(c,l)`: ends that wait and takes the lock back.
    Woken = 12, "woken", Some(Space::Cond);
    /// `notify(c)`: wakes one waiter.
    Notify = 13, "notify", Some(Space::Cond);
    /// `notifyall(c)`: wakes every waiter.
    NotifyAll = 14, "notifyall", Some(Space::Cond);
    /// `post(o)`: lets later awaits pass (barrier, latch, once, pipe, future).
    Post = 15, "post", Some(Space::Latch);
    /// `await(o)`: passes because of the posts before it.
    Await = 16, "await", Some(Space::Latch);
    /// `up(s)`: increments a counting semaphore.
    Up = 17, "up", Some(Space::Sem);
    /// `down(s)`: decrements a counting semaphore.
    Down = 18, "down", Some(Space::Sem);
    /// `ald(x)`: atomic load.
    AtomicLoad = 19, "ald", Some(Space::Var);
    /// `ast(x)`: atomic store.
    AtomicStore = 20, "ast", Some(Space::Var);
    /// `armw(x)`: atomic read-modify-write; its value is the one written.
    AtomicRmw = 21, "armw", Some(Space::Var);
    /// `fence`: a thread fence.
    Fence = 22, "fence", None;
    /// `begin(b)`: enters an atomic block or region.
    Begin = 23, "begin", Some(Space::Block);
    /// `end(b)`: leaves it.
    End = 24, "end", Some(Space::Block);
    /// `ev(name,…)`: an internal event with arguments.
    Internal = 25, "ev", Some(Space::Label);
    /// `alloc(x)`: memory given: from here on x is a new variable.
    Alloc = 26, "alloc", Some(Space::Var);
    /// `free(x)`: memory taken back.
    Free = 27, "free", Some(Space::Var);
    /// `pin(x,n)`: no witness may place another thread's access of x before event n of this thread.
    Pin = 28, "pin", Some(Space::Var);
    /// `rpin(x,n)`: no witness may place another thread's write of x before event n of this thread.
    ReadPin = 29, "rpin", Some(Space::Var);
}

impl Op {
    /// How many operations there are; their codes are `0..COUNT`.
    pub const COUNT: usize = Op::ALL.len();

    /// The operation with this code, which must be one (other codes give some operation).
    #[inline]
    pub(crate) fn from_valid_code(code: u32) -> Op {
        match Op::from_code((code & 63) as u8) {
            Some(op) => op,
            None => Op::Read,
        }
    }

    /// A read or write of memory that is not atomic.
    #[inline]
    pub const fn is_plain_access(self) -> bool {
        matches!(self, Op::Read | Op::Write)
    }

    /// An atomic access of memory.
    #[inline]
    pub const fn is_atomic(self) -> bool {
        matches!(self, Op::AtomicLoad | Op::AtomicStore | Op::AtomicRmw)
    }

    /// An access of a variable, `alloc` and `free` included.
    #[inline]
    pub const fn is_access(self) -> bool {
        self.has_value() || matches!(self, Op::Alloc | Op::Free)
    }

    /// The operations that say that accesses of a variable were dropped.
    pub const PINS: [Op; 2] = [Op::Pin, Op::ReadPin];

    /// Says that accesses of a variable were dropped.
    #[inline]
    pub const fn is_pin(self) -> bool {
        matches!(self, Op::Pin | Op::ReadPin)
    }

    /// Whether a pin of this kind holds back what other threads do to its variable by that operation. Reads that were dropped
    /// must not see another value, so they hold back all but reads.
    #[inline]
    pub const fn holds_back(self, other: Op) -> bool {
        match self {
            Op::Pin => other.is_access(),
            Op::ReadPin => other.is_access() && !matches!(other, Op::Read | Op::AtomicLoad),
            _ => false,
        }
    }

    /// An operation that may carry a value behind `=`: what was read or written.
    #[inline]
    pub const fn has_value(self) -> bool {
        self.is_plain_access() || self.is_atomic()
    }

    /// An operation that may carry a memory order behind `@`.
    #[inline]
    pub const fn has_order(self) -> bool {
        self.is_atomic() || matches!(self, Op::Fence)
    }
}

/// Memory orders of atomic operations and fences, as in C11.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[repr(u8)]
pub enum Order {
    /// Sequentially consistent, the default.
    #[default]
    SeqCst = 0,
    /// No ordering.
    Relaxed = 1,
    /// Acquire.
    Acquire = 2,
    /// Release.
    Release = 3,
    /// Acquire and release.
    AcqRel = 4,
}

impl Order {
    /// Every order, in the order of their numbers.
    pub const ALL: [Order; 5] = [Order::SeqCst, Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel];

    /// The order's spelling in text traces.
    pub const fn text(self) -> &'static str {
        match self {
            Order::SeqCst => "seqcst",
            Order::Relaxed => "relaxed",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::AcqRel => "acqrel",
        }
    }

    /// The order with this number, if there is one.
    pub fn from_code(code: u8) -> Option<Order> {
        Order::ALL.get(usize::from(code)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_dense_and_fit_six_bits() {
        const { assert!(Op::COUNT <= 64) };
        for (i, &op) in Op::ALL.iter().enumerate() {
            assert_eq!(op as usize, i);
            assert_eq!(Op::from_code(i as u8), Some(op));
            assert_eq!(Op::from_valid_code(i as u32), op);
        }
        assert_eq!(Op::from_code(Op::COUNT as u8), None);
    }

    #[test]
    fn pins_hold_back() {
        let by = |pin: Op| Op::ALL.iter().copied().filter(move |&op| pin.holds_back(op)).collect::<Vec<Op>>();
        let writes = [Op::Write, Op::AtomicStore, Op::AtomicRmw, Op::Alloc, Op::Free];
        assert_eq!(by(Op::ReadPin), writes);
        let mut accesses = [&[Op::Read, Op::AtomicLoad], &writes[..]].concat();
        accesses.sort();
        assert_eq!(by(Op::Pin), accesses);
        assert!(Op::ALL.iter().all(|&op| op.is_pin() == Op::PINS.contains(&op) && op.is_pin() != by(op).is_empty()));
    }
}
