//! Predicted violations: every one passes the checker, and on small traces they are all there are through two threads.

use super::naive::Naive;
use super::{observed, read};
use crate::common::{Random, Sample};
use crate::runs;
use detect::Search;
use detect::atomicity::{Atomicity, Predictions, Violations, predict};
use event::{Batch, Causality, Names, Op, Value, VarId};
use std::collections::BTreeSet;
use trace::Trace;

/// Passes every claim through the checker.
fn checked(names: &Names, batch: &Batch, initial: &dyn Fn(VarId) -> Value, found: &Predictions) {
    for violation in &found.found {
        let schedule = violation.schedule.whole();
        let result =
            witness::check_atomicity(Causality::Maximal, names, batch, initial, &schedule, violation.begin.event);
        assert_eq!(result, Ok(()), "{violation:?}");
        assert_eq!(schedule.last(), Some(&violation.enters[1].event));
        let at = |event| schedule.iter().position(|&e| e == event);
        assert!(at(violation.leaves[0].event) < at(violation.leaves[1].event), "{violation:?}");
        assert!(at(violation.enters[0].event) < at(violation.enters[1].event), "{violation:?}");
    }
}

fn search(window: usize) -> Search<'static> {
    Search { window, ..Search::default() }
}

fn recorded(sample: &Sample) -> Violations {
    let mut atomicity = Atomicity::new();
    atomicity.batch(&sample.names, &sample.batch);
    atomicity.finish()
}

fn access(op: Op) -> bool {
    op.has_value() || matches!(op, Op::Alloc | Op::Free)
}

/// a1, b1, b2, a2 of every cycle through two threads that the last event closes.
fn cycles(sample: &Sample, naive: &Naive<'_>, prefix: &[usize], into: &mut BTreeSet<[usize; 4]>) {
    let Some((&a2, earlier)) = prefix.split_last() else { return };
    let event = |e: usize| sample.batch.events[e];
    let conflict = |first: usize, second: usize| {
        let both = access(event(first).op()) && access(event(second).op());
        both && event(first).thread() != event(second).thread() && naive.conflict(first, second)
    };
    let block = naive.transaction[a2];
    for (at, &b1) in earlier.iter().enumerate() {
        for &a1 in earlier[..at].iter().filter(|&&a1| naive.transaction[a1] == block && conflict(a1, b1)) {
            let after = |b2: usize| event(b1).thread() == event(b2).thread() && b1 < b2;
            let same =
                |b2: &&usize| (naive.transaction[**b2] == naive.transaction[b1] || after(**b2)) && conflict(**b2, a2);
            into.extend(earlier.iter().filter(same).map(|&b2| [a1, b1, b2, a2]));
        }
    }
}

#[test]
fn all_cycles_through_two_threads_in_small_traces() {
    let mut random = Random(5);
    let (mut total, mut with, mut terminal) = (0, 0, 0);
    for _ in 0..20_000 {
        let events = 4 + random.below(5);
        let sample = runs::sample(&mut random, events);
        let naive = Naive::new(&sample.batch);
        let mut expected = BTreeSet::new();
        let all = runs::every(&sample, 3_000, |prefix, last_is_terminal| {
            let before = expected.len();
            cycles(&sample, &naive, prefix, &mut expected);
            terminal += usize::from(last_is_terminal && expected.len() > before);
        });
        if all.is_none() {
            continue;
        }
        let recorded = recorded(&sample);
        let initial = sample.initial();
        let found = predict(&sample.names, &sample.batch, &initial, None, &recorded, &search(1000));
        checked(&sample.names, &sample.batch, &initial, &found);
        assert_eq!((found.undecided, found.left_out, found.unasked), (0, 0, 0));
        let mut got: BTreeSet<[usize; 4]> = found
            .found
            .iter()
            .map(|v| [v.leaves[0], v.leaves[1], v.enters[0], v.enters[1]].map(|place| place.event as usize))
            .collect();
        for violation in &recorded.found {
            if let [leaves, enters] = violation.cycle[..] {
                let quad = [leaves[0], leaves[1], enters[0], enters[1]].map(|place| place.event as usize);
                assert!(!got.contains(&quad), "observed ones need no prediction");
                got.extend(expected.get(&quad));
            }
        }
        assert_eq!(got, expected, "{}", sample.show());
        total += expected.len();
        with += usize::from(!found.found.is_empty());
    }
    println!("{total} cycles, {with} traces with predicted ones, {terminal} closed by terminal reads first");
    assert!(total > 2_000 && with > 500 && terminal > 100);
}

#[test]
fn what_windows_find_passes_the_checker() {
    let (mut found_in_all, mut asked, mut undecided) = (0, 0, 0);
    for seed in 0..300 {
        let text = super::blocks::trace(seed);
        let trace = read(&text);
        let initial = |_| Value::Unknown;
        let window = [8, 16, 40, 1000][seed as usize % 4];
        let search = Search { steps: 20_000, ..search(window) };
        let found = predict(&trace.names, &trace.batch, &initial, None, &observed(&trace), &search);
        checked(&trace.names, &trace.batch, &initial, &found);
        undecided += found.undecided;
        found_in_all += found.found.len();
        asked += found.asked;
    }
    println!("{found_in_all} predicted, {asked} asked, {undecided} undecided");
    assert!(found_in_all > 1_000);
}

fn corpus(name: &str) -> (Trace, Violations, Predictions) {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/traces").join(name).join("trace.std");
    let trace = read(&std::fs::read_to_string(path).expect("it is there"));
    let violations = observed(&trace);
    let initial = |_| Value::Int(100);
    let found = predict(&trace.names, &trace.batch, &initial, None, &violations, &search(1000));
    checked(&trace.names, &trace.batch, &initial, &found);
    (trace, violations, found)
}

#[test]
fn the_banks() {
    let (_, violations, found) = corpus("bank-serial");
    assert_eq!((violations.blocks, violations.violated), (2, 0));
    // The transfer between the two reads: from the read of the first account, to the write of the second.
    let places: Vec<[u64; 4]> = found
        .found
        .iter()
        .map(|v| [v.leaves[0], v.leaves[1], v.enters[0], v.enters[1]].map(|place| place.event))
        .collect();
    assert_eq!(places, [[1, 4, 7, 5]]);

    let (trace, violations, _) = corpus("bank");
    assert_eq!((violations.blocks, violations.violated), (2, 1));
    let violation = &violations.found[0];
    assert_eq!(trace.names.block(violation.block), "txn");
    let cycle: Vec<[u64; 2]> = violation.cycle.iter().map(|hop| hop.map(|place| place.event)).collect();
    assert_eq!((violation.begin.event, cycle), (0, vec![[2, 4], [5, 8]]));

    let (_, violations, found) = corpus("bank-locked");
    assert_eq!((violations.blocks, violations.violated, found.found.len(), found.undecided), (2, 0, 0, 0));
}
