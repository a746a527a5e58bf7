//! Wide deadlocks: exactly those that there are, in one window; in smaller ones only such. The checker agrees with the
//! definition.

use crate::Case;
use detect::deadlock::wide::{WideDeadlock, wide_deadlocks};
use detect::deadlock::{DeadlockOptions, Evidence};
use detect::prefilter::Prefilter;
use event::{Causality, Op};
use oracle::cases;
use oracle::definition::set_of;
use oracle::random::Random;
use oracle::schedule::waiting_trace;
use std::collections::BTreeSet;
use witness::check_wide_deadlock;

/// A thread, the kind of what it requests and its number, and where.
type Identity = Vec<(u32, u8, u32, u32)>;

fn case(seed: u64) -> Case {
    let mut r = Random::new(seed);
    if r.percent(85) { Case::new(waiting_trace(&mut r)) } else { Case::random(seed) }
}

fn identity(case: &Case, requests: &[usize]) -> Identity {
    let part = |&e: &usize| {
        let event = &case.oracle.events()[e];
        (event.thread, event.op.space().map_or(0, |space| space as u8), event.object, case.site(e))
    };
    let mut identity: Identity = requests.iter().map(part).collect();
    identity.sort_unstable();
    identity
}

fn indexes(list: &[u64]) -> Vec<usize> {
    list.iter().map(|&e| e as usize).collect()
}

fn accepts(case: &Case, prefix: &[u64], requests: &[u64]) -> bool {
    let (names, batch) = (&case.trace.names, &case.trace.batch);
    check_wide_deadlock(Causality::Maximal, names, batch, &|var| case.initial(var), prefix, requests).is_ok()
}

/// The witness is one, by the checker and by brute force. What it reports.
fn checked(case: &Case, deadlock: &WideDeadlock) -> Identity {
    let (prefix, requests) = (deadlock.prefix.whole(), deadlock.requests());
    assert!(case.oracle.shows_wide_deadlock(&indexes(&prefix), &indexes(&requests)), "{deadlock:?}\n{}", case.text);
    assert!(accepts(case, &prefix, &requests), "{deadlock:?}\n{}", case.text);
    let came = set_of(&indexes(&prefix));
    for waiting in &deadlock.waiting {
        assert!(!waiting.others.is_empty(), "{deadlock:?}\n{}", case.text);
        for hold in &waiting.holds {
            let section = case.oracle.holds(came, waiting.thread.0, hold.lock.0);
            assert_eq!(section.and_then(|section| section.opens), Some(hold.event as usize), "{}", case.text);
        }
        let locks = deadlock.waiting.iter().filter(|other| other.others.contains(&waiting.thread));
        let asks =
            |other: &&detect::deadlock::wide::Waiting| matches!(other.waits_for, detect::hang::WaitsFor::Lock(_));
        assert!(locks.filter(asks).count() == 0 || !waiting.holds.is_empty(), "{deadlock:?}\n{}", case.text);
    }
    identity(case, &indexes(&requests))
}

fn options(window: usize) -> DeadlockOptions<'static> {
    DeadlockOptions { window, ..DeadlockOptions::default() }
}

#[test]
fn wide_deadlocks_are_those_that_there_are() {
    let (mut counts, mut ruled_out) = ([0u64; 8], 0);
    let count = cases(20_000);
    for seed in 0..count {
        let case = case(seed);
        let initial = |var| case.initial(var);
        let report = wide_deadlocks(&case.trace.names, &case.trace.batch, &initial, &options(100));
        assert_eq!((report.undecided_windows, report.left_out, report.unrecorded), (0, 0, 0), "{}", case.text);
        let found: Vec<Identity> = report.deadlocks.iter().map(|deadlock| checked(&case, deadlock)).collect();
        let all: BTreeSet<Identity> = found.iter().cloned().collect();
        assert_eq!(all.len(), found.len(), "twice: {report:?}\n{}", case.text);
        let by_brute_force = case.oracle.wide_deadlocks();
        let expected: BTreeSet<Identity> = by_brute_force.iter().map(|requests| identity(&case, requests)).collect();
        assert_eq!(all, expected, "seed {seed} {by_brute_force:?}\n{}", case.text);
        let observed: BTreeSet<Identity> =
            case.oracle.observed_wide_deadlocks().iter().map(|requests| identity(&case, requests)).collect();
        let is_observed = |deadlock: &&WideDeadlock| deadlock.evidence == Evidence::Observed;
        let ended: BTreeSet<Identity> =
            report.deadlocks.iter().filter(is_observed).map(|deadlock| checked(&case, deadlock)).collect();
        assert_eq!(ended, observed, "seed {seed}\n{}", case.text);
        let mut prefilter = Prefilter::new();
        prefilter.batch(&case.trace.names, &case.trace.batch);
        let may_be = prefilter.finish(true).awaited_waits;
        assert!(may_be || expected.is_empty(), "{}", case.text);
        ruled_out += u64::from(!may_be);
        for requests in &by_brute_force {
            for &e in requests {
                let kind = match case.oracle.events()[e].op {
                    Op::JoinRequest => 0,
                    Op::AwaitRequest => 1,
                    Op::DownRequest => 2,
                    Op::Wait => 3,
                    _ => 4,
                };
                counts[kind] += 1;
            }
            counts[5] += u64::from(requests.len() > 2);
        }
        counts[6] += ended.len() as u64;
        counts[7] += u64::from(!found.is_empty());
    }
    println!("joins, awaits, downs, waits, locks, of three, observed, traces: {counts:?}");
    assert!(counts.iter().all(|&found| found > count / 1000), "{counts:?}");
    assert!(ruled_out > count / 50, "{ruled_out}");
}

/// Smaller windows find less, and only what is so.
#[test]
fn small_windows_find_only_wide_deadlocks() {
    let mut found = 0;
    for seed in 0..cases(8_000) {
        let case = case(1 << 32 | seed);
        let initial = |var| case.initial(var);
        let report = wide_deadlocks(&case.trace.names, &case.trace.batch, &initial, &options(3 + seed as usize % 8));
        for deadlock in &report.deadlocks {
            checked(&case, deadlock);
            found += 1;
        }
    }
    assert!(found > 50, "{found}");
}

/// The checker accepts what the definition does: after random feasible prefixes, for random sets of requests.
#[test]
fn the_checker_agrees_with_the_definition() {
    let mut counts = [0u64; 2];
    let count = cases(60_000);
    for seed in 0..count {
        let case = case((2 << 32) | (seed % 20_000));
        let mut r = Random::new(seed);
        let events = case.oracle.events().len();
        let mut prefix: Vec<usize> = Vec::new();
        for _ in 0..r.below(events + 1) {
            let next: Vec<usize> = (0..events).filter(|&e| case.oracle.may_come(&prefix, e)).collect();
            if next.is_empty() {
                break;
            }
            prefix.push(*r.pick(&next));
        }
        let mut requests: Vec<usize> = Vec::new();
        for thread in 0..5 {
            let own = || (0..events).filter(|&e| case.oracle.events()[e].thread == thread);
            let next = own().find(|e| !prefix.contains(e));
            let waits = own().rfind(|e| prefix.contains(e));
            let waits = waits.filter(|&e| case.oracle.events()[e].op == Op::Wait);
            if let Some(request) = waits.or(next).filter(|_| r.percent(80)) {
                requests.push(request);
            }
        }
        let expected = case.oracle.shows_wide_deadlock(&prefix, &requests);
        let of = |list: &[usize]| list.iter().map(|&e| e as u64).collect::<Vec<u64>>();
        let accepted = accepts(&case, &of(&prefix), &of(&requests));
        assert_eq!(accepted, expected, "{prefix:?} {requests:?}\n{}", case.text);
        counts[usize::from(accepted)] += 1;
    }
    assert!(counts[1] > count / 200, "{counts:?}");
}

/// What bounds leave out is reported.
#[test]
fn bounds_of_wide_deadlocks_are_reported() {
    let mut reported = 0;
    let count = cases(2_000);
    for seed in 0..count {
        let case = case(3 << 32 | seed);
        let initial = |var| case.initial(var);
        let all = options(100);
        let bounded = [
            DeadlockOptions { pattern_steps: 4, ..all },
            DeadlockOptions { question_steps: 0, ..all },
            DeadlockOptions { most_questions: 0, ..all },
            DeadlockOptions { most: 0, ..all },
        ];
        let whole = wide_deadlocks(&case.trace.names, &case.trace.batch, &initial, &all);
        for options in bounded {
            let report = wide_deadlocks(&case.trace.names, &case.trace.batch, &initial, &options);
            if report.deadlocks.len() < whole.deadlocks.len() {
                assert!(report.undecided_windows + report.left_out > 0, "{options:?} {report:?}\n{}", case.text);
                reported += 1;
            }
        }
    }
    assert!(reported > count / 10, "{reported}");
}
