//! `deadlock`: cycles of lock requests that some run really ends in, each with an order that leads there.
//!
//! **Follows** Tunç, Mathur, Pavlogiannis, Viswanathan, *Sound Dynamic Deadlock Prediction in Linear Time*, PLDI'23
//! (SPDOffline): requests that are alike are one *abstract* request, a cycle of these an abstract pattern, and all its
//! instances are looked at in one walk for one that a sync-preserving prefix leads to.
//!
//! **Deviates**: reader locks, upgrades, requests that were not answered, locks given up by a wait; two requests that hold
//! a lock shared, both, are no gate. Abstract requests are told apart by where locks were taken, as the deadlocks are. What
//! has no sync-preserving prefix is asked of `reach`, window by window, tuple by tuple: any feasible prefix will do.
//!
//! **May miss** deadlocks whose requests are further apart than a window, and those that are left when patterns, time or
//! steps run out; all of these are counted.
//!
//! **Raises no false alarm**: a deadlock is a feasible prefix after which all requests of a cycle are next; what a thread
//! holds then depends on its own events alone. The prefix is with the report, for `witness::check_deadlock`. Only such
//! cycles are left out beforehand as no prefix leads to: two of the requests hold a lock that excludes the other, or
//! forks and joins order them.

mod held;
mod patterns;
mod report;
mod requests;
mod windows;

pub use report::{Blocked, Deadlock, Deadlocks, Evidence, TakenLock};

use crate::Schedule;
use crate::sync_preserving::SyncPreserving;
use event::{Batch, Names, Value, VarId};
use patterns::{Pattern, Patterns};
use report::Found;
use requests::Requests;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// How far to look.
#[derive(Clone, Copy, Debug)]
pub struct DeadlockOptions<'s> {
    /// Keep at most so many deadlocks.
    pub most: usize,
    /// Windows of so many events are searched; 0: none.
    pub window: usize,
    /// Look at so many patterns.
    pub most_patterns: usize,
    /// Look for patterns for so many steps.
    pub pattern_steps: u64,
    /// Give a question up after so many steps.
    pub question_steps: u64,
    /// Ask at most so many questions for a deadlock in a window.
    pub most_questions: usize,
    /// End when this is set.
    pub stop: Option<&'s AtomicBool>,
    /// End at this time. Windows share what is left of it.
    pub deadline: Option<Instant>,
}

impl Default for DeadlockOptions<'_> {
    fn default() -> Self {
        DeadlockOptions {
            most: 1000,
            window: 10_000,
            most_patterns: 100_000,
            pattern_steps: 50_000_000,
            question_steps: 10_000_000,
            most_questions: 4096,
            stop: None,
            deadline: None,
        }
    }
}

impl DeadlockOptions<'_> {
    fn is_over(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Cycles that are one deadlock: the same threads hold and request the same locks at the same sites.
struct Candidate {
    patterns: Vec<Pattern>,
    /// Its requests, and the events before them.
    found: Option<Found>,
    /// Some question about it was not answered.
    undecided: bool,
}

/// Finds the deadlocks of a whole trace (its first event is number 0).
pub fn deadlocks(
    names: &Names,
    batch: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    options: &DeadlockOptions<'_>,
) -> Deadlocks {
    let requests = Requests::new(names, batch);
    let mut patterns = Patterns::new(&requests, options.most_patterns, options.pattern_steps);
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut known = FxHashMap::default();
    let mut add = |pattern: Pattern, candidates: &mut Vec<Candidate>| {
        let next = candidates.len();
        let number = *known.entry(pattern.identity(&requests)).or_insert(next);
        if number == next {
            candidates.push(Candidate { patterns: Vec::new(), found: None, undecided: false });
        }
        candidates[number].patterns.push(pattern);
    };
    // What happened must not be left out, whatever else there is.
    patterns.search(|request| request.unanswered.is_some());
    patterns.search(|_| true);
    let mut report = Deadlocks {
        unrecorded: requests.unrecorded,
        all_patterns: patterns.complete,
        patterns: patterns.found.len() as u64,
        ..Deadlocks::default()
    };
    for pattern in patterns.found {
        add(pattern, &mut candidates);
    }
    report.candidates = candidates.len() as u64;

    for candidate in &mut candidates {
        let observed = candidate.patterns.iter().find_map(|pattern| pattern.unanswered(&requests));
        if let Some(asked) = observed {
            let prefix: Vec<u64> = (0..batch.events.len() as u64).filter(|event| !asked.contains(event)).collect();
            candidate.found = Some((Evidence::Observed, asked, Schedule::of(&prefix)));
        }
    }
    if candidates.iter().any(|candidate| candidate.found.is_none()) {
        sync_preserving(names, batch, &requests, options, &mut candidates);
    }
    if options.window > 0 && candidates.iter().any(|candidate| candidate.found.is_none()) {
        windows::search(names, batch, initial, &requests, options, &mut candidates, &mut report);
    }
    report.undecided = candidates.iter().filter(|c| c.found.is_none() && c.undecided).count() as u64;
    let mut found: Vec<Found> = candidates.into_iter().filter_map(|candidate| candidate.found).collect();
    report.left_out = found.len().saturating_sub(options.most) as u64;
    found.truncate(options.most);
    report.deadlocks = report::describe(batch, found);
    report
}

/// Looks for prefixes that are the recorded order with events left out.
fn sync_preserving(
    names: &Names,
    batch: &Batch,
    requests: &Requests,
    options: &DeadlockOptions<'_>,
    candidates: &mut [Candidate],
) {
    let mut analysis = SyncPreserving::new(names, batch);
    for candidate in candidates.iter_mut().filter(|candidate| candidate.found.is_none()) {
        if options.is_over() {
            candidate.undecided = true;
            continue;
        }
        for pattern in &candidate.patterns {
            let instances: Vec<Vec<u64>> = pattern.instances(requests);
            let instances: Vec<&[u64]> = instances.iter().map(Vec::as_slice).collect();
            if let Some(found) = analysis.first_deadlock(&instances) {
                candidate.found = Some((Evidence::SyncPreserving, found.requests, Schedule::of(&found.witness)));
                break;
            }
        }
    }
}
