//! What an event does to the sections of its lock.

use event::{Batch, Event, LockId, Op};

/// How a lock is held or asked for; the mode that excludes more is the greater one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum LockMode {
    /// By any number of readers.
    Shared,
    /// By one thread alone.
    #[default]
    Exclusive,
}

impl LockMode {
    /// Both modes; [`LockMode::index`] is their index here.
    pub const BOTH: [LockMode; 2] = [LockMode::Exclusive, LockMode::Shared];

    /// Whether two threads cannot hold a lock like this at the same time.
    #[inline]
    pub fn excludes(self, other: LockMode) -> bool {
        self == LockMode::Exclusive || other == LockMode::Exclusive
    }

    /// The other mode.
    #[inline]
    pub fn other(self) -> LockMode {
        match self {
            LockMode::Exclusive => LockMode::Shared,
            LockMode::Shared => LockMode::Exclusive,
        }
    }

    /// 0 or 1, for arrays with an entry for each mode.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self == LockMode::Shared)
    }
}

/// What happens to the section of one mode.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Change<T> {
    /// Nothing: the event is nested in a section, or is of the other mode.
    #[default]
    None,
    /// A section opens, with this data.
    Opens(T),
    /// The section with this data closes.
    Closes(T),
    /// A section closes that was open from the beginning: the trace does not have its acquire.
    ClosesInitial,
}

impl<T> Change<T> {
    /// Whether a section opens.
    #[inline]
    pub fn opens(&self) -> bool {
        matches!(self, Change::Opens(_))
    }

    /// This change without its data.
    #[inline]
    pub fn without_data(&self) -> Change<()> {
        match self {
            Change::None => Change::None,
            Change::Opens(_) => Change::Opens(()),
            Change::Closes(_) => Change::Closes(()),
            Change::ClosesInitial => Change::ClosesInitial,
        }
    }

    /// Whether a section closes, one that was open from the beginning included.
    #[inline]
    pub fn closes(&self) -> bool {
        matches!(self, Change::Closes(_) | Change::ClosesInitial)
    }
}

/// What an event does to the sections of its lock. A `wait` or `woken` of a thread that reads and writes changes both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effect<T = ()> {
    /// The lock.
    pub lock: LockId,
    /// The exclusive section.
    pub exclusive: Change<T>,
    /// The shared section.
    pub shared: Change<T>,
    /// The thread holds the lock now, in either mode, and did not before.
    pub takes: bool,
    /// The thread held the lock before, in either mode, and does not now.
    pub gives: bool,
}

impl<T> Effect<T> {
    #[inline]
    pub(crate) fn new(lock: LockId, mode: LockMode, change: Change<T>, takes: bool, gives: bool) -> Effect<T> {
        let (exclusive, shared) = match mode {
            LockMode::Exclusive => (change, Change::None),
            LockMode::Shared => (Change::None, change),
        };
        Effect { lock, exclusive, shared, takes, gives }
    }

    #[inline]
    pub(crate) fn change_mut(&mut self, mode: LockMode) -> &mut Change<T> {
        match mode {
            LockMode::Exclusive => &mut self.exclusive,
            LockMode::Shared => &mut self.shared,
        }
    }
}

impl<T: Copy> Effect<T> {
    /// The change of one mode.
    #[inline]
    pub fn change(&self, mode: LockMode) -> Change<T> {
        match mode {
            LockMode::Exclusive => self.exclusive,
            LockMode::Shared => self.shared,
        }
    }

    /// Both changes with their modes, the exclusive one first.
    #[inline]
    pub fn changes(&self) -> [(LockMode, Change<T>); 2] {
        [(LockMode::Exclusive, self.exclusive), (LockMode::Shared, self.shared)]
    }
}

/// The lock that an event acts on, if it can open or close a section or is a failed try.
#[inline]
pub fn lock_of(batch: &Batch, event: Event) -> Option<LockId> {
    batch.section_lock(event).or_else(|| (event.op() == Op::TryFail).then(|| event.lock()))
}
