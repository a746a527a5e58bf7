//! Candidates: patterns that would be the same deadlock, and what is known of each.

use super::patterns::{Identity, Pattern};
use super::report::FoundDeadlock;
use super::requests::Requests;
use super::{DeadlockOptions, Evidence};
use crate::Schedule;
use crate::sync_preserving::SyncPreserving;
use event::Batch;
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Instant;

/// Cycles that are one deadlock: the same threads hold and request the same locks at the same sites.
pub(super) struct Candidate {
    pub(super) patterns: Vec<Pattern>,
    pub(super) found: Option<FoundDeadlock>,
    /// Some question about it was not answered.
    pub(super) undecided: bool,
    /// The requests, if the trace ends with them.
    happened: Option<Vec<u64>>,
}

/// All that are known so far.
#[derive(Default)]
pub(super) struct Candidates {
    pub(super) list: Vec<Candidate>,
    known: FxHashMap<Identity, usize>,
    patterns: FxHashSet<Pattern>,
}

impl Candidates {
    /// Adds patterns, if they are new.
    pub(super) fn add(&mut self, requests: &Requests, patterns: Vec<Pattern>) {
        for pattern in patterns.into_iter().filter(|pattern| self.patterns.insert(pattern.clone())) {
            let next = self.list.len();
            let number = *self.known.entry(pattern.identity(requests)).or_insert(next);
            if number == next {
                self.list.push(Candidate { patterns: Vec::new(), found: None, undecided: false, happened: None });
            }
            self.list[number].patterns.push(pattern);
        }
    }

    /// How many are not known to be deadlocks.
    pub(super) fn left(&self) -> usize {
        self.list.iter().filter(|candidate| candidate.found.is_none()).count()
    }

    /// How many patterns they have.
    pub(super) fn patterns(&self) -> u64 {
        self.patterns.len() as u64
    }

    /// Those that the trace ends with: everything else can have come before, unless a drop barrier says that an access
    /// comes after one of the requests.
    pub(super) fn happened(&mut self, batch: &Batch, requests: &Requests) {
        let pins: FxHashSet<_> =
            batch.events.iter().filter(|e| e.op().is_drop_barrier()).map(|pin| pin.thread()).collect();
        for candidate in &mut self.list {
            candidate.happened = candidate.patterns.iter().find_map(|pattern| pattern.unanswered(requests));
            let Some(asked) = &candidate.happened else { continue };
            if asked.iter().all(|&event| !pins.contains(&batch.events[event as usize].thread())) {
                let prefix: Vec<u64> = (0..batch.events.len() as u64).filter(|event| !asked.contains(event)).collect();
                candidate.found = Some((Evidence::Observed, asked.clone(), Schedule::of(&prefix)));
            }
        }
    }

    /// Looks for prefixes that are the recorded order with events left out; first where requests are near each other.
    /// Half of the time is for the windows.
    pub(super) fn sync_preserving(
        &mut self,
        analysis: &mut SyncPreserving<'_>,
        requests: &Requests,
        options: &DeadlockOptions<'_>,
    ) {
        let mut left: Vec<&mut Candidate> =
            self.list.iter_mut().filter(|candidate| candidate.found.is_none()).collect();
        left.sort_by_cached_key(|one| one.patterns.iter().map(|pattern| pattern.spread(requests)).min());
        let now = Instant::now();
        let share = if options.window > 0 { 2 } else { 1 };
        let deadline = options.deadline.map(|deadline| now + deadline.saturating_duration_since(now) / share);
        let options = DeadlockOptions { deadline, ..*options };
        for candidate in left {
            if options.is_over() {
                candidate.undecided = true;
                continue;
            }
            if let Some(asked) = &candidate.happened
                && let Some(prefix) = analysis.deadlock_witness(asked)
            {
                candidate.found = Some((Evidence::Observed, asked.clone(), Schedule::of(&prefix)));
                continue;
            }
            for pattern in &candidate.patterns {
                let instances: Vec<Vec<u64>> = pattern.instances(requests);
                let instances: Vec<&[u64]> = instances.iter().map(Vec::as_slice).collect();
                if let Some(found) = analysis.first_deadlock(&instances) {
                    candidate.found = Some((Evidence::SyncPreserving, found.requests, Schedule::of(&found.witness)));
                    break;
                }
                candidate.undecided |= analysis.gave_up();
            }
        }
    }
}
