//! `deadlock`: exactly the deadlocks that there are, in one window; in smaller ones only such.

use crate::Case;
use detect::deadlock::{Deadlock, DeadlockOptions, Evidence, deadlocks};
use detect::sync_preserving::OnDemand;
use event::{Causality, Id};
use oracle::cases;
use oracle::definition::set_of;
use std::collections::BTreeSet;
use witness::check_deadlock;

/// The threads of a cycle, what each holds and requests, and where.
type Identity = Vec<(u32, u32, u32, u32, u32)>;

/// What makes a cycle of requests the same deadlock as another.
fn identity(case: &Case, requests: &[usize]) -> Identity {
    let part = |k: usize| {
        let (e, before) = (requests[k], requests[(k + requests.len() - 1) % requests.len()]);
        let events = case.oracle.events();
        // What a thread holds depends on its own events before.
        let own: Vec<usize> = (0..e).filter(|&a| events[a].thread == events[e].thread).collect();
        let section = case.oracle.holds(set_of(&own), events[e].thread, events[before].object);
        let opens = section.and_then(|section| section.opens).unwrap_or_else(|| panic!("{e} holds\n{}", case.text));
        (events[e].thread, events[before].object, case.site(opens), events[e].object, case.site(e))
    };
    let mut identity: Identity = (0..requests.len()).map(part).collect();
    let least = (0..identity.len()).min_by_key(|&k| identity[k].0).expect("a cycle");
    identity.rotate_left(least);
    identity
}

/// The witness is one, by the checker and by brute force, and the report says what is so. What it reports.
fn checked(case: &Case, deadlock: &Deadlock) -> Identity {
    let (names, batch) = (&case.trace.names, &case.trace.batch);
    let (prefix, requests) = (deadlock.prefix.whole(), deadlock.requests());
    let checked = check_deadlock(Causality::Maximal, names, batch, &|var| case.initial(var), &prefix, &requests);
    assert_eq!(checked, Ok(()), "{deadlock:?}\n{}", case.text);
    let indexes = |list: &[u64]| list.iter().map(|&e| e as usize).collect::<Vec<usize>>();
    let (prefix, requests) = (indexes(&prefix), indexes(&requests));
    assert!(case.oracle.shows_deadlock(&prefix, &requests), "{deadlock:?}\n{}", case.text);
    if deadlock.evidence == Evidence::SyncPreserving {
        assert!(prefix.is_sorted(), "{deadlock:?}\n{}", case.text);
    }
    let reported: Identity =
        deadlock.blocked.iter().map(|b| (b.thread.0, b.holds.lock.0, b.holds.site.0, b.lock.0, b.site.0)).collect();
    for blocked in &deadlock.blocked {
        let taken = batch.events[blocked.holds.event as usize];
        assert_eq!((taken.thread(), taken.site()), (blocked.thread, blocked.holds.site), "{deadlock:?}");
        assert!(blocked.lock.index() < names.space(event::Space::Lock).len());
    }
    assert_eq!(reported, identity(case, &requests), "{deadlock:?}\n{}", case.text);
    reported
}

#[test]
fn deadlocks_are_those_that_there_are() {
    let mut counts = [0; 3];
    let count = cases(20_000);
    for seed in 0..count {
        let case = Case::random(seed);
        let options = DeadlockOptions { window: 100, ..DeadlockOptions::default() };
        let initial = |var| case.initial(var);
        let report = deadlocks(&mut OnDemand::new(&case.trace.names, &case.trace.batch), &initial, &options);
        let incomplete = report.undecided + report.undecided_windows + report.apart + report.left_out;
        assert_eq!((incomplete, report.all_patterns, report.unrecorded), (0, true, 0), "{report:?}\n{}", case.text);

        let found: Vec<(Evidence, Identity)> =
            report.deadlocks.iter().map(|deadlock| (deadlock.evidence, checked(&case, deadlock))).collect();
        let all: BTreeSet<Identity> = found.iter().map(|found| found.1.clone()).collect();
        assert_eq!(all.len(), found.len(), "twice: {report:?}\n{}", case.text);
        let expected: BTreeSet<Identity> = case.oracle.deadlocks().iter().map(|cycle| identity(&case, cycle)).collect();
        assert_eq!(all, expected, "seed {seed}\n{}", case.text);

        let of = |evidence| -> BTreeSet<Identity> {
            found.iter().filter(|found| found.0 == evidence).map(|found| found.1.clone()).collect()
        };
        let observed: BTreeSet<Identity> =
            case.oracle.observed_deadlocks().iter().map(|cycle| identity(&case, cycle)).collect();
        assert_eq!(of(Evidence::Observed), observed, "seed {seed}\n{}", case.text);
        for (count, evidence) in
            counts.iter_mut().zip([Evidence::Observed, Evidence::SyncPreserving, Evidence::Maximal])
        {
            *count += of(evidence).len();
        }
    }
    println!("observed, sync-preserving, maximal: {counts:?}");
    assert!(counts.iter().all(|&found| found as u64 > count / 200));
}

/// Smaller windows find less, and only what is so; what was not looked at is reported.
#[test]
fn small_windows_find_only_deadlocks() {
    let mut missed = 0;
    for seed in 0..cases(10_000) {
        let case = Case::random(1 << 32 | seed);
        let options = DeadlockOptions { window: 2 + seed as usize % 8, ..DeadlockOptions::default() };
        let initial = |var| case.initial(var);
        let report = deadlocks(&mut OnDemand::new(&case.trace.names, &case.trace.batch), &initial, &options);
        let found: BTreeSet<Identity> = report.deadlocks.iter().map(|deadlock| checked(&case, deadlock)).collect();
        let expected: BTreeSet<Identity> = case.oracle.deadlocks().iter().map(|cycle| identity(&case, cycle)).collect();
        assert!(found.is_subset(&expected), "seed {seed}\n{}", case.text);
        let easy = case.oracle.sync_preserving_deadlocks();
        let easy: BTreeSet<Identity> = easy.iter().map(|cycle| identity(&case, cycle)).collect();
        missed += easy.difference(&found).count();
    }
    println!("missed, though sync-preserving: {missed}");
}

/// What bounds leave out is reported.
#[test]
fn bounds_are_reported() {
    let mut reported = 0;
    let count = cases(4_000);
    for seed in 0..count {
        let case = Case::random(8 << 32 | seed);
        let initial = |var| case.initial(var);
        let bounded = [
            DeadlockOptions { window: 100, most_patterns: 1, ..DeadlockOptions::default() },
            DeadlockOptions { window: 100, pattern_steps: 10, ..DeadlockOptions::default() },
            DeadlockOptions { window: 100, question_steps: 0, ..DeadlockOptions::default() },
            DeadlockOptions { window: 100, most_questions: 0, ..DeadlockOptions::default() },
            DeadlockOptions { window: 100, most: 0, ..DeadlockOptions::default() },
        ];
        let expected: BTreeSet<Identity> = case.oracle.deadlocks().iter().map(|cycle| identity(&case, cycle)).collect();
        for options in bounded {
            let report = deadlocks(&mut OnDemand::new(&case.trace.names, &case.trace.batch), &initial, &options);
            let found: BTreeSet<Identity> = report.deadlocks.iter().map(|deadlock| checked(&case, deadlock)).collect();
            if found.len() < expected.len() {
                let is_reported =
                    !report.all_patterns && report.undecided_windows > 0 || report.undecided > 0 || report.left_out > 0;
                assert!(is_reported, "{options:?} {report:?} seed {seed}\n{}", case.text);
                reported += 1;
            }
        }
    }
    assert!(reported > count / 20, "{reported}");
}
