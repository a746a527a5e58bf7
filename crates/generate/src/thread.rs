//! What a thread is about to do.

use std::collections::VecDeque;

/// A place for a thread: with churn, one thread after another.
#[derive(Clone, Default, Debug)]
pub(crate) struct Thread {
    pub(crate) presence: Presence,
    /// The dense id of the thread that lives here now.
    pub(crate) id: u32,
    /// How many events it has made.
    pub(crate) position: u64,
    /// The locks it holds, the innermost last; a lock taken again stands here again.
    pub(crate) held: Vec<Hold>,
    /// The lock it is about to take.
    pub(crate) want: Option<Want>,
    /// The critical section it is in or about to enter.
    pub(crate) section: Section,
    /// The atomic block around its critical section.
    pub(crate) block: Option<u32>,
    /// What it does next, come what may.
    pub(crate) script: VecDeque<Line>,
    /// It waits on the condition of this lock.
    pub(crate) waiting: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Presence {
    /// Not started, or joined.
    #[default]
    Absent,
    Alive,
    /// Made its last event, not joined yet.
    Ended,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hold {
    pub(crate) lock: u32,
    pub(crate) shared: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Want {
    pub(crate) lock: u32,
    pub(crate) shared: bool,
    /// It is a try-lock: given up when the lock is taken.
    pub(crate) attempt: bool,
    /// The request has been recorded.
    pub(crate) requested: bool,
}

#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Section {
    /// Accesses still to make.
    pub(crate) left: u64,
    /// Take a second lock when this many accesses are left; 0: never.
    pub(crate) nest_at: u64,
    /// The second lock may be one that usually comes first.
    pub(crate) reversed: bool,
    /// Wait on the lock's condition before giving it back.
    pub(crate) waits: bool,
}

/// One step of a script: always possible, one event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Line {
    Begin(u32),
    End(u32),
    Local,
    Alloc(u32),
    Read(u32),
    Write(u32),
    Pin(u32),
    Free(u32),
}

impl Thread {
    /// The most events that a thread can owe: three locks, a block, a request or wait, a script, its join.
    pub(crate) const MOST_OWED: u64 = 3 + 1 + 2 + Self::LONGEST_SCRIPT + 1;
    /// The most lines of a script.
    pub(crate) const LONGEST_SCRIPT: u64 = 9;

    /// How many events are needed at most until everything it has begun is ended and it is joined.
    pub(crate) fn owed(&self) -> u64 {
        if self.presence == Presence::Absent {
            return 0;
        }
        let notify_and_woken = if self.waiting.is_some() { 2 } else { 0 };
        let taken_and_given_back = if self.requested() { 2 } else { 0 };
        self.held.len() as u64
            + u64::from(self.block.is_some())
            + notify_and_woken
            + taken_and_given_back
            + self.script.len() as u64
            + 1
    }

    /// It has recorded a request: its next event is the acquire.
    #[inline]
    pub(crate) fn requested(&self) -> bool {
        self.want.is_some_and(|w| w.requested)
    }

    /// Nothing is begun that would have to be ended.
    pub(crate) fn idle(&self) -> bool {
        self.held.is_empty()
            && self.want.is_none()
            && self.block.is_none()
            && self.script.is_empty()
            && self.waiting.is_none()
    }

    /// Whether it may make any event at all, and not inside a transaction.
    pub(crate) fn may_fork_or_join(&self) -> bool {
        !self.requested() && self.block.is_none() && self.waiting.is_none()
    }
}
