//! How long detectors may take, and how much their findings may hold: all in one place.

use std::time::{Duration, Instant};

/// The time that an analysis of the whole trace or of windows has, each.
const EACH: Duration = Duration::from_secs(10);

/// The time for checking predictions, all together.
const CHECKING: Duration = Duration::from_secs(8);

/// The time for it after somebody asked for an end.
const HURRY: Duration = Duration::from_secs(2);

/// The time for making witnesses of what was observed, which stands without them.
const MAKING: Duration = Duration::from_secs(3);

/// Event indexes in the witnesses of a report, all together.
pub(crate) const WITNESSES: u64 = 20_000_000;

/// Findings with a picture of the orders, of each kind: those that are shown.
pub(crate) const PICTURES: usize = report::SHOWN_FINDINGS;

/// When an analysis that begins now must end.
pub(crate) fn deadline() -> Instant {
    Instant::now() + EACH
}

/// The time that one of so many windows may take: more than its share, for most need less.
pub(crate) fn share(windows: u64) -> Duration {
    const SHARES: u32 = 8;
    const LEAST: Duration = Duration::from_millis(5);
    (EACH * SHARES / u32::try_from(windows.max(1)).unwrap_or(u32::MAX)).max(LEAST)
}

/// How many windows of a size a trace of so many events has: they overlap by half.
pub(crate) fn windows(events: usize, size: usize) -> u64 {
    reach::Excerpts::count(events, size)
}

/// How long predictions may be checked.
pub(crate) fn checking(hurry: bool) -> Duration {
    if hurry { HURRY } else { CHECKING }
}

/// How long witnesses of what was observed may be made.
pub(crate) fn making(hurry: bool) -> Duration {
    if hurry { Duration::ZERO } else { MAKING }
}

/// The time of an analysis, in words.
pub(crate) fn each() -> String {
    format!("{} seconds", EACH.as_secs())
}
