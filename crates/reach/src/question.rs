//! What can be asked, how long the search may take, and what the answer can be.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What must hold after a prefix, and in it. Event numbers are offsets in the batch.
#[derive(Clone, Copy, Default, Debug)]
pub struct Question<'q> {
    /// Each must be the next event of its thread after the prefix. Their needs that every model keeps (fork, join,
    /// posts, pins) and their order with `alloc` and `free` hold, except among themselves.
    pub next: &'q [u32],
    /// Must be in the prefix.
    pub contains: &'q [u32],
    /// `(a, b)`: both are in the prefix, a before b.
    pub before: &'q [(u32, u32)],
}

/// How long a search may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'l> {
    /// So many steps: every event that is put in place counts.
    pub steps: u64,
    /// Until then.
    pub deadline: Option<Instant>,
    /// Until it is set.
    pub stop: Option<&'l AtomicBool>,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits { steps: u64::MAX, deadline: None, stop: None }
    }
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// A prefix that shows it, in a feasible order; it begins with the fixed events.
    Reached(Vec<u32>),
    /// There is none: this is a proof.
    Impossible,
    /// A limit was met first.
    Undecided,
}

/// Steps between two looks at the clock.
const BETWEEN_LOOKS: u64 = 1 << 12;

/// Counts steps against limits.
pub(crate) struct Meter<'l> {
    limits: Limits<'l>,
    spent: u64,
    look: u64,
}

/// A limit was met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Over;

impl<'l> Meter<'l> {
    pub(crate) fn new(limits: &Limits<'l>) -> Meter<'l> {
        Meter { limits: *limits, spent: 0, look: 0 }
    }

    /// So many steps more.
    #[inline]
    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), Over> {
        self.spent += steps;
        if self.spent > self.limits.steps {
            return Err(Over);
        }
        if self.spent >= self.look {
            self.look = self.spent + BETWEEN_LOOKS;
            let late = self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if late || self.limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(Over);
            }
        }
        Ok(())
    }
}
