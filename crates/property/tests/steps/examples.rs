//! The examples of the language, by hand: what is violated in which order, and with how few states.

use super::{shuffle, violated, walk, world::Random};
use event::{Batch, Event, Extra, Init, LockId, Names, Op, PathStatus, SiteId, Space, StrId, ThreadId, Value, VarId};
use property::check::{Const, Settings, Spec, check_file};
use property::compile::NoMonitor;
use property::steps::{BoundSpec, InstanceSteps};
use property::syntax::Disk;
use std::path::Path;

fn spec(name: &str) -> Spec {
    let path = format!("{}/../../corpus/specs/{name}.rvs", env!("CARGO_MANIFEST_DIR"));
    let mut checked = check_file(&path, &Disk);
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    checked.specs.remove(0)
}

/// A trace of these events: thread, operation, object, value.
fn trace(events: &[(&str, Op, &str, Option<i64>)]) -> (Names, Batch) {
    let mut names = Names::default();
    let mut batch = Batch::default();
    for &(thread, op, object, value) in events {
        let thread = ThreadId(names.add(Space::Thread, thread).expect("room"));
        let mut extra = Extra { value: value.map_or(Value::Unknown, Value::Int), ..Extra::default() };
        if matches!(op, Op::Wait | Op::Woken) {
            extra.lock = LockId(names.add(Space::Lock, object).expect("room"));
        }
        let object = names.add(op.space().expect("an object"), object).expect("room");
        let extra = batch.add_extra(extra);
        batch.events.push(Event::with_extra(thread, op, object, SiteId(0), extra));
    }
    (names, batch)
}

fn instances(spec: &Spec, property: usize, names: &Names, trace: &Batch) -> Vec<InstanceSteps> {
    let bound = BoundSpec::new(spec, Settings::default(), &[], Path::new(""), names, trace);
    bound.instances(property, 100).expect("a monitor").instances
}

fn the_only(mut instances: Vec<InstanceSteps>) -> InstanceSteps {
    assert_eq!(instances.len(), 1);
    instances.remove(0)
}

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn landing() {
    let spec = spec("01-landing");
    let (names, trace) = trace(&[
        ("controller", Op::Read, "radio", Some(1)),
        ("controller", Op::Write, "approved", Some(1)),
        ("controller", Op::Read, "approved", Some(1)),
        ("controller", Op::Write, "landing", Some(1)),
        ("radio", Op::Write, "radio", Some(0)),
    ]);
    let mut instance = the_only(instances(&spec, 0, &names, &trace));
    assert_eq!(instance.steps.iter().map(|step| step.event).collect::<Vec<_>>(), [1, 3, 4], "the three writes");
    assert_eq!(walk(&mut instance, &[1, 3, 4]), None, "the recorded run");
    assert_eq!(walk(&mut instance, &[1, 4, 3]), Some(3));
    assert_eq!(walk(&mut instance, &[4, 1, 3]), Some(3));
    assert_eq!(instance.values(&[4, 0, 1]), pairs(&[("landing", "0"), ("approved", "1"), ("radio", "0")]));
    assert!(instance.automaton.close(100));
    assert!(instance.automaton.states() <= 10, "{}", instance.automaton.states());
}

#[test]
fn interval() {
    let spec = spec("02-interval");
    let (names, trace) = trace(&[
        ("A", Op::Write, "Demo.x", Some(0)),
        ("B", Op::Write, "Demo.z", Some(1)),
        ("A", Op::Write, "Demo.y", Some(1)),
        ("B", Op::Write, "Demo.x", Some(1)),
    ]);
    let mut instance = the_only(instances(&spec, 0, &names, &trace));
    assert_eq!(walk(&mut instance, &[0, 1, 2, 3]), None);
    assert_eq!(walk(&mut instance, &[0, 1, 3, 2]), None);
    assert_eq!(walk(&mut instance, &[0, 2, 1, 3]), Some(4), "y > z for a while, then x > 0");
    assert_eq!(instance.values(&[0, 2]), pairs(&[("x", "0"), ("y", "1"), ("z", "0")]));
    // x is kept as x > 0; y and z share an atom.
    assert!(instance.automaton.close(100), "{}", instance.automaton.states());
}

#[test]
fn permit() {
    let spec = spec("03-permit");
    let (names, trace) = trace(&[
        ("A", Op::Write, "Plane.permit", Some(1)),
        ("A", Op::Write, "Plane.landing", Some(1)),
        ("B", Op::Write, "Plane.permit", Some(0)),
    ]);
    let mut instance = the_only(instances(&spec, 0, &names, &trace));
    assert_eq!(walk(&mut instance, &[0, 1, 2]), None);
    assert_eq!(walk(&mut instance, &[2, 0, 1]), None);
    assert_eq!(walk(&mut instance, &[0, 2, 1]), Some(3));
    assert_eq!(instance.values(&[0]), pairs(&[("landing", "false"), ("permit", "true")]));
}

#[test]
fn becomes_positive() {
    let spec = spec("04-becomes-positive");
    let numbers = [3, -1, 0, 7, -5, 2];
    let events: Vec<_> = numbers.map(|n| ("T", Op::Write, "Demo.x", Some(n))).into();
    let (names, mut trace) = trace(&events);
    // Each a thread of its own, so that every order is one.
    for (number, event) in trace.events.iter_mut().enumerate() {
        *event = Event::with_extra(ThreadId(number as u32), event.op(), event.object(), event.site(), event.extra());
    }
    let mut random = Random(1);
    for property in 0..3 {
        let mut instance = the_only(instances(&spec, property, &names, &trace));
        let classes: std::collections::BTreeSet<u32> = instance.steps.iter().map(|step| step.class).collect();
        assert_eq!(classes.len(), 3, "positive, negative, neither");
        for _ in 0..200 {
            let order = shuffle(&mut random, &trace);
            let first = order.iter().position(|&event| numbers[event as usize] != 0);
            let expected = first.filter(|&at| numbers[order[at] as usize] > 0).map(|at| at + 1);
            assert_eq!(walk(&mut instance, &order), expected, "{property}: {order:?}");
        }
        assert!(instance.automaton.close(20), "{}", instance.automaton.states());
    }
}

#[test]
fn lost_wakeup() {
    let spec = spec("07-lost-wakeup");
    let (names, trace) = trace(&[
        ("waiter", Op::Read, "Event.count@1", Some(0)),
        ("waiter", Op::Wait, "Event@1", None),
        ("signaller", Op::Write, "Event.count@1", Some(1)),
        ("signaller", Op::Notify, "Event@1", None),
        ("waiter", Op::Woken, "Event@1", None),
    ]);
    let mut instance = the_only(instances(&spec, 0, &names, &trace));
    assert_eq!(instance.subjects, pairs(&[("e", "Event@1"), ("t", "waiter")]));
    assert_eq!(instance.steps.iter().map(|step| step.event).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(walk(&mut instance, &[0, 1, 2, 3, 4]), None);
    assert_eq!(walk(&mut instance, &[0, 2, 3, 1]), Some(4), "written between the test and the wait");
    assert_eq!(instance.values(&[0, 2]), pairs(&[("count[Event@1]", "1")]));
    let woken = the_only(instances(&spec, 1, &names, &trace));
    assert_eq!(woken.automaton.status(woken.automaton.start()), PathStatus::Safe, "only the end says anything");
    assert!(violated(&Spec { properties: vec![spec.properties[0].clone()], ..spec }, &names, &trace).is_empty());
}

#[test]
fn memory_that_is_given_again_is_silent_but_acts() {
    let text = "spec S { shared int x = 0 at trace \"x\"; event e at trace \"e\"; property p past { e -> x == 0 } }";
    let checked = check_file("s.rvs", &super::Text(text.to_owned()));
    let spec = &checked.specs[0];
    let (names, trace) =
        trace(&[("A", Op::Write, "x", Some(5)), ("B", Op::Alloc, "x", None), ("A", Op::Internal, "e", None)]);
    let mut instance = the_only(instances(spec, 0, &names, &trace));
    assert_eq!(instance.steps.iter().map(|step| step.silent).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(walk(&mut instance, &[0, 1, 2]), None);
    assert_eq!(walk(&mut instance, &[1, 0, 2]), Some(3));
    assert_eq!(instance.values(&[0, 1]), pairs(&[("x", "0")]));
    assert_eq!(violated(spec, &names, &trace), []);
}

#[test]
fn instances_are_counted_beyond_the_limit() {
    let text = "spec S { shared int x = 0 at trace \"x\"; \
                property p(i : thread, j : thread where i != j) past { write(x, i) -> !prev write(x, j) } }";
    let checked = check_file("s.rvs", &super::Text(text.to_owned()));
    let threads: Vec<String> = (0..20).map(|t| format!("T{t}")).collect();
    let events: Vec<_> = threads.iter().map(|t| (t.as_str(), Op::Write, "x", Some(1))).collect();
    let (names, trace) = trace(&events);
    let bound = BoundSpec::new(&checked.specs[0], Settings::default(), &[], Path::new(""), &names, &trace);
    let some = bound.instances(0, 7).expect("a monitor");
    assert_eq!((some.instances.len(), some.omitted), (7, 20 * 19 - 7));
    assert_eq!(some.instances[0].subjects, pairs(&[("i", "T0"), ("j", "T1")]));
    assert_eq!(some.instances[0].steps.len(), 2);
}

#[test]
fn what_has_no_monitor_is_refused() {
    let (names, trace) = trace(&[("A", Op::Write, "Bank.checking", Some(1)), ("B", Op::Read, "Bank.checking", None)]);
    let spec = spec("06-bank");
    let bound = BoundSpec::new(&spec, Settings::default(), &[], Path::new(""), &names, &trace);
    for (number, property) in spec.properties.iter().enumerate() {
        let instances = bound.instances(number, 100);
        match property.name.as_str() {
            "race_adjacent" => {
                let mut instances = instances.expect("a monitor").instances;
                assert_eq!(instances.len(), 2);
                assert!(instances.iter_mut().any(|instance| walk(instance, &[0, 1]) == Some(2)));
                assert!(instances.iter_mut().all(|instance| instance.steps.len() == 2), "steps = all");
            }
            _ => assert!(matches!(instances, Err(NoMonitor::Mttl))),
        }
    }
}

/// Who says what a variable holds at first: the command line, else the specification, else the trace.
#[test]
fn initial_values() {
    let spec = spec("01-landing");
    let (mut names, mut trace) = trace(&[
        ("a", Op::Write, "landing", Some(1)),
        ("a", Op::Write, "approved", Some(1)),
        ("a", Op::Write, "radio", Some(1)),
        ("a", Op::Write, "other", Some(1)),
        ("a", Op::Write, "late", Some(1)),
        ("a", Op::Write, "unsaid", Some(1)),
    ]);
    for (name, value) in [("landing", 7), ("approved", 7), ("other", 7)] {
        let name = StrId(names.add(Space::Str, name).expect("room"));
        trace.inits.push(Init { before: 0, name, value: Value::Int(value) });
    }
    trace.push_init(StrId(names.add(Space::Str, "late").expect("room")), Value::Int(7));
    let init = [("approved".to_owned(), Const::Int(9)), ("unsaid".to_owned(), Const::Str("s".to_owned()))];
    let text = names.add(Space::Str, "s").expect("room");
    let bound = BoundSpec::new(&spec, Settings::default(), &init, Path::new(""), &names, &trace);
    let initial: Vec<Value> = (0..7).map(|number| bound.initial(VarId(number))).collect();
    let text = Value::Str(StrId(text));
    let expected = [Value::Int(0), Value::Int(9), Value::Int(1), Value::Int(7), Value::Unknown, text, Value::Unknown];
    assert_eq!(initial, expected);
    assert!(bound.concerns(0, 0) && !bound.concerns(0, 3));
}
