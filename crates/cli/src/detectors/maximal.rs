//! `maximal` on the command line: all races that can be told from windows of the trace.

use super::claim::{Shown, Witness};
use super::{Analysis, Found, Whole, budget, races, sync_preserving};
use crate::args::Detector;
use detect::maximal::{Known, Looked, Maximal, Options};
use detect::{Race, Schedule};
use reach::Excerpts;
use report::AnalysisStats;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Races that are kept.
const MOST: usize = 10_000;

pub(super) struct Finder;

impl Analysis for Finder {
    fn finish(self: Box<Self>, whole: &Whole<'_>) -> Found {
        let Some(trace) = whole.trace else { return Found::nothing(whole) };
        let windows = budget::windows(trace.events.len(), whole.window);
        let deadline = budget::deadline();
        let options = Options {
            per_window: Some(budget::share(windows)),
            deadline: Some(deadline),
            stop: Some(whole.stop),
            most: MOST,
            ..Options::default()
        };
        let mut maximal = Maximal::new(options, Known::default());
        for excerpt in Excerpts::new(whole.names, trace, whole.window) {
            if Instant::now() >= deadline || whole.stop.load(Ordering::Relaxed) {
                break;
            }
            maximal.window(whole.names, &excerpt, whole.initial);
        }
        let report = maximal.finish();
        let stats = stats(&report.looked, windows);
        let key = |race: &Race| (race.earlier.event, race.later.event);
        let keys: Vec<_> = report.races.races.iter().map(key).collect();
        let orders: HashMap<_, Schedule> = keys.into_iter().zip(report.prefixes).collect();
        let mut found = races::found(Detector::Maximal, report.races, whole, |race| {
            let schedule = orders.get(&key(race)).map(|prefix| Schedule {
                recorded: prefix.recorded,
                then: prefix.then.iter().copied().chain([race.earlier.event, race.later.event]).collect(),
            });
            let witness = schedule.map_or(Witness::SyncPreserving, Witness::Window);
            (Shown::Predicted(witness), sync_preserving::why(race, whole))
        });
        found.stats = AnalysisStats {
            racy_events: found.stats.racy_events,
            racy_sites: found.stats.racy_sites,
            left_out: found.stats.left_out,
            ..stats
        };
        found
    }
}

fn stats(looked: &Looked, windows: u64) -> AnalysisStats {
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
        left.push(format!("{unseen} of {windows} windows were not looked at in {}", budget::each()));
    }
    AnalysisStats {
        windows: Some(windows),
        undecided: Some(looked.undecided_windows + unseen),
        truncated: (!left.is_empty()).then(|| left.join("; ")),
        ..AnalysisStats::default()
    }
}
