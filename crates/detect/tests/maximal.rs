//! `maximal` finds what brute force over the definitions finds: every racy event, every pair of sites; and no more.

use detect::maximal::{KnownRaces, Maximal, Options, Report};
use event::{Causality, Op, SiteId, Value, VarId};
use generate::{Generator, Options as Shape};
use oracle::definition::Definition;
use oracle::random::Random;
use oracle::schedule::{faulty_trace, random_trace};
use oracle::{cases, initial_values, read};
use reach::Windows;
use std::collections::BTreeSet;
use std::time::Instant;
use trace::Trace;

fn look(trace: &Trace, window: usize, initial: &[Value], options: Options<'_>, known: KnownRaces) -> Report {
    let mut maximal = Maximal::new(options, known);
    for window in Windows::new(&trace.names, &trace.batch, window) {
        maximal.window(&trace.names, &window, &|var: VarId| initial[var.0 as usize]);
    }
    maximal.finish()
}

/// Every race passes the checker.
fn passes(trace: &Trace, initial: &[Value], report: &Report) {
    assert_eq!(report.races.races.len(), report.prefixes.len());
    for (race, prefix) in report.races.races.iter().zip(&report.prefixes) {
        let initial = |var: VarId| initial[var.0 as usize];
        let pair = [race.earlier.event, race.later.event];
        let (names, batch) = (&trace.names, &trace.batch);
        let checked = witness::check_race(Causality::Maximal, names, batch, &initial, &prefix.whole(), pair);
        assert!(checked.is_ok(), "{checked:?} {race:?} {prefix:?}");
    }
}

fn key(trace: &Trace, a: usize, b: usize) -> (SiteId, SiteId, VarId) {
    let [a, b] = [a, b].map(|event| trace.batch.events[event]);
    (a.site().min(b.site()), a.site().max(b.site()), a.var())
}

/// The checker lets a drop barrier hold between the two events of a race as well.
fn is_pinned(definition: &Definition, a: usize, b: usize) -> bool {
    let (one, other) = (&definition.events()[a], &definition.events()[b]);
    definition.events().iter().any(|pin| {
        (pin.op == Op::Pin || pin.op == Op::ReadPin && !matches!(other.op, Op::Read | Op::AtomicLoad))
            && pin.thread == one.thread
            && pin.value == Value::Int(one.nth as i64)
            && other.accesses() == Some(pin.object)
    })
}

#[test]
fn as_brute_force_finds() {
    let (mut racy, mut clean) = (0, 0);
    for seed in 0..cases(6_000) {
        let mut r = Random::new(seed);
        let text = if seed % 2 == 0 { random_trace(&mut r) } else { faulty_trace(&mut r) };
        // Few sites, so that pairs of the same ones meet.
        let few = r.percent(50);
        let text: String = text
            .lines()
            .map(|line| match line.rsplit_once('|') {
                Some((event, site)) if few && !line.starts_with('#') => {
                    let site = site.parse::<u32>().map_or(0, |site| site % 3);
                    format!("{event}|{site}\n")
                }
                _ => format!("{line}\n"),
            })
            .collect();
        let trace = read(&text);
        if trace.batch.events.is_empty() {
            continue;
        }
        let initial = initial_values(&trace, &[]);
        let definition = Definition::new(Causality::Maximal, &trace.names, &trace.batch, &initial);
        let races: Vec<(usize, usize)> =
            definition.races().into_iter().filter(|&(a, b)| !is_pinned(&definition, a, b)).collect();
        let report = look(&trace, 100, &initial, Options::default(), KnownRaces::default());
        passes(&trace, &initial, &report);
        let events: BTreeSet<usize> = races.iter().map(|&(_, b)| b).collect();
        let pairs: BTreeSet<_> = races.iter().map(|&(a, b)| key(&trace, a, b)).collect();
        let found: BTreeSet<_> = report
            .races
            .races
            .iter()
            .map(|race| key(&trace, race.earlier.event as usize, race.later.event as usize))
            .collect();
        assert_eq!(report.races.racy_events, events.len() as u64, "seed {seed}\n{text}{report:?}");
        assert_eq!(found, pairs, "seed {seed}\n{text}{report:?}");
        assert_eq!(report.looked.undecided, 0);
        if races.is_empty() {
            clean += 1;
        } else {
            racy += 1;
        }
        // What is known already is not found again.
        let known = KnownRaces {
            racy_events: events.iter().map(|&event| event as u64).collect(),
            pairs: pairs.into_iter().collect(),
        };
        let again = look(&trace, 100, &initial, Options::default(), known);
        assert_eq!((again.races.racy_events, again.races.races.len()), (0, 0));
        assert!(again.looked.asked <= report.looked.asked);
    }
    assert!(racy * 5 > clean && clean * 20 > racy, "{racy} {clean}");
}

#[test]
fn every_race_of_a_generated_trace_passes_the_checker() {
    let mut races = 0;
    for seed in 0..12 {
        let shape = Shape {
            events: 1500,
            threads: 2 + (seed % 5) as u32,
            vars: 40,
            locks: 4,
            seed,
            quantum: 5.0,
            racy: 0.3,
            pcs: 0.2,
            all_ops: true,
            values: seed % 2 == 0,
            ..Shape::default()
        };
        let trace = Trace::read(&mut Generator::new(shape).expect("options")).expect("a trace");
        let initial = initial_values(&trace, &[]);
        let report = look(&trace, 300, &initial, Options { most: 100, ..Options::default() }, KnownRaces::default());
        passes(&trace, &initial, &report);
        assert_eq!(report.looked.undecided, 0);
        races += report.races.races.len();
    }
    assert!(races > 60, "{races}");
}

#[test]
fn what_is_not_decided_is_reported() {
    let trace = read("A|w(x)|1\nB|w(x)|2\nA|w(y)|3\nB|w(y)|4\n");
    let initial = initial_values(&trace, &[]);
    let now = Options { deadline: Some(Instant::now()), ..Options::default() };
    let report = look(&trace, 10, &initial, now, KnownRaces::default());
    assert_eq!((report.races.racy_events, report.looked.undecided, report.looked.undecided_windows), (0, 2, 1));
    let one = look(&trace, 10, &initial, Options { most: 1, ..Options::default() }, KnownRaces::default());
    assert_eq!((one.races.racy_events, one.races.races.len(), one.races.left_out), (2, 1, 1));
}

/// A section does not wait for a try that failed in it: without the try it is over, and the accesses meet.
#[test]
fn a_failed_try_that_does_not_come_holds_nothing_back() {
    let trace = read("T2|w(x)=1|1\nT1|acq(l)|2\nT2|tfail(l)|3\nT1|rel(l)|4\nT1|w(x)=2|5\n");
    let initial = initial_values(&trace, &[]);
    let report = look(&trace, 10, &initial, Options::default(), KnownRaces::default());
    passes(&trace, &initial, &report);
    assert_eq!((report.races.racy_events, report.looked.undecided), (1, 0));
}

#[test]
fn a_join_comes_after_the_fork_of_a_thread_without_events() {
    let found = |text: &str| {
        let trace = read(text);
        let initial = initial_values(&trace, &[]);
        let report = look(&trace, 100, &initial, Options::default(), KnownRaces::default());
        let pairs = report.races.races.iter().map(|race| (race.earlier.event, race.later.event));
        pairs.collect::<Vec<_>>()
    };
    let text = "A|fork(B)|0\nA|free(x)|1\nB|r(x)|2\nB|fork(C)|3\nA|join(C)|4\nA|w(x)|5\n";
    assert_eq!(found(text), [(1, 2)]);
    let text = "A|r(x)|0\nA|fork(B)|1\nC|join(B)|2\nC|w(x)|3\n";
    assert_eq!(found(text), []);
    assert_eq!(found(&text.replace("C|join(B)", "C|ev(e)")), [(0, 3)]);
    assert_eq!(found(&text.replace("A|fork(B)", "A|ev(e)")), [(0, 3)], "who forks it is not known");
}
