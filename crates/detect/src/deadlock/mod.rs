//! `deadlock`: cycles of lock requests that some run really ends in, each with an order that leads there.
//!
//! **Follows** Tunç, Mathur, Pavlogiannis, Viswanathan, *Sound Dynamic Deadlock Prediction in Linear Time*, PLDI'23
//! (SPDOffline): requests that are alike are one *abstract* request, a cycle of these an abstract pattern, and all its
//! instances are looked at in one walk for one that a sync-preserving prefix leads to.
//!
//! **Deviates**: reader locks, upgrades, requests that were not answered, locks given up by a wait; two requests that
//! hold a lock shared, both, are no gate. Abstract requests are distinguished by where locks were taken, as the
//! deadlocks are. What has no sync-preserving prefix is asked of `reach`, window by window, tuple by tuple: any
//! feasible prefix will do.
//!
//! **May miss** deadlocks whose requests are further apart than a window, and those that are left when patterns, time
//! or steps run out; all of these are counted.
//!
//! **Raises no false alarm**: a deadlock is a feasible prefix after which all requests of a cycle are next; what a
//! thread holds then depends on its own events alone. The prefix is with the report, for `witness::check_deadlock`.
//! Only such cycles are left out beforehand as no prefix leads to: two of the requests hold a lock that excludes the
//! other, or forks and joins order them.

mod candidates;
mod patterns;
mod report;
mod requests;
pub mod wide;
mod windows;

pub use report::{Blocked, Deadlock, Deadlocks, Evidence, TakenLock};

use crate::sync_preserving::OnDemand;
use candidates::Candidates;
use event::{Value, VarId};
use patterns::Patterns;
use report::FoundDeadlock;
use requests::Requests;
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

/// Finds the deadlocks of a whole trace.
pub fn deadlocks(
    whole: &mut OnDemand<'_>,
    initial: &dyn Fn(VarId) -> Value,
    options: &DeadlockOptions<'_>,
) -> Deadlocks {
    let (names, batch) = (whole.names(), whole.trace());
    let requests = Requests::new(names, batch);
    let mut candidates = Candidates::default();
    let all: Vec<u32> = (0..requests.list.len() as u32).collect();
    let unanswered = |&number: &u32| requests.list[number as usize].unanswered.is_some();
    let open: Vec<u32> = all.iter().copied().filter(unanswered).collect();
    // What happened must not be left out, whatever else there is.
    let mut complete = true;
    for some in [open, all] {
        let found = Patterns::find(&requests, &some, options.most_patterns, options.pattern_steps);
        complete &= found.all;
        candidates.add(&requests, found.patterns);
    }
    candidates.happened(batch, &requests);
    let mut report = Deadlocks { all_patterns: complete, unrecorded: requests.unrecorded, ..Deadlocks::default() };
    if candidates.left() > 0 {
        match whole.index() {
            Ok(index) => candidates.sync_preserving(index, &requests, options),
            Err(too_large) => report.too_large = Some(too_large),
        }
    }
    if options.window > 0 && (candidates.left() > 0 || !complete) {
        windows::search(names, batch, initial, &requests, options, &mut candidates, &mut report);
    }
    report.patterns = candidates.patterns();
    report.candidates = candidates.list.len() as u64;
    report.undecided = candidates.list.iter().filter(|one| one.found.is_none() && one.undecided).count() as u64;
    if report.too_large.is_some() {
        report.windows_only = candidates.left() as u64;
    }
    let mut found: Vec<FoundDeadlock> = candidates.list.into_iter().filter_map(|candidate| candidate.found).collect();
    report.left_out = found.len().saturating_sub(options.most) as u64;
    found.truncate(options.most);
    report.deadlocks = report::describe(batch, found);
    report
}
