//! What monitors offer besides verdicts: what can happen, shortest runs, sizes, sharing by threads.

use property::monitor::{
    AnyMonitor, AtEnd, EreMode, Exploration, Form, Letter, Limits, Monitor, Options, Possible, Verdict, ere, future,
    past,
};
use property::{Ere, Formula};

fn atom(a: u32) -> Box<Formula> {
    Box::new(Formula::Atom(a))
}

fn explore(monitor: &AnyMonitor) -> Exploration {
    Exploration::new(monitor, Possible::default(), 1 << 18)
}

fn known(run: &[u64]) -> Vec<Letter> {
    run.iter().map(|holds| Letter::known(*holds)).collect()
}

/// Lock, unlock, lock, …
fn alternating() -> Ere {
    let leaf = |a| Box::new(Ere::Leaf(Formula::Atom(a)));
    Ere::Star(Box::new(Ere::Cat(leaf(0), leaf(1))))
}

#[test]
fn shortest_runs_are_runs_and_shortest() {
    let monitor = ere(&alternating(), EreMode::Follows, &Options::default()).expect("compiles");
    let found = explore(&monitor);
    assert!(found.is_complete() && found.can_violate() && found.can_be_unfulfilled());
    assert_eq!(found.shortest_violating(), Some(known(&[0, 0])));
    assert_eq!(found.shortest_satisfying(), Some(known(&[0])));
    assert_eq!(found.shortest_unfulfilled(), Some(known(&[0, 1])));
    assert_eq!(monitor.size().states, Some(3));
}

#[test]
fn impossible_letters_are_not_considered() {
    // Both hold at once only if the letters allow it.
    let formula = Formula::Not(Box::new(Formula::And(atom(0), atom(1))));
    let apart = |letter: &Letter| letter.holds != 0b11;
    let possible = Possible { at_start: &apart, later: &apart };
    let free = past(&formula, &Options::default()).expect("compiles");
    let tied = past(&formula, &Options { possible, ..Options::default() }).expect("compiles");
    assert_eq!(explore(&free).shortest_violating(), Some(known(&[0b11])));
    let found = Exploration::new(&tied, possible, 1000);
    assert!(found.is_complete() && !found.can_violate());
    assert_eq!(found.shortest_violating(), None);
    assert!(free.can_violate(free.init(Letter::known(0))));
    assert!(!tied.can_violate(tied.init(Letter::known(0))));
    // The verdict on a letter that was called impossible is still the right one.
    assert_eq!(tied.verdict(tied.init(Letter::known(0b11))), Verdict::Violated);
}

#[test]
fn facts_for_warnings() {
    let yes =
        past(&Formula::Implies(atom(0), Box::new(Formula::Once(atom(0)))), &Options::default()).expect("compiles");
    assert!(explore(&yes).is_complete() && !explore(&yes).can_violate());
    let no = past(&Formula::Yesterday(atom(0)), &Options::default()).expect("compiles");
    assert!(explore(&no).is_violated_at_start() && explore(&no).shortest_satisfying().is_none());
    let liveness = future(&Formula::Eventually(atom(0)), &Options::default()).expect("compiles");
    let found = explore(&liveness);
    assert!(!found.can_violate() && found.can_be_unfulfilled());
    assert_eq!(found.shortest_satisfying(), Some(known(&[1])));
    let excused = future(&Formula::Eventually(atom(0)), &Options { at_end: AtEnd::Weak, ..Options::default() });
    assert!(!explore(&excused.expect("compiles")).can_be_unfulfilled());
}

#[test]
fn an_exploration_that_was_cut_short_says_so() {
    let monitor = ere(&alternating(), EreMode::Follows, &Options::default()).expect("compiles");
    assert!(!Exploration::new(&monitor, Possible::default(), 5).is_complete());
    let many = (0..20).map(Formula::Atom).reduce(|f, g| Formula::Or(Box::new(f), Box::new(g))).expect("some");
    let monitor = past(&many, &Options::default()).expect("compiles");
    let found = explore(&monitor);
    assert!(!found.is_complete());
    assert_eq!(found.shortest_violating(), Some(known(&[0])));
}

#[test]
fn only_unknown_steps_leave_a_doubt() {
    let options = Options { unknown: 0b1, ..Options::default() };
    let monitor = past(&Formula::Atom(0), &options).expect("compiles");
    let doubt = monitor.init(Letter::new(0, 1));
    assert_eq!(monitor.verdict(doubt), Verdict::Unknown);
    assert_eq!(monitor.verdict(monitor.step(doubt, Letter::known(1))), Verdict::Unknown);
    assert_eq!(monitor.verdict(monitor.step(doubt, Letter::known(0))), Verdict::Violated);
}

#[test]
fn lazy_monitors_are_shared_by_threads() {
    let conjunct = |p: u32| {
        let until = Formula::Until(atom(p), Box::new(Formula::Next(atom(p + 1))));
        Formula::Always(Box::new(Formula::Or(Box::new(until), atom(p + 2))))
    };
    let formula = Formula::Or(Box::new(conjunct(0)), Box::new(conjunct(2)));
    let table = future(&formula, &Options::default()).expect("compiles");
    let limits = Limits { table: 0, ..Limits::default() };
    let lazy = future(&formula, &Options { limits, ..Options::default() }).expect("compiles");
    assert_eq!((table.size().form, lazy.size().form), (Form::Table, Form::Lazy));
    std::thread::scope(|scope| {
        for seed in 1..=4_u64 {
            let (table, lazy) = (&table, &lazy);
            scope.spawn(move || {
                let mut random = seed;
                for _ in 0..2000 {
                    let (mut t, mut l) = (table.init(Letter::known(31)), lazy.init(Letter::known(31)));
                    for _ in 0..20 {
                        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let letter = Letter::known(random >> 59);
                        (t, l) = (table.step(t, letter), lazy.step(l, letter));
                        assert_eq!(table.verdict(t), lazy.verdict(l));
                        assert_eq!(table.at_end(t, letter), lazy.at_end(l, letter));
                    }
                }
            });
        }
    });
}

#[test]
fn conditions_on_edges_name_the_atoms() {
    let monitor = past(&Formula::Implies(atom(0), atom(1)), &Options::default()).expect("compiles");
    let dot = explore(&monitor).to_dot(&|a| ["x > 0", "ok"][a as usize].into());
    assert!(dot.contains(r#"q0 -> q1 [label="x > 0 && !ok"]"#), "{dot}");
    assert!(dot.contains(r#"q0 -> q0 [label="x > 0 && ok || !(x > 0)"]"#), "{dot}");
}
