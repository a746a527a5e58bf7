//! All cuts of small traces, each in recorded order past the checker: what is sync-preserving needs no other
//! definition.
//!
//! But for semaphores: there a `down` may consume another `up` than the first in, first out, and no search looks for
//! that.

use super::parse;
use crate::brute::random;
use detect::sync_preserving::SyncPreserving;
use event::{Causality, Op, Value};
use std::collections::BTreeSet;
use trace::Trace;
use witness::check_race;

/// All races that some cut in recorded order shows.
fn races(trace: &Trace) -> BTreeSet<[u64; 2]> {
    let events = &trace.batch.events;
    let threads = 1 + events.iter().map(|event| event.thread().0).max().unwrap_or(0) as usize;
    let mut chains: Vec<Vec<u64>> = vec![Vec::new(); threads];
    for (at, event) in (0..).zip(events) {
        chains[event.thread().0 as usize].push(at);
    }
    let mut cut = vec![0; threads];
    let mut found = BTreeSet::new();
    loop {
        let mut prefix: Vec<u64> =
            chains.iter().zip(&cut).flat_map(|(chain, &count)| chain[..count].to_vec()).collect();
        prefix.sort_unstable();
        let next: Vec<u64> = chains.iter().zip(&cut).filter_map(|(chain, &count)| chain.get(count).copied()).collect();
        for (k, &a) in next.iter().enumerate() {
            for &b in &next[..k] {
                let race = [a.min(b), a.max(b)];
                let (names, batch) = (&trace.names, &trace.batch);
                let unknown = |_| Value::Unknown;
                if events[a as usize].object() == events[b as usize].object()
                    && check_race(Causality::Maximal, names, batch, &unknown, &prefix, race).is_ok()
                {
                    found.insert(race);
                }
            }
        }
        let Some(chain) = (0..threads).find(|&chain| cut[chain] < chains[chain].len()) else { return found };
        cut[chain] += 1;
        cut[..chain].fill(0);
    }
}

#[test]
fn the_races_are_those_that_some_cut_shows() {
    let mut count = 0;
    for seed in 0..3_000 {
        let text = random::trace(1_000_000 + seed, 9);
        let trace = parse(&text);
        let mut predictor = SyncPreserving::new(&trace.names, &trace.batch).expect("few threads");
        let events = trace.batch.events.len() as u64;
        let found: BTreeSet<[u64; 2]> = (0..events)
            .flat_map(|b| (0..b).map(move |a| [a, b]))
            .filter(|&race| predictor.sync_preserving_witness(race).is_some())
            .collect();
        let all = races(&trace);
        count += all.len();
        if trace.batch.events.iter().any(|event| event.op() == Op::Down) {
            assert!(found.is_subset(&all), "seed {seed}\n{text}");
        } else {
            assert_eq!(found, all, "seed {seed}\n{text}");
        }
    }
    assert!(count > 3_000, "{count} races");
}
