//! Larger lattices: many chains, many owners, limits; against a plain table of cuts.

use super::garbage::count;
use super::shared::read;
use event::PathStatus;
use lattice::{Automaton, Limits, explore};
use oracle::random::Random;
use order::EventStructure;
use std::collections::{BTreeMap, BTreeSet};

/// Owner n is violated by an event of class 2n+2 after one of class 2n+1.
#[derive(Clone)]
struct Owners(u32);

impl Automaton for Owners {
    fn start(&mut self) -> Vec<u32> {
        (0..self.0).map(|owner| owner * 3).collect()
    }
    fn step(&mut self, state: u32, class: u32) -> u32 {
        let (owner, at) = (state / 3, state % 3);
        let next = match at {
            0 if class == 2 * owner + 1 => 1,
            1 if class == 2 * owner + 2 => 2,
            at => at,
        };
        owner * 3 + next
    }
    fn status(&self, state: u32) -> PathStatus {
        if state % 3 == 2 { PathStatus::Violated } else { PathStatus::Open }
    }
    fn owner(&self, state: u32) -> u32 {
        state / 3
    }
}

fn text(r: &mut Random, threads: usize, events: usize, sync: usize) -> String {
    let mut text = String::new();
    for _ in 0..events {
        let t = r.below(threads);
        let op = if r.percent(sync) {
            format!("w(s{})", r.below(1 + threads / 2))
        } else if r.percent(5) {
            format!("fork(N{})", r.below(4))
        } else {
            format!("w(v{t})")
        };
        text.push_str(&format!("T{t}|{op}|1\n"));
    }
    text
}

struct Table {
    /// By owner: the least number of events on a path to a violation.
    least: BTreeMap<u32, usize>,
    cuts: u64,
}

fn table(structure: &EventStructure, class: &dyn Fn(u64) -> u32, owners: u32, most: usize) -> Option<Table> {
    let mut automaton = Owners(owners);
    let mut level: BTreeMap<Vec<u32>, BTreeSet<u32>> = BTreeMap::new();
    level.insert(vec![0; structure.chains.len()], automaton.start().into_iter().collect());
    let mut table = Table { least: BTreeMap::new(), cuts: 0 };
    let mut depth = 0;
    while !level.is_empty() {
        table.cuts += level.len() as u64;
        if table.cuts as usize > most {
            return None;
        }
        depth += 1;
        let mut next: BTreeMap<Vec<u32>, BTreeSet<u32>> = BTreeMap::new();
        for (cut, states) in &level {
            for (chain, of) in structure.chains.iter().enumerate() {
                let Some(event) = of.events.get(cut[chain] as usize) else { continue };
                if !structure.predecessors(event).iter().all(|prefix| prefix.is_within(cut)) {
                    continue;
                }
                let mut to = cut.clone();
                to[chain] += 1;
                let into = next.entry(to).or_default();
                for &state in states {
                    let state = automaton.step(state, class(event.index));
                    if automaton.status(state) == PathStatus::Violated {
                        table.least.entry(state / 3).or_insert(depth);
                    }
                    into.insert(state);
                }
            }
        }
        level = next;
    }
    Some(table)
}

/// Whether a path can be walked, and ends with the first violation of its owner.
fn stands_up(structure: &EventStructure, class: &dyn Fn(u64) -> u32, owner: u32, path: &[u64]) -> bool {
    let mut cut = vec![0u32; structure.chains.len()];
    let mut automaton = Owners(owner + 1);
    let mut state = owner * 3;
    for (at, &event) in path.iter().enumerate() {
        let Some((chain, next)) = structure.chains.iter().enumerate().find_map(|(chain, of)| {
            of.events.get(cut[chain] as usize).filter(|next| next.index == event).map(|next| (chain, next))
        }) else {
            return false;
        };
        if !structure.predecessors(next).iter().all(|prefix| prefix.is_within(&cut)) {
            return false;
        }
        cut[chain] += 1;
        state = automaton.step(state, class(event));
        if (automaton.status(state) == PathStatus::Violated) != (at + 1 == path.len()) {
            return false;
        }
    }
    true
}

#[test]
fn many_chains_many_owners_and_limits() {
    let (mut found, mut short, mut without_path, mut asked) = (0u64, 0u64, 0u64, 0u64);
    let first: u64 = std::env::var("FORETRACE_FIRST").map_or(0, |text| text.parse().expect("a number"));
    for seed in first..first + count(150) {
        let mut r = Random::new(seed);
        let threads = *r.pick(&[2, 5, 12, 13, 20, 33, 70, 140, 300]);
        let events = if r.percent(30) { 200 + r.below(500) } else { 20 + r.below(60) };
        let sync = if threads > 12 || events > 100 { 85 + r.below(15) } else { 20 + r.below(60) };
        let text = text(&mut r, threads, events, sync);
        let trace = read(&text);
        let batch = &trace.batch;
        let all = order::Trace::new(&trace.names, batch);
        let structure = order::full_hb(&all, |_| true);
        let owners = *r.pick(&[1, 2, 3, 8, 20, 22, 30]);
        let classes: Vec<u32> =
            (0..batch.events.len()).map(|_| if r.percent(40) { 0 } else { r.below(2 * owners + 1) as u32 }).collect();
        let class = |event: u64| classes[event as usize];
        let Some(table) = table(&structure, &class, owners as u32, 20_000) else { continue };
        asked += 1;
        for (history, threads, breadth, max_cuts, bytes) in [
            (Some(1 << 20), 1, None, None, 1 << 30),
            (Some(0), 2, None, None, 1 << 30),
            (Some(600), 1, None, None, 1 << 30),
            (Some(6000), 8, None, None, 1 << 30),
            (None, 1, None, None, 1 << 30),
            (Some(3000), 1, Some(1), None, 1 << 30),
            (Some(3000), 3, Some(7), None, 1 << 30),
            (Some(3000), 1, None, Some(table.cuts / 2), 1 << 30),
            (Some(3000), 1, None, Some(1), 1 << 30),
            (Some(3000), 1, None, None, 2000),
            (Some(3000), 1, None, None, 0),
        ] {
            let limits = Limits { history, threads, breadth, max_cuts, bytes, deadline: None, stop: None };
            let shown = || {
                format!(
                    "seed {seed} history {history:?} threads {threads} breadth {breadth:?} \
                     max {max_cuts:?} bytes {bytes} owners {owners} chains {}",
                    structure.chains.len()
                )
            };
            let outcome = explore(&structure, &class, Owners(owners as u32), &limits);
            let complete = outcome.shortened.is_empty();
            short += u64::from(!complete);
            let mut violated: BTreeSet<u32> = outcome.without_path.iter().copied().collect();
            without_path += outcome.without_path.len() as u64;
            if history.is_some() && complete {
                assert!(outcome.without_path.is_empty(), "without_path {:?} {}", outcome.without_path, shown());
            }
            for violation in &outcome.violations {
                found += 1;
                assert!(violated.insert(violation.owner), "twice {}", shown());
                assert!(stands_up(&structure, &class, violation.owner, &violation.path), "{violation:?} {}", shown());
                if complete {
                    assert_eq!(table.least.get(&violation.owner), Some(&violation.path.len()), "{}", shown());
                }
            }
            let expected: BTreeSet<u32> = table.least.keys().copied().collect();
            if complete {
                assert_eq!(violated, expected, "{}", shown());
                if expected.len() < owners {
                    assert_eq!(outcome.figures.cuts, table.cuts, "{}", shown());
                }
            } else {
                assert!(violated.is_subset(&expected), "{}", shown());
            }
            // What the recorded run does is never lost.
            let mut automaton = Owners(owners as u32);
            let mut states = automaton.start();
            for event in 0..batch.events.len() as u64 {
                states.iter_mut().for_each(|state| *state = automaton.step(*state, class(event)));
            }
            for state in states.into_iter().filter(|state| state % 3 == 2) {
                assert!(
                    bytes < 3000 || violated.contains(&(state / 3)),
                    "lost owner {} {} {:?}",
                    state / 3,
                    shown(),
                    outcome.shortened
                );
            }
        }
    }
    println!("{asked} asked, {found} found, {short} short, {without_path} without_path");
}
