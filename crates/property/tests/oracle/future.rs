//! Future-time monitors against the tables, under every rule for the end.

use property::Formula;
use property::monitor::{AtEnd, CompileError, Letter, Limits, Monitor, Options, Verdict, future};

use crate::naive_future::Definition;
use crate::naive_past::Run;
use crate::random::Random;
use crate::run::{completions, forms, over_steps, verdicts};

const RULES: [AtEnd; 4] = [AtEnd::Stutter, AtEnd::Strong, AtEnd::Weak, AtEnd::None];

fn check(seed: u64, formulas: usize, runs: usize, most: usize, holes: usize) {
    let mut r = Random::new(seed);
    let (mut pairs, mut done) = (0, 0);
    let mut seen = [0; 6];
    while done < formulas {
        let size = r.below(most + 1);
        let formula = r.future(size, 3);
        let Some(definition) = Definition::new(&formula) else { continue };
        done += 1;
        let rule = RULES[done % 4];
        let unknown = if holes > 0 { 0b111 } else { 0 };
        let options = Options { at_end: rule, unknown, ..Options::default() };
        let monitors = forms(options).map(|options| future(&formula, &options).expect("compiles"));
        for _ in 0..runs {
            let run = r.run(3, if holes > 0 { 5 } else { 7 }, holes, 3);
            let all = completions(&run).iter().map(|run| definition.verdicts(run, rule)).collect::<Vec<_>>();
            let want = over_steps(&all);
            for monitor in &monitors {
                assert_eq!(verdicts(monitor, &run), want, "{rule:?} {formula:?} on {run:?}: {:?}", monitor.size());
            }
            let (now, end) = *want.last().expect("a step");
            seen[now as usize] += 1;
            seen[end as usize] += usize::from(now != end);
            pairs += 1;
        }
    }
    assert_eq!(pairs, formulas * runs);
    assert!(seen[..5].iter().all(|n| *n > pairs / 100), "{seen:?}");
    assert!(holes == 0 || seen[5] > pairs / 100, "{seen:?}");
}

#[test]
fn known_atoms() {
    check(11, 8000, 15, 12, 0);
}

#[test]
fn unknown_atoms() {
    check(12, 1500, 10, 6, 4);
}

#[test]
fn twelve_operators() {
    let mut r = Random::new(13);
    for round in 0..400 {
        let formula = r.future(12, 4);
        let options = Options { at_end: RULES[round % 4], ..Options::default() };
        let monitor = future(&formula, &options).expect("compiles");
        let run = r.run(4, 40, 0, 0);
        // No definition to compare with: the forms must agree, and none gives up.
        let lazy = future(&formula, &forms(options)[1]).expect("compiles");
        assert_eq!(verdicts(&monitor, &run), verdicts(&lazy, &run));
    }
}

/// Ordinary LTL on the word that repeats its last letter for ever: least and greatest fixed points.
fn ordinary(formula: &Formula, run: &Run) -> Vec<bool> {
    use Formula::*;
    let n = run.len();
    let at = |f: &Formula| ordinary(f, run);
    let next = |k: usize| (k + 1).min(n - 1);
    let fixed = |start: bool, step: &dyn Fn(usize, bool) -> bool| {
        let mut now = vec![start; n];
        for _ in 0..=n {
            now = (0..n).map(|k| step(k, now[next(k)])).collect();
        }
        now
    };
    let both = |f: &Formula, g: &Formula| at(f).into_iter().zip(at(g));
    match formula {
        Const(value) => vec![*value; n],
        Atom(atom) => run.iter().map(|step| step[*atom as usize] == Some(true)).collect(),
        Not(f) => at(f).into_iter().map(|f| !f).collect(),
        And(f, g) => both(f, g).map(|(f, g)| f && g).collect(),
        Or(f, g) => both(f, g).map(|(f, g)| f || g).collect(),
        Implies(f, g) => both(f, g).map(|(f, g)| !f || g).collect(),
        Iff(f, g) => both(f, g).map(|(f, g)| f == g).collect(),
        Next(f) | WNext(f) => {
            let f = at(f);
            (0..n).map(|k| f[next(k)]).collect()
        }
        Always(f) => {
            let f = at(f);
            fixed(true, &|k, later| f[k] && later)
        }
        Eventually(f) => {
            let f = at(f);
            fixed(false, &|k, later| f[k] || later)
        }
        Until(f, g) | WUntil(f, g) => {
            let weak = matches!(formula, WUntil(..));
            let (f, g) = (at(f), at(g));
            fixed(weak, &|k, later| g[k] || f[k] && later)
        }
        Releases(f, g) => {
            let (f, g) = (at(f), at(g));
            fixed(true, &|k, later| g[k] && (f[k] || later))
        }
        _ => panic!("a past-time operator"),
    }
}

fn has_past(formula: &Formula) -> bool {
    let text = format!("{formula:?}");
    ["Prev", "Yesterday", "Once", "Hist", "Since", "Interval", "Start", "End"].iter().any(|op| text.contains(op))
}

#[test]
fn stutter_is_ordinary_ltl_on_the_last_step_repeated() {
    let mut r = Random::new(14);
    let mut pairs = 0;
    while pairs < 20_000 {
        let size = r.below(10);
        let formula = r.future(size, 3);
        if has_past(&formula) {
            continue;
        }
        let monitor = future(&formula, &Options::default()).expect("compiles");
        for _ in 0..20 {
            let run = r.run(3, 8, 0, 0);
            let holds =
                matches!(verdicts(&monitor, &run).last().expect("a step").1, Verdict::Satisfied | Verdict::Fulfilled);
            assert_eq!(holds, ordinary(&formula, &run)[0], "{formula:?} on {run:?}");
            pairs += 1;
        }
    }
}

fn atom(a: u32) -> Box<Formula> {
    Box::new(Formula::Atom(a))
}

fn response() -> Formula {
    Formula::Always(Box::new(Formula::Implies(atom(0), Box::new(Formula::Eventually(atom(1))))))
}

fn end_of(formula: &Formula, at_end: AtEnd, letters: &[u64]) -> Verdict {
    let monitor = future(formula, &Options { at_end, ..Options::default() }).expect("compiles");
    let run = letters.iter().map(|holds| (0..3).map(|a| Some(holds >> a & 1 == 1)).collect()).collect();
    verdicts(&monitor, &run).last().expect("a step").1
}

#[test]
fn the_sentences_of_section_3() {
    use Verdict::{Fulfilled, Pending, Satisfied, Unfulfilled, Violated};
    assert_eq!(end_of(&response(), AtEnd::Stutter, &[0, 1, 2, 1]), Unfulfilled);
    assert_eq!(end_of(&response(), AtEnd::Stutter, &[0, 1, 2]), Fulfilled);
    assert_eq!(end_of(&response(), AtEnd::None, &[0, 1]), Pending);
    assert_eq!(end_of(&response(), AtEnd::Weak, &[0, 1]), Fulfilled);
    let again = Formula::Always(Box::new(Formula::Implies(atom(0), Box::new(Formula::Next(atom(0))))));
    assert_eq!(end_of(&again, AtEnd::Stutter, &[0, 1]), Fulfilled);
    assert_eq!(end_of(&again, AtEnd::Strong, &[0, 1]), Unfulfilled);
    assert_eq!(end_of(&again, AtEnd::Stutter, &[0, 1, 0]), Violated);
    let next_true = Formula::Next(Box::new(Formula::Const(true)));
    assert_eq!(end_of(&next_true, AtEnd::Stutter, &[0]), Satisfied);
    assert_eq!(end_of(&next_true, AtEnd::Strong, &[0]), Unfulfilled);
    assert_eq!(end_of(&next_true, AtEnd::Strong, &[0, 0]), Satisfied);
    // "This is the last step" must not be called violated while it may be true.
    let last = Formula::WNext(Box::new(Formula::Const(false)));
    assert_eq!(end_of(&last, AtEnd::Strong, &[0]), Fulfilled);
    assert_eq!(end_of(&last, AtEnd::Strong, &[0, 0]), Violated);
    assert_eq!(end_of(&last, AtEnd::Stutter, &[0]), Violated);
}

#[test]
fn a_monitor_that_outgrows_its_bounds_says_so() {
    let mut formula = Formula::Const(true);
    for k in 0..10 {
        let mut f = Formula::Atom(k);
        for _ in 0..k + 3 {
            f = Formula::Next(Box::new(f));
        }
        let g = Formula::Until(Box::new(f), atom((k + 1) % 10));
        formula = Formula::And(Box::new(formula), Box::new(Formula::Always(Box::new(g))));
    }
    let limits = Limits { terms: 4000, ..Limits::default() };
    match future(&formula, &Options { limits, ..Options::default() }) {
        Err(error) => assert_eq!(error, CompileError::TooLarge),
        Ok(monitor) => {
            let mut r = Random::new(15);
            let mut q = monitor.init(Letter::known(0x3ff));
            for _ in 0..10_000 {
                q = monitor.step(q, Letter::known(0x3ff & !(r.below(64) as u64)));
                if monitor.gave_up(q) {
                    assert_eq!(monitor.verdict(q), Verdict::Unknown);
                    assert_eq!(monitor.at_end(q, Letter::default()), Verdict::Unknown);
                    return;
                }
                if monitor.verdict(q).is_final() {
                    q = monitor.init(Letter::known(0x3ff));
                }
            }
            panic!("4000 nodes were enough: {:?}", monitor.size());
        }
    }
}

#[test]
fn a_past_operator_over_a_future_one_is_refused() {
    let formula = Formula::Once(Box::new(Formula::Next(atom(0))));
    assert_eq!(future(&formula, &Options::default()).err(), Some(CompileError::FutureOperator("next")));
}
