//! What searches in windows have in common: how far they may go, and the orders that they give.

use reach::{Limits, Window};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How far a search in windows goes.
#[derive(Clone, Copy, Debug)]
pub struct Search<'s> {
    /// Events of a window.
    pub window: usize,
    /// Steps of the search for one question.
    pub steps: u64,
    /// Until then.
    pub deadline: Option<Instant>,
    /// Until it is set.
    pub stop: Option<&'s AtomicBool>,
}

impl Default for Search<'_> {
    fn default() -> Self {
        Search { window: 10_000, steps: 1_000_000, deadline: None, stop: None }
    }
}

impl<'s> Search<'s> {
    pub(crate) fn limits(&self) -> Limits<'s> {
        Limits { steps: self.steps, deadline: self.deadline, stop: self.stop }
    }

    /// This search for the next of so many windows: its deadline comes after a share of the time that is left. That
    /// is more than an equal one, for most windows need less.
    pub(crate) fn share(&self, windows: u64) -> Search<'s> {
        const SHARES: u32 = 8;
        const LEAST: Duration = Duration::from_millis(5);
        let now = Instant::now();
        let windows = u32::try_from(windows.max(1)).unwrap_or(u32::MAX);
        let end = |deadline: Instant| {
            let left = deadline.saturating_duration_since(now);
            deadline.min(now + (left / windows).saturating_mul(SHARES).max(LEAST))
        };
        Search { deadline: self.deadline.map(end), ..*self }
    }

    /// Whether no more time is left.
    pub(crate) fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// An order that shows a prediction: the recorded one up to a window, then other events of the window.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// So many events as recorded.
    pub recorded: u64,
    /// The events after them.
    pub then: Vec<u64>,
}

impl Schedule {
    pub(crate) fn new(window: &Window, prefix: &[u32]) -> Schedule {
        let of_window = prefix.iter().filter(|&&event| event as usize >= window.fixed);
        let then = of_window.map(|&event| window.index[event as usize]).collect();
        Schedule { recorded: window.range.start, then }
    }

    /// This order.
    pub(crate) fn of(order: &[u64]) -> Schedule {
        let recorded = (0..).zip(order).take_while(|&(at, &event)| event == at).count();
        Schedule { recorded: recorded as u64, then: order[recorded..].to_vec() }
    }

    /// All its events, in order.
    pub fn whole(&self) -> Vec<u64> {
        (0..self.recorded).chain(self.then.iter().copied()).collect()
    }
}

/// Where an event of the whole trace stands in the batch of a window, if it is in that window.
pub(crate) fn offset(window: &Window, event: u64) -> Option<u32> {
    let in_window = window.range.contains(&event);
    in_window.then(|| (window.fixed as u64 + (event - window.range.start)) as u32)
}
