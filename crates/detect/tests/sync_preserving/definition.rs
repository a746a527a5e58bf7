//! Small random traces with every operation against the definition.

use super::naive::{Naive, conflict};
use super::{checked, parse, sections};
use crate::brute::random;
use detect::sync_preserving::{Options, SyncPreserving};

#[test]
fn the_racy_events_are_those_of_the_definition() {
    let (mut races, mut reversed) = (0, 0);
    for seed in 0..30_000u64 {
        let length = 8 + seed as usize % 24;
        let text = if seed.is_multiple_of(3) { sections::trace(seed, length) } else { random::trace(seed, length) };
        let trace = parse(&text);
        let naive = Naive::new(&trace);
        let mut predictor = SyncPreserving::new(&trace.names, &trace.batch).expect("few threads");
        let mut racy = 0;
        for f in 0..trace.batch.events.len() {
            let mut is_racy = false;
            for e in (0..f).filter(|&e| conflict(&trace, e, f)) {
                let race = naive.is_race(e, f);
                is_racy |= race;
                let found = predictor.sync_preserving_witness([e as u64, f as u64]).is_some();
                assert_eq!(found, race, "{e} and {f} of seed {seed}\n{text}");
            }
            racy += u64::from(is_racy);
        }
        let found = predictor.races(&Options::default());
        assert_eq!(found.sync_preserving.racy_events, racy, "seed {seed}\n{text}");
        for race in found.sync_preserving.races.iter().chain(&found.optimistic.races) {
            assert!(checked(&trace, &mut predictor, [race.later.event, race.earlier.event]).is_some());
            races += 1;
        }
        reversed += found.optimistic.races.len();
    }
    assert!(races > 10_000 && reversed > 100, "{races} races, {reversed} of them reversed");
}

#[test]
fn a_join_comes_after_the_fork_of_a_thread_without_events() {
    let is_race = |text: &str, race: [u64; 2]| {
        let trace = parse(text);
        let mut predictor = SyncPreserving::new(&trace.names, &trace.batch).expect("few threads");
        checked(&trace, &mut predictor, race).is_some()
    };
    let text = "T0|fork(T1)|a\nT0|free(x)|z\nT1|r(x)|b\nT1|fork(T2)|c\nT0|join(T2)|d\nT0|w(x)|e\n";
    assert!(!is_race(text, [2, 5]), "the joined thread has no events, but begins");
    assert!(is_race(&text.replace("free(x)", "free(y)").replace("join(T2)", "ev(e)"), [2, 5]));
    let twice = "A|r(x)|\nA|fork(B)|\nD|fork(B)|\nC|join(B)|\nC|join(B)|\nC|w(x)|\n";
    assert!(!is_race(twice, [0, 5]), "each fork recorded before");
    assert!(is_race("C|join(B)|\nA|r(x)|\nA|fork(B)|\nC|w(x)|\n", [1, 3]), "the fork is recorded later");
}
