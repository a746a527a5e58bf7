//! The table of operations: what an event can be, how traces spell it, and which classes it belongs to.
//!
//! Everything else asks for classes ([`Op::reads`], [`Op::opens_section`], …; `class.rs` lists them), so that a new
//! operation is a row of this table, and not a case in every list of operations.

use crate::Space;
use crate::class::Class;

macro_rules! ops {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal, $space:ident, [$($class:ident)*];)*) => {
        /// The operation of an event. Its number is part of the binary trace format: never renumber, only add.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Op { $($(#[$doc])* $name = $code,)* }

        impl Op {
            /// Every operation, in the order of their numbers.
            pub const ALL: &'static [Op] = &[$(Op::$name,)*];

            /// The classes of each operation, a bit for each class.
            pub(crate) const CLASSES: &'static [u32] = &[$(0 $(| Class::$class.bit())*,)*];

            /// The operation with this code, if there is one.
            #[inline]
            pub const fn from_code(code: u8) -> Option<Op> {
                // A match of numbers to themselves costs a comparison, a table of them a look at memory.
                match code { $($code => Some(Op::$name),)* _ => None }
            }

            /// The operation's spelling in text traces.
            pub const fn text(self) -> &'static str {
                match self { $(Op::$name => const { ascii($text) },)* }
            }

            /// The operation with this spelling, if there is one.
            #[inline]
            pub const fn from_text(text: &[u8]) -> Option<Op> {
                match text { $($text => Some(Op::$name),)* _ => None }
            }

            /// The kind of object the operation acts on.
            #[inline]
            pub const fn space(self) -> Option<Space> {
                match self { $(Op::$name => space!($space),)* }
            }
        }
    };
}

macro_rules! space {
    (NoObject) => {
        None
    };
    ($space:ident) => {
        Some(Space::$space)
    };
}

const fn ascii(text: &'static [u8]) -> &'static str {
    match str::from_utf8(text) {
        Ok(text) => text,
        Err(_) => panic!("operations are spelled in ASCII"),
    }
}

// name = number, spelling, kind of object, [classes, among them the extras that an event of it may have]
ops! {
    /// `r(x)`: reads a variable.
    Read = 0, b"r", Var, [Reads Plain Value];
    /// `w(x)`: writes a variable.
    Write = 1, b"w", Var, [Writes Plain Value];
    /// `acq(l)`: takes a lock exclusively.
    Acquire = 2, b"acq", Lock, [TakesLock OpensSection Blocks];
    /// `rel(l)`: gives an exclusive lock back.
    Release = 3, b"rel", Lock, [GivesLock ClosesSection];
    /// `racq(l)`: takes a lock shared.
    ReadAcquire = 4, b"racq", Lock, [TakesLock OpensSection Blocks Shared];
    /// `rrel(l)`: gives a shared lock back.
    ReadRelease = 5, b"rrel", Lock, [GivesLock ClosesSection Shared];
    /// `tacq(l)`: a try-lock or timed lock that succeeded; never a blocking request.
    TryAcquire = 6, b"tacq", Lock, [TakesLock OpensSection];
    /// `tfail(l)`: a try-lock or timed lock that failed.
    TryFail = 7, b"tfail", Lock, [];
    /// `req(l)`: a blocking request that was not (yet) answered.
    Request = 8, b"req", Lock, [Announces];
    /// `fork(t)`: starts a thread.
    Fork = 9, b"fork", Thread, [];
    /// `join(t)`: has waited for a thread's end.
    Join = 10, b"join", Thread, [Blocks];
    /// `wait(c,l)`: begins to wait on a condition; gives the lock up at every depth.
    Wait = 11, b"wait", Cond, [ClosesSection OnCondition LockArgument];
    /// `woken(c,l)`: ends that wait and takes the lock back.
    Woken = 12, b"woken", Cond, [OpensSection OnCondition Blocks LockArgument WakeReason];
    /// `notify(c)`: wakes one waiter.
    Notify = 13, b"notify", Cond, [OnCondition Notifies];
    /// `notifyall(c)`: wakes every waiter.
    NotifyAll = 14, b"notifyall", Cond, [OnCondition Notifies];
    /// `post(o)`: releases a latch-like object (barrier, latch, once, pipe, future): later awaits pass.
    Post = 15, b"post", Latch, [];
    /// `await(o)`: acquires a latch-like object: passes because of the posts before it.
    Await = 16, b"await", Latch, [Blocks];
    /// `up(s)`: increments a counting semaphore.
    Up = 17, b"up", Sem, [Counts];
    /// `down(s)`: decrements a counting semaphore.
    Down = 18, b"down", Sem, [Counts Blocks];
    /// `ald(x)`: atomic load.
    AtomicLoad = 19, b"ald", Var, [Reads Atomic Value MemoryOrder];
    /// `ast(x)`: atomic store.
    AtomicStore = 20, b"ast", Var, [Writes Atomic Value MemoryOrder];
    /// `armw(x)`: atomic read-modify-write; its value is the one written.
    AtomicRmw = 21, b"armw", Var, [Reads Writes Atomic Value MemoryOrder];
    /// `fence`: a thread fence.
    Fence = 22, b"fence", NoObject, [MemoryOrder];
    /// `begin(b)`: enters an atomic block or region.
    Begin = 23, b"begin", Block, [OptionalName];
    /// `end(b)`: leaves it.
    End = 24, b"end", Block, [OptionalName];
    /// `ev(name,…)`: an internal event with arguments.
    Internal = 25, b"ev", Label, [Arguments];
    /// `alloc(x)`: memory given: from here on x is a new variable.
    Alloc = 26, b"alloc", Var, [Lifetime];
    /// `free(x)`: memory taken back.
    Free = 27, b"free", Var, [Lifetime];
    /// `pin(x,n)`: a drop barrier for accesses: no witness may place another thread's access of x before event n of
    /// this thread.
    Pin = 28, b"pin", Var, [DropBarrier Number];
    /// `rpin(x,n)`: a drop barrier for reads: no witness may place another thread's write of x before event n of this
    /// thread.
    ReadPin = 29, b"rpin", Var, [DropBarrier Number];
    /// `jreq(t)`: announces that the thread waits for another one's end.
    JoinRequest = 30, b"jreq", Thread, [Announces];
    /// `areq(o)`: announces that the thread waits for a post of a latch-like object.
    AwaitRequest = 31, b"areq", Latch, [Announces];
    /// `dreq(s)`: announces that the thread waits to decrement a semaphore.
    DownRequest = 32, b"dreq", Sem, [Announces];
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
    fn every_operation_is_found_by_its_spelling() {
        for &op in Op::ALL {
            assert_eq!(Op::from_text(op.text().as_bytes()), Some(op));
        }
        assert_eq!(Op::from_text(b"dummy"), None);
    }
}
