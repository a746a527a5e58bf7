//! `deadlock`: claims of requests that block each other for ever: cycles of locks, and wide ones.

use super::{Entry, Found, Pass, TraceEnd, verify, wide_deadlock};
use crate::claim::{About, Basis, Claim, Part, Witness};
use detect::deadlock::wide::{WideDeadlocks, wide_deadlocks};
use detect::deadlock::{Blocked, Deadlock, DeadlockOptions, Deadlocks, Evidence, deadlocks};
use report::{AnalysisStats, Kind};
use std::time::Instant;

pub(super) const ENTRY: Entry = Entry {
    name: "deadlock",
    help: "threads that wait for each other: locks, joins, latches, semaphores. Predicted, or observed at the end",
    needs_trace: true,
    live: false,
    start: |_| Box::new(Finder),
    yields: None,
};

struct Finder;

impl Pass for Finder {
    fn finish(self: Box<Self>, end: &TraceEnd<'_>) -> Found {
        if end.is_known && !end.filtered.awaited_waits && !end.filtered.nested {
            let none = Deadlocks { all_patterns: true, ..Deadlocks::default() };
            return Found { stats: stats(&none, &WideDeadlocks::default(), ""), ..Found::default() };
        }
        let Some(trace) = end.trace else { return Found::nothing(end) };
        let began = Instant::now();
        let options = DeadlockOptions {
            window: end.window,
            stop: Some(end.cancel),
            deadline: Some(end.budget.deadline()),
            ..DeadlockOptions::default()
        };
        let wide = if end.filtered.awaited_waits {
            // Cycles of locks are looked for in the rest of the time.
            let now = Instant::now();
            let half = options.deadline.map(|deadline| now + deadline.saturating_duration_since(now) / 2);
            wide_deadlocks(end.names, trace, end.initial, &DeadlockOptions { deadline: half, ..options })
        } else {
            WideDeadlocks::default()
        };
        let found = if end.filtered.nested {
            let mut index = end.preserving.borrow_mut();
            let index = index.get_or_insert_with(|| end.on_demand(trace));
            deadlocks(index, end.initial, &options)
        } else {
            Deadlocks { all_patterns: true, ..Deadlocks::default() }
        };
        let stats = stats(&found, &wide, &end.spent(began));
        let wanted = |deadlock: &&Deadlock| end.restriction.admits_threads(deadlock.blocked.len());
        let mut claims: Vec<Claim> = found.deadlocks.iter().filter(wanted).map(|d| claim(d, end)).collect();
        let wide = wide.deadlocks.iter().filter(|deadlock| end.restriction.admits_threads(deadlock.waiting.len()));
        let outside = wide_deadlock::Outside::of(end.names, trace);
        claims.extend(wide.filter_map(|deadlock| wide_deadlock::claim(deadlock, &outside, end)));
        Found { claims, stats, ..Found::default() }
    }
}

/// The figures; `spent` says what was not enough.
fn stats(found: &Deadlocks, wide: &WideDeadlocks, spent: &str) -> AnalysisStats {
    let mut left = Vec::new();
    if found.undecided > 0 {
        left.push(format!("{} possible deadlocks were not decided {spent}", found.undecided));
    }
    if let Some(too_large) = &found.too_large {
        left.push(format!("{} were looked for in windows only: {too_large}", found.windows_only));
    }
    if found.apart > 0 {
        left.push(format!("{} have requests further apart than a window", found.apart));
    }
    if !found.all_patterns {
        left.push(format!("only {} cycles of requests were looked at", found.patterns));
    }
    if found.unrecorded + wide.unrecorded > 0 {
        left.push(format!("{} requests found no room", found.unrecorded + wide.unrecorded));
    }
    if wide.undecided_windows > 0 {
        let windows = wide.undecided_windows;
        left.push(format!("deadlocks around more than locks were not all looked for in {windows} windows"));
    }
    AnalysisStats {
        left_out: Some(found.left_out + wide.left_out).filter(|&deadlocks| deadlocks > 0),
        windows: Some(found.windows.max(wide.windows)),
        undecided: Some(found.undecided_windows.max(wide.undecided_windows)),
        truncated: (!left.is_empty()).then(|| left.join("; ")),
        ..AnalysisStats::default()
    }
}

fn claim(deadlock: &Deadlock, end: &TraceEnd<'_>) -> Claim {
    let names = end.names;
    let part = |blocked: &Blocked| Part {
        event: blocked.event,
        thread: blocked.thread,
        site: blocked.site,
        locks: vec![blocked.holds.lock],
        role: "waits for ever",
    };
    let each = deadlock.blocked.iter().map(|blocked| {
        let (thread, holds, asks) =
            (names.thread(blocked.thread), names.lock(blocked.holds.lock), names.lock(blocked.lock));
        format!("{thread} holds {holds} and waits for {asks}")
    });
    let each = each.collect::<Vec<_>>().join(", ");
    let (basis, how) = match deadlock.evidence {
        Evidence::Observed if end.complete => (Basis::Observed, "the run ended so"),
        // With something missing from the trace, they may have gone on.
        Evidence::Observed => (predicted(deadlock), "the recorded order leads there"),
        Evidence::SyncPreserving => (predicted(deadlock), "the recorded order, with events left out, leads there"),
        Evidence::Maximal => (predicted(deadlock), "another order of the same events leads there"),
    };
    let about = About::Locks(deadlock.blocked.iter().map(|blocked| blocked.holds.lock).collect());
    let parts = deadlock.blocked.iter().map(part).collect();
    end.claim(Kind::Deadlock, basis, about, parts, format!("{each}: {how}"))
}

fn predicted(deadlock: &Deadlock) -> Basis {
    let mut schedule = deadlock.prefix.clone();
    schedule.then.extend(deadlock.requests());
    Basis::Predicted(Witness::Window(schedule), verify::deadlock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_of_what_is_missing_reaches_the_figures() {
        let nothing = WideDeadlocks::default();
        let none = stats(&Deadlocks { all_patterns: true, ..Deadlocks::default() }, &nothing, "");
        assert_eq!((none.left_out, none.truncated), (None, None));
        let some =
            Deadlocks { left_out: 3, undecided: 5, apart: 7, patterns: 11, unrecorded: 13, ..Deadlocks::default() };
        let wide = WideDeadlocks { left_out: 4, undecided_windows: 17, unrecorded: 2, ..WideDeadlocks::default() };
        let some = stats(&some, &wide, "in 10 seconds");
        let text = some.truncated.unwrap();
        assert_eq!(some.left_out, Some(7));
        for part in
            ["5 possible deadlocks", "7 have requests further apart", "only 11 cycles", "15 requests", "17 windows"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
