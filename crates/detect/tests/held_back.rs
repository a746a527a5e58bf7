//! Witnesses of observed races that hold the first access back: the checkers accept them, and most races have one.

use crate::racy_traces;
use detect::hb::Hb;
use detect::held_back::HeldBack;
use event::{Causality, Value};
use trace::Trace;
use witness::{HeldBackCheck, RecordedRun};

fn make(seed: u64, all_ops: bool) -> Trace {
    racy_traces::make(1500, 3 + seed as u32 % 5, seed, all_ops)
}

/// How many races have such a witness, and how many there are.
fn shown(trace: &Trace) -> [usize; 2] {
    let pins = trace.batch.events.iter().any(|event| event.op().is_drop_barrier());
    let mut hb = Hb::new();
    hb.batch(&trace.names, &trace.batch);
    let races = hb.finish().races;
    let count = races.len();
    let shown = races.into_iter().filter(|race| {
        let (a, b) = (race.earlier.event, race.later.event);
        let run = RecordedRun { has_no_problem: true, has_no_drop_barrier: !pins };
        let Some(mut check) = HeldBackCheck::new([a, b], run) else { return false };
        let mut held_back = HeldBack::new();
        let mut prefix: Vec<u64> = (0..a).collect();
        for index in a..b {
            let event = trace.batch.events[index as usize];
            let kept = held_back.step(&trace.batch, event);
            check.step(&trace.batch, event, kept);
            prefix.extend(kept.then_some(index));
        }
        check.step(&trace.batch, trace.batch.events[b as usize], false);
        let accepted = check.finish();
        assert_eq!(accepted.is_ok(), held_back.goes_on(race.later.thread) && accepted.is_ok(), "{a} {b}");
        if accepted.is_ok() {
            let initial = |_| Value::Unknown;
            let whole = witness::check_race(Causality::Maximal, &trace.names, &trace.batch, &initial, &prefix, [a, b]);
            assert_eq!(whole, Ok(()), "{a} and {b} after {prefix:?}");
        }
        accepted.is_ok()
    });
    [shown.count(), count]
}

#[test]
fn races_without_weak_memory_have_one() {
    let [mut all, mut have] = [0; 2];
    for seed in 0..60 {
        let [shown, count] = shown(&make(seed, false));
        (have, all) = (have + shown, all + count);
    }
    println!("{have} of {all} races");
    assert!(all > 400 && have * 20 >= all * 19, "{have} of {all}");
}

#[test]
fn with_all_operations_what_is_accepted_is_feasible() {
    let found = (0..60).map(|seed| shown(&make(seed, true))).fold([0; 2], |[a, b], [c, d]| [a + c, b + d]);
    println!("{} of {} races", found[0], found[1]);
    assert!(found[1] > 100);
}
