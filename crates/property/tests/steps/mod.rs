//! A property in any order of a trace's events: what the path automaton says is what the recorded-run check says of a
//! trace that was recorded in that order.

mod examples;
pub(crate) mod world;

use event::{Batch, Names, PathStatus};
use property::check::{Settings, Spec, check_file};
use property::monitor::Verdict;
use property::run::SpecRun;
use property::steps::{BoundSpec, InstanceSteps};
use std::collections::BTreeMap;
use std::path::Path;
use world::{Random, Text};

/// What the recorded-run check reports as violated, by instance.
fn violated(spec: &Spec, names: &Names, trace: &Batch) -> Vec<(Vec<String>, Option<u64>)> {
    let (mut run, failed) = SpecRun::new(spec.clone(), Settings::default(), &[], Path::new(""));
    assert!(failed.is_empty(), "{failed:?}");
    run.batch(names, trace);
    let parametric = !spec.properties[0].params.is_empty();
    let outcomes = run.finish(names, false);
    let own = outcomes.iter().skip(usize::from(parametric));
    own.filter(|o| o.verdict == Verdict::Violated)
        .map(|o| (o.instance.iter().map(|(_, s)| s.clone()).collect(), o.event))
        .collect()
}

/// The events of a trace in another order; `#! init` lines stay where they are.
fn permuted(trace: &Batch, order: &[u64], length: usize) -> Batch {
    let mut batch = Batch::default();
    order[..length].iter().for_each(|&event| batch.push_from(trace, trace.events[event as usize]));
    batch.inits.clone_from(&trace.inits);
    batch
}

/// Some order that keeps each thread's own.
fn shuffle(random: &mut Random, trace: &Batch) -> Vec<u64> {
    let mut threads: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (index, event) in trace.events.iter().enumerate().rev() {
        threads.entry(event.thread().0).or_default().push(index as u64);
    }
    let mut threads: Vec<Vec<u64>> = threads.into_values().collect();
    let mut order = Vec::new();
    while !threads.is_empty() {
        let chosen = random.below(threads.len());
        order.extend(threads[chosen].pop());
        threads.retain(|left| !left.is_empty());
    }
    order
}

/// How many events of this order come before the violation, itself included; 0: step 0.
fn walk(instance: &mut InstanceSteps, order: &[u64]) -> Option<usize> {
    let mut state = instance.automaton.start();
    for (at, event) in order.iter().enumerate() {
        match instance.automaton.status(state) {
            PathStatus::Violated => return Some(at),
            PathStatus::Safe => assert!(!instance.automaton.gave_up(state), "gave up"),
            PathStatus::Open => {}
        }
        if let Ok(place) = instance.steps.binary_search_by_key(event, |step| step.event) {
            let step = instance.steps[place];
            assert_eq!(step.silent, instance.automaton.is_silent(step.class));
            state = instance.automaton.step(state, step.class);
        }
    }
    (instance.automaton.status(state) == PathStatus::Violated).then_some(order.len())
}

fn subjects(instance: &InstanceSteps) -> Vec<String> {
    instance.subjects.iter().map(|(_, subject)| subject.clone()).collect()
}

#[derive(Default, Debug)]
struct Tally {
    pairs: usize,
    violated: usize,
    later: usize,
    freed: usize,
    freed_violated: usize,
    silent: usize,
    closed: usize,
}

fn compare(random: &mut Random, source: &str, names: &Names, trace: &Batch, tally: &mut Tally) {
    let checked = check_file("s.rvs", &Text(source.to_owned()));
    assert!(!checked.has_errors(), "{source}\n{:?}", checked.diagnostics);
    let spec = &checked.specs[0];
    let bound = BoundSpec::new(spec, Settings::default(), &[], Path::new(""), names, trace);
    let mut instances = bound.instances(0, usize::MAX).expect("a monitor");
    assert_eq!(instances.omitted, 0);
    // Where its objects are gone, an instance begins and ends, and only prefixes show when it is violated.
    let gone = |event: &event::Event| names.get(event::Space::Var, event.object()).split_once('@');
    let gone = trace.events.iter().filter(|e| e.op() == event::Op::Free).filter_map(gone);
    let gone: Vec<String> = gone.map(|(_, object)| format!("C@{object}")).collect();
    let is_freed = |instance: &[String]| instance.iter().any(|subject| gone.contains(subject));
    let freed = instances.instances.iter().any(|instance| is_freed(&subjects(instance)));
    for round in 0..3 {
        let recorded: Vec<u64> = (0..trace.events.len() as u64).collect();
        let order = if round == 0 { recorded } else { shuffle(random, trace) };
        let mut expected: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        for length in if freed { 0 } else { order.len() }..=order.len() {
            for (instance, event) in violated(spec, names, &permuted(trace, &order, length)) {
                let at = if is_freed(&instance) { length } else { event.map_or(0, |e| e as usize + 1) };
                expected.entry(instance).or_insert(at);
            }
        }
        let mut found = BTreeMap::new();
        for instance in &mut instances.instances {
            let at = walk(instance, &order);
            found.extend(at.map(|at| (subjects(instance), at)));
            tally.silent += usize::from(instance.steps.iter().any(|step| step.silent));
        }
        let shown: Vec<_> = order.iter().map(|&e| trace.events[e as usize]).collect();
        assert_eq!(found, expected, "round {round}: {source}\n{shown:?}\n{order:?}\n{trace:?}");
        tally.pairs += 1;
        tally.violated += usize::from(!found.is_empty());
        tally.later += usize::from(found.values().any(|&at| at > 0));
        tally.freed += usize::from(freed);
        tally.freed_violated += usize::from(found.iter().any(|(instance, &at)| at > 0 && is_freed(instance)));
    }
    // Closed, it is the same automaton.
    for instance in &mut instances.instances {
        let recorded: Vec<u64> = (0..trace.events.len() as u64).collect();
        let open = walk(instance, &recorded);
        if instance.automaton.close(1000) {
            let states = instance.automaton.states();
            assert_eq!(walk(instance, &recorded), open);
            for state in 0..states as u32 {
                assert!(
                    (0..instance.automaton.classes()).all(|class| instance.automaton.known(state, class).is_some())
                );
            }
            assert_eq!(instance.automaton.states(), states);
            tally.closed += 1;
        }
    }
}

#[test]
fn every_order_is_judged_as_if_it_were_recorded() {
    let mut random = Random(7);
    let mut tally = Tally::default();
    for _ in 0..12_000 {
        let (source, body) = world::property(&mut random);
        let (names, trace) = world::trace(&mut random, &body);
        compare(&mut random, &source, &names, &trace, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.pairs >= 20_000 && tally.later > 5_000 && tally.closed > 5_000, "{tally:?}");
    assert!(tally.freed > 1_000 && tally.freed_violated > 500 && tally.silent > 4_000, "{tally:?}");
}
