//! How long detectors may take, and how much their findings may hold: all in one place.

use std::time::{Duration, Instant};

/// The time that an analysis of the whole trace or of windows has, each.
const EACH: Duration = Duration::from_secs(10);

/// The least that all searches together have after the recording of a long run.
const LEAST: Duration = Duration::from_millis(500);

/// They share half of the time that this run took: rarely do more than three of them use up what they have.
const SHARERS: u32 = 6;

/// The user of `run` waits for all searches together. Traces shorter than this have few windows: most searches of them
/// end by themselves.
const SHORT: u64 = 30_000;

/// The time for checking predictions after the caller cancelled.
const HURRY: Duration = Duration::from_millis(200);

/// Event indexes in the witnesses of a report, all together.
pub(crate) const WITNESSES: u64 = 20_000_000;

/// Findings with a view of their schedule, of each kind: those that are shown.
pub(crate) const PICTURES: usize = report::SHOWN_FINDINGS;

/// How long searches may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Budget {
    each: Duration,
}

impl Budget {
    /// What the caller asks for; else the usual time, or after the recording of a long run a share of what that took.
    pub(crate) fn new(asked: Option<Duration>, recording: Option<Duration>, events: u64) -> Budget {
        let share = |took: Duration| (took.max(LEAST) / SHARERS).min(EACH);
        let usual = recording.filter(|_| events > SHORT).map_or(EACH, share);
        Budget { each: asked.unwrap_or(usual) }
    }

    /// The time of a search.
    pub(crate) fn each(self) -> Duration {
        self.each
    }

    /// When a search that begins now must end.
    pub(crate) fn deadline(self) -> Instant {
        Instant::now() + self.each
    }

    /// The time that one of so many windows may take: more than its share, for most need less.
    pub(crate) fn share(self, windows: u64) -> Duration {
        const SHARES: u32 = 8;
        const LEAST: Duration = Duration::from_millis(5);
        let windows = u32::try_from(windows.max(1)).unwrap_or(u32::MAX);
        (self.each.saturating_mul(SHARES) / windows).max(LEAST)
    }

    /// What there was for a search that took so long: the time, or the work that is allowed to a part of it.
    pub(crate) fn spent(self, took: Duration) -> String {
        // Searches look at the clock now and then.
        if took >= self.each.saturating_mul(9) / 10 {
            format!("in {self}")
        } else {
            format!("with the work that each may take ({:.1} seconds in all)", took.as_secs_f64())
        }
    }

    /// How long predictions may be checked, all together.
    pub(crate) fn checking(self, hurry: bool) -> Duration {
        if hurry { self.each.min(HURRY) } else { self.each.saturating_mul(4) / 5 }
    }

    /// How long witnesses of what was observed may be made, which stands without them.
    pub(crate) fn making(self, hurry: bool) -> Duration {
        if hurry { Duration::ZERO } else { self.each.saturating_mul(3) / 10 }
    }
}

/// The time of a search, in words.
impl std::fmt::Display for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.each.subsec_millis() {
            0 => write!(f, "{} seconds", self.each.as_secs()),
            _ => write!(f, "{:.1} seconds", self.each.as_secs_f64()),
        }
    }
}

/// How many windows of a size a trace of so many events has: they overlap by half.
pub(crate) fn windows(events: usize, size: usize) -> u64 {
    reach::Windows::count(events, size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_named_only_if_it_was_spent() {
        let budget = Budget::new(None, None, 0);
        assert_eq!(budget.spent(Duration::from_millis(9_990)), "in 10 seconds");
        let early = budget.spent(Duration::from_millis(320));
        assert_eq!(early, "with the work that each may take (0.3 seconds in all)");
    }

    #[test]
    fn searches_after_long_runs_share_the_time_that_these_took() {
        let each = |asked, recording: Option<u64>, events| {
            Budget::new(asked, recording.map(Duration::from_millis), events).to_string()
        };
        assert_eq!(each(None, None, 9_000_000), "10 seconds");
        assert_eq!(each(None, Some(9_750), 9_000_000), "1.6 seconds");
        assert_eq!(each(None, Some(9_750), 10_000), "10 seconds");
        assert_eq!(each(None, Some(10), 9_000_000), "0.1 seconds");
        assert_eq!(each(None, Some(60_000), 9_000_000), "10 seconds");
        assert_eq!(each(Some(Duration::from_secs(60)), Some(10), 9_000_000), "60 seconds");
    }
}
