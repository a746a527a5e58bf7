//! How far a search may go, and what cut it short.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How far a search may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// The number of cuts to keep of each level: those nearest to the recorded run.
    pub breadth: Option<u64>,
    /// The number of cuts in all. When half of them are spent, the rest is divided among the levels to come. Counting,
    /// which cannot leave cuts out, ends when all are spent.
    pub max_cuts: Option<u64>,
    /// Memory in bytes for the current level and the next one.
    pub bytes: usize,
    /// Memory in bytes for older levels, from which paths are read back; a few levels are stored even if they are
    /// larger. `None`: paths are not wanted.
    pub history: Option<usize>,
    /// When to stop, and how much time that allowed in all (for the message).
    pub deadline: Option<(Instant, Duration)>,
    /// The number of threads that may work at once.
    pub threads: usize,
    /// Becomes true when the search is to stop.
    pub stop: Option<&'a AtomicBool>,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits {
            breadth: None,
            max_cuts: None,
            bytes: 1 << 30,
            history: Some(1 << 28),
            deadline: None,
            threads: 1,
            stop: None,
        }
    }
}

impl Limits<'_> {
    /// Why the search must stop now, if it must.
    pub(crate) fn must_stop(&self) -> Option<Shortened> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(Shortened::Interrupted);
        }
        let (end, allowed) = self.deadline?;
        (Instant::now() >= end).then_some(Shortened::Time(allowed))
    }
}

/// What cut a search short.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Shortened {
    /// A level was narrowed to so many cuts by [`Limits::breadth`].
    Breadth(u64),
    /// The search met [`Limits::max_cuts`].
    MaxCuts(u64),
    /// A level of more than so many cuts did not fit into [`Limits::bytes`].
    Memory(u64),
    /// The time ran out, of which there was so much.
    Time(Duration),
    /// [`Limits::stop`] was set.
    Interrupted,
    /// So many chains at once do not fit into the widest key.
    Chains(u64),
    /// Events that were announced have not been received.
    Missing,
}

impl std::fmt::Display for Shortened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Shortened::Breadth(1) => write!(f, "one cut per level (breadth)"),
            Shortened::Breadth(n) => write!(f, "{n} cuts per level (breadth)"),
            Shortened::MaxCuts(n) => write!(f, "{n} cuts in all (max_cuts)"),
            Shortened::Memory(n) => write!(f, "a level of more than {n} cuts is too large for the memory allowed"),
            Shortened::Time(time) => write!(f, "time is up after {} s", time.as_secs_f64()),
            Shortened::Interrupted => write!(f, "interrupted"),
            Shortened::Missing => write!(f, "messages are missing"),
            Shortened::Chains(n) => write!(f, "{n} threads at the same time are too many"),
        }
    }
}
