//! How far a search may go, and what cut it short.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How far a search may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Cuts of a level that are kept, those nearest to the recorded run.
    pub breadth: Option<u64>,
    /// Cuts in all. When half of them are spent, the rest is shared out among the levels to come; counting, from which
    /// nothing can be left out, ends when all are spent.
    pub max_cuts: Option<u64>,
    /// Memory for the two levels at hand.
    pub bytes: usize,
    /// Memory for older levels, from which a witness is read; a few are kept even if they are larger. `None`: no witness is
    /// wanted.
    pub history: Option<usize>,
    /// When to stop.
    pub deadline: Option<(Instant, Duration)>,
    /// Threads that may work at once.
    pub threads: usize,
    /// Whether somebody wants it to stop.
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
    /// Why it must stop now, if it must.
    pub(crate) fn over(&self) -> Option<Shortened> {
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
    /// Only so many cuts of a level were kept.
    Breadth(u64),
    /// So many cuts were spent.
    MaxCuts(u64),
    /// A level was too large for the memory: so many cuts.
    Memory(u64),
    /// The time ran out.
    Time(Duration),
    /// Somebody stopped it.
    Interrupted,
    /// Too many threads at once.
    Chains(u64),
    /// Events that were to come have not arrived.
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
