//! What the prefilter rules out is not there: by brute force, and by the detectors on the whole trace.

use crate::Case;
use detect::atomicity::Atomicity;
use detect::hb::Hb;
use detect::lock_order::{LockOrder, LockOrderOptions};
use detect::lockset::Lockset;
use detect::lost_wakeup::LostWakeups;
use detect::maximal::{self, KnownRaces, Maximal};
use detect::misuse::Misuses;
use detect::prefilter::{Filtered, Handovers, Limits, Narrow, Narrowed, Prefilter, each_masked};
use detect::sync_preserving::{Options, SyncPreserving};
use event::{Batch, Op, Space, VarId};
use oracle::cases;
use oracle::random::Random;
use reach::Windows;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::ops::ControlFlow;
use trace::validate::Validator;

fn filtered(case: &Case, batch: &Batch) -> Filtered {
    let mut validator = Validator::new();
    validator.check(&case.trace.names, batch);
    let mut prefilter = Prefilter::new();
    prefilter.batch(&case.trace.names, batch);
    prefilter.finish(validator.count() == 0)
}

/// What is left after a look at handovers, in batches of different lengths.
fn handed_over(case: &Case, filtered: &Filtered, seed: u64, limits: Limits) -> Filtered {
    let batch = &case.trace.batch;
    let mut handovers = Handovers::with(limits, filtered);
    let mut at = 0;
    while at < batch.events.len() {
        let end = batch.events.len().min(at + 1 + (seed as usize + at) % 7);
        let mut part = Batch::default();
        part.clear(batch.first + at as u64);
        batch.events[at..end].iter().for_each(|&event| part.push_from(batch, event));
        handovers.batch(&case.trace.names, &part);
        at = end;
    }
    handovers.finish()
}

/// What is left for each of the detectors of races, in batches of different lengths or at once.
fn narrowed(case: &Case, filtered: &Filtered, seed: u64) -> Narrowed {
    let (names, batch) = (&case.trace.names, &case.trace.batch);
    let mut narrow = Narrow::new(filtered, !seed.is_multiple_of(3));
    if seed.is_multiple_of(2) {
        assert!(narrow.trace(names, batch, || false));
        return narrow.finish();
    }
    let mut at = 0;
    while at < batch.events.len() {
        let end = batch.events.len().min(at + 1 + (seed as usize + at) % 7);
        let mut part = Batch::default();
        part.clear(batch.first + at as u64);
        batch.events[at..end].iter().for_each(|&event| part.push_from(batch, event));
        narrow.batch(names, &part);
        at = end;
    }
    narrow.finish()
}

/// An atomic access of `a`, in any order that it can have.
fn atomic(r: &mut Random) -> String {
    let orders: &[&str] = match r.below(3) {
        0 => &["ald(a)", "ald(a)@relaxed", "ald(a)@acquire"],
        1 => &["ast(a)", "ast(a)@relaxed", "ast(a)@release"],
        _ => &["armw(a)", "armw(a)@relaxed", "armw(a)@acquire", "armw(a)@release", "armw(a)@acqrel"],
    };
    (*r.pick(orders)).to_owned()
}

/// A small run of threads that hand variables over, some of them rightly: sections of two locks, waits, atomics, memory
/// that is freed and allocated again. Values are seldom known. `ordered`: atomics have all orders, and accesses were
/// dropped.
fn handing(r: &mut Random, ordered: bool) -> String {
    const LOCKS: [&str; 2] = ["l", "m"];
    let threads = 2 + r.below(2);
    let mut counts = vec![0; threads];
    let mut owners: [Option<usize>; 2] = [None; 2];
    let mut waiting: Vec<Option<usize>> = vec![None; threads];
    let mut notified = vec![false; threads];
    let mut text = String::new();
    let length = 8 + r.below(7);
    for number in 1..=length {
        let thread = r.below(threads);
        let held: Vec<usize> = (0..2).filter(|&lock| owners[lock] == Some(thread)).collect();
        let vars: &[&str] =
            if ordered { &["x", "x", "x", "x", "y", "y", "z", "z", "a"] } else { &["x", "x", "y", "z"] };
        let var = *r.pick(vars);
        let event = if let Some(lock) = waiting[thread] {
            if owners[lock].is_some() {
                continue;
            }
            owners[lock] = Some(thread);
            waiting[thread] = None;
            let how = if std::mem::take(&mut notified[thread]) { "" } else { "=spurious" };
            format!("woken(c,{}){how}", LOCKS[lock])
        } else if !held.is_empty() && r.percent(30) {
            let lock = *r.pick(&held);
            owners[lock] = None;
            if r.percent(25) {
                (waiting[thread], notified[thread]) = (Some(lock), false);
                format!("wait(c,{})", LOCKS[lock])
            } else {
                format!("rel({})", LOCKS[lock])
            }
        } else if held.len() < 2 && r.percent(35) {
            let free: Vec<usize> = (0..2).filter(|&lock| owners[lock].is_none()).collect();
            if free.is_empty() {
                continue;
            }
            let lock = *r.pick(&free);
            owners[lock] = Some(thread);
            format!("acq({})", LOCKS[lock])
        } else {
            match r.below(100) {
                0..40 => format!("r({var}){}", if r.percent(5) { "=0" } else { "" }),
                40..78 => format!("w({var}){}", if r.percent(5) { "=0" } else { "" }),
                78..88 if ordered => atomic(r),
                78..82 => "ald(a)".to_owned(),
                82..86 => "ast(a)".to_owned(),
                86..90 if !ordered => "armw(a)".to_owned(),
                86..90 => format!("{}({var},{})", r.pick(&["pin", "rpin"]), counts[thread]),
                90..92 => format!("free({var})"),
                92..94 => format!("alloc({var})"),
                _ => {
                    (0..threads).for_each(|other| notified[other] = waiting[other].is_some());
                    "notifyall(c)".to_owned()
                }
            }
        };
        counts[thread] += 1;
        text += &format!("T{}|{event}|{number}\n", thread + 1);
    }
    text
}

/// An atomic access that takes something over, mostly rightly.
fn acquiring(r: &mut Random) -> String {
    (*r.pick(&["armw(a)", "armw(a)", "armw(a)@acqrel", "ald(a)@acquire", "ald(a)", "armw(a)@relaxed"])).to_owned()
}

/// An atomic access that hands something over, mostly rightly.
fn releasing(r: &mut Random) -> String {
    (*r.pick(&["armw(a)", "armw(a)", "armw(a)@acqrel", "ast(a)@release", "armw(a)@release", "armw(a)@relaxed"]))
        .to_owned()
}

/// Threads that hand a variable to each other, by a flag under a lock, an atomic one or none at all, mostly one after
/// the other.
fn relay(r: &mut Random, ordered: bool) -> String {
    let threads = 2 + r.below(2);
    let mut left: Vec<Vec<String>> = vec![Vec::new(); threads];
    let access = |r: &mut Random, script: &mut Vec<String>| {
        for _ in 0..r.below(3) {
            script.push((*r.pick(&["r(x)", "w(x)", "w(x)", "r(y)", "w(y)", "free(x)"])).to_owned());
        }
    };
    for round in 0..2 + r.below(2) {
        let script = &mut left[round % threads];
        let how = r.below(10);
        let lock = if r.percent(80) { "l" } else { "m" };
        if round > 0 {
            let read = match how % 3 {
                1 if ordered => acquiring(r),
                1 => "armw(a)".to_owned(),
                _ => "r(f)".to_owned(),
            };
            let locked = [format!("acq({lock})"), read.clone(), format!("rel({lock})")];
            script.extend(if how % 3 == 1 { vec![read] } else { locked.to_vec() });
            access(r, script);
        }
        access(r, script);
        let write = match how % 3 {
            1 if ordered => releasing(r),
            1 => "armw(a)".to_owned(),
            0 => "w(f)".to_owned(),
            _ => "w(f)=1".to_owned(),
        };
        if how % 3 == 1 {
            script.push(write);
        } else {
            script.extend([format!("acq({lock})"), write]);
            access(r, script);
            script.push(format!("rel({lock})"));
        }
    }
    let mut owners: Vec<(String, usize)> = Vec::new();
    let (mut text, mut thread, mut number) = (String::new(), 0, 0);
    for _ in 0..60 {
        if left[thread].is_empty() || r.percent(15) {
            thread = r.below(threads);
        }
        let Some(event) = left[thread].first().cloned() else { continue };
        if let Some(lock) = event.strip_prefix("acq") {
            if owners.iter().any(|owner| owner.0 == lock) {
                thread = r.below(threads);
                continue;
            }
            owners.push((lock.to_owned(), thread));
        } else if let Some(lock) = event.strip_prefix("rel") {
            owners.retain(|owner| owner.0 != lock);
        }
        left[thread].remove(0);
        number += 1;
        text += &format!("T{}|{event}|{number}\n", thread + 1);
        if number == 15 {
            break;
        }
    }
    text
}

/// What the searches for races find, if this is ruled out: the sync-preserving ones, and those of small windows.
fn searched(case: &Case, filtered: Option<&Filtered>) -> impl PartialEq + Debug {
    let (names, batch) = (&case.trace.names, &case.trace.batch);
    let mut analysis = SyncPreserving::new(names, batch).expect("few threads");
    let predicted = analysis.races(&Options { filtered, ..Options::default() });
    let options = maximal::Options { filtered, ..maximal::Options::default() };
    let mut maximal = Maximal::new(options, KnownRaces::default());
    let mut windows = Windows::new(names, batch, 12);
    while let Some(window) = windows.next_with(|window| maximal.wants(&batch.events[window])) {
        maximal.window(names, &window, &|var| case.initial(var));
    }
    let report = maximal.finish();
    (predicted, report.races, report.prefixes, report.looked.windows)
}

/// Nothing that is handed over races in any run, and searches find the same without it.
#[test]
fn what_is_handed_over_does_not_race() {
    let (mut before, mut after, mut quiet) = (0, 0, 0);
    for seed in 0..cases(20_000) {
        let mut r = Random::new(10 << 32 | seed);
        let case = match seed % 8 {
            0 => Case::with_sites(9 << 32 | seed),
            1..4 => Case::new(handing(&mut r, false)),
            _ => Case::new(relay(&mut r, false)),
        };
        let (names, batch) = (&case.trace.names, &case.trace.batch);
        let filtered = filtered(&case, batch);
        let left = handed_over(&case, &filtered, seed, Limits::default());
        let shown = || format!("{left:?} seed {seed}\n{}", case.text);
        for (e, f) in case.oracle.races() {
            assert!(left.may_race(batch.events[f].var()), "{e} and {f} race: {}", shown());
        }
        let vars = (0..names.space(Space::Var).len() as u32).map(VarId);
        for var in vars.filter(|&var| filtered.may_race(var)) {
            before += 1;
            after += u64::from(left.may_race(var));
        }
        assert!(filtered.any_races() || !left.any_races(), "{}", shown());
        quiet += u64::from(filtered.any_races() && !left.any_races());
        assert_eq!(searched(&case, Some(&filtered)), searched(&case, Some(&left)), "{}", shown());
    }
    println!("{before} variables may race, {after} after handovers; {quiet} traces have none any more");
    assert!(after < before - before / 20 && quiet > 0);
}

/// Each limit is reached, and within it less is ruled out, never something else.
#[test]
fn with_less_room_less_is_ruled_out() {
    let all = Limits::default();
    let limits = [
        Limits { threads: 2, ..all },
        Limits { drop_barriers: 0, ..all },
        Limits { accesses: 1, ..all },
        Limits { words: 8, ..all },
        Limits { sections: 1, ..all },
        Limits { all_sections: 1, ..all },
    ];
    let mut lost = [0; 6];
    for seed in 0..cases(20_000) {
        let mut r = Random::new(12 << 32 | seed);
        let case = match seed % 4 {
            // By chance, drop barriers hardly ever rule out what nothing else does.
            _ if seed == 0 => Case::new("T1|w(x)|1\nT1|pin(x,1)|2\nT2|w(x)|3\n".to_owned()),
            0 => Case::with_sites(13 << 32 | seed),
            1 => Case::new(handing(&mut r, false)),
            _ => Case::new(relay(&mut r, false)),
        };
        let filtered = filtered(&case, &case.trace.batch);
        let left = handed_over(&case, &filtered, seed, all);
        for (lost, limits) in lost.iter_mut().zip(limits) {
            let more = handed_over(&case, &filtered, seed, limits);
            let vars = (0..case.trace.names.space(Space::Var).len() as u32).map(VarId);
            for var in vars.filter(|&var| left.may_race(var) != more.may_race(var)) {
                assert!(more.may_race(var), "{limits:?} rule out {var:?}, seed {seed}\n{}", case.text);
                *lost += 1;
            }
        }
    }
    println!("{lost:?} variables more may race");
    assert!(lost.iter().all(|&lost| lost > 0), "{lost:?}");
}

/// What the language orders in every run, `hb` finds nothing of, nor behind another race; and of what is no candidate,
/// `lockset` warns of nothing.
#[test]
fn what_is_ordered_has_no_race_in_the_recorded_run() {
    let (mut before, mut after, mut quiet, mut unwarned) = (0, 0, 0, 0);
    for seed in 0..cases(20_000) {
        let mut r = Random::new(11 << 32 | seed);
        let case = match seed % 8 {
            0..2 => Case::with_sites(9 << 32 | seed),
            2..4 => Case::new(handing(&mut r, true)),
            _ => Case::new(relay(&mut r, true)),
        };
        let (names, batch) = (&case.trace.names, &case.trace.batch);
        let filtered = filtered(&case, batch);
        let Narrowed { observed, searched } = narrowed(&case, &filtered, seed);
        let shown = || format!("{observed:?} seed {seed}\n{}", case.text);
        for (e, f) in case.oracle.races() {
            assert!(searched.may_race(batch.events[f].var()), "{e} and {f} race: {}", shown());
        }
        let mut left = Handovers::new(&searched);
        left.batch(names, batch);
        let left = left.finish();
        let vars = (0..names.space(Space::Var).len() as u32).map(VarId);
        for var in vars.filter(|&var| filtered.may_race(var)) {
            before += 1;
            after += u64::from(searched.may_race(var));
            assert!(searched.may_race(var) || !left.may_race(var), "{}", shown());
        }
        let found = |keeps: &dyn Fn(VarId) -> bool| {
            let mut hb = Hb::new();
            each_masked(batch, keeps, |masked| {
                hb.batch(names, masked);
                ControlFlow::Continue(())
            });
            hb.finish()
        };
        let all = found(&|_| true);
        assert_eq!(all, found(&|var| observed.orders_or_races(var)), "{}", shown());
        assert!(observed.any_unordered() || all == Hb::new().finish(), "{}", shown());
        quiet += u64::from(filtered.any_races() && !observed.any_unordered());

        let warned = |lockset: Lockset, keeps: &dyn Fn(VarId) -> bool| {
            let mut lockset = lockset;
            if !filtered.misuses {
                lockset.forget_freed();
            }
            each_masked(batch, keeps, |masked| {
                lockset.batch(names, masked);
                ControlFlow::Continue(())
            });
            lockset.finish()
        };
        if let Some(candidates) = observed.candidates() {
            let all = warned(Lockset::new(), &|var| filtered.may_race(var));
            assert_eq!(all, warned(Lockset::new().of(candidates.clone()), &|var| candidates.has(var)), "{}", shown());
            unwarned += u64::from(filtered.any_races() && candidates.count() == 0);
        }
    }
    println!("{before} variables may race, {after} are not ordered; {quiet} traces have none, {unwarned} no candidate");
    assert!(after < before - before / 20 && quiet > 0 && unwarned > 0);
}

#[test]
fn what_is_ruled_out_is_not_there() {
    let (mut quiet, mut racy, mut without) = (0, 0, [0; 5]);
    for seed in 0..cases(20_000) {
        let case = Case::with_sites(9 << 32 | seed);
        let (names, batch) = (&case.trace.names, &case.trace.batch);
        let filtered = filtered(&case, batch);
        let shown = || format!("{filtered:?} seed {seed}\n{}", case.text);
        for (e, f) in case.oracle.races() {
            assert!(filtered.may_race(batch.events[f].var()), "{e} and {f} race: {}", shown());
        }
        let written = |op: Op| matches!(op, Op::Write | Op::AtomicStore | Op::AtomicRmw | Op::Free);
        let vars: BTreeSet<_> = batch
            .events
            .iter()
            .filter(|event| event.op().space() == Some(Space::Var) && written(event.op()))
            .map(|event| event.var())
            .collect();
        for var in vars {
            let threads: BTreeSet<_> = batch
                .events
                .iter()
                .filter(|event| event.op().space() == Some(Space::Var) && event.var() == var)
                .map(|event| event.thread())
                .collect();
            let count = if filtered.may_race(var) { &mut racy } else { &mut quiet };
            *count += u64::from(threads.len() > 1);
        }

        let (mut all, mut some) = (Hb::new(), Hb::new());
        all.batch(names, batch);
        each_masked(
            batch,
            |var| filtered.orders_or_races(var),
            |masked| {
                some.batch(names, masked);
                ControlFlow::Continue(())
            },
        );
        let all = all.finish();
        assert_eq!(all, some.finish(), "{}", shown());
        assert!(filtered.any_races() || all == Hb::new().finish(), "{}", shown());

        let (mut all, mut some) = (Lockset::new(), Lockset::new());
        all.batch(names, batch);
        if !filtered.misuses {
            some.forget_freed();
        }
        each_masked(
            batch,
            |var| filtered.may_race(var),
            |masked| {
                some.batch(names, masked);
                ControlFlow::Continue(())
            },
        );
        let all = all.finish();
        assert_eq!(all, some.finish(), "{}", shown());
        assert!(filtered.any_races() || all == Lockset::new().finish(), "{}", shown());

        assert_eq!(searched(&case, None), searched(&case, Some(&filtered)), "{}", shown());

        if !filtered.nested {
            without[0] += 1;
            let mut order = LockOrder::new(LockOrderOptions::default());
            order.batch(names, batch);
            assert!(order.finish().cycles.is_empty() && case.oracle.deadlocks().is_empty(), "{}", shown());
        }
        if !filtered.misuses {
            without[1] += 1;
            let mut misuses = Misuses::new();
            misuses.batch(names, batch);
            assert!(misuses.finish().misuses.is_empty(), "{}", shown());
        }
        if !filtered.blocks {
            without[2] += 1;
            let mut atomicity = Atomicity::keeping(10, None);
            atomicity.batch(names, batch);
            let found = atomicity.finish();
            assert!(found.blocks == 0 && found.found.is_empty(), "{}", shown());
        }
        if !filtered.waits {
            without[3] += 1;
            let mut wakeups = LostWakeups::new();
            wakeups.batch(names, batch);
            let found = wakeups.finish();
            assert!(found.candidates.is_empty() && found.observed.is_empty(), "{}", shown());
        }
        without[4] += u64::from(!filtered.any_races());
    }
    println!("{racy} shared variables may race, {quiet} not; traces without: {without:?}");
    assert!(quiet > racy / 10 && without.iter().all(|&some| some > 0));
}
