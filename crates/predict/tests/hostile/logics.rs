//! Other logics and instances against brute force over whole orders, judged by the evaluation of recorded runs.

use super::garbage::count;
use super::shared::{ask, initial, read, spec};
use event::{Batch, Causality};
use oracle::definition::Definition;
use oracle::random::Random;
use predict::Options;
use property::check::{Settings, Steps};
use property::monitor::Verdict;
use std::collections::BTreeSet;
use trace::Trace;

pub(crate) const PROPERTIES: &[&str] = &[
    "property p future { always (x == 1 -> next y == 1) }",
    "property p future { always (write(x) -> eventually write(y)) }",
    "property p future { always (write(x) -> wnext !write(y)) }",
    "property p future { !(write(x)) until write(y) }",
    "property p future { (x == 0) wuntil (y == 1) }",
    "property p future { always (x == 1 -> (y == 1 releases y == 0 )) }",
    "property p ere never { write(x) write(y) }",
    "property p ere never_from_start { any write(x) any* write(y) write(x) }",
    "property p ere follows { any (write(y) | write(x) write(x))* }",
    "property p ere never { {x == 1} {y == 1} {x == 0} }",
    "property p fsm { init s; bad b; otherwise stay; s { write(x) => u; } u { write(y) => b; } b { } }",
    "property p fsm { init s; bad b; otherwise stay; s { x == 1 => u; } u { y == 1 => v; } \
     v { write(x) => b; } b { } }",
    "property p(t : thread) past { write(x, t) -> once write(y, t) }",
    "property p(t : thread) past { write(x, t) -> !prev write(y) }",
    "property p(t : thread, u : thread where t != u) past { write(x, t) -> !prev read(x, u) }",
    "property p(t : thread, u : thread) past { write(x, t) -> !prev write(x, u) }",
    "property p(t : thread, u : thread where t != u) past { (write(x, t) && x == 1) -> once write(y, u) }",
    "property p(t : thread) future { always (write(x, t) -> next !write(y)) }",
    "property p(i : int) past { go(i) -> (once write(x) || y == i) }",
    "property p(i : int, j : int where i < j) past { go(j) -> once go(i) }",
    "property p(i : int, j : int, t : thread where i < j) past { go(j) -> once (go(i) || write(x, t)) }",
    "property p(i : int) past { go(i) -> [write(x), write(y)) }",
    "property p(i : int) past { go(i) -> a[i] == 1 }",
    "property p(i : int, t : thread) past { write(a[i], t) -> !once go(i) }",
    "property p(k : lock, t : thread) past { acquire(k, t) -> !once (release(k) && prev write(x)) }",
    "property p(k : lock, t : thread) past { release(k, t) -> !prev write(x) }",
    "property p(t : thread) past { started(t) -> !once write(x) }",
    "property p(t : thread) past { finished(t) -> once write(x, t) }",
];

/// A trace that can have happened, in which threads hardly wait.
pub(crate) fn program(r: &mut Random, most: usize) -> String {
    let threads = 2 + r.below(3);
    let mut text = String::new();
    if r.percent(50) {
        text.push_str("#! init x=0\n");
    }
    if r.percent(50) {
        text.push_str("#! init y=0\n");
    }
    let mut values: std::collections::BTreeMap<&str, &str> = Default::default();
    let mut held: std::collections::BTreeMap<&str, usize> = Default::default();
    let mut alive: Vec<bool> = (0..threads).map(|_| true).collect();
    let mut done: Vec<bool> = vec![false; threads];
    if r.percent(30) {
        alive[threads - 1] = false;
    }
    let count = 4 + r.below(most - 3);
    let mut made = 0;
    let mut tries = 0;
    while made < count && tries < 200 {
        tries += 1;
        let t = r.below(threads);
        if !alive[t] || done[t] {
            continue;
        }
        let var = *r.pick(&["x", "x", "y", "y", "a[1]", "a[2]"]);
        let op = match r.below(16) {
            0..=6 => {
                let value = *r.pick(&["=0", "=1", "=1", ""]);
                values.insert(var, value);
                format!("w({var}){value}")
            }
            7 | 8 => format!("r({var}){}", values.get(var).copied().unwrap_or("")),
            9 | 10 => format!("ev(go,{})", 1 + r.below(3)),
            11 | 12 => {
                let lock = *r.pick(&["l", "m"]);
                match held.get(lock) {
                    None => {
                        held.insert(lock, t);
                        format!("acq({lock})")
                    }
                    Some(&owner) if owner == t => {
                        held.remove(lock);
                        format!("rel({lock})")
                    }
                    _ => continue,
                }
            }
            13 => {
                let Some(child) = (0..threads).find(|&c| !alive[c]) else { continue };
                alive[child] = true;
                format!("fork(T{child})")
            }
            14 => {
                let child = r.below(threads);
                if child == t || !alive[child] || done[child] || held.values().any(|&h| h == child) || r.percent(50) {
                    continue;
                }
                done[child] = true;
                format!("join(T{child})")
            }
            _ => {
                values.insert(var, "");
                (*r.pick(&["alloc", "free"])).to_owned() + &format!("({var})")
            }
        };
        made += 1;
        text.push_str(&format!("T{t}|{op}|1\n"));
    }
    text
}

pub(crate) fn in_order(trace: &Trace, order: &[usize]) -> Batch {
    let mut batch = Batch::default();
    for init in &trace.batch.inits {
        batch.push_init(init.name, init.value);
    }
    for &event in order {
        batch.push_from(&trace.batch, trace.batch.events[event]);
    }
    batch
}

/// Calls with every feasible prefix that nothing continues, or that ends with a terminal read; false if there are too
/// many.
pub(crate) fn ends(of: &Definition, prefix: &mut Vec<usize>, left: &mut u32, visit: &mut dyn FnMut(&[usize])) -> bool {
    let mut longer = false;
    for e in 0..of.events().len() {
        if of.may_only_end(prefix, e) {
            prefix.push(e);
            visit(prefix);
            prefix.pop();
        } else if of.may_come(prefix, e) {
            longer = true;
            prefix.push(e);
            let fits = ends(of, prefix, left, visit);
            prefix.pop();
            if !fits {
                return false;
            }
        }
    }
    if !longer {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        visit(prefix);
    }
    true
}

#[test]
fn other_logics_are_what_brute_force_finds() {
    let specs: Vec<_> = PROPERTIES.iter().map(|body| spec(body)).collect();
    let (mut asked, mut found, mut wrong) = (0u64, 0u64, 0);
    let mut by_property = vec![(0u64, 0u64); specs.len()];
    let first: u64 = std::env::var("FORETRACE_FIRST").map_or(0, |text| text.parse().expect("a number"));
    for seed in first..first + count(1500) {
        let mut r = Random::new(seed);
        let text = program(&mut r, 9);
        let trace = read(&text);
        let number = r.below(specs.len());
        let steps = if r.percent(20) { Steps::All } else { Steps::Relevant };
        let values = initial(&trace);
        for model in [Causality::SyncOnly, Causality::FullHb, Causality::WeakHb, Causality::Maximal] {
            let definition = Definition::new(model, &trace.names, &trace.batch, &values);
            let settings = Settings { steps: Some(steps), ..Settings::default() };
            let shown = || format!("seed {seed} {model:?} {steps:?}\n{text}{}\n", PROPERTIES[number]);
            let answer = ask(&trace, &specs[number], model, None, settings, Options::default());
            let mut expected: BTreeSet<String> = BTreeSet::new();
            let name = |instance: &[(String, String)]| format!("{instance:?}");
            let mut left = 600;
            let count = trace.batch.events.len();
            let fits = ends(&definition, &mut Vec::new(), &mut left, &mut |prefix| {
                let mut order = prefix.to_vec();
                order.extend((0..count).filter(|e| !prefix.contains(e)));
                for whole in [prefix, &order] {
                    let outcomes =
                        answer.bound.judge(0, &trace.names, &in_order(&trace, whole), false).expect("a monitor");
                    for outcome in outcomes {
                        if outcome.verdict == Verdict::Violated
                            && outcome.event.is_none_or(|at| at < prefix.len() as u64)
                        {
                            expected.insert(name(&outcome.instance));
                        }
                    }
                }
            });
            if !fits {
                continue;
            }
            asked += 1;
            for outcome in &answer.observed {
                if outcome.verdict == Verdict::Violated {
                    expected.remove(&name(&outcome.instance));
                }
            }
            if PROPERTIES[number].contains("p(") {
                // The property as a whole.
                expected.remove("[]");
            }
            let mut got: BTreeSet<String> = BTreeSet::new();
            for prediction in &answer.predictions.instances {
                if let Some(refused) = &prediction.refused {
                    println!("== refused {refused}\n{}", shown());
                    wrong += 1;
                }
                if !prediction.truncated.is_empty() {
                    println!("== truncated {:?}\n{}", prediction.truncated, shown());
                    wrong += 1;
                }
                if prediction.predicted.is_some() {
                    got.insert(name(&prediction.instance));
                }
            }
            by_property[number].0 += 1;
            by_property[number].1 += u64::from(!expected.is_empty());
            found += got.len() as u64;
            if got != expected {
                println!("== got {got:?}\nexpected {expected:?}\n{}", shown());
                wrong += 1;
            }
            if wrong > 5 {
                panic!("too many");
            }
        }
    }
    println!("{asked} asked, {found} found {by_property:?}");
    assert_eq!(wrong, 0);
}
