//! Why a schedule is refused: which event breaks which rule, and because of which other event.

use event::Op;

/// The first event of a schedule that breaks a rule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("event {event} (number {position} of the schedule) {reason}")]
pub struct Refusal {
    /// The position of the event in the schedule, from 0.
    pub position: usize,
    /// The index of the event.
    pub event: u64,
    /// What is wrong with it there.
    pub reason: Reason,
}

/// What is wrong with an event at its position.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Reason {
    /// The trace has no such event.
    #[error("is not in the trace")]
    NotInTrace,
    /// The schedule has it already.
    #[error("is in the schedule already, as number {position}")]
    Twice {
        /// Where it stood first.
        position: usize,
    },
    /// Only the recorded order is feasible.
    #[error("stands where event {expected} was recorded")]
    NotRecorded {
        /// The event recorded there.
        expected: u64,
    },
    /// An event that must come before it comes later.
    #[error("comes before event {other}, {rule}")]
    Before {
        /// The event it needs.
        other: u64,
        /// Why it needs it.
        rule: Rule,
    },
    /// An event that must come before it is not in the schedule.
    #[error("comes without event {other}, {rule}")]
    Without {
        /// The event it needs.
        other: u64,
        /// Why it needs it.
        rule: Rule,
    },
    /// The atomic set of another write of its variable is open.
    #[error("accesses its variable while the atomic set that event {opened} opened lacks an access")]
    SetOpen {
        /// The event that opened the set.
        opened: u64,
    },
    /// The atomic set of the reads of the initial value is open.
    #[error("accesses its variable while a read of the initial value is still to come")]
    InitialSetOpen,
    /// Another thread holds the lock.
    #[error("takes its lock while another thread has it since event {since}")]
    Held {
        /// The event that took it.
        since: u64,
    },
    /// Another thread holds the lock from the beginning.
    #[error("takes its lock while another thread has it from the beginning")]
    HeldFromBeginning,
    /// A section because of which a try-lock failed is closed.
    #[error("is a try-lock that failed because of a section, but event {close} has closed that")]
    MaySucceed {
        /// The event that closed it.
        close: u64,
    },
    /// Its notify came before its wait.
    #[error("is woken by event {notify}, but that comes before its wait, event {wait}: the notify is lost")]
    Lost {
        /// The notify that woke it in the recorded run.
        notify: u64,
        /// Its wait.
        wait: u64,
    },
    /// It would read something else than what was recorded.
    #[error("would read {sees}, but read {recorded} when recorded")]
    Sees {
        /// The write it would see.
        sees: Written,
        /// The write it saw.
        recorded: Written,
    },
    /// The semaphore's count is 0.
    #[error("takes a semaphore down though its count is 0")]
    SemaphoreEmpty,
    /// It is no part of what is claimed after the prefix.
    #[error("{0}")]
    WrongClaim(WrongClaim),
}

/// What a read saw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// What its variable held at first, or since its last `alloc` or `free`.
    Initially,
    /// What this event wrote.
    By(u64),
}

impl std::fmt::Display for Written {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Written::Initially => f.write_str("the initial value"),
            Written::By(event) => write!(f, "what event {event} wrote"),
        }
    }
}

macro_rules! words {
    ($($(#[$doc:meta])* $type:ident { $($(#[$each:meta])* $name:ident: $text:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $type { $($(#[$each])* $name,)* }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $($type::$name => $text,)* })
            }
        }
    )*};
}

words! {
    /// Why an event must come before another one.
    Rule {
        /// Program order.
        Thread: "an earlier event of its thread",
        /// Fork.
        Fork: "the fork of its thread",
        /// Fork, of a join.
        ForkOfJoined: "the fork of the thread it joins",
        /// Join.
        Join: "an event of the thread it joins",
        /// Post and await.
        Post: "a post that it awaits",
        /// `pin` and `rpin`.
        DropBarrier: "before which a pin keeps it from accessing its variable",
        /// Conflicting accesses.
        Variable: "a conflicting access of its variable",
        /// Memory given or taken back.
        LifetimeBoundary: "recorded before it, where one of the two allocates or frees their variable",
        /// Lock events.
        Lock: "an event of its lock",
        /// Condition events.
        Condition: "an event of its condition",
        /// Semaphore events.
        Semaphore: "an event of its semaphore",
        /// A read of an atomic set.
        ReadsFrom: "the write that it read from",
        /// A read-modify-write ends a set.
        Reads: "an access that saw the same write as this read-modify-write",
        /// A failed try-lock is inside the sections that made it fail.
        FailedInside: "which opened a section that made this try-lock fail",
        /// Wake-ups.
        Notify: "the notify that woke it",
    }

    /// What is wrong with an event that something is claimed of.
    WrongClaim {
        /// Two events of one thread.
        SameThread: "is of the same thread as another event of the claim",
        /// Not two accesses of one variable, one of them a write.
        NoConflict: "does not conflict with the other event of the race",
        /// Not a blocking request.
        NotARequest: "is no blocking request of a lock that its thread does not have",
        /// Nothing blocks it.
        NotBlocked: "asks for no lock that the next thread of the cycle has",
        /// A cycle needs two threads.
        NoCycle: "is not in a cycle of at least two threads",
        /// What it waits for is there, or a thread can grant it.
        CanGoOn: "can go on: what it asks for is there, or may come from a thread that is not held back",
        /// Others block each other without it.
        NotNeeded: "is not needed: the other threads of the claim block each other",
        /// No block begins there.
        NotABlock: "begins no block that is in the schedule",
        /// Its block is serialisable.
        Serialisable: "begins a block that no cycle of conflicts leads back to",
        /// Not in the schedule.
        Missing: "is claimed, but not in the schedule",
        /// Not the last event.
        NotTheWait: "is not a wait that ends the schedule",
        /// Not one that should have woken the thread.
        NotItsNotify: "is not the notify that should end this wait",
        /// Not the last read.
        NotItsTest: "is not the last access of the thread before it waits to what the notifier wrote then",
        /// Not in the order that loses the wake-up.
        NotBetween: "does not come between the test and the wait",
    }
}

/// Whether two operations on one variable conflict so that they can race.
pub(super) fn can_race(a: Op, b: Op) -> bool {
    let access = |op: Op| op.is_plain_access() || op.is_atomic() || op == Op::Free;
    let writes = |op: Op| !op.only_reads();
    access(a) && access(b) && (writes(a) || writes(b)) && !(a.is_atomic() && b.is_atomic())
}
