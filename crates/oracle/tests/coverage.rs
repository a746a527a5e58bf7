//! The random traces have every kind of error that detectors look for.

use event::Causality;
use oracle::definition::Definition;
use oracle::random::Random;
use oracle::schedule::{MOST_OF_FAULTY, faulty_trace};
use oracle::{cases, initial_values, read};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[test]
fn every_kind_of_error_is_met() {
    let count = cases(3_000);
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    let mut times: BTreeMap<&str, Duration> = BTreeMap::new();
    let mut lengths: BTreeMap<usize, u64> = BTreeMap::new();
    for seed in 0..count {
        let text = faulty_trace(&mut Random::new(seed));
        let trace = read(&text);
        let oracle = Definition::new(Causality::Maximal, &trace.names, &trace.batch, &initial_values(&trace, &[]));
        let recorded: Vec<usize> = (0..oracle.events().len()).collect();
        assert!(oracle.is_feasible(&recorded), "{text}");
        *lengths.entry(recorded.len()).or_default() += 1;
        let mut timed = |what, start: Instant| *times.entry(what).or_default() += start.elapsed();
        let mut note = |is: bool, what| *kinds.entry(what).or_default() += u64::from(is);

        let start = Instant::now();
        let races = oracle.races();
        timed("races", start);
        let start = Instant::now();
        let easy = oracle.sync_preserving_races();
        timed("sync-preserving races", start);
        assert!(easy.is_subset(&races), "{easy:?} {races:?}\n{text}");
        note(!races.is_empty(), "race");
        note(!easy.is_empty(), "sync-preserving race");
        note(easy.len() < races.len(), "race that only maximal finds");
        note(oracle.conflicts().len() > races.len(), "conflict that is no race");

        let start = Instant::now();
        let deadlocks = oracle.deadlocks();
        timed("deadlocks", start);
        let easy = oracle.sync_preserving_deadlocks();
        assert!(easy.is_subset(&deadlocks), "{easy:?} {deadlocks:?}\n{text}");
        let observed = oracle.observed_deadlocks();
        assert!(observed.is_subset(&deadlocks), "{observed:?} {deadlocks:?}\n{text}");
        note(deadlocks.iter().any(|cycle| cycle.len() == 2), "deadlock of 2 threads");
        note(deadlocks.iter().any(|cycle| cycle.len() == 3), "deadlock of 3 threads");
        note(!easy.is_empty(), "sync-preserving deadlock");
        note(easy.len() < deadlocks.len(), "deadlock that only maximal finds");
        note(!observed.is_empty(), "observed deadlock");

        let start = Instant::now();
        let predicted = oracle.predicted_atomicity();
        timed("atomicity", start);
        let observed = oracle.observed_atomicity();
        assert!(observed.is_subset(&predicted), "{observed:?} {predicted:?}\n{text}");
        note(!observed.is_empty(), "observed atomicity violation");
        note(predicted.len() > observed.len(), "predicted atomicity violation");
        note(oracle.transactions().blocks.len() > predicted.len(), "block that is atomic");

        let start = Instant::now();
        let lost = oracle.lost_wakeups();
        timed("lost wake-ups", start);
        note(!lost.is_empty(), "lost wake-up");
        note(oracle.waits().len() > lost.len(), "wake-up that cannot be lost");
        note(!oracle.observed_lost_wakeups().is_empty(), "observed lost wake-up");
    }
    let share = |n: u64| 100.0 * n as f64 / count as f64;
    println!("{count} traces");
    for (kind, &n) in &kinds {
        println!("{:5.1} %  {kind}", share(n));
    }
    for (length, &n) in &lengths {
        println!("{:5.1} %  {length} events", share(n));
    }
    for (what, time) in times {
        println!("{:7.1} us  {what}", time.as_secs_f64() * 1e6 / count as f64);
    }
    for (kind, n) in kinds {
        assert!(share(n) >= 0.5, "{kind} is rare");
    }
    assert!(lengths.keys().all(|&n| n <= MOST_OF_FAULTY) && share(lengths[&MOST_OF_FAULTY]) >= 2.0);
}
