//! Larger generated traces: every witness past the checker, `hb`'s races too, and searches that are ended early.

use super::{checked, parse, sections};
use crate::racy_traces;
use detect::hb::Hb;
use detect::sync_preserving::{NoIndex, OnDemand, Options, SyncPreserving};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use trace::Trace;

fn make(seed: u64, all_ops: bool) -> Trace {
    racy_traces::make(600, 4 + seed as u32 % 4, seed, all_ops)
}

#[test]
fn every_witness_passes_the_checker() {
    let mut count = 0;
    for seed in 0..150u64 {
        let trace = make(seed, !seed.is_multiple_of(3));
        let mut predictor = SyncPreserving::new(&trace.names, &trace.batch).expect("few threads");
        let found = predictor.races(&Options::default());
        for race in found.sync_preserving.races.iter().chain(&found.optimistic.races) {
            assert!(checked(&trace, &mut predictor, [race.earlier.event, race.later.event]).is_some());
        }
        assert_eq!(found.unexamined, 0);
        count += found.sync_preserving.races.len();
    }
    assert!(count > 500, "{count} races");
}

/// Longer traces of nested sections, against brute force, too.
#[test]
fn every_order_with_reversals_passes_the_checker() {
    let mut count = 0;
    for seed in 0..1_000 {
        let trace = parse(&sections::trace(3_000_000 + seed, 40 + seed as usize % 160));
        let mut predictor = SyncPreserving::new(&trace.names, &trace.batch).expect("few threads");
        let found = predictor.races(&Options::default());
        for race in &found.optimistic.races {
            assert!(checked(&trace, &mut predictor, [race.earlier.event, race.later.event]).is_some());
            count += 1;
        }
    }
    assert!(count > 500, "{count} races");
}

/// What races in the recorded run races after a closed set, as long as no weak memory order is about.
#[test]
fn races_of_the_recorded_run_have_a_witness() {
    let mut count = 0;
    for seed in 0..100 {
        let trace = make(seed, false);
        let mut hb = Hb::new();
        hb.batch(&trace.names, &trace.batch);
        let mut predictor = SyncPreserving::new(&trace.names, &trace.batch).expect("few threads");
        for race in hb.finish().races {
            let race = [race.earlier.event, race.later.event];
            assert!(predictor.sync_preserving_witness(race).is_some(), "{race:?} of seed {seed}");
            assert!(checked(&trace, &mut predictor, race).is_some());
            count += 1;
        }
    }
    assert!(count > 300, "{count} races");
}

#[test]
fn what_was_not_looked_at_is_counted() {
    let trace = make(1, false);
    let mut predictor = SyncPreserving::new(&trace.names, &trace.batch).expect("few threads");
    let all = predictor.races(&Options::default());
    assert!(all.racy_events > 0);
    let stop = AtomicBool::new(true);
    for options in [
        Options { stop: Some(&stop), ..Options::default() },
        Options { deadline: Some(Instant::now()), ..Options::default() },
    ] {
        let found = predictor.races(&options);
        assert_eq!(found.racy_events, 0);
        assert!(found.unexamined >= all.racy_events && found.unexamined_reversals >= all.racy_events);
    }
    let few = predictor.races(&Options { most_steps: 0, most_races: 1, ..Options::default() });
    assert_eq!(few.sync_preserving.racy_events, all.sync_preserving.racy_events);
    assert_eq!((few.optimistic.racy_events, few.sync_preserving.races.len()), (0, 1));
    assert!(few.unexamined_reversals >= all.optimistic.racy_events);
    let kept = few.sync_preserving.races[0].events;
    assert_eq!(few.sync_preserving.left_out, few.sync_preserving.racy_events - kept);
}

#[test]
fn preparation_ends_in_time_and_says_where() {
    let trace = make(1, false);
    let (names, batch) = (&trace.names, &trace.batch);
    let stop = AtomicBool::new(true);
    let within = |stop, deadline| SyncPreserving::within(names, batch, stop, deadline).map(|_| ());
    assert_eq!(within(Some(&stop), None), Err(NoIndex::Interrupted));
    assert!(matches!(within(None, Some(Instant::now())), Err(NoIndex::Late { .. })));
    assert_eq!(within(None, Some(Instant::now() + Duration::from_secs(600))), Ok(()));
    let mut late = OnDemand::new(names, batch).taking(Duration::ZERO);
    assert!(late.index().is_err_and(|why| why.to_string().contains("before the trace was prepared, at event")));
}

#[test]
fn events_that_are_not_there_or_do_not_conflict_have_no_witness() {
    let trace = make(2, true);
    let mut predictor = SyncPreserving::new(&trace.names, &trace.batch).expect("few threads");
    let events = trace.batch.events.len() as u64;
    for race in [[0, 0], [0, events], [u64::MAX, 0]] {
        assert_eq!(predictor.race_witness(race), None);
    }
    assert_eq!(predictor.deadlock_witness(&[]), None);
    assert_eq!(predictor.deadlock_witness(&[0, u64::MAX]), None);
    assert_eq!(predictor.first_deadlock(&[&[], &[0]]), None);
}
