//! What brute force predicts from the unfiltered trace, it also predicts from the filtered one, as long as nothing has
//! to be dropped; and how much is lost where it has.

use crate::soundness::{Case, definition, variable};
use crate::traces::{AMPLE, Lie, Room};
use oracle::random::Random;
use oracle::{cases, read};
use std::collections::BTreeSet;
use trace::Trace;

/// The variables that can race, each with the two threads.
pub(crate) fn races(trace: &Trace) -> BTreeSet<(String, [String; 2])> {
    let thread = |e: usize| trace.names.thread(trace.batch.events[e].thread()).to_string();
    let races = definition(trace).races().into_iter().map(|(e, f)| {
        let mut threads = [thread(e), thread(f)];
        threads.sort();
        (variable(trace, e), threads)
    });
    races.collect()
}

/// The last write of `u` has no lock, and no other thread accesses `x` after it. The trace must have it all the same.
#[test]
fn the_last_accesses_of_a_word_are_written() {
    let examples = [
        "t acq(l) t w(x) t rel(l) u acq(l) u w(x) u rel(l) u w(x)",
        "m fork(t) m fork(u) t acq(l) t w(x) t rel(l) u acq(l) u w(x) u rel(l) m join(u) m r(x) m join(t)",
        "t acq(l) t w(x) t rel(l) u acq(l) u w(x) u rel(l) u w(x) u free(x) u w(y)",
    ];
    for example in examples {
        let words: Vec<&str> = example.split(' ').collect();
        let text: String = words.chunks(2).map(|event| format!("{}|{}|0\n", event[0], event[1])).collect();
        let case = Case::of(&text, AMPLE, Lie::Apart, &mut Random::new(0));
        assert!(!races(&case.trace).is_empty(), "{example}");
        assert_eq!(races(&case.trace), races(&case.after), "{}", case.shown());
    }
}

#[test]
fn what_can_be_predicted_still_can() {
    let mut found = 0;
    let count = cases(2_000);
    for seed in 0..count {
        let case =
            if seed % 2 == 0 { Case::random(6 << 32 | seed, AMPLE) } else { Case::forked(7 << 32 | seed, AMPLE) };
        let (before, after) = (races(&case.trace), races(&case.after));
        found += before.len();
        let lost = before.difference(&after).next();
        assert_eq!(lost, None, "seed {seed} {:?}\n{}", case.lie, case.shown());
    }
    println!("{found} races");
    assert!(found as u64 > count / 10);
}

/// How much drop barriers cost, in programs whose contexts are all hot: `docs/recording/filter.md` states it.
#[test]
fn drop_barriers_hold_back_some_races() {
    let little = |r: &mut Random| Room { entries: 1 + r.below(2) as u32, per_context: r.below(2) as u8, ..AMPLE };
    let (mut traces, mut found, mut lost, mut dropped) = (0, 0, 0, 0);
    let count = cases(2_000);
    for seed in 0..count {
        let mut r = Random::new(9 << 32 | seed);
        let room = little(&mut r);
        let case = match seed % 3 {
            0 => {
                let text = crate::accesses::rounds_trace(&mut r);
                Case::of(&text, room, Lie::Apart, &mut r)
            }
            1 => Case::random(10 << 32 | seed, room),
            _ => Case::forked(11 << 32 | seed, room),
        };
        if case.lie != Lie::Apart || case.out.barriers == 0 {
            continue;
        }
        traces += 1;
        let is_barrier = |line: &&str| line.contains("|pin(") || line.contains("|rpin(");
        let without: String =
            case.out.text.lines().filter(|line| !is_barrier(line)).map(|l| format!("{l}\n")).collect();
        let (before, after) = (races(&case.trace), races(&case.after));
        assert!(after.is_subset(&before), "seed {seed}\n{}", case.shown());
        found += before.len();
        lost += before.difference(&after).count();
        // These are lost because an access of theirs is.
        dropped += before.difference(&races(&read(&without))).count();
    }
    println!("{traces} traces with drop barriers: of {found} races, {lost} are lost, {dropped} with their accesses");
    assert!(traces as u64 > count / 10 && lost * 8 < found, "{found} {lost}");
}
