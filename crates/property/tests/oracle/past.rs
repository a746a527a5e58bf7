//! Past-time monitors against the set-theoretic meaning.

use property::Formula;
use property::monitor::{Form, Monitor, Options, Verdict, past};

use crate::naive_past::{Run, values};
use crate::random::Random;
use crate::run::{forms, verdicts};

fn expected(formula: &Formula, run: &Run) -> Vec<(Verdict, Verdict)> {
    let mut verdict = Verdict::Pending;
    values(formula, run)
        .into_iter()
        .map(|value| {
            verdict = match (verdict, value) {
                (Verdict::Violated, _) | (_, Some(false)) => Verdict::Violated,
                (Verdict::Unknown, _) | (_, None) => Verdict::Unknown,
                _ => Verdict::Pending,
            };
            (verdict, verdict)
        })
        .collect()
}

/// Verdicts at every step; and at the last step the value of the formula itself, whatever it was before.
fn check(seed: u64, formulas: usize, runs: usize, atoms: usize, may: usize) {
    let mut r = Random::new(seed);
    let mut pairs = 0;
    let mut seen = [0; 3];
    for _ in 0..formulas {
        let size = r.below(13);
        let formula = r.past(size, atoms);
        let watched = Formula::Or(Box::new(formula.clone()), Box::new(Formula::Atom(atoms as u32)));
        let options = Options { unknown: (1 << may) - 1, ..Options::default() };
        let monitors = forms(options).map(|options| past(&formula, &options).expect("compiles"));
        let watching = past(&watched, &options).expect("compiles");
        for _ in 0..runs {
            let run = r.run(atoms, 12, 4, may);
            let want = expected(&formula, &run);
            for monitor in &monitors {
                assert_eq!(verdicts(monitor, &run), want, "{formula:?} on {run:?} with {:?}", monitor.size());
            }
            seen[match want.last().expect("a step").0 {
                Verdict::Violated => 0,
                Verdict::Unknown => 1,
                _ => 2,
            }] += 1;
            // The extra atom excuses every step but the last, so that the last alone is judged.
            let truth = values(&formula, &run);
            let mut open = run.clone();
            let last = open.len() - 1;
            for (k, step) in open.iter_mut().enumerate() {
                step.push(Some(k != last));
            }
            let want = match truth[last] {
                Some(true) => Verdict::Pending,
                Some(false) => Verdict::Violated,
                None => Verdict::Unknown,
            };
            assert_eq!(verdicts(&watching, &open)[last].0, want, "{formula:?} at the end of {run:?}");
            pairs += 1;
        }
    }
    assert_eq!(pairs, formulas * runs);
    assert!(seen[0] > pairs / 20 && seen[2] > pairs / 20 && (may == 0 || seen[1] > pairs / 50), "{seen:?}");
}

#[test]
fn known_atoms() {
    check(1, 6000, 20, 3, 0);
}

#[test]
fn unknown_atoms() {
    check(2, 3000, 20, 3, 3);
}

#[test]
fn some_atoms_unknown() {
    check(3, 2000, 20, 3, 1);
}

#[test]
fn formulas_with_more_bits_than_a_word() {
    let mut r = Random::new(4);
    let mut wide = 0;
    for _ in 0..60 {
        let parts = (0..30).map(|_| r.past(8, 6)).collect::<Vec<_>>();
        let formula = parts
            .into_iter()
            .map(|f| Formula::Or(Box::new(f), Box::new(Formula::Atom(6))))
            .reduce(|f, g| Formula::And(Box::new(f), Box::new(g)))
            .expect("some");
        let may = r.below(3);
        let options = Options { unknown: (1 << may) - 1, ..Options::default() };
        let monitor = past(&formula, &options).expect("compiles");
        wide += usize::from(monitor.size().bits > 62);
        assert_eq!(monitor.size().form == Form::Lazy, monitor.size().bits > 62);
        for _ in 0..20 {
            let mut run = r.run(7, 12, 3, may);
            let last = run.len() - 1;
            for (k, step) in run.iter_mut().enumerate() {
                step[6] = Some(k != last || step[6] == Some(true));
            }
            assert_eq!(verdicts(&monitor, &run), expected(&formula, &run));
        }
    }
    assert!(wide > 20, "{wide}");
}

#[test]
fn one_bit_for_each_temporal_operator_and_shared_ones_once() {
    let atom = |a| Box::new(Formula::Atom(a));
    let since = || Box::new(Formula::Since(atom(0), atom(1)));
    let formula = Formula::And(Box::new(Formula::Once(since())), Box::new(Formula::Hist(since())));
    let known = past(&formula, &Options::default()).expect("compiles");
    assert_eq!(known.size().bits, 3);
    let unknown = past(&formula, &Options { unknown: 0b10, ..Options::default() }).expect("compiles");
    assert_eq!(unknown.size().bits, 6);
    let some = Formula::And(Box::new(Formula::Once(atom(0))), Box::new(Formula::Once(atom(1))));
    let some = past(&some, &Options { unknown: 0b10, ..Options::default() }).expect("compiles");
    assert_eq!(some.size().bits, 3);
}

#[test]
fn formulas_whose_signals_do_not_fit_in_a_word() {
    let mut r = Random::new(5);
    for may in [0, 2] {
        let once = |a| Formula::Or(Box::new(Formula::Once(Box::new(Formula::Atom(a)))), Box::new(Formula::Atom(40)));
        let formula = (0..40).map(once).reduce(|f, g| Formula::And(Box::new(f), Box::new(g))).expect("some");
        let options = Options { unknown: (1 << may) - 1, ..Options::default() };
        let monitor = past(&formula, &options).expect("compiles");
        assert_eq!((monitor.size().form, monitor.size().bits), (Form::Program, 40 + may as u32));
        let mut ends = [0; 6];
        for _ in 0..300 {
            let mut run = r.run(41, 12, 3, may);
            let last = run.len() - 1;
            for (k, step) in run.iter_mut().enumerate() {
                step[40] = Some(k != last);
            }
            let want = expected(&formula, &run);
            assert_eq!(verdicts(&monitor, &run), want);
            ends[want[last].0 as usize] += 1;
        }
        assert!(ends[0] > 10 && ends[1] > 10, "{ends:?}");
    }
}

#[test]
fn what_cannot_be_compiled_says_why() {
    let error = |f: Formula| past(&f, &Options::default()).expect_err("refused").to_string();
    assert_eq!(error(Formula::Atom(64)), "the property has more than 64 atoms (atom 64 is out of range)");
    let future = Formula::Once(Box::new(Formula::Next(Box::new(Formula::Atom(0)))));
    assert_eq!(error(future), "the future-time operator `next` cannot stand here: its value is not known at the step");
    assert!(past(&Formula::Atom(63), &Options::default()).is_ok());
}
