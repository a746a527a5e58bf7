//! The line protocol with a real client: the example of `corpus/specs/logics`.

use crate::{known, message, monitor, start, verdicts};
use property::monitor::Verdict::{Fulfilled, Pending, Unfulfilled, Violated};
use property::monitor::{Letter, Monitor};
use std::path::{Path, PathBuf};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/specs/logics")
}

const BALANCED: &str = "process:sh balanced.sh";

#[test]
fn it_counts() {
    let logic = start(BALANCED, "balanced p q", &["p", "q"], &corpus()).expect("starts");
    let (monitor, asked) = monitor(logic, &["p", "q"], 0);
    let (p, q, both, none) = (0b01, 0b10, 0b11, 0);
    assert_eq!(
        verdicts(&monitor, &known(&[none, p, both, p, q, q])),
        [
            (Pending, Fulfilled),
            (Pending, Unfulfilled),
            (Pending, Unfulfilled),
            (Pending, Unfulfilled),
            (Pending, Unfulfilled),
            (Pending, Fulfilled)
        ]
    );
    assert_eq!(
        verdicts(&monitor, &known(&[p, q, q, p])),
        [(Pending, Unfulfilled), (Pending, Fulfilled), (Violated, Violated), (Violated, Violated)]
    );
    assert_eq!(asked.error(), None);
}

#[test]
fn questions_grow_with_the_states() {
    let logic = start(BALANCED, "balanced p q", &["p", "q"], &corpus()).expect("starts");
    let (monitor, asked) = monitor(logic, &["p", "q"], 0);
    let mut q = monitor.init(Letter::known(0));
    let before = asked.questions();
    for _ in 0..1000 {
        q = monitor.step(q, Letter::known(0));
    }
    let same = asked.questions();
    assert!(same - before <= 3, "{before} {same}");
    for _ in 0..500 {
        q = monitor.step(q, Letter::known(1));
    }
    let grown = asked.questions();
    assert!(grown - same >= 1000, "{same} {grown}");
    for _ in 0..500 {
        q = monitor.step(q, Letter::known(2));
    }
    assert_eq!(monitor.at_end(q, Letter::known(2)), Fulfilled);
    assert_eq!(asked.error(), None);
}

#[test]
fn it_refuses_other_formulas() {
    let error = message(start(BALANCED, "balanced p", &["p"], &corpus()));
    assert!(error.contains("write: balanced P Q"), "{error}");
    let error = message(start(BALANCED, "balanced p q", &["p"], &corpus()));
    assert!(error.contains("p or q is not an atom"), "{error}");
}
