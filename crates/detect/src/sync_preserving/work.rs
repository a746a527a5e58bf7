//! How long a search may go on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What a search may spend, and has spent.
pub(super) struct Work<'s> {
    pub(super) stop: Option<&'s AtomicBool>,
    pub(super) deadline: Option<Instant>,
    /// Steps so far; a step is about as long as a look at an event.
    pub(super) spent: u64,
    /// As many as there may be.
    pub(super) most: u64,
    /// When to look at the clock again.
    next_look: u64,
    over: bool,
}

/// Steps between two looks at the clock.
const STRIDE: u64 = 4096;

impl<'s> Work<'s> {
    pub(super) fn new(stop: Option<&'s AtomicBool>, deadline: Option<Instant>, most: u64) -> Work<'s> {
        Work { stop, deadline, spent: 0, most, next_look: 0, over: false }
    }

    /// Whether it must end here.
    #[inline]
    pub(super) fn is_over(&mut self) -> bool {
        if !self.over && self.spent >= self.next_look {
            self.next_look = self.spent + STRIDE;
            self.over = self.spent >= self.most
                || self.is_stopped()
                || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        }
        self.over
    }

    /// Whether the caller wants it to end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}
