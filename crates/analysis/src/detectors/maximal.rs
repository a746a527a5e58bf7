//! `maximal`: claims of all races that windows of the trace show.

use super::{Entry, Found, Pass, TraceEnd, races, sync_preserving, verify};
use crate::budget;
use crate::claim::{Basis, Witness};
use detect::maximal::{KnownRaces, Looked, Maximal, Options};
use detect::{Race, Schedule};
use reach::Windows;
use report::AnalysisStats;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Races that are kept.
const MOST: usize = 10_000;

pub(super) const ENTRY: Entry = Entry {
    name: "maximal",
    help: "races again: all that a window of the trace can show. Predicted",
    needs_trace: true,
    live: false,
    start: |_| Box::new(Finder),
    yields: None,
};

struct Finder;

impl Pass for Finder {
    fn finish(self: Box<Self>, end: &TraceEnd<'_>) -> Found {
        if end.is_known && !end.searched.any_races() {
            let windows = budget::windows(end.events as usize, end.window);
            let looked = Looked { windows, ..Looked::default() };
            let figures = AnalysisStats { racy_events: Some(0), racy_sites: Some(0), ..stats(&looked, windows, "") };
            return Found { stats: figures, ..Found::default() };
        }
        let Some(trace) = end.trace else { return Found::nothing(end) };
        let count = budget::windows(trace.events.len(), end.window);
        let (began, deadline) = (Instant::now(), end.budget.deadline());
        let options = Options {
            per_window: Some(end.budget.share(count)),
            deadline: Some(deadline),
            stop: Some(end.cancel),
            most: MOST,
            filtered: Some(end.searched),
            ..Options::default()
        };
        let mut maximal = Maximal::new(options, KnownRaces::default());
        let mut decided = Vec::new();
        let mut windows = Windows::new(end.names, trace, end.window);
        let (time, events) = (end.budget.each(), trace.events.len());
        let pace = Pace { began, time, events, few: count < Pace::MANY };
        let is_over = || Instant::now() >= deadline || end.cancel.load(Ordering::Relaxed);
        let mut next = |maximal: &mut Maximal<'_>| {
            windows.next_with(|range| pace.allows(range.start) && maximal.wants(&trace.events[range]))
        };
        while !is_over()
            && let Some(window) = next(&mut maximal)
        {
            if maximal.window(end.names, &window, end.initial) {
                decided.push(window.range);
            }
        }
        let report = maximal.finish();
        let stats = stats(&report.looked, count, &end.spent(began));
        let key = |race: &Race| (race.earlier.event, race.later.event);
        let keys: Vec<_> = report.races.races.iter().map(key).collect();
        let orders: HashMap<_, Schedule> = keys.into_iter().zip(report.prefixes).collect();
        let mut found = races::found(report.races, end, |race| {
            let schedule = orders.get(&key(race)).map(|prefix| Schedule {
                recorded: prefix.recorded,
                then: prefix.then.iter().copied().chain([race.earlier.event, race.later.event]).collect(),
            });
            let witness = schedule.map_or(Witness::SyncPreserving, Witness::Window);
            (Basis::Predicted(witness, verify::race), sync_preserving::why(race, end))
        });
        found.stats = AnalysisStats {
            racy_events: found.stats.racy_events,
            racy_sites: found.stats.racy_sites,
            left_out: found.stats.left_out,
            ..stats
        };
        found.decided = decided;
        found
    }
}

/// Spreads what there is time for over the whole trace.
struct Pace {
    began: Instant,
    time: Duration,
    events: usize,
    few: bool,
}

impl Pace {
    /// With fewer windows, one may take a large part of the time, and the others must not lose it.
    const MANY: u64 = 100;

    /// How far a search may be ahead of its time: windows differ.
    const AHEAD: f64 = 0.1;

    /// Whether there is time for a window that begins there.
    fn allows(&self, event: usize) -> bool {
        if self.few {
            return true;
        }
        let spent = self.began.elapsed().as_secs_f64() / self.time.as_secs_f64();
        spent <= event as f64 / self.events as f64 + Pace::AHEAD
    }
}

fn stats(looked: &Looked, windows: u64, spent: &str) -> AnalysisStats {
    let unseen = windows.saturating_sub(looked.windows);
    let mut left = Vec::new();
    if looked.undecided > 0 {
        let pairs = looked.pairs + looked.undecided;
        left.push(format!(
            "{} of {pairs} pairs were not decided, in {} of {windows} windows",
            looked.undecided, looked.undecided_windows
        ));
    }
    if unseen > 0 {
        left.push(format!("{unseen} of {windows} windows were not looked at {spent}"));
    }
    AnalysisStats {
        windows: Some(windows),
        undecided: Some(looked.undecided_windows + unseen),
        truncated: (!left.is_empty()).then(|| left.join("; ")),
        ..AnalysisStats::default()
    }
}
