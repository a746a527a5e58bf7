//! `atomicity`: the recorded run, at the events that close cycles; of other runs only such.

use crate::Case;
use detect::Search;
use detect::atomicity::{Atomicity, predict};
use event::Causality;
use oracle::cases;
use std::collections::BTreeSet;
use witness::check_atomicity;

#[test]
fn the_recorded_run_is_serialisable_or_reported() {
    let mut found = 0;
    let count = cases(40_000);
    for seed in 0..count {
        let case = Case::with_sites(4 << 32 | seed);
        let mut atomicity = Atomicity::new();
        atomicity.batch(&case.trace.names, &case.trace.batch);
        let report = atomicity.finish();
        let reported: Vec<(usize, usize)> =
            report.found.iter().map(|found| (found.closed().event as usize, found.begin.event as usize)).collect();
        let recorded: Vec<usize> = (0..case.oracle.events().len()).collect();
        let closing = case.oracle.closing(&recorded);
        let shown = || format!("{report:?} {closing:?} seed {seed}\n{}", case.text);
        assert_eq!(reported.is_empty(), case.oracle.serialisable(&recorded), "{}", shown());
        assert_eq!(reported.first(), closing.first(), "{}", shown());
        let blocks: BTreeSet<usize> = reported.iter().map(|reported| reported.1).collect();
        assert_eq!(blocks.len(), reported.len(), "twice: {}", shown());
        assert!(blocks.is_subset(&case.oracle.observed_atomicity()), "{}", shown());
        for reported in &reported {
            assert!(closing.contains(reported), "{}", shown());
        }
        assert_eq!(report.blocks as usize, case.oracle.transactions().blocks.len(), "{}", shown());
        assert_eq!((report.violated as usize, report.left_out), (reported.len(), 0), "{}", shown());
        found += reported.len();
    }
    println!("{found} violated blocks");
    assert!(found as u64 > count / 100);
}

#[test]
fn predicted_violations_are_some() {
    let (mut found, mut there) = (0, 0);
    for seed in 0..cases(20_000) {
        let case = Case::with_sites(7 << 32 | seed);
        let (names, batch) = (&case.trace.names, &case.trace.batch);
        let mut atomicity = Atomicity::new();
        atomicity.batch(names, batch);
        let observed = atomicity.finish();
        let initial = |var| case.initial(var);
        let search = Search { window: 100, ..Search::default() };
        let report = predict(names, batch, &initial, None, &observed, &search);
        let shown = || format!("{report:?} seed {seed}\n{}", case.text);
        assert_eq!(report.undecided + report.unasked, 0, "{}", shown());
        let expected = case.oracle.predicted_atomicity();
        let mut blocks = BTreeSet::new();
        for one in &report.found {
            let schedule = one.schedule.whole();
            let checked = check_atomicity(Causality::Maximal, names, batch, &initial, &schedule, one.begin.event);
            assert_eq!(checked, Ok(()), "{}", shown());
            let order: Vec<usize> = schedule.iter().map(|&e| e as usize).collect();
            let (before, last) = order.split_at(order.len() - 1);
            let feasible = case.oracle.is_feasible(before)
                && (case.oracle.may_come(before, last[0]) || case.oracle.may_only_end(before, last[0]));
            assert!(feasible, "{}", shown());
            let begin = one.begin.event as usize;
            assert!(case.oracle.violated(&order).contains(&begin), "{}", shown());
            assert!(case.oracle.closing(&order).contains(&(last[0], begin)), "it closes nothing: {}", shown());
            blocks.insert(begin);
        }
        assert!(blocks.is_subset(&expected), "{}", shown());
        let observed = case.oracle.observed_atomicity();
        found += blocks.difference(&observed).count();
        there += expected.difference(&observed).count();
    }
    println!("{found} of {there} blocks that only other runs violate");
    assert!(found > there / 2, "{found} of {there}");
}
