//! What a cut carries: the states in which paths can arrive there.

mod bits;
mod counts;
mod dense;
mod listed;
mod numbers;
mod sets;
mod sums;

pub(crate) use bits::{Bits, Few, Many};
pub(crate) use counts::Counts;
pub(crate) use dense::Dense;
pub(crate) use listed::Listed;
pub(crate) use numbers::Numbers;
pub(crate) use sets::Sets;
pub(crate) use sums::counted;

use crate::key::Key;
use crate::merge::{Level, Merge};
use crate::messages::Messages;

/// An event that continues a cut.
pub(crate) struct Edge<'e> {
    pub(crate) class: u32,
    pub(crate) chain: u32,
    /// The number of the event in its chain, if the payload wants the cut.
    pub(crate) number: u32,
    /// The cut, if the payload wants it ([`Payload::WANTS_CUT`]).
    pub(crate) cut: &'e [u32],
}

/// The state of a path: the number of its context, and the state of the automaton.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct PathState {
    pub(crate) context: u32,
    pub(crate) state: u32,
}

/// What the edges to a cut have contributed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Closing {
    /// No state: the cut is not reached, or only by paths that are safe.
    Nothing,
    /// Some states.
    Carries,
    /// Some states, one of which is violated.
    Violated,
}

/// A violation: paths to this cut in this state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    pub(crate) owner: u32,
    pub(crate) cut: Vec<u32>,
    pub(crate) path: PathState,
    /// For a terminal read: its chain. The cut and the state are those before it.
    pub(crate) terminal: Option<u32>,
    /// It is no violation: the run of all events fails at its end.
    pub(crate) ended: bool,
    /// The distance of the cut from the recorded run.
    pub(crate) distance: u64,
}

/// What the cuts of a level carry, and how it changes along edges.
pub(crate) trait Payload {
    /// What the cuts of a level carry, in the order of their keys.
    type Column: Clone + Default;
    /// What is gathered for one cut of the next level.
    type Gathered: Default;
    /// Whether an edge costs only a few instructions.
    const FAST: bool;
    /// Whether edges need [`Edge::number`] and [`Edge::cut`].
    const WANTS_CUT: bool;
    /// Whether no cut may be left out. A search that exceeds its limits then ends, instead of narrowing.
    const EXACT: bool = false;

    /// The column of the first level, which has only the empty cut, and how many states it carries.
    fn start(&mut self) -> (Self::Column, usize);
    /// Called before each merge: the old level has so many cuts, and `recorded` is the recorded run's in the next one.
    fn begin(&mut self, cuts: usize, recorded: &[u32]);
    /// Gathers what an edge from a cut contributes.
    fn edge(
        &mut self,
        from: &Self::Column,
        cut: usize,
        edge: &Edge<'_>,
        messages: &Messages<'_>,
        to: &mut Self::Gathered,
    );
    /// Moves what was gathered for a cut to the column of its level, unless it is nothing.
    fn close(&mut self, gathered: &mut Self::Gathered, to: &mut Self::Column) -> Closing;
    /// Notes the violations of the last cut of a column. A payload that only counts has none to note.
    fn note(&mut self, _column: &Self::Column, _cut: &[u32]) {}
    /// Notes the runs that fail at the end. The column is that of the last level, whose only cut has all events.
    fn end(&mut self, _column: &Self::Column, _cut: &[u32]) {}
    /// The violations noted since the last call: for each owner at most one, the nearest to the recorded run.
    fn found(&mut self) -> Vec<Candidate> {
        Vec::new()
    }
    /// Keeps only some cuts of a column.
    fn retain(column: &mut Self::Column, keep: &[bool]);
    /// An empty column with the memory of an old one.
    fn clear(column: Self::Column) -> Self::Column;
    /// The memory of a column.
    fn bytes(column: &Self::Column) -> usize;

    /// The states of a cut.
    fn states(&self, column: &Self::Column, cut: usize) -> Vec<PathState>;
    /// The state after an event, if the event can come.
    fn step(&mut self, path: PathState, edge: &Edge<'_>, messages: &Messages<'_>) -> Option<PathState>;

    /// Computes the next level; so many threads may work at once.
    fn merge<K: Key>(&mut self, merge: &Merge<'_, '_, K, Self::Column>, to: &mut Level<K, Self::Column>, threads: usize)
    where
        Self: Sized,
    {
        let _ = threads;
        merge.run(K::ZERO, None, self, to);
    }

    /// The memory that is used beside the columns.
    fn overhead(&self) -> usize {
        0
    }

    /// Forgets which owners have a violation, so that all states are followed again.
    fn revive(&mut self) {}
}

/// The distance of two cuts of one level: the number of events by which they differ.
pub(crate) fn distance(cut: &[u32], recorded: &[u32]) -> u64 {
    let longest = cut.len().max(recorded.len());
    let count = |counts: &[u32], chain| counts.get(chain).copied().unwrap_or(0);
    (0..longest).map(|chain| u64::from(count(cut, chain).abs_diff(count(recorded, chain)))).sum()
}

/// Adds a candidate, unless its owner has one that is nearer to the recorded run.
pub(crate) fn offer(candidates: &mut Vec<Candidate>, candidate: Candidate) {
    let key = |c: &Candidate| (c.distance, c.terminal.is_some());
    match candidates.iter_mut().find(|c| c.owner == candidate.owner) {
        Some(old) if (key(&candidate), &candidate.cut) < (key(old), &old.cut) => *old = candidate,
        Some(_) => {}
        None => candidates.push(candidate),
    }
}
