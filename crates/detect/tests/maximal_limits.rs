//! A window of `maximal` ends when its time is up, however many pairs it has, and what was left is counted exactly.

use detect::maximal::{KnownRaces, Looked, Maximal, Options};
use event::{Value, VarId};
use oracle::random::Random;
use oracle::read;
use reach::Windows;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn look(text: &str, options: Options<'_>) -> Looked {
    let trace = read(text);
    let mut maximal = Maximal::new(options, KnownRaces::default());
    for window in Windows::new(&trace.names, &trace.batch, 1000) {
        maximal.window(&trace.names, &window, &|_: VarId| Value::Unknown);
    }
    maximal.finish().looked
}

/// Accesses of every kind of two variables, at few sites.
fn accesses(r: &mut Random, events: usize) -> String {
    let ops = ["r", "w", "ald", "ast", "armw", "free", "alloc"];
    let mut line = |_| {
        let kinds = if r.percent(90) { 5 } else { 7 };
        let op = ops[r.below(kinds)];
        format!("T{}|{op}({})|{}\n", r.below(4), ["x", "y"][r.below(2)], r.below(3))
    };
    (0..events).map(&mut line).collect()
}

#[test]
fn the_pairs_that_are_left_are_counted() {
    for seed in 0..20 {
        let text = accesses(&mut Random::new(seed), 120);
        let all = look(&text, Options::default());
        assert_eq!(all.undecided, 0);
        let none = look(&text, Options { per_window: Some(Duration::ZERO), ..Options::default() });
        assert_eq!((none.pairs, none.undecided), (0, all.pairs), "{text}");
        let stopped = AtomicBool::new(true);
        let none = look(&text, Options { stop: Some(&stopped), ..Options::default() });
        assert_eq!((none.pairs, none.undecided), (0, all.pairs), "{text}");
    }
}
