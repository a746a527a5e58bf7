//! The oracle on the examples of the papers gives the figures that the papers give.

use crate::enumerate::{Expected, Oracle};
use crate::meaning::{Atom, Property, Term};
use event::Causality;
use property::Formula;
use property::check::{Settings, check_file};
use property::monitor::Verdict;
use property::run::{Outcome, SpecRun};
use property::syntax::{Disk, render};
use std::path::{Path, PathBuf};
use trace::Trace;
use trace::text::TextReader;
use trace::validate::Validator;

fn corpus(example: &str, file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/traces").join(example).join(file)
}

fn trace(example: &str) -> Trace {
    let file = std::fs::File::open(corpus(example, "trace.std")).expect("opens");
    let trace = Trace::read(&mut TextReader::new(file)).expect("reads");
    let mut validator = Validator::new();
    assert_eq!(validator.check(&trace.names, &trace.batch), [], "{example}");
    trace
}

/// The specification beside the trace on the recorded run. It has no mistakes and finds all its names.
fn recorded(example: &str) -> Vec<Outcome> {
    let checked = check_file(corpus(example, "spec.rvs").to_str().expect("UTF-8"), &Disk);
    assert!(checked.diagnostics.is_empty(), "{}", render(&checked.diagnostics, &checked.sources, false));
    let trace = trace(example);
    let spec = checked.specs.into_iter().next().expect("one specification");
    let (mut run, failed) = SpecRun::new(spec, Settings::default(), &[], Path::new(""));
    assert!(failed.is_empty());
    run.batch(&trace.names, &trace.batch);
    assert_eq!(run.unbound(&trace.names), []);
    run.finish(&trace.names, true)
}

fn all_hold(outcomes: &[Outcome]) -> bool {
    outcomes.iter().all(|outcome| outcome.verdict.holds())
}

fn ask(example: &str, model: Causality, property: &Property) -> Expected {
    let given = if example == "adjacency" { vec![("Demo.z".to_owned(), 0)] } else { Vec::new() };
    Oracle::new(model, &trace(example), property, &given).expected()
}

/// Cuts, edges, runs and bad runs.
fn figures(expected: &Expected) -> (u64, u64, u128, u128) {
    assert!(!expected.recorded_violates && !expected.recorded_unknown);
    (expected.cuts, expected.edges, expected.runs, expected.bad_runs)
}

fn atom(number: u32) -> Box<Formula> {
    Box::new(Formula::Atom(number))
}

fn compare(x: &str, op: &'static str, n: i64) -> Atom {
    Atom::Compare(Term::Variable(x.to_owned()), op, Term::Int(n))
}

fn property(formula: Formula, atoms: Vec<Atom>) -> Property {
    Property { formula, atoms, all_steps: false }
}

fn with_all_steps(property: &Property) -> Property {
    Property { all_steps: true, ..property.clone() }
}

#[test]
fn row_1_landing() {
    let interval = Formula::Interval(atom(1), atom(2));
    let safe = property(
        Formula::Implies(Box::new(Formula::Start(atom(0))), Box::new(interval)),
        vec![compare("landing", "==", 1), compare("approved", "==", 1), compare("radio", "==", 0)],
    );
    assert_eq!(figures(&ask("landing", Causality::FullHb, &safe)), (6, 7, 3, 2));
    assert_eq!(figures(&ask("landing", Causality::Observed, &safe)), (10, 9, 1, 0));
    assert!(all_hold(&recorded("landing")));
}

#[test]
fn row_2_interval() {
    let (y, z) = (Term::Variable("Demo.y".to_owned()), Term::Variable("Demo.z".to_owned()));
    let p2 = property(
        Formula::Implies(atom(0), Box::new(Formula::Interval(atom(1), atom(2)))),
        vec![compare("Demo.x", ">", 0), compare("Demo.y", "==", 0), Atom::Compare(y, ">", z)],
    );
    assert_eq!(figures(&ask("interval", Causality::FullHb, &p2)), (7, 8, 3, 1));
    let oracle = Oracle::new(Causality::FullHb, &trace("interval"), &p2, &[]);
    assert!(oracle.is_violating_witness(&[0, 1, 2, 7, 3, 4, 5, 6]));
    assert!(!oracle.is_violating_witness(&[0, 1, 2, 3, 4, 7, 5, 6]));
    assert!(all_hold(&recorded("interval")));
}

#[test]
fn row_3_permit() {
    let permitted = property(
        Formula::Implies(Box::new(Formula::Start(atom(0))), Box::new(Formula::Prev(atom(1)))),
        vec![compare("Plane.landing", "==", 1), compare("Plane.permit", "==", 1)],
    );
    assert_eq!(figures(&ask("permit", Causality::WeakHb, &permitted)), (8, 9, 3, 1));
    assert_eq!(figures(&ask("permit", Causality::FullHb, &permitted)), (4, 3, 1, 0));
    let oracle = Oracle::new(Causality::WeakHb, &trace("permit"), &permitted, &[]);
    assert!(oracle.is_violating_witness(&[1, 2, 0, 3]));
    assert!(!oracle.is_violating_witness(&[1, 0, 2, 3]), "e' divides the atomic set");
    assert!(all_hold(&recorded("permit")));
}

#[test]
fn row_4_automaton() {
    let by_formula = property(
        Formula::Implies(Box::new(Formula::Start(atom(0))), Box::new(Formula::Once(Box::new(Formula::Start(atom(1)))))),
        vec![compare("Demo.x", ">", 0), compare("Demo.x", "<", 0)],
    );
    assert_eq!(figures(&ask("automaton", Causality::WeakHb, &by_formula)), (13, 15, 4, 1));
    assert_eq!(figures(&ask("automaton", Causality::FullHb, &by_formula)), (3, 2, 1, 0));
    assert_eq!(figures(&ask("automaton", Causality::FullHb, &with_all_steps(&by_formula))), (10, 11, 3, 0));
    assert!(all_hold(&recorded("automaton")));
}

#[test]
fn row_6_adjacency() {
    let race_adjacent = |i: &str, j: &str| {
        let never = |now, before| {
            let before = Box::new(Formula::Not(Box::new(Formula::Prev(atom(before)))));
            Box::new(Formula::Implies(atom(now), before))
        };
        let formula = Formula::And(Box::new(Formula::And(never(0, 2), never(0, 3))), never(1, 2));
        let (z, by) = (|| "Demo.z".to_owned(), |t: &str| Some(t.to_owned()));
        let atoms =
            vec![Atom::Write(z(), by(i)), Atom::Read(z(), by(i)), Atom::Write(z(), by(j)), Atom::Read(z(), by(j))];
        Property { formula, atoms, all_steps: true }
    };
    for (i, j) in [("t1", "t2"), ("t2", "t1")] {
        let property = race_adjacent(i, j);
        assert_eq!(figures(&ask("adjacency", Causality::WeakHb, &property)), (21, 28, 18, 1), "{i} {j}");
        assert_eq!(figures(&ask("adjacency", Causality::FullHb, &property)), (9, 8, 1, 0), "{i} {j}");
    }
    assert!(all_hold(&recorded("adjacency")));
}

#[test]
fn row_7_rax() {
    let (count, by) = ("Event.count@1".to_owned(), Some("P".to_owned()));
    let no_lost_signal = property(
        Formula::Implies(atom(0), Box::new(Formula::Interval(atom(1), atom(2)))),
        vec![
            Atom::WaitBegin("Event@1".to_owned(), by.clone()),
            Atom::Read(count.clone(), by),
            Atom::Write(count, None),
        ],
    );
    assert_eq!(figures(&ask("rax", Causality::WeakHb, &no_lost_signal)), (17, 19, 4, 3));
    let full_hb = ask("rax", Causality::FullHb, &no_lost_signal);
    assert_eq!((full_hb.runs, full_hb.bad_runs), (1, 0));
    let outcomes = recorded("rax");
    let signal: Vec<Outcome> = outcomes.iter().filter(|o| o.property == 0).cloned().collect();
    assert!(all_hold(&signal), "the wake-up is another property, and not fulfilled");
}

#[test]
fn row_8_response() {
    let outcomes = recorded("response");
    let of_two = outcomes.iter().find(|o| o.instance == [("id".to_owned(), "2".to_owned())]).expect("an instance");
    assert_eq!(of_two.verdict, Verdict::Unfulfilled);
    assert!(!outcomes.iter().any(|o| o.verdict == Verdict::Violated));
}
