//! Exact numbers of paths, by state. Nothing is left out.

use super::sets::Contexts;
use super::{Closing, Edge, PathState, Payload};
use crate::automaton::Automaton;
use crate::messages::Messages;
use event::PathStatus;
use num_bigint::BigUint;
use order::Admission;

/// The numbers of paths to the cuts of a level, one cut after another.
#[derive(Clone, Default)]
pub(crate) struct Column {
    /// By cut: where its entries in `paths` end.
    ends: Vec<usize>,
    paths: Vec<(PathState, BigUint)>,
}

impl Column {
    fn paths_to(&self, cut: usize) -> &[(PathState, BigUint)] {
        let from = if cut == 0 { 0 } else { self.ends[cut - 1] };
        &self.paths[from..self.ends[cut]]
    }
}

pub(crate) struct Counts<A> {
    automaton: A,
    contexts: Contexts,
    /// The number of pairs of a cut and an event that continues it.
    pub(crate) edges: u64,
    /// By cut of the old level: whether some event continues it.
    continued: Vec<bool>,
}

impl<A: Automaton> Counts<A> {
    pub(crate) fn new(automaton: A) -> Counts<A> {
        Counts { automaton, contexts: Contexts::default(), edges: 0, continued: Vec::new() }
    }

    /// The number of cuts of the old level that no event continues.
    pub(crate) fn dead_ends(&self) -> u64 {
        self.continued.iter().filter(|continued| !**continued).count() as u64
    }

    /// By owner: the number of paths to a cut, and of those that violate.
    pub(crate) fn paths(&self, column: &Column, cut: usize, owners: usize) -> Vec<(BigUint, BigUint)> {
        let mut paths = vec![(BigUint::ZERO, BigUint::ZERO); owners];
        for (path, count) in column.paths_to(cut) {
            let (all, bad) = &mut paths[self.automaton.owner(path.state) as usize];
            *all += count;
            if self.automaton.status(path.state) == PathStatus::Violated {
                *bad += count;
            }
        }
        paths
    }
}

impl<A: Automaton> Payload for Counts<A> {
    type Column = Column;
    type Gathered = Vec<(PathState, BigUint)>;
    const FAST: bool = false;
    const WANTS_CUT: bool = true;
    const EXACT: bool = true;

    fn start(&mut self) -> (Column, usize) {
        let context = self.contexts.start();
        let start = self.automaton.start();
        let paths = start.iter().map(|&state| (PathState { context, state }, BigUint::from(1u32))).collect();
        (Column { ends: vec![start.len()], paths }, start.len())
    }

    fn begin(&mut self, cuts: usize, _recorded: &[u32]) {
        self.continued.clear();
        self.continued.resize(cuts, false);
    }

    fn edge(&mut self, from: &Column, cut: usize, edge: &Edge<'_>, messages: &Messages<'_>, to: &mut Self::Gathered) {
        let mut passes = false;
        for (path, count) in from.paths_to(cut) {
            let (admission, context) = self.contexts.apply(path.context, edge, messages);
            if admission == Admission::Yes {
                passes = true;
                to.push((PathState { context, state: self.automaton.step(path.state, edge.class) }, count.clone()));
            }
        }
        if passes {
            self.edges += 1;
            self.continued[cut] = true;
        }
    }

    fn close(&mut self, gathered: &mut Self::Gathered, to: &mut Column) -> Closing {
        if gathered.is_empty() {
            return Closing::Nothing;
        }
        gathered.sort_unstable_by_key(|(path, _)| *path);
        let first = to.paths.len();
        for (path, count) in gathered.drain(..) {
            match to.paths[first..].last_mut() {
                Some((last, sum)) if *last == path => *sum += count,
                _ => to.paths.push((path, count)),
            }
        }
        to.ends.push(to.paths.len());
        Closing::Carries
    }

    fn retain(_column: &mut Column, _keep: &[bool]) {
        unreachable!("nothing is left out when paths are counted")
    }

    fn clear(mut column: Column) -> Column {
        column.ends.clear();
        column.paths.clear();
        column
    }

    fn bytes(column: &Column) -> usize {
        let bytes_of = |n: &BigUint| n.bits() as usize / 8 + 32;
        let numbers: usize = column.paths.iter().map(|(_, count)| bytes_of(count)).sum();
        numbers + column.paths.capacity() * size_of::<(PathState, BigUint)>() + column.ends.capacity() * 8
    }

    fn states(&self, column: &Column, cut: usize) -> Vec<PathState> {
        column.paths_to(cut).iter().map(|(path, _)| *path).collect()
    }

    fn step(&mut self, path: PathState, edge: &Edge<'_>, messages: &Messages<'_>) -> Option<PathState> {
        let (admission, context) = self.contexts.apply(path.context, edge, messages);
        (admission == Admission::Yes).then(|| PathState { context, state: self.automaton.step(path.state, edge.class) })
    }

    fn overhead(&self) -> usize {
        self.contexts.bytes()
    }
}
