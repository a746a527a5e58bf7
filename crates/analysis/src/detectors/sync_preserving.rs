//! `sync-preserving`: claims of races that the recorded order with events left out shows, or with sections reversed.

use super::{Entry, Found, Pass, TraceEnd, races, verify};
use crate::claim::{Basis, Witness};
use detect::Race;
use detect::sync_preserving::{Options, Predicted};
use event::{Batch, LockId, Op};
use report::AnalysisStats;
use std::cell::Cell;
use std::collections::HashSet;

/// Races of either kind that are kept.
const MOST: usize = 10_000;

/// Events between two accesses that are searched for what hides the race.
const LOOK: u64 = 1_000_000;

/// Events that are looked at for all races together; what hides further ones is not said.
const LOOKED: u64 = 50_000_000;

/// Locks that are named.
const NAMED: usize = 3;

pub(super) const ENTRY: Entry = Entry {
    name: "sync-preserving",
    help: "races that the recorded order with events left out shows, or with lock sections reversed. Predicted",
    needs_trace: true,
    live: false,
    start: |_| Box::new(Finder),
    yields: None,
};

struct Finder;

impl Pass for Finder {
    fn finish(self: Box<Self>, end: &TraceEnd<'_>) -> Found {
        if end.is_known && !end.searched.any_races() {
            return Found { stats: stats(&Predicted::default()), ..Found::default() };
        }
        let options = Options {
            most_races: MOST,
            filtered: Some(end.searched),
            stop: Some(end.cancel),
            deadline: Some(end.budget.deadline()),
            ..Options::default()
        };
        let found = match end.preserving(|index| index.races(&options)) {
            Ok(found) => found,
            Err(why) => return Found::without(why),
        };
        let stats = stats(&found);
        let explain = |race: &Race| (Basis::Predicted(Witness::SyncPreserving, verify::race), why(race, end));
        let mut all = races::found(found.sync_preserving, end, explain);
        all.claims.extend(races::found(found.optimistic, end, explain).claims);
        all.stats = stats;
        all
    }
}

fn stats(found: &Predicted) -> AnalysisStats {
    let left_out = found.sync_preserving.left_out + found.optimistic.left_out;
    let mut left = Vec::new();
    if found.unexamined > 0 {
        left.push(format!("{} accesses were not looked at with all that they conflict with", found.unexamined));
    }
    if found.unexamined_reversals > 0 {
        left.push(format!("for {} accesses not all reversals of sections were tried", found.unexamined_reversals));
    }
    AnalysisStats {
        racy_events: Some(found.racy_events),
        racy_sites: Some(found.racy_sites),
        left_out: Some(left_out).filter(|&events| events > 0),
        truncated: (!left.is_empty()).then(|| left.join("; ")),
        ..AnalysisStats::default()
    }
}

/// What hides a race in the recorded run, in words.
pub(super) fn why(race: &Race, end: &TraceEnd<'_>) -> String {
    let affordable = || !end.is_cancelled() && end.explained.get() < LOOKED;
    let trace = end.trace.filter(|_| affordable());
    let locks = trace.map(|trace| between(race, trace, &end.explained)).unwrap_or_default();
    let held = races::held_by_both(race, end.names, end.problems);
    let hides = match locks.as_slice() {
        [] => "the order of the recorded run".to_owned(),
        [one] => format!("the order of the sections of {} in the recorded run", end.names.lock(*one)),
        some if some.len() <= NAMED => {
            format!("the order of the sections of {} in the recorded run", races::list(end.names, some))
        }
        _ => "the order in which the recorded run took its locks".to_owned(),
    };
    format!("{held}; if anything hides it, then only {hides}")
}

/// The locks that the one thread gives back after its access, and the other takes before its own; one more than are
/// named are enough. `looked` counts the events that are looked at.
fn between(race: &Race, trace: &Batch, looked: &Cell<u64>) -> Vec<LockId> {
    let (from, to) = (race.earlier.event, race.later.event);
    if to - from > LOOK {
        return Vec::new();
    }
    looked.set(looked.get() + (to - from));
    let mut given: HashSet<LockId> = HashSet::new();
    let mut taken: Vec<LockId> = Vec::new();
    for &event in &trace.events[from as usize..to as usize] {
        let lock = match event.op() {
            Op::Wait | Op::Woken => trace.extra(event).lock,
            Op::Acquire | Op::TryAcquire | Op::ReadAcquire | Op::Release | Op::ReadRelease => event.lock(),
            _ => continue,
        };
        let gives = event.op().closes_section();
        if gives && event.thread() == race.earlier.thread {
            given.insert(lock);
        } else if !gives && event.thread() == race.later.thread && given.contains(&lock) && !taken.contains(&lock) {
            taken.push(lock);
            if taken.len() > NAMED {
                break;
            }
        }
    }
    taken
}
