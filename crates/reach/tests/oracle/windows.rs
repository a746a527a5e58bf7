//! An order of a window's events is feasible in its window if and only if it is in the whole trace.

use crate::random::Random;
use crate::schedule::random_trace;
use crate::{initial_values, read};
use event::{Causality, Value, VarId};
use generate::{Generator, Options};
use reach::{Window, Windows};
use std::collections::BTreeMap;
use trace::Trace;

/// How often the two agreed that an order is feasible, and that it is not.
#[derive(Default)]
struct Agreed {
    feasible: usize,
    refused: usize,
}

fn feasible(trace: &Trace, batch: &event::Batch, initial: &[Value], schedule: &[u64]) -> bool {
    let initial = |var: VarId| initial[var.0 as usize];
    witness::check(Causality::Maximal, &trace.names, batch, &initial, schedule, false).is_ok()
}

/// Puts events of the window one behind the other, by chance, and drops most of those that do not fit.
fn walk(trace: &Trace, window: &Window, initial: &[Value], r: &mut Random, agreed: &mut Agreed) {
    let fixed = window.fixed as u32;
    let mut chains: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (at, event) in (0u32..).zip(&window.batch.events).skip(window.fixed) {
        chains.entry(event.thread().0).or_default().push(at);
    }
    let mut chains: Vec<Vec<u32>> = chains.into_values().collect();
    chains.iter_mut().for_each(|chain| chain.reverse());
    let mut prefix: Vec<u32> = (0..fixed).collect();
    for _ in 0..2 * window.batch.events.len() {
        let most = chains.len();
        let chain = &mut chains[r.below(most)];
        let Some(&event) = chain.last() else { continue };
        prefix.push(event);
        let schedule: Vec<u64> = prefix.iter().map(|&event| u64::from(event)).collect();
        let here = feasible(trace, &window.batch, initial, &schedule);
        let whole = feasible(trace, &trace.batch, initial, &whole(window, &prefix));
        assert_eq!(here, whole, "{:?} {prefix:?} of {:?} in\n{:?}", window.range, window.batch, trace.batch.events);
        if here {
            agreed.feasible += 1;
            chain.pop();
        } else {
            agreed.refused += 1;
            prefix.pop();
        }
    }
}

#[test]
fn small_traces() {
    let mut agreed = Agreed::default();
    for seed in 0..6_000 {
        let mut r = Random::new(seed);
        let trace = read(&random_trace(&mut r));
        let initial = initial_values(&trace);
        let size = 2 + r.below(8);
        for window in Windows::new(&trace.names, &trace.batch, size) {
            walk(&trace, &window, &initial, &mut r, &mut agreed);
        }
    }
    assert!(agreed.feasible > 80_000 && agreed.refused > 15_000, "{} {}", agreed.feasible, agreed.refused);
}

#[test]
fn generated_traces_with_every_operation() {
    let mut agreed = Agreed::default();
    for seed in 0..60 {
        let options = Options {
            events: 600,
            threads: 2 + (seed % 5) as u32,
            vars: 30,
            locks: 4,
            seed,
            quantum: 4.0,
            all_ops: true,
            pcs: 0.2,
            waits: 0.2,
            readers: 0.3,
            values: seed % 2 == 0,
            churn: if seed % 3 == 0 { 0.02 } else { 0.0 },
            ..Options::default()
        };
        let trace = Trace::read(&mut Generator::new(options).expect("options")).expect("a trace");
        let initial = initial_values(&trace);
        let mut r = Random::new(seed);
        for window in Windows::new(&trace.names, &trace.batch, 30 + r.below(60)) {
            walk(&trace, &window, &initial, &mut r, &mut agreed);
        }
    }
    assert!(agreed.feasible > 50_000 && agreed.refused > 20_000, "{} {}", agreed.feasible, agreed.refused);
}

#[test]
fn windows_overlap_by_half() {
    let options = Options { events: 1000, vars: 150, ..Options::default() };
    let trace = Trace::read(&mut Generator::new(options).expect("options")).expect("a trace");
    let windows: Vec<_> = Windows::new(&trace.names, &trace.batch, 400).map(|window| window.range).collect();
    assert_eq!(windows, [0..400, 200..600, 400..800, 600..1000]);
    let whole: Vec<_> = Windows::new(&trace.names, &trace.batch, 5000).collect();
    assert_eq!((whole.len(), whole[0].fixed, whole[0].range.clone()), (1, 0, 0..1000));
    assert_eq!(Windows::new(&trace.names, &event::Batch::default(), 10).count(), 0);
}

/// A prefix as an order of the whole trace: everything before the window as recorded, then the window's part of it.
fn whole(window: &Window, prefix: &[u32]) -> Vec<u64> {
    let of_window = prefix.iter().filter(|&&event| event as usize >= window.fixed);
    (0..window.range.start).chain(of_window.map(|&event| window.index[event as usize])).collect()
}
