//! The shipped modules against the built-in logics, on random formulas and runs.

use crate::print::print;
use crate::random::{LTL, Operators, PROP, PTLTL, Random};
use crate::{monitor, shipped, start, verdicts};
use property::Formula;
use property::monitor::{AnyMonitor, CompileError, Letter, Monitor, Options, Verdict, future, past};
use std::time::Instant;

const ATOMS: [&str; 4] = ["a", "b_1", "c", "judged"];
/// The atoms that formulas and runs are made of; the last one is for [`judged`].
const USED: usize = 3;
const FORMULAS: usize = 60;
const RUNS: usize = 4;

type Compile = fn(&Formula, &Options<'_>) -> Result<AnyMonitor, CompileError>;

fn asked(logic: &str, formula: &Formula, unknown: u64) -> AnyMonitor {
    let text = print(formula, &ATOMS);
    let logic = start(logic, &text, &ATOMS, &shipped()).unwrap_or_else(|error| panic!("{text}: {error}"));
    monitor(logic, &ATOMS, unknown).0
}

/// "`judged` implies the formula": most formulas are violated at step 0, and what they say later would not matter.
fn judged(formula: Formula) -> Formula {
    Formula::Implies(Box::new(Formula::Atom(USED as u32)), Box::new(formula))
}

/// How often each verdict at the end was seen: the comparison must not be about nothing.
fn agree(
    logic: &str,
    operators: &Operators,
    compile: Compile,
    wrap: fn(Formula) -> Formula,
    most: usize,
) -> [usize; 6] {
    let mut random = Random::new(1);
    let mut seen = [0; 6];
    for size in (1..=most).cycle().take(FORMULAS) {
        let formula = wrap(random.formula(operators, size, USED));
        let ours = compile(&formula, &Options::default()).expect("compiles");
        let theirs = asked(logic, &formula, 0);
        for _ in 0..RUNS {
            let steps = 1 + random.below(10);
            let mut run = random.run(USED, steps);
            for letter in &mut run {
                letter.holds |= u64::from(random.below(4) == 0) << USED;
            }
            let expected = verdicts(&ours, &run);
            assert_eq!(verdicts(&theirs, &run), expected, "{logic} {} on {run:?}", print(&formula, &ATOMS));
            expected.iter().for_each(|(_, end)| seen[*end as usize] += 1);
        }
    }
    seen
}

#[test]
fn propositions() {
    let seen = agree("maude:prop.maude:PROP", &PROP, past, judged, 8);
    assert!(seen[Verdict::Violated as usize] > 0 && seen[Verdict::Pending as usize] > 0, "{seen:?}");
}

#[test]
fn the_past() {
    let seen = agree("maude:ptltl.maude:PTLTL", &PTLTL, past, judged, 8);
    assert!(seen[Verdict::Violated as usize] > 0 && seen[Verdict::Pending as usize] > 0, "{seen:?}");
}

#[test]
fn the_future() {
    let seen = agree("maude:ltl.maude:LTL", &LTL, future, |formula| formula, 6);
    use Verdict::{Fulfilled, Satisfied, Unfulfilled, Violated};
    assert!([Violated, Satisfied, Fulfilled, Unfulfilled].iter().all(|v| seen[*v as usize] > 0), "{seen:?}");
}

#[test]
fn the_future_with_unknown_letters() {
    let mut random = Random::new(2);
    let mut unknown_seen = 0;
    for size in (1..=4).cycle().take(20) {
        let formula = random.formula(&LTL, size, USED);
        let unknown = 0b011;
        let ours = future(&formula, &Options { unknown, ..Options::default() }).expect("compiles");
        let theirs = asked("maude:ltl.maude:LTL", &formula, unknown);
        for _ in 0..2 {
            let steps = 1 + random.below(6);
            let mut run = random.run(USED, steps);
            for letter in &mut run {
                *letter = Letter::new(letter.holds, random.below(4) as u64 & random.below(4) as u64);
            }
            let expected = verdicts(&ours, &run);
            assert_eq!(verdicts(&theirs, &run), expected, "{} on {run:?}", print(&formula, &ATOMS));
            unknown_seen += expected.iter().filter(|(_, end)| *end == Verdict::Unknown).count();
        }
    }
    assert!(unknown_seen > 0);
}

/// A user's logic follows every completion; the built-in past does not (it computes in three values), so each
/// completion is run on its own.
#[test]
fn the_past_with_unknown_letters() {
    let mut random = Random::new(3);
    let mut unknown_seen = 0;
    for size in (1..=5).cycle().take(20) {
        let formula = random.formula(&PTLTL, size, USED);
        let ours = past(&formula, &Options::default()).expect("compiles");
        let theirs = asked("maude:ptltl.maude:PTLTL", &formula, 0b001);
        let run = random.run(USED, 5);
        let (first, second) = (random.below(5), random.below(5));
        let mut holes = run.clone();
        let mut expected: Option<Vec<(Verdict, Verdict)>> = None;
        for filling in 0..4_u64 {
            let mut filled = run.clone();
            for (hole, value) in
                [(first, filling & 1), (second, if first == second { filling } else { filling >> 1 } & 1)]
            {
                holes[hole] = Letter::new(run[hole].holds, 1);
                filled[hole] = Letter::known(run[hole].holds & !1 | value);
            }
            let one = verdicts(&ours, &filled);
            let either = |a: Verdict, b: Verdict| if a == b { a } else { Verdict::Unknown };
            expected = Some(match expected {
                None => one,
                Some(all) => all.iter().zip(&one).map(|(a, b)| (either(a.0, b.0), either(a.1, b.1))).collect(),
            });
        }
        let expected = expected.expect("four fillings");
        assert_eq!(verdicts(&theirs, &holes), expected, "{} on {holes:?}", print(&formula, &ATOMS));
        unknown_seen += expected.iter().filter(|(now, _)| *now == Verdict::Unknown).count();
    }
    assert!(unknown_seen > 0);
}

/// The logic is asked once for each (state, letter); after that it is not in the way. `--nocapture` shows the speed.
#[test]
fn few_questions() {
    let eventually = Formula::Eventually(Box::new(Formula::Atom(1)));
    let formula = Formula::Always(Box::new(Formula::Implies(Box::new(Formula::Atom(0)), Box::new(eventually))));
    let atoms = ["p", "q"];
    let logic = start("maude:ltl.maude:LTL", "[] (p -> <> q)", &atoms, &shipped()).expect("starts");
    let (theirs, asked) = monitor(logic, &atoms, 0);
    let ours = future(&formula, &Options::default()).expect("compiles");
    let run = Random::new(4).run(2, 300_000);
    let begun = Instant::now();
    let end = |monitor: &AnyMonitor| {
        let first = monitor.init(run[0]);
        monitor.at_end(run[1..].iter().fold(first, |q, letter| monitor.step(q, *letter)), run[run.len() - 1])
    };
    let found = end(&theirs);
    let (cold, begun) = (begun.elapsed(), Instant::now());
    assert_eq!(end(&theirs), found);
    let warm = begun.elapsed();
    println!("{} questions; {cold:?}, then {warm:?} for {} steps", asked.questions(), run.len());
    assert_eq!(found, end(&ours));
    assert!(asked.questions() <= 16, "{}", asked.questions());
}
