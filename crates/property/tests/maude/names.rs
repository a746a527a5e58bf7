//! Names of atoms that mean something to Maude or to a module: they work or are refused, but are never mistaken.

use crate::{known, monitor, shipped, start, verdicts};
use property::Formula;
use property::monitor::{AnyMonitor, Options, Verdict, future, past};

const RUN: [u64; 6] = [0b01, 0b11, 0b00, 0b01, 0b10, 0b10];

/// Whether the formula in which `@` is the atom of this name is understood; if it is, the verdicts are the right ones.
fn works(logic: &str, formula: &str, name: &str, ours: &AnyMonitor) -> bool {
    let atoms = [name, "other"];
    let text = formula.replace('@', name);
    let Ok(mut logic) = start(logic, &text, &atoms, &shipped()) else { return false };
    if logic.init().is_err() {
        return false;
    }
    let (theirs, asked) = monitor(logic, &atoms, 0);
    let expected = verdicts(ours, &known(&RUN));
    let found = verdicts(&theirs, &known(&RUN));
    for (found, expected) in found.iter().zip(&expected) {
        let unknown = |found, expected| found == expected || asked.error().is_some() && found == Verdict::Unknown;
        assert!(unknown(found.0, expected.0) && unknown(found.1, expected.1), "{text}: {found:?}, not {expected:?}");
    }
    asked.error().is_none()
}

fn atom(a: u32) -> Box<Formula> {
    Box::new(Formula::Atom(a))
}

#[test]
fn of_the_future() {
    let eventually = Box::new(Formula::Eventually(atom(1)));
    let responds = Formula::Always(Box::new(Formula::Implies(atom(0), eventually)));
    let until = Formula::Until(Box::new(Formula::Next(atom(0))), atom(1));
    let names = [
        ("p", true),
        ("x_1", true),
        ("_x", true),
        ("x_", true),
        ("_", true),
        ("x'", true),
        ("p$1", true),
        ("é", true),
        ("X", true),
        ("L", true),
        ("is", true),
        ("endfm", true),
        ("red", true),
        ("true", false),
        ("false", false),
        ("none", false),
        ("True", false),
        ("False", false),
        ("pending", false),
        ("violated", false),
    ];
    let responds = (future(&responds, &Options::default()).expect("compiles"), "[] (@ -> <> other)");
    let until = (future(&until, &Options::default()).expect("compiles"), "(o @) U other");
    for (name, expected) in names {
        assert_eq!(works("maude:ltl.maude:LTL", responds.1, name, &responds.0), expected, "{name}");
    }
    // Parts of operators: some formulas can be read in two ways.
    let parts =
        ["o", "U", "W", "R", "in", "step", "init", "verdict", "atEnd", "if", "then", "fi", "and", "__", "_in_", "_U_"];
    for name in parts {
        works("maude:ltl.maude:LTL", responds.1, name, &responds.0);
        works("maude:ltl.maude:LTL", until.1, name, &until.0);
    }
}

#[test]
fn of_the_past() {
    let formula = Formula::Implies(Box::new(Formula::Prev(atom(0))), Box::new(Formula::Once(atom(1))));
    let ours = past(&formula, &Options::default()).expect("compiles");
    for name in
        ["prev", "once", "nil", "val", "now", "first", "one", "next", "fresh", "since", "start", "B", "true", "_;_"]
    {
        works("maude:ptltl.maude:PTLTL", "(prev @) -> (once other)", name, &ours);
    }
    assert!(works("maude:ptltl.maude:PTLTL", "(prev @) -> (once other)", "q", &ours));
}
