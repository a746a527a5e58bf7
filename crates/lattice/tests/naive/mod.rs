//! Random orders and automata, and the search as its definition says.

use event::PathStatus;
use lattice::Automaton;
use order::ChainPrefix;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % u64::from(n)) as u32
    }
}

/// An automaton; safe and violated states are final.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) next: Vec<Vec<u32>>,
    pub(crate) status: Vec<PathStatus>,
    pub(crate) starts: Vec<u32>,
}

impl Machine {
    /// Several owners have disjoint states.
    pub(crate) fn random(r: &mut Random, owners: u32, states: u32, classes: u32) -> Machine {
        let mut machine = Machine { next: Vec::new(), status: Vec::new(), starts: Vec::new() };
        for owner in 0..owners {
            let first = owner * states;
            machine.starts.push(first);
            for state in 0..states {
                let status = match r.below(12) {
                    0 if state > 0 => PathStatus::Safe,
                    1 if state > 0 => PathStatus::Violated,
                    _ => PathStatus::Open,
                };
                let is_final = status != PathStatus::Open;
                let next = |r: &mut Random| if is_final { first + state } else { first + r.below(states) };
                machine.next.push((0..classes).map(|_| next(r)).collect());
                machine.status.push(status);
            }
        }
        machine
    }
}

impl Automaton for Machine {
    fn start(&mut self) -> Vec<u32> {
        self.starts.clone()
    }
    fn step(&mut self, state: u32, class: u32) -> u32 {
        self.next[state as usize][class as usize]
    }
    fn status(&self, state: u32) -> PathStatus {
        self.status[state as usize]
    }
    fn owner(&self, state: u32) -> u32 {
        state / (self.next.len() / self.starts.len()) as u32
    }
}

/// An event: its index, its class, and its predecessors beyond those of the event before it.
#[derive(Clone, Debug)]
pub(crate) struct TestEvent {
    pub(crate) index: u64,
    pub(crate) class: u32,
    pub(crate) predecessors: Vec<ChainPrefix>,
}

/// Events by chain, recorded in a random order; `dense` in a hundred follow all that precedes the end of another chain.
pub(crate) fn chains(r: &mut Random, count: u32, most: u32, classes: u32, dense: u32) -> Vec<Vec<TestEvent>> {
    let mut chains: Vec<Vec<TestEvent>> = vec![Vec::new(); count as usize];
    let mut known: Vec<Vec<u32>> = vec![vec![0; count as usize]; count as usize];
    let total = r.below(most) + 1;
    for index in 0..total {
        let chain = r.below(count) as usize;
        let mut predecessors = Vec::new();
        if r.below(100) < dense {
            let theirs = known[r.below(count) as usize].clone();
            for (of, &count) in theirs.iter().enumerate() {
                if of != chain && count > known[chain][of] {
                    known[chain][of] = count;
                    predecessors.push(ChainPrefix { chain: of as u32, count });
                }
            }
        }
        known[chain][chain] += 1;
        chains[chain].push(TestEvent { index: index.into(), class: r.below(classes), predecessors });
    }
    chains
}

fn is_enabled(event: &TestEvent, cut: &[u32]) -> bool {
    event.predecessors.iter().all(|prefix| prefix.is_within(cut))
}

/// The number of cuts that carry a state, and by owner the first level with a violation.
pub(crate) fn search(chains: &[Vec<TestEvent>], machine: &mut Machine) -> (u64, BTreeMap<u32, u64>) {
    let mut level: BTreeMap<Vec<u32>, BTreeSet<u32>> = BTreeMap::new();
    level.insert(vec![0; chains.len()], machine.starts.iter().copied().collect());
    let (mut cuts, mut depth) = (1, 0);
    let mut found: BTreeMap<u32, u64> = BTreeMap::new();
    while !level.is_empty() && found.len() < machine.starts.len() {
        let mut next: BTreeMap<Vec<u32>, BTreeSet<u32>> = BTreeMap::new();
        let mut fresh = BTreeSet::new();
        for (cut, states) in &level {
            for chain in 0..chains.len() {
                let Some(event) = chains[chain].get(cut[chain] as usize).filter(|e| is_enabled(e, cut)) else {
                    continue;
                };
                let mut to = cut.clone();
                to[chain] += 1;
                for &state in states {
                    if machine.status(state) != PathStatus::Open {
                        continue;
                    }
                    let state = machine.step(state, event.class);
                    if machine.status(state) == PathStatus::Safe || found.contains_key(&machine.owner(state)) {
                        continue;
                    }
                    if machine.status(state) == PathStatus::Violated {
                        fresh.insert(machine.owner(state));
                    }
                    next.entry(to.clone()).or_default().insert(state);
                }
            }
        }
        depth += 1;
        cuts += next.len() as u64;
        found.extend(fresh.into_iter().map(|owner| (owner, depth)));
        level = next;
    }
    (cuts, found)
}

/// Whether a path follows the chains, and ends with the owner's first violation.
pub(crate) fn shows(chains: &[Vec<TestEvent>], machine: &mut Machine, owner: u32, path: &[u64]) -> bool {
    let mut cut = vec![0u32; chains.len()];
    let mut state = machine.starts[owner as usize];
    for (at, index) in path.iter().enumerate() {
        let is_next = |chain: &usize| chains[*chain].get(cut[*chain] as usize).is_some_and(|e| e.index == *index);
        let Some(chain) = (0..chains.len()).find(is_next) else { return false };
        let event = &chains[chain][cut[chain] as usize];
        if !is_enabled(event, &cut) {
            return false;
        }
        cut[chain] += 1;
        state = machine.step(state, event.class);
        if (machine.status(state) == PathStatus::Violated) != (at + 1 == path.len()) {
            return false;
        }
    }
    true
}
