//! Deadlocks after closures: the definition, the checker, and the walk along the instances of a pattern.

use super::naive::Naive;
use super::{parse, sections};
use crate::brute::random;
use detect::sync_preserving::SyncPreserving;
use event::{Causality, Op, Value};
use std::collections::BTreeMap;
use trace::Trace;
use witness::check_deadlock;

fn is_deadlock(trace: &Trace, prefix: &[u64], requests: &[u64]) -> bool {
    check_deadlock(Causality::Maximal, &trace.names, &trace.batch, &|_| Value::Unknown, prefix, requests).is_ok()
}

fn requests(trace: &Trace) -> Vec<u64> {
    let is_request = |op| matches!(op, Op::Acquire | Op::ReadAcquire | Op::Request);
    (0..).zip(&trace.batch.events).filter(|(_, event)| is_request(event.op())).map(|(at, _)| at).collect()
}

#[test]
fn deadlocks_are_those_of_the_definition() {
    let mut count = 0;
    for seed in 0..20_000u64 {
        let length = 10 + seed as usize % 14;
        let text = if seed.is_multiple_of(2) {
            random::trace(2_000_000 + seed, length)
        } else {
            sections::trace(seed, length)
        };
        let trace = parse(&text);
        let naive = Naive::new(&trace);
        let mut predictor = SyncPreserving::new(&trace.names, &trace.batch).expect("few threads");
        let mut patterns = BTreeMap::<_, Vec<u64>>::new();
        let requests = requests(&trace);
        for &request in &requests {
            patterns.entry(naive.pattern(request as usize)).or_default().push(request);
        }
        let mut found = BTreeMap::new();
        for (k, &a) in requests.iter().enumerate() {
            for &b in &requests[..k] {
                let together = naive.next_together(&[a as usize, b as usize]);
                assert_eq!(predictor.next_together(&[a, b]), together, "{a} and {b} of seed {seed}\n{text}");
                let expected = together.filter(|prefix| is_deadlock(&trace, prefix, &[a, b]));
                let witness = predictor.deadlock_witness(&[a, b]);
                assert_eq!(witness, expected, "{a} and {b} of seed {seed}\n{text}");
                if witness.is_some() {
                    count += 1;
                    let [one, two] = [a, b].map(|at| naive.pattern(at as usize));
                    found.insert((one.clone(), two.clone()), ());
                    found.insert((two, one), ());
                }
            }
        }
        for (one, first) in &patterns {
            for (two, second) in &patterns {
                let deadlock = predictor.first_deadlock(&[first, second]);
                let expected = found.contains_key(&(one.clone(), two.clone()));
                assert_eq!(deadlock.is_some(), expected, "{first:?} and {second:?} of seed {seed}\n{text}");
                if let Some(deadlock) = deadlock {
                    assert!(is_deadlock(&trace, &deadlock.witness, &deadlock.requests));
                }
            }
        }
    }
    assert!(count > 100, "{count} deadlocks");
}
