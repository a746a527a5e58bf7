//! Classes of operations: what the rest of the tree asks of an operation instead of listing operations.
//!
//! The table of `op.rs` gives each operation its classes. A class is a constant set of operations in one word, so a
//! query is a shift and a test, as a `matches!` of the operations would be.

use crate::Op;

macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident, $query:ident;)*) => {
        /// What operations have in common.
        #[derive(Clone, Copy)]
        pub(crate) enum Class { $($class,)* }

        impl Op {$(
            $(#[$doc])*
            #[inline]
            pub const fn $query(self) -> bool {
                const OPERATIONS: u64 = Class::$class.operations();
                self.is_in(OPERATIONS)
            }
        )*}
    };
}

classes! {
    /// Reads the value of a variable: `r`, `ald`, `armw`.
    Reads, reads;
    /// Gives a variable a value: `w`, `ast`, `armw`.
    Writes, writes;
    /// A read or write of memory that is not atomic: `r`, `w`.
    Plain, is_plain_access;
    /// An atomic access of memory: `ald`, `ast`, `armw`.
    Atomic, is_atomic;
    /// Begins or ends the lifetime of a variable: `alloc`, `free`.
    Lifetime, bounds_lifetime;
    /// Takes the lock that is its object: `acq`, `racq`, `tacq`.
    TakesLock, takes_lock;
    /// Gives the lock that is its object back: `rel`, `rrel`.
    GivesLock, gives_lock;
    /// Opens a critical section: takes a lock, or is `woken`, which takes the lock of its wait back.
    OpensSection, opens_section;
    /// Closes a critical section: gives a lock back, or is a `wait`, which gives its lock up at every depth.
    ClosesSection, closes_section;
    /// Takes or gives a lock shared: `racq`, `rrel`.
    Shared, is_shared;
    /// Acts on a condition: `wait`, `woken`, `notify`, `notifyall`.
    OnCondition, acts_on_condition;
    /// Wakes waiters: `notify`, `notifyall`.
    Notifies, notifies;
    /// Changes the count of a semaphore: `up`, `down`.
    Counts, counts;
    /// Happens only once another thread lets it: `acq`, `racq`, `join`, `woken`, `await`, `down`.
    Blocks, blocks;
    /// Announces that its thread is about to block: `req` and its like. It orders nothing and changes nothing.
    Announces, announces;
    /// A drop barrier: a recorder's note that accesses of a variable were dropped: `pin`, `rpin`.
    DropBarrier, is_drop_barrier;
    /// May carry a value behind `=`: what was read or written.
    Value, has_value;
    /// May carry a memory order behind `@`.
    MemoryOrder, has_order;
    /// Says behind `=` why a thread woke, if no notify woke it.
    WakeReason, has_wake_reason;
    /// Names a lock behind its object, or means the one that is named as its object is.
    LockArgument, has_lock_argument;
    /// Has a number behind its object.
    Number, has_number;
    /// May have arguments behind its object.
    Arguments, has_arguments;
    /// May leave the name of its object out.
    OptionalName, has_optional_name;
}

impl Class {
    pub(crate) const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// The operations of the class, the bit of an operation's code each.
    const fn operations(self) -> u64 {
        let (mut operations, mut code) = (0, 0);
        while code < Op::COUNT {
            if Op::CLASSES[code] & self.bit() != 0 {
                operations |= 1 << code;
            }
            code += 1;
        }
        operations
    }
}

/// What follows from the classes. These are constant sets, too, so that a query of several classes is one test.
impl Op {
    /// Whether a set has this operation; the bit of an operation's code each.
    #[inline]
    const fn is_in(self, operations: u64) -> bool {
        operations >> (self as u32) & 1 != 0
    }

    /// Reads a variable and leaves it as it was: `r`, `ald`. Two such accesses never conflict.
    #[inline]
    pub const fn only_reads(self) -> bool {
        const OPERATIONS: u64 = Class::Reads.operations() & !Class::Writes.operations();
        self.is_in(OPERATIONS)
    }

    /// An access of a variable, `alloc` and `free` included.
    #[inline]
    pub const fn is_access(self) -> bool {
        const VALUES: u64 = Class::Reads.operations() | Class::Writes.operations();
        const OPERATIONS: u64 = VALUES | Class::Lifetime.operations();
        self.is_in(OPERATIONS)
    }

    /// Takes the lock that is its object exclusively: `acq`, `tacq`.
    #[inline]
    pub const fn takes_exclusively(self) -> bool {
        const OPERATIONS: u64 = Class::TakesLock.operations() & !Class::Shared.operations();
        self.is_in(OPERATIONS)
    }

    /// Waits, or announces to wait, until its object, a lock, is free: `acq`, `racq`, `req`.
    #[inline]
    pub const fn asks_for_lock(self) -> bool {
        const BLOCKING: u64 = Class::TakesLock.operations() & Class::Blocks.operations();
        const OPERATIONS: u64 = BLOCKING | 1 << Op::Request as u32;
        self.is_in(OPERATIONS)
    }

    /// Has more than its object's name between its parentheses: a lock, a number or arguments.
    #[inline]
    pub const fn has_list(self) -> bool {
        const NAMES: u64 = Class::LockArgument.operations() | Class::Arguments.operations();
        const OPERATIONS: u64 = NAMES | Class::Number.operations();
        self.is_in(OPERATIONS)
    }

    /// The drop barriers.
    pub const DROP_BARRIERS: [Op; 2] = [Op::Pin, Op::ReadPin];

    /// Whether a drop barrier of this kind holds back what other threads do to its variable by that operation. Reads
    /// that were dropped must not see another value, so they hold back all but reads.
    #[inline]
    pub const fn holds_back(self, other: Op) -> bool {
        match self {
            Op::Pin => other.is_access(),
            Op::ReadPin => other.is_access() && !other.only_reads(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(query: impl Fn(Op) -> bool) -> Vec<&'static str> {
        Op::ALL.iter().filter(|&&op| query(op)).map(|op| op.text()).collect()
    }

    #[test]
    fn classes_hold_the_operations_of_the_table() {
        assert_eq!(with(Op::reads), ["r", "ald", "armw"]);
        assert_eq!(with(Op::writes), ["w", "ast", "armw"]);
        assert_eq!(with(Op::only_reads), ["r", "ald"]);
        assert_eq!(with(Op::is_access), ["r", "w", "ald", "ast", "armw", "alloc", "free"]);
        assert_eq!(with(Op::opens_section), ["acq", "racq", "tacq", "woken"]);
        assert_eq!(with(Op::closes_section), ["rel", "rrel", "wait"]);
        assert_eq!(with(Op::takes_exclusively), ["acq", "tacq"]);
        assert_eq!(with(Op::asks_for_lock), ["acq", "racq", "req"]);
        assert_eq!(with(Op::blocks), ["acq", "racq", "join", "woken", "await", "down"]);
        assert_eq!(with(Op::has_order), ["ald", "ast", "armw", "fence"]);
    }

    #[test]
    fn drop_barriers_hold_back() {
        let by = |barrier: Op| with(move |op| barrier.holds_back(op));
        assert_eq!(by(Op::ReadPin), ["w", "ast", "armw", "alloc", "free"]);
        assert_eq!(by(Op::Pin), with(Op::is_access));
        let barriers: Vec<Op> = Op::ALL.iter().copied().filter(|op| op.is_drop_barrier()).collect();
        assert_eq!(barriers, Op::DROP_BARRIERS);
        assert!(Op::ALL.iter().all(|&op| op.is_drop_barrier() != by(op).is_empty()));
    }
}
