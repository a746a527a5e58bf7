//! What the checker of held-back events accepts, the checker of whole schedules accepts, too.

use crate::common::{Random, Sample, maker};
use event::{Batch, Causality, Event, Names, Op, SiteId, Space, ThreadId};
use witness::{HeldBackCheck, RecordedRun};

/// Some events between the two of a race, mostly those that can be kept.
fn keep(random: &mut Random, sample: &Sample, [a, b]: [u64; 2]) -> Vec<u64> {
    let thread = |event: u64| sample.batch.events[event as usize].thread();
    let mut stopped = vec![thread(a)];
    let mut kept = Vec::new();
    for event in a + 1..b {
        if stopped.contains(&thread(event)) {
            continue;
        }
        if random.one_in(4) && thread(event) != thread(b) {
            stopped.push(thread(event));
        } else if !random.one_in(12) {
            kept.push(event);
        }
    }
    kept
}

fn accepts(sample: &Sample, race: [u64; 2], kept: &[u64]) -> bool {
    let run = RecordedRun { has_no_problem: true, has_no_drop_barrier: true };
    let mut check = HeldBackCheck::new(race, run).expect("a run without problems and pins");
    for event in race[0]..=race[1] {
        check.step(&sample.batch, sample.batch.events[event as usize], kept.contains(&event));
    }
    check.finish().is_ok()
}

#[test]
fn it_accepts_only_what_the_checker_accepts() {
    let mut random = Random(77);
    let [mut accepted, mut too_strict, mut refused] = [0; 3];
    for _ in 0..150_000 {
        let events = 4 + random.below(14);
        let sample = maker::make(&mut random, events, false);
        let events = sample.batch.events.len();
        if events < 2 || sample.batch.events.iter().any(|event| event.op().is_drop_barrier()) {
            continue;
        }
        let a = random.below(events - 1) as u64;
        let b = a + 1 + random.below(events - 1 - a as usize) as u64;
        let kept = keep(&mut random, &sample, [a, b]);
        let prefix: Vec<u64> = (0..a).chain(kept.iter().copied()).collect();
        let initial = sample.initial();
        let whole =
            witness::check_race(Causality::Maximal, &sample.names, &sample.batch, &initial, &prefix, [a, b]).is_ok();
        match (accepts(&sample, [a, b], &kept), whole) {
            (true, true) => accepted += 1,
            (false, true) => too_strict += 1,
            (false, false) => refused += 1,
            (true, false) => panic!("{kept:?} before {a} and {b}\n{}", sample.show()),
        }
    }
    println!("{accepted} accepted, {too_strict} refused that would do, {refused} refused");
    assert!(accepted > 2_000 && refused > 2_000 && too_strict < accepted, "{accepted} {too_strict} {refused}");
}

#[test]
fn a_run_with_problems_or_pins_is_not_judged() {
    for (has_no_problem, has_no_drop_barrier) in [(false, true), (true, false)] {
        assert!(HeldBackCheck::new([0, 1], RecordedRun { has_no_problem, has_no_drop_barrier }).is_none());
    }
    let run = RecordedRun { has_no_problem: true, has_no_drop_barrier: true };
    assert!(HeldBackCheck::new([1, 1], run).is_none() && HeldBackCheck::new([2, 1], run).is_none());
}

#[test]
fn both_accesses_must_come() {
    let mut random = Random(3);
    let sample = loop {
        let sample = maker::make(&mut random, 12, false);
        if sample.batch.events.len() > 2 && sample.batch.events.iter().all(|event| event.op() != Op::Pin) {
            break sample;
        }
    };
    let run = RecordedRun { has_no_problem: true, has_no_drop_barrier: true };
    let mut check = HeldBackCheck::new([0, 2], run).unwrap();
    check.step(&sample.batch, sample.batch.events[0], false);
    assert!(check.finish().is_err());
}

#[test]
fn a_join_needs_a_fork_that_was_left_out() {
    // 0: A writes x; 1: A forks B, which has no events; 2: C joins B; 3: C writes x.
    let mut names = Names::default();
    for (space, name) in [(Space::Thread, "A"), (Space::Thread, "B"), (Space::Thread, "C"), (Space::Var, "x")] {
        assert!(names.add(space, name).is_ok());
    }
    let event = |thread, op, object| Event::new(ThreadId(thread), op, object, SiteId(0));
    let events = vec![event(0, Op::Write, 0), event(0, Op::Fork, 1), event(2, Op::Join, 1), event(2, Op::Write, 0)];
    let sample = Sample { names, batch: Batch { events, ..Batch::default() }, initial: Vec::new() };
    assert!(!accepts(&sample, [0, 3], &[2]));
}
