//! The programs of the papers.

use super::support::{check, read, run};
use detect::lock_order::{LockNode, LockOrder, LockOrderOptions};
use std::fmt::Write;

fn corpus(name: &str) -> String {
    file(name, "trace.std")
}

fn file(folder: &str, name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/traces").join(folder).join(name);
    let text = std::fs::read_to_string(path).expect("the corpus is there");
    let trace = read(&text);
    let mut validator = trace::validate::Validator::new();
    let problems = validator.check(&trace.names, &trace.batch);
    assert!(problems.is_empty(), "{folder}/{name}: {problems:?}");
    text
}

#[test]
fn figure_7_has_one_conflict_and_none_behind_a_gate() {
    check(&corpus("goodlock"), &["T1 L3>L4 5, T2 L4>L3 18"]);
}

#[test]
fn figure_7_gives_the_trees_of_figure_8() {
    fn show(nodes: &[LockNode], names: &event::Names) -> String {
        let one = |node: &LockNode| format!("{}({})", names.lock(node.lock), show(&node.inside, names));
        nodes.iter().map(one).collect::<Vec<_>>().join(" ")
    }
    let trace = read(&corpus("goodlock"));
    let mut detector = LockOrder::new(LockOrderOptions::default());
    // A second round of both loops adds nothing but to the counts.
    for _ in 0..2 {
        detector.batch(&trace.names, &trace.batch);
    }
    let trees = detector.lock_trees();
    let shown: Vec<_> = trees.iter().map(|tree| show(&tree.locks, &trace.names)).collect();
    assert_eq!(shown, ["L1(L3(L2() L4())) L4(L2(L3()))", "L1(L2(L3())) L4(L3(L2()))"]);
    let first = &trees[0].locks[0].inside[0];
    let site = trace.names.site(first.site);
    assert_eq!((trace.names.thread(trees[0].thread), site, first.count, first.first), ("T1", "3", 2, Some(3)));
}

#[test]
fn value_and_task_conflict_in_line_4() {
    check(&corpus("value-task"), &["Task@0 Value@0>Value@1 Main.java:4, Task@1 Value@1>Value@0 Main.java:4"]);
}

#[test]
fn three_threads_around_three_locks() {
    check(&corpus("three-locks"), &["T1 L1>L2 2, T2 L2>L3 6, T3 L3>L1 10"]);
    let trace = read(&corpus("three-locks"));
    let literal = LockOrderOptions { upto: Some(2), ..LockOrderOptions::default() };
    let report = run(&trace.names, &trace.batch, literal);
    assert!(report.cycles.is_empty() && report.complete && report.searched == 2);
}

/// Philosopher k of n takes these forks in this order, behind the gate if there is one.
fn philosophers(n: usize, gate: bool, order: impl Fn(usize) -> [usize; 2]) -> String {
    let mut text = String::new();
    for k in 0..n {
        let [first, second] = order(k);
        if gate {
            writeln!(text, "P{k}|acq(table)|0").expect("memory");
        }
        writeln!(text, "P{k}|acq(F{first})|1\nP{k}|acq(F{second})|2\nP{k}|rel(F{second})|3\nP{k}|rel(F{first})|4")
            .expect("memory");
        if gate {
            writeln!(text, "P{k}|rel(table)|5").expect("memory");
        }
    }
    text
}

#[test]
fn philosophers_have_one_cycle_unless_they_are_careful() {
    for n in 2..=20 {
        let right = |k: usize| (k + 1) % n;
        let around: Vec<_> = (0..n).map(|k| format!("P{k} F{k}>F{} right", right(k))).collect();
        let name = if n == 5 { "trace.std".to_owned() } else { format!("with-{n}.std") };
        check(&file("philosophers", &name), &[&around.join(", ")]);
        check(&philosophers(n, true, |k| [k, right(k)]), &[]);
        check(&philosophers(n, false, |k| [k.min(right(k)), k.max(right(k))]), &[]);
    }
}

#[test]
fn more_philosophers_than_the_search_is_deep_are_not_passed_over_in_silence() {
    let n = 300;
    let trace = read(&philosophers(n, false, |k| [k, (k + 1) % n]));
    let report = run(&trace.names, &trace.batch, LockOrderOptions::default());
    assert!(report.cycles.is_empty() && !report.complete && report.searched == 256, "{report:?}");
}
