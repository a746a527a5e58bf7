//! Races: `hb`, `sync-preserving` and `maximal` against brute force.

use crate::Case;
use detect::Races;
use detect::hb::Hb;
use detect::maximal::{self, KnownRaces, Maximal};
use detect::sync_preserving::{Options, SyncPreserving};
use event::{Causality, Op, Order};
use oracle::cases;
use oracle::recorded::Writer;
use reach::Windows;
use std::collections::BTreeSet;
use witness::check_race;

type Pairs = BTreeSet<(usize, usize)>;

/// The pairs that a detector reports. Every event has a site of its own, so each racy event is in one.
fn pairs(races: &Races) -> Pairs {
    races.races.iter().map(|race| (race.earlier.event as usize, race.later.event as usize)).collect()
}

/// The later events.
fn racy(pairs: &Pairs) -> BTreeSet<usize> {
    pairs.iter().map(|pair| pair.1).collect()
}

/// The sound statement: without these, every pair that `hb` reports is a sync-preserving race, if a failed try-lock may
/// fail at any time ([`with_free_tries`]).
///
/// What can make a pair impossible that `hb` does not order: a read that sees what it saw only if an order is kept that
/// the memory model does not keep (a relaxed one, or a plain and an atomic access); `alloc` and `free`, which stay
/// between the accesses of their variable; pins.
fn needs_more_than_synchronisation(case: &Case) -> bool {
    let batch = &case.trace.batch;
    let order = |e: usize| batch.extra(batch.events[e]).order;
    let releases = |e| matches!(order(e), Order::Release | Order::AcqRel | Order::SeqCst);
    let acquires = |e| matches!(order(e), Order::Acquire | Order::AcqRel | Order::SeqCst);
    let events = case.oracle.events();
    let is_ordered = |w: usize, r: usize| match (events[w].op.is_atomic(), events[r].op.is_atomic()) {
        (true, true) => releases(w) && acquires(r),
        (false, false) => true,
        _ => false,
    };
    (0..events.len()).any(|e| {
        let loose = match case.oracle.run.recorded_writer(e) {
            Writer::Write(w) => events[e].reads() && !is_ordered(w, e),
            Writer::Initial => false,
        };
        loose || matches!(events[e].op, Op::Alloc | Op::Free | Op::Pin | Op::ReadPin)
    })
}

/// A trace whose failed try-locks are events that mean nothing. For the memory models of C11 and Java they do not mean
/// more: a try may fail at any time, and then synchronises with nothing.
fn with_free_tries(case: &Case) -> Case {
    let line = |line: &str| match line.split_once("|tfail(") {
        Some((thread, _)) => format!("{thread}|ev(tried)|{}\n", line.rsplit('|').next().unwrap_or_default()),
        None => format!("{line}\n"),
    };
    Case::new(case.text.lines().map(line).collect())
}

#[test]
fn hb_finds_races() {
    let (mut found, mut excused, mut unreal, mut with_tries, mut apart) = (0, 0, 0, 0, 0);
    let count = cases(20_000);
    for seed in 0..count {
        let case = Case::with_sites(2 << 32 | seed);
        let reported = reported_by_hb(&case);
        found += reported.len();
        if needs_more_than_synchronisation(&case) {
            excused += reported.len();
            unreal += reported.difference(&case.oracle.races()).count();
            continue;
        }
        let tries = case.oracle.events().iter().any(|event| event.op == Op::TryFail);
        let free = if tries { Some(with_free_tries(&case)) } else { None };
        let real = free.as_ref().unwrap_or(&case).oracle.sync_preserving_races();
        assert!(reported.is_subset(&real), "{reported:?} {real:?} seed {seed}\n{}", case.text);
        if tries {
            with_tries += reported.len();
            apart += reported.difference(&case.oracle.races()).count();
        }
    }
    println!(
        "{found} races, {excused} in traces that need more, {unreal} of these without a witness; {with_tries} in \
         others with failed tries, which alone keep {apart} apart"
    );
    assert!(found - excused > found / 4 && excused > 0 && with_tries as u64 > count / 500);
}

fn reported_by_hb(case: &Case) -> Pairs {
    let mut hb = Hb::new();
    hb.batch(&case.trace.names, &case.trace.batch);
    pairs(&hb.finish())
}

/// The memory models call it a race if one thread takes a lock to say that it has written, and the other tries to take
/// it to hear that. No other order of the same events shows it.
#[test]
fn a_failed_try_keeps_no_race_away() {
    let case = |text: &str| Case::new(text.to_owned());
    let signalled = case("A|w(x)|1\nA|acq(l)|2\nB|tfail(l)|3\nB|w(x)|4\n");
    assert_eq!(reported_by_hb(&signalled), Pairs::from([(0, 3)]));
    assert_eq!(signalled.oracle.races(), Pairs::new());
    assert_eq!(with_free_tries(&signalled).oracle.sync_preserving_races(), Pairs::from([(0, 3)]));
    // The section that made it fail may still be open: both are next without another order.
    let open = case("A|acq(l)|1\nA|w(x)|2\nB|tfail(l)|3\nB|w(x)|4\nA|rel(l)|5\n");
    assert_eq!(reported_by_hb(&open), Pairs::from([(1, 3)]));
    assert_eq!(open.oracle.sync_preserving_races(), Pairs::from([(1, 3)]));
    // What orders without the try still orders.
    let ordered = case("A|w(x)|1\nA|acq(l)|2\nB|tfail(l)|3\nA|rel(l)|4\nB|acq(l)|5\nB|w(x)|6\n");
    assert_eq!(reported_by_hb(&ordered), Pairs::new());
}

#[test]
fn sync_preserving_races_are_those_that_there_are() {
    let (mut easy_found, mut reversed, mut only_maximal, mut not_as_recorded) = (0, 0, 0, 0);
    let count = cases(20_000);
    for seed in 0..count {
        let case = Case::with_sites(3 << 32 | seed);
        let (names, batch) = (&case.trace.names, &case.trace.batch);
        let mut analysis = SyncPreserving::new(names, batch).expect("few threads");
        let predicted = analysis.races(&Options::default());
        let shown = || format!("{predicted:?} seed {seed}\n{}", case.text);
        assert_eq!((predicted.unexamined, predicted.unexamined_reversals), (0, 0), "{}", shown());
        let (easy, more) = (pairs(&predicted.sync_preserving), pairs(&predicted.optimistic));
        let (expected, all) = (case.oracle.sync_preserving_races(), case.oracle.races());
        assert!(easy.is_subset(&expected), "{expected:?} {}", shown());
        assert!(more.is_subset(&all), "{all:?} {}", shown());
        assert!(racy(&easy).is_disjoint(&racy(&more)), "{}", shown());
        assert_eq!(predicted.racy_events as usize, easy.len() + more.len(), "{}", shown());
        for (pairs, in_recorded_order) in [(&easy, true), (&more, false)] {
            for &(e, f) in pairs {
                let race = [e as u64, f as u64];
                let witness = match in_recorded_order {
                    true => analysis.sync_preserving_witness(race),
                    false => analysis.race_witness(race),
                };
                let witness = witness.unwrap_or_else(|| panic!("no witness of {race:?} {}", shown()));
                let checked = check_race(Causality::Maximal, names, batch, &|var| case.initial(var), &witness, race);
                assert_eq!(checked, Ok(()), "{race:?} {witness:?} {}", shown());
                let order: Vec<usize> = witness.iter().map(|&e| e as usize).collect();
                assert!(case.oracle.shows_race(&order, e, f), "{race:?} {witness:?} {}", shown());
                assert!(!in_recorded_order || order.is_sorted(), "{race:?} {witness:?} {}", shown());
            }
        }
        let semaphores = case.oracle.events().iter().any(|event| event.semaphore().is_some());
        let (reported, there) = (racy(&easy), racy(&expected));
        // Which `up` a `down` takes is not in the trace: the detector keeps the recorded order of them.
        if semaphores {
            not_as_recorded += there.difference(&reported).count();
        } else {
            assert_eq!(reported, there, "{expected:?} {}", shown());
        }
        easy_found += reported.len();
        reversed += more.len();
        only_maximal += racy(&all).len() - reported.union(&racy(&more)).count();
    }
    println!(
        "{easy_found} racy events, {reversed} by reversals, {only_maximal} not found; {not_as_recorded} for semaphores"
    );
    assert!(easy_found as u64 > count / 4 && reversed as u64 > count / 200);
}

#[test]
fn maximal_finds_all_races() {
    let (mut found, mut clean) = (0, 0);
    let count = cases(20_000);
    for seed in 0..count {
        let case = Case::with_sites(6 << 32 | seed);
        let (names, batch) = (&case.trace.names, &case.trace.batch);
        let mut maximal = Maximal::new(maximal::Options::default(), KnownRaces::default());
        for window in Windows::new(names, batch, 100) {
            maximal.window(names, &window, &|var| case.initial(var));
        }
        let report = maximal.finish();
        let shown = || format!("{report:?} seed {seed}\n{}", case.text);
        assert_eq!((report.looked.undecided, report.races.left_out), (0, 0), "{}", shown());
        for (race, prefix) in report.races.races.iter().zip(&report.prefixes) {
            let pair = [race.earlier.event, race.later.event];
            let checked = check_race(Causality::Maximal, names, batch, &|var| case.initial(var), &prefix.whole(), pair);
            assert_eq!(checked, Ok(()), "{}", shown());
        }
        let (reported, all) = (pairs(&report.races), case.oracle.races());
        assert_eq!(reported, all, "{}", shown());
        assert_eq!(report.races.racy_events as usize, racy(&all).len(), "{}", shown());
        found += all.len();
        clean += usize::from(all.is_empty());
    }
    println!("{found} races, {clean} traces without");
    assert!(found as u64 > count / 4 && clean as u64 > count / 4);
}
