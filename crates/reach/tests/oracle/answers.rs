//! Every answer is that of a search through all feasible prefixes, and every prefix passes the checker.

use crate::definition::{Definition, Set, set_of};
use crate::dense::dense_trace;
use crate::random::Random;
use crate::recorded::RecordedEvent;
use crate::schedule::random_trace;
use crate::{initial_values, read};
use event::{Causality, Op, Value, VarId};
use oracle::cases;
use reach::{Answer, Limits, Question, Reach};
use std::collections::HashSet;
use trace::Trace;

/// What every model keeps, and the order with `alloc` and `free`.
fn predecessors(definition: &Definition, a: usize, b: usize) -> bool {
    let events = definition.events();
    let (one, other) = (&events[a], &events[b]);
    let pins = |pin: &RecordedEvent| {
        let only_reads = matches!(other.op, Op::Read | Op::AtomicLoad);
        (pin.op == Op::Pin || pin.op == Op::ReadPin && !only_reads)
            && pin.thread == one.thread
            && pin.value == Value::Int(one.nth as i64)
            && other.accesses() == Some(pin.object)
    };
    let boundary = (one.bounds_lifetime() || other.bounds_lifetime())
        && one.accesses().is_some()
        && one.accesses() == other.accesses();
    a < b
        && (one.thread == other.thread
            || one.op == Op::Fork && one.object == other.thread
            || one.op == Op::Fork && other.op == Op::Join && one.object == other.object
            || other.op == Op::Join && other.object == one.thread
            || one.op == Op::Post && other.op == Op::Await && one.object == other.object
            || boundary
            || events.iter().any(pins))
}

/// A question that can be kept.
#[derive(Clone, Default, Debug)]
struct Asked {
    next: Vec<usize>,
    contains: Vec<usize>,
    before: Vec<(usize, usize)>,
}

impl Asked {
    fn random(r: &mut Random, count: usize) -> Asked {
        let mut asked = Asked::default();
        let some = |r: &mut Random, most: usize| (0..r.below(most + 1)).map(|_| r.below(count)).collect();
        if r.percent(85) {
            asked.next = vec![r.below(count), r.below(count)];
            if r.percent(10) {
                asked.next.push(r.below(count));
            }
            if r.percent(10) {
                asked.next.pop();
            }
        }
        if r.percent(30) {
            asked.contains = some(r, 2);
        }
        if asked.next.is_empty() || r.percent(20) {
            asked.before = (0..1 + r.below(2)).map(|_| (r.below(count), r.below(count))).collect();
        }
        asked
    }

    fn holds(&self, definition: &Definition, prefix: &[usize]) -> bool {
        let place = |event: usize| prefix.iter().position(|&other| other == event);
        let is_next = |&next: &usize| {
            let came = |a: usize| place(a).is_some() || self.next.contains(&a) && !same_thread(definition, a, next);
            place(next).is_none() && (0..next).all(|a| !predecessors(definition, a, next) || came(a))
        };
        let threads: HashSet<u32> = self.next.iter().map(|&next| definition.events()[next].thread).collect();
        threads.len() == self.next.len()
            && self.next.iter().all(is_next)
            && self.contains.iter().all(|&event| place(event).is_some())
            && self.before.iter().all(|&(a, b)| place(a).is_some() && place(b).is_some() && place(a) < place(b))
    }
}

fn same_thread(definition: &Definition, a: usize, b: usize) -> bool {
    definition.events()[a].thread == definition.events()[b].thread
}

/// Whether some feasible prefix that begins with the fixed events does what is asked.
fn brute(definition: &Definition, fixed: usize, asked: &Asked) -> bool {
    let fixed: Vec<usize> = (0..fixed).collect();
    let mut seen: HashSet<(Set, Vec<u8>)> = HashSet::new();
    let mut open = vec![fixed];
    while let Some(prefix) = open.pop() {
        let place = |event: usize| prefix.iter().position(|&other| other == event);
        let mut visible = definition.visible(&prefix);
        visible.extend(asked.before.iter().map(|&(a, b)| u8::from(place(a).is_some() && place(a) < place(b))));
        if !seen.insert((set_of(&prefix), visible)) {
            continue;
        }
        if asked.holds(definition, &prefix) {
            return true;
        }
        for event in 0..definition.events().len() {
            if definition.may_come(&prefix, event) {
                open.push([&prefix[..], &[event]].concat());
            }
        }
    }
    false
}

/// Asserts that a prefix is feasible and shows what was asked.
fn passes(trace: &Trace, definition: &Definition, initial: &[Value], fixed: usize, asked: &Asked, prefix: &[u32]) {
    let order: Vec<usize> = prefix.iter().map(|&event| event as usize).collect();
    assert!(order.len() >= fixed && order[..fixed].iter().copied().eq(0..fixed));
    assert!(asked.holds(definition, &order));
    let initial = |var: VarId| initial[var.0 as usize];
    let schedule: Vec<u64> = prefix.iter().map(|&event| u64::from(event)).collect();
    let (names, batch) = (&trace.names, &trace.batch);
    let checked = witness::check(Causality::Maximal, names, batch, &initial, &schedule, false);
    assert!(checked.is_ok(), "{checked:?}");
    // The checker lets a pin hold between the two events of a race, too.
    let pinned = |a: usize, b: usize| {
        let boundary = definition.events()[a].bounds_lifetime() || definition.events()[b].bounds_lifetime();
        predecessors(definition, a.min(b), a.max(b)) && !boundary
    };
    if let [a, b] = asked.next[..]
        && !pinned(a, b)
        && conflict(&definition.events()[a], &definition.events()[b])
    {
        let race = [a as u64, b as u64];
        let checked = witness::check_race(Causality::Maximal, names, batch, &initial, &schedule, race);
        assert!(checked.is_ok(), "{checked:?}");
    }
}

fn conflict(a: &RecordedEvent, b: &RecordedEvent) -> bool {
    let access = |e: &RecordedEvent| e.accesses().is_some() && e.op != Op::Alloc;
    access(a)
        && access(b)
        && a.object == b.object
        && a.thread != b.thread
        && !(matches!(a.op, Op::Read | Op::AtomicLoad) && matches!(b.op, Op::Read | Op::AtomicLoad))
        && !(a.op.is_atomic() && b.op.is_atomic())
}

/// Asks a few questions about each of so many random traces.
fn compare(cases: u64, make: fn(&mut Random) -> String) -> (usize, usize) {
    let (mut reached, mut impossible) = (0, 0);
    for seed in 0..cases {
        let mut r = Random::new(seed);
        let text = make(&mut r);
        let trace = read(&text);
        let count = trace.batch.events.len();
        if count < 2 {
            continue;
        }
        let values = initial_values(&trace);
        let initial = |var: VarId| values[var.0 as usize];
        let definition = Definition::new(Causality::Maximal, &trace.names, &trace.batch, &values);
        let fixed = if r.percent(30) { r.below(count / 2 + 1) } else { 0 };
        let mut reach = Reach::new(&trace.names, &trace.batch, fixed, &initial);
        for _ in 0..4 {
            let asked = Asked::random(&mut r, count);
            let next: Vec<u32> = asked.next.iter().map(|&event| event as u32).collect();
            let contains: Vec<u32> = asked.contains.iter().map(|&event| event as u32).collect();
            let before: Vec<(u32, u32)> = asked.before.iter().map(|&(a, b)| (a as u32, b as u32)).collect();
            let question = Question { next: &next, contains: &contains, before: &before };
            let answer = reach.ask(&question, &Limits::default());
            let shown = || format!("seed {seed}, fixed {fixed}, {asked:?} of\n{text}{answer:?}");
            match &answer {
                Answer::Reached(prefix) => {
                    reached += 1;
                    let pass = || passes(&trace, &definition, &values, fixed, &asked, prefix);
                    let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(pass));
                    assert!(passed.is_ok(), "{}", shown());
                }
                Answer::Impossible => {
                    impossible += 1;
                    assert!(!brute(&definition, fixed, &asked), "{}", shown());
                }
                Answer::Undecided => panic!("{}", shown()),
            }
        }
    }
    (reached, impossible)
}

#[test]
fn as_an_exhaustive_search_says() {
    let (reached, impossible) = compare(cases(50_000), random_trace);
    assert!(reached * 4 > impossible && impossible * 4 > reached, "{reached} {impossible}");
}

#[test]
fn where_there_is_much_to_decide() {
    let (reached, impossible) = compare(cases(4_000), |r| {
        let most = 12 + r.below(7);
        dense_trace(r, most)
    });
    assert!(reached * 4 > impossible && impossible * 8 > reached, "{reached} {impossible}");
}
