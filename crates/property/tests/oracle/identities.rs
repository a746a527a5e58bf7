//! The identities of docs/semantics.md, and the three spellings of `corpus/specs/04-becomes-positive.rvs`.

use property::Formula::{
    self, And, Atom, End, Hist, Iff, Implies, Interval, Not, Once, Prev, Since, Start, WYesterday, Yesterday,
};
use property::monitor::{
    AnyMonitor, EreMode, Exploration, Letter, Monitor, Options, Possible, Verdict, ere, fsm, past,
};
use property::{Ere, Fsm, FsmState, Guard, Otherwise};

use crate::random::Random;

fn b(f: &Formula) -> Box<Formula> {
    Box::new(f.clone())
}

fn not(f: Formula) -> Formula {
    Not(Box::new(f))
}

/// `f <-> g` at every step of every run: the monitor knows that it can never be violated.
fn always_equal(name: &str, f: Formula, g: Formula) {
    let monitor = past(&Iff(Box::new(f), Box::new(g)), &Options::default()).expect("compiles");
    let found = Exploration::new(&monitor, Possible::default(), 1 << 18);
    assert!(found.is_complete() && !found.can_violate(), "{name}: {:?}", found.shortest_violating());
    assert!((0..8).all(|l| !monitor.can_violate(monitor.init(Letter::known(l)))));
}

#[test]
fn identities_of_section_2() {
    let mut r = Random::new(41);
    for _ in 0..100 {
        let (f, g) = (r.past(3, 3), r.past(2, 3));
        let since = |f: &Formula, g: Formula| Since(b(f), Box::new(g));
        always_equal("start", Start(b(&f)), And(b(&f), Box::new(not(Prev(b(&f))))));
        always_equal("end", End(b(&f)), And(Box::new(not(f.clone())), Box::new(Prev(b(&f)))));
        let no_g = not(g.clone());
        always_equal("interval", Interval(b(&f), b(&g)), since(&no_g, And(b(&f), b(&no_g))));
        always_equal("once", Once(b(&f)), since(&Formula::Const(true), f.clone()));
        always_equal("hist", Hist(b(&f)), not(Once(Box::new(not(f.clone())))));
        always_equal("prev", Prev(b(&f)), not(Prev(Box::new(not(f.clone())))));
        always_equal("yesterday", Yesterday(b(&f)), not(WYesterday(Box::new(not(f.clone())))));
    }
}

/// Atom 0 is `x > 0`, atom 1 is `x < 0`.
fn positive() -> Formula {
    Start(Box::new(Atom(0)))
}

fn negative() -> Formula {
    Start(Box::new(Atom(1)))
}

fn by_fsm() -> AnyMonitor {
    let state = |name: &str, transitions: &[(Formula, usize)]| FsmState {
        name: name.into(),
        transitions: transitions.iter().map(|(f, to)| (Guard::If(f.clone()), vec![*to])).collect(),
    };
    let machine = Fsm {
        states: vec![
            state("s1", &[(positive(), 3), (negative(), 1)]),
            state("s2", &[(positive(), 2)]),
            state("s3", &[]),
            state("s4", &[]),
        ],
        init: 0,
        bad: 3,
        otherwise: Some(Otherwise::Stay),
    };
    fsm(&machine, &Options::default()).expect("compiles")
}

fn by_formula() -> AnyMonitor {
    let formula = Implies(Box::new(positive()), Box::new(Once(Box::new(negative()))));
    past(&formula, &Options::default()).expect("compiles")
}

fn by_pattern() -> AnyMonitor {
    let any = || Box::new(Ere::Star(Box::new(Ere::Any)));
    let leaf = |f: Formula| Box::new(Ere::Leaf(f));
    let around = Ere::Cat(Box::new(Ere::Cat(any(), leaf(negative()))), any());
    let pattern = Ere::And(Box::new(Ere::Not(Box::new(around))), Box::new(Ere::Cat(any(), leaf(positive()))));
    ere(&pattern, EreMode::NeverFromStart, &Options::default()).expect("compiles")
}

#[test]
fn figure_2_machine_formula_and_pattern_agree() {
    let (machine, formula, pattern) = (by_fsm(), by_formula(), by_pattern());
    // x is negative, zero or positive at each step.
    let letters = [0b10, 0b00, 0b01].map(Letter::known);
    let mut bad = 0;
    for length in 1..=9_u32 {
        for word in 0..3_usize.pow(length) {
            let mut rest = word;
            let mut states = None;
            for _ in 0..length {
                let letter = letters[rest % 3];
                rest /= 3;
                let (m, f, p) = match states {
                    None => (machine.init(letter), formula.init(letter), pattern.init(letter)),
                    Some((m, f, p)) => (machine.step(m, letter), formula.step(f, letter), pattern.step(p, letter)),
                };
                let verdict = machine.verdict(m);
                assert_eq!((formula.verdict(f), pattern.verdict(p)), (verdict, verdict), "word {word} of {length}");
                states = Some((m, f, p));
            }
            bad += usize::from(states.is_some_and(|(m, ..)| machine.verdict(m) == Verdict::Violated));
        }
    }
    assert!(bad > 1000);
}

#[test]
fn figure_2_has_the_three_states_of_its_minimal_automaton() {
    // With p, q, r as plain exclusive events, nothing has to be remembered besides.
    let leaf = Atom;
    let formula = Implies(Box::new(leaf(0)), Box::new(Once(Box::new(leaf(1)))));
    let monitor = past(&formula, &Options::default()).expect("compiles");
    assert_eq!(monitor.size().states, Some(3));
    let one = |letter: &Letter| letter.holds.count_ones() <= 1;
    let found = Exploration::new(&monitor, Possible { at_start: &|l| l.holds == 0, later: &one }, 1000);
    assert_eq!(found.states(), 3);
    assert_eq!(found.shortest_violating(), Some(vec![Letter::known(0), Letter::known(1)]));
    assert_eq!(found.shortest_satisfying(), Some(vec![Letter::known(0)]));
    let safe = monitor.init(Letter::known(2));
    assert!(!monitor.can_violate(safe) && monitor.can_violate(monitor.init(Letter::known(0))));
    let dot = found.to_dot(&|a| ["p", "q"][a as usize].into());
    assert_eq!(
        dot,
        r#"digraph monitor {
  rankdir=LR;
  start [shape=point];
  q0 [shape=circle, label="0\npending"];
  q1 [shape=doubleoctagon, color=red, label="1\nviolated"];
  q2 [shape=circle, label="2\npending"];
  start -> q0 [label="true"];
  q0 -> q0 [label="!p && !q"];
  q0 -> q1 [label="p"];
  q0 -> q2 [label="q"];
  q1 -> q1 [label="true"];
  q2 -> q2 [label="true"];
}
"#
    );
}
