//! The filtered trace against the unfiltered one: what it shows is true there, and `hb` finds the same in both.

use crate::traces::{AMPLE, Filtered, Lie, Room, filtered, plain};
use detect::hb::Hb;
use event::{Causality, Op, Space, VarId};
use oracle::definition::Definition;
use oracle::random::Random;
use oracle::schedule::{faulty_trace, random_trace};
use oracle::seeds;
use oracle::{initial_values, read};
use std::collections::BTreeSet;
use trace::Trace;

/// In one block, and in two.
const SIDE: [Lie; 4] = [Lie::Side(2), Lie::Side(5), Lie::Side(6), Lie::Side(7)];

pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) trace: Trace,
    pub(crate) out: Filtered,
    pub(crate) after: Trace,
    pub(crate) lie: Lie,
}

impl Case {
    pub(crate) fn of(text: &str, room: Room, lie: Lie, r: &mut Random) -> Case {
        let text = plain(text, lie, lie == Lie::Apart && room.entries == AMPLE.entries, r);
        let trace = read(&text);
        let sites = r.percent(30).then(|| 1 + r.below(3));
        let mut out = filtered(&trace, lie, room, sites, r);
        let text = in_the_order_of(&mut out, &text);
        let trace = read(&text);
        let after = read(&out.text);
        let case = Case { text, trace, out, after, lie };
        assert_eq!(case.swapped(), None, "{}", case.shown());
        case
    }

    /// Two events that do not commute, and have another order than they had.
    fn swapped(&self) -> Option<(usize, usize)> {
        let batch = &self.trace.batch;
        let present: Vec<usize> = self.out.was.iter().copied().flatten().collect();
        // Of locks, also those that wait; what only asks for one, or cannot have it, commutes with much.
        let what = |e: usize| {
            let event = batch.events[e];
            match event.op() {
                Op::Wait | Op::Woken => Some((Space::Lock, batch.extra(event).lock.0)),
                op if op.announces() || op == Op::TryFail => None,
                op => op.space().filter(|space| matches!(space, Space::Var | Space::Lock)).zip(Some(event.object())),
            }
        };
        let reads =
            |e: usize| matches!(batch.events[e].op(), Op::Read | Op::AtomicLoad | Op::ReadAcquire | Op::ReadRelease);
        let condition = |e: usize| {
            let event = batch.events[e];
            matches!(event.op(), Op::Wait | Op::Woken | Op::Notify | Op::NotifyAll).then_some(event.object())
        };
        let conflict = |e: usize, f: usize| {
            let is_one = what(e).is_some() && what(e) == what(f) && !(reads(e) && reads(f));
            let is_other = condition(e).is_some() && condition(e) == condition(f);
            batch.events[e].thread() != batch.events[f].thread() && (is_one || is_other)
        };
        let pairs = present.iter().enumerate().flat_map(|(i, &e)| present[i + 1..].iter().map(move |&f| (e, f)));
        pairs.into_iter().find(|&(e, f)| e > f && conflict(e, f))
    }

    pub(crate) fn random(seed: u64, room: Room) -> Case {
        let mut r = Random::new(seed);
        let text = match r.below(10) {
            0..=3 => faulty_trace(&mut r),
            4..=6 => random_trace(&mut r),
            _ => crate::accesses::accesses_trace(&mut r),
        };
        let side = *r.pick(&SIDE);
        let lie = *r.pick(&[Lie::Together, Lie::Together, Lie::Apart, Lie::Apart, side]);
        Case::of(&text, room, lie, &mut r)
    }

    /// A case with more threads, which reuse slots, at parts of a word.
    pub(crate) fn forked(seed: u64, room: Room) -> Case {
        let mut r = Random::new(seed);
        let text = crate::accesses::forked_trace(&mut r);
        let side = *r.pick(&SIDE);
        let lie = *r.pick(&[Lie::Bytes, Lie::Bytes, Lie::Together, Lie::Apart, side, side]);
        Case::of(&text, room, lie, &mut r)
    }

    pub(crate) fn shown(&self) -> String {
        format!(
            "unfiltered\n{}\nfiltered\n{}\nleft out {:?} was {:?}",
            self.text, self.out.text, self.out.left_out, self.out.was
        )
    }
}

/// The unfiltered trace, with the accesses of each block at once in the order in which the filtered trace has them: the
/// program does not say which comes first. What the filtered trace refers to is changed with it.
fn in_the_order_of(out: &mut Filtered, text: &str) -> String {
    let (init, mut events): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| !line.contains('|'));
    let mut moved: Vec<usize> = (0..events.len()).collect();
    for group in &out.together {
        let as_written: Vec<usize> = out.was.iter().copied().flatten().filter(|e| group.contains(e)).collect();
        let places: BTreeSet<usize> = as_written.iter().copied().collect();
        assert_eq!(places.len(), as_written.len(), "an event is written once: {text}\n{}", out.text);
        places.iter().zip(&as_written).for_each(|(&place, &e)| moved[e] = place);
    }
    let before = events.clone();
    moved.iter().enumerate().for_each(|(e, &place)| events[place] = before[e]);
    out.was.iter_mut().flatten().for_each(|e| *e = moved[*e]);
    init.into_iter().chain(events).map(|line| format!("{line}\n")).collect()
}

pub(crate) fn definition(trace: &Trace) -> Definition {
    Definition::new(Causality::Maximal, &trace.names, &trace.batch, &initial_values(trace, &[]))
}

/// The racy variables of the recorded run.
pub(crate) fn racy(trace: &Trace) -> BTreeSet<String> {
    let mut hb = Hb::new();
    hb.batch(&trace.names, &trace.batch);
    hb.finish().races.iter().map(|race| trace.names.var(race.variable).to_string()).collect()
}

/// The trace without these events.
fn without(text: &str, events: &BTreeSet<usize>) -> Trace {
    let mut number = 0;
    let keeps = |line: &&str| {
        let is_event = line.contains('|');
        number += usize::from(is_event);
        !is_event || !events.contains(&(number - 1))
    };
    read(&text.lines().filter(keeps).map(|line| format!("{line}\n")).collect::<String>())
}

/// Whether what was dropped hides no race of what is in the trace. (A thread that reads one of several variables in a
/// word may have seen a write that was dropped: that is ordered.)
fn hides_nothing(case: &Case) -> bool {
    let present: BTreeSet<usize> = case.out.was.iter().copied().flatten().collect();
    let absent = (0..case.trace.batch.events.len()).filter(|e| !present.contains(e)).collect();
    let several = matches!(case.lie, Lie::Together | Lie::Bytes);
    several || racy(&without(&case.text, &absent)).is_subset(&racy(&case.after))
}

pub(crate) fn variable(trace: &Trace, e: usize) -> String {
    let event = trace.batch.events[e];
    assert_eq!(event.op().space(), Some(Space::Var));
    trace.names.var(VarId(event.object())).to_string()
}

/// Whatever brute force finds on the filtered trace, it finds on the unfiltered one.
pub(crate) fn refuted(case: &Case) -> Vec<String> {
    let (before, after) = (definition(&case.trace), definition(&case.after));
    let was = |e: usize| case.out.was[e];
    // What was left out, and says the same as an access before it.
    let alike = |e: usize| {
        let events = before.events();
        let same = |f: &usize| {
            (events[*f].thread, events[*f].op, events[*f].object) == (events[e].thread, events[e].op, events[e].object)
        };
        let later = (e + 1..events.len()).filter(same).take_while(|f| case.out.left_out.contains(f));
        [e].into_iter().chain(later).collect::<Vec<usize>>()
    };
    let mut refuted = Vec::new();
    let races = after.races();
    if !races.is_empty() {
        let real = before.races();
        // The definition keeps all accesses before the `free` that was after them, also those that were left out.
        let observed = if case.text.contains("free(") { racy(&case.trace) } else { BTreeSet::new() };
        for (e, f) in races {
            let found = match (was(e), was(f)) {
                (Some(a), Some(b)) => {
                    let pairs =
                        alike(a).into_iter().flat_map(|a| alike(b).into_iter().map(move |b| (a.min(b), a.max(b))));
                    pairs.into_iter().any(|pair| real.contains(&pair))
                }
                _ => real.iter().any(|&(a, _)| variable(&case.trace, a) == variable(&case.after, e)),
            };
            if !found && !observed.contains(&variable(&case.after, e)) {
                refuted.push(format!("race {e} {f}"));
            }
        }
    }
    let deadlocks = after.deadlocks();
    if !deadlocks.is_empty() {
        let rotated = |mut cycle: Vec<usize>| {
            let least = (0..cycle.len()).min_by_key(|&k| cycle[k]).expect("a cycle");
            cycle.rotate_left(least);
            cycle
        };
        let real: BTreeSet<Vec<usize>> = before.deadlocks().into_iter().map(rotated).collect();
        for cycle in deadlocks {
            let original = rotated(cycle.iter().map(|&e| was(e).expect("a request")).collect());
            if !real.contains(&original) {
                refuted.push(format!("deadlock {cycle:?}"));
            }
        }
    }
    let blocks = after.predicted_atomicity();
    if !blocks.is_empty() {
        let real = before.predicted_atomicity();
        let of = |e: usize| was(e).expect("a begin");
        refuted.extend(blocks.into_iter().filter(|&e| !real.contains(&of(e))).map(|e| format!("block {e}")));
    }
    let lost = after.lost_wakeups();
    if !lost.is_empty() {
        let real: BTreeSet<(usize, usize)> =
            before.lost_wakeups().iter().map(|lost| (lost.wait, lost.notify)).collect();
        for lost in lost {
            let of = |e: usize| was(e).expect("a wait or notify");
            if !real.contains(&(of(lost.wait), of(lost.notify))) {
                refuted.push(format!("lost wake-up {lost:?}"));
            }
        }
    }
    refuted
}

#[test]
fn the_filtered_trace_shows_nothing_that_is_not_so() {
    let (mut deferred, mut left_out, mut racy_ones, mut lost) = (0, 0, 0, 0);
    let mut handed = [0; 2];
    let seeds = seeds(3_000);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let case = Case::random(seed, AMPLE);
        assert_eq!(case.out.barriers, 0, "seed {seed}\n{}", case.shown());
        let refuted = refuted(&case);
        assert!(refuted.is_empty(), "{refuted:?} seed {seed}\n{}", case.shown());
        let (before, after) = (racy(&case.trace), racy(&case.after));
        assert!(after.is_subset(&before), "{before:?} {after:?} seed {seed}\n{}", case.shown());
        if case.out.was.iter().all(Option::is_some) {
            let present = racy(&without(&case.text, &case.out.left_out));
            assert_eq!(present, after, "seed {seed}\n{}", case.shown());
        }
        assert!(before == after, "{before:?} {after:?} seed {seed}\n{}", case.shown());
        lost += u64::from(!definition(&case.after).lost_wakeups().is_empty());
        racy_ones += before.len();
        deferred += case.out.deferred;
        left_out += case.out.left_out.len();
        handed = [0, 1].map(|which| handed[which] + case.out.handed[which]);
    }
    println!("times that were handed off: {} of locks, {} others", handed[0], handed[1]);
    assert!(handed.iter().all(|&times| times as u64 > count / 2), "{handed:?}");
    println!("{deferred} deferred, {left_out} left out, {racy_ones} racy variables, {lost} with lost wake-ups");
    assert!(lost > count / 200);
    assert!(deferred as u64 > count && left_out as u64 > count / 20 && racy_ones as u64 > count / 4);
}

#[test]
fn with_less_kept_less_is_found() {
    let (mut barriers, mut fewer) = (0, 0);
    let seeds = seeds(2_000);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let mut r = Random::new(2 << 32 | seed);
        let room = Room {
            entries: *r.pick(&[1, 2, 8]),
            nodes: *r.pick(&[0, 1, 2, 200, 200]),
            per_context: *r.pick(&[0, 0, 1, 3, 200]),
            per_pair: None,
            few_seqs: false,
        };
        let case = Case::random(1 << 32 | seed, room);
        let refuted = refuted(&case);
        assert!(refuted.is_empty(), "{refuted:?} seed {seed}\n{}", case.shown());
        let (before, after) = (racy(&case.trace), racy(&case.after));
        assert!(after.is_subset(&before), "{before:?} {after:?} seed {seed}\n{}", case.shown());
        assert!(hides_nothing(&case), "{before:?} {after:?} seed {seed} {room:?}\n{}", case.shown());
        fewer += usize::from(before != after);
        barriers += case.out.barriers;
    }
    println!("{barriers} barriers, {fewer} traces with fewer racy variables");
    assert!(barriers as u64 > count / 50);
}

#[test]
fn more_threads_than_entries() {
    let (mut reused, mut deferred) = (0, 0);
    let seeds = seeds(1_000);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let case = Case::forked(3 << 32 | seed, AMPLE);
        let refuted = refuted(&case);
        assert!(refuted.is_empty(), "{refuted:?} seed {seed}\n{}", case.shown());
        let (before, after) = (racy(&case.trace), racy(&case.after));
        assert!(after.is_subset(&before), "{before:?} {after:?} seed {seed}\n{}", case.shown());
        assert!(before == after, "{before:?} {after:?} seed {seed}\n{}", case.shown());
        reused += case.out.reused;
        deferred += case.out.deferred;
    }
    println!("{deferred} deferred, {reused} slots used again");
    assert!(deferred as u64 > count / 2 && reused as u64 > count / 20);
}

#[test]
fn more_threads_with_less_room() {
    let (mut barriers, mut fewer, mut unused) = (0, 0, 0);
    let seeds = seeds(2_000);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let mut r = Random::new(4 << 32 | seed);
        let room = Room {
            entries: *r.pick(&[1, 2, 8]),
            nodes: *r.pick(&[0, 1, 2, 4, 200, 200]),
            per_context: *r.pick(&[0, 0, 1, 3, 200]),
            per_pair: None,
            few_seqs: r.percent(50),
        };
        let forked = r.percent(70);
        let seed_of = 5 << 32 | seed;
        let case = if forked { Case::forked(seed_of, room) } else { Case::random(seed_of, room) };
        let refuted = refuted(&case);
        assert!(refuted.is_empty(), "{refuted:?} seed {seed} {room:?}\n{}", case.shown());
        let (before, after) = (racy(&case.trace), racy(&case.after));
        assert!(after.is_subset(&before), "{before:?} {after:?} seed {seed} {room:?}\n{}", case.shown());
        assert!(hides_nothing(&case), "{before:?} {after:?} seed {seed} {room:?}\n{}", case.shown());
        fewer += usize::from(before != after);
        unused += usize::from(room.few_seqs);
        barriers += case.out.barriers;
    }
    println!("{barriers} barriers, {unused} with few sequence numbers, {fewer} traces with fewer racy variables");
    assert!(barriers as u64 > count / 50);
}

/// What threads have read orders what they do later: it is not recorded, nothing false comes of that, and every race is
/// still found, in the recorded run and in others.
#[test]
fn data_that_is_handed_over_is_not_recorded() {
    let accesses = |case: &Case| case.after.batch.events.iter().filter(|event| event.op().is_plain_access()).count();
    let (mut all, mut recorded, mut found, mut dropping) = (0, 0, 0, 0);
    let seeds = seeds(3_000);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let mut r = Random::new(12 << 32 | seed);
        let text = crate::accesses::handed_trace(&mut r);
        let lie = *r.pick(&[Lie::Apart, Lie::Apart, Lie::Together, Lie::Bytes, SIDE[0], SIDE[3]]);
        let room = Room { per_pair: Some(u8::MAX), ..AMPLE };
        all += accesses(&Case::of(&text, room, lie, &mut r));
        let little = Room { entries: 1 + r.below(2) as u32, per_context: r.below(2) as u8, ..AMPLE };
        let room = Room { per_pair: Some(0), ..if r.percent(25) { little } else { AMPLE } };
        let case = Case::of(&text, room, lie, &mut r);
        recorded += accesses(&case);
        let refuted = refuted(&case);
        assert!(refuted.is_empty(), "{refuted:?} seed {seed}\n{}", case.shown());
        let (before, after) = (racy(&case.trace), racy(&case.after));
        assert!(after.is_subset(&before), "{before:?} {after:?} seed {seed}\n{}", case.shown());
        if case.out.barriers > 0 {
            dropping += 1;
            continue;
        }
        assert!(before == after, "{before:?} {after:?} seed {seed}\n{}", case.shown());
        let [before, after] = [&case.trace, &case.after].map(crate::completeness::races);
        found += before.len();
        let lost = before.difference(&after).next();
        assert_eq!(lost, None, "seed {seed} {lie:?}\n{}", case.shown());
    }
    println!("{recorded} accesses instead of {all}, {found} predicted races, {dropping} traces with drop barriers");
    assert!(recorded * 20 < all * 19 && found as u64 > count / 2 && dropping as u64 > count / 50);
}

/// Drop barriers order nothing for `hb` that was not ordered.
#[test]
fn what_was_dropped_hides_no_other_race() {
    let little = Room { entries: 1, nodes: 200, per_context: 0, per_pair: None, few_seqs: false };
    let reads = "t acq(l) t r(y) t r(x) t rel(l) t acq(l) t r(y) t r(x) t rel(l)";
    let examples: [(&str, &[&str]); 3] = [
        ("u r(x) u w(y) u acq(l) u w(x) u rel(l)", &["y"]),
        ("u w(x) u w(y)", &["x", "y"]),
        ("u acq(l) u w(x) u rel(l) u w(y)", &[]),
    ];
    let writes = reads.replace("r(", "w(");
    let both = [(reads, "t|rpin(x,", "t|pin("), (&writes, "t|pin(x,", "t|rpin(")];
    for ((before, has, has_not), (events, races)) in
        both.into_iter().flat_map(|both| examples.iter().map(move |example| (both, *example)))
    {
        let words: Vec<&str> = before.split(' ').chain(events.split(' ')).collect();
        let text: String = words.chunks(2).map(|event| format!("{}|{}|0\n", event[0], event[1])).collect();
        let case = Case::of(&text, little, Lie::Apart, &mut Random::new(0));
        assert!(case.out.text.contains(has) && !case.out.text.contains(has_not), "{}", case.shown());
        assert_eq!(racy(&case.after), racy(&case.trace), "{}", case.shown());
        if before == reads {
            assert_eq!(racy(&case.after).iter().map(String::as_str).collect::<Vec<_>>(), races, "{}", case.shown());
        }
    }
    let (mut barriers, mut fewer) = (0, 0);
    let seeds = seeds(2_000);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let mut r = Random::new(6 << 32 | seed);
        let text = crate::accesses::rounds_trace(&mut r);
        let case = Case::of(&text, little, *r.pick(&[Lie::Apart, Lie::Side(2), Lie::Side(6)]), &mut r);
        let refuted = refuted(&case);
        assert!(refuted.is_empty(), "{refuted:?} seed {seed}\n{}", case.shown());
        let (before, after) = (racy(&case.trace), racy(&case.after));
        assert!(after.is_subset(&before), "{before:?} {after:?} seed {seed}\n{}", case.shown());
        assert!(hides_nothing(&case), "{before:?} {after:?} seed {seed}\n{}", case.shown());
        fewer += u64::from(before != after);
        barriers += case.out.barriers;
    }
    println!("{barriers} barriers, {fewer} traces with fewer racy variables");
    assert!(barriers as u64 > count);
}

/// Atomic loads leave nothing in a cell that says who they were.
#[test]
fn writes_stand_behind_atomic_loads() {
    let examples = [
        "t ast(x)=1@relaxed v ald(x)=1@relaxed t r(x) t w(x)",
        "t fork(u) t r(x) u r(x) t join(u) v ald(x)=0@relaxed t w(x) v r(x)",
        "t r(x) v r(x) u ald(x)=0@relaxed t w(x)",
    ];
    for events in examples {
        let words: Vec<&str> = events.split(' ').collect();
        let text: String = words.chunks(2).map(|event| format!("{}|{}|0\n", event[0], event[1])).collect();
        for seed in 0..8 {
            // It compares the order.
            Case::of(&text, AMPLE, Lie::Apart, &mut Random::new(seed));
        }
    }
}

/// A read of a variable of one thread is not in the trace: it was the last before the wait, and is not the test.
#[test]
fn the_test_of_a_wait_is_not_left_out() {
    let outside = "t r(x) t acq(l) t r(own) t wait(c,l) u acq(l) u w(x) u notify(c) u rel(l) t woken(c,l) t rel(l)";
    let inside =
        "t r(x) t acq(l) t r(x) t r(own) t wait(c,l) u acq(l) u w(x) u notify(c) u rel(l) t woken(c,l) t rel(l)";
    let unlocked = "t acq(l) t r(x) t r(own) t wait(c,l) u w(x) u notify(c) t woken(c,l) t rel(l)";
    let other =
        "t r(y) t acq(l) t r(own) t wait(c,l) u acq(l) u w(x) u notify(c) u rel(l) t woken(c,l) t rel(l) u w(y)";
    for (events, lost) in [(outside, 1), (inside, 0), (unlocked, 1), (other, 0)] {
        let words: Vec<&str> = events.split(' ').collect();
        let text: String = words.chunks(2).map(|event| format!("{}|{}|0\n", event[0], event[1])).collect();
        for seed in 0..8 {
            let case = Case::of(&text, AMPLE, Lie::Apart, &mut Random::new(seed));
            assert!(!case.out.text.contains("own"), "{}", case.shown());
            let found = [&case.trace, &case.after].map(|trace| definition(trace).lost_wakeups().len());
            assert_eq!(found, [lost, lost], "{}", case.shown());
        }
    }
}

/// The examples of docs/recording/filter.md: (unfiltered, racy variables of `hb`, variables with a race in some run).
#[test]
fn what_simpler_filters_get_wrong() {
    let examples: [(&str, Lie, &[&str], &[&str]); 6] = [
        ("t w(y) t w(y) t w(q) u r(q) u w(y)", Lie::Apart, &["q"], &["q"]),
        (
            "t acq(n) t r(y) t w(x) t rel(n) v w(y) v w(z) u r(z) u acq(n) u rel(n) u r(x)",
            Lie::Apart,
            &["y", "z"],
            &["y", "z"],
        ),
        (
            "v acq(n) v w(p) t r(x) t r(p) t r(x) t w(s) v r(s) v w(o) v rel(n) u w(x) u acq(n) u rel(n) u w(o)",
            Lie::Apart,
            &["p", "s", "x"],
            &["p", "s", "x"],
        ),
        ("u r(x) v r(x) t r(x) t w(y) t r(x) u r(y) u w(x)", Lie::Apart, &["x", "y"], &["x", "y"]),
        ("t r(y) u w(x) u w(y)", Lie::Together, &["y"], &["y"]),
        ("t w(m) t w(x) t acq(l) t w(x) t rel(l) t w(x) u r(x) u r(m)", Lie::Apart, &["x"], &["x"]),
    ];
    for (events, lie, racy_in_hb, races) in examples {
        let words: Vec<&str> = events.split(' ').collect();
        let lines = words.chunks(2).map(|event| format!("{}|{}|0\n", event[0], event[1]));
        let text: String = lines.collect();
        for seed in 0..8 {
            for room in [AMPLE, Room { entries: 1, ..AMPLE }] {
                let case = Case::of(&text, room, lie, &mut Random::new(seed));
                let refuted = refuted(&case);
                assert!(refuted.is_empty(), "{refuted:?}\n{}", case.shown());
                let of = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<BTreeSet<String>>();
                let found = racy(&case.after);
                let all = definition(&case.trace).races();
                let all: BTreeSet<String> = all.into_iter().map(|(e, _)| variable(&case.trace, e)).collect();
                assert_eq!(all, of(races), "{}", case.shown());
                if room.entries > 1 {
                    assert_eq!(found, of(racy_in_hb), "{}", case.shown());
                }
                assert!(found.is_subset(&of(racy_in_hb)), "{found:?}\n{}", case.shown());
            }
        }
    }
}
