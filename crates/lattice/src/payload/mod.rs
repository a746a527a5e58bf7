//! What a cut carries: the states that the paths to it are in.

mod bits;
mod counts;
mod sets;

pub(crate) use bits::{Bits, Few, Many};
pub(crate) use counts::Counts;
pub(crate) use sets::Sets;

use crate::key::Key;
use crate::merge::{Level, Merge};
use crate::messages::Messages;

/// An event that continues a cut.
pub(crate) struct Edge<'e> {
    pub(crate) class: u32,
    pub(crate) chain: u32,
    /// Which event of the chain.
    pub(crate) number: u32,
    /// The cut, if the payload wants it.
    pub(crate) cut: &'e [u32],
}

/// A state on a path: what the path must remember, and the automaton's state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct PathState {
    pub(crate) context: u32,
    pub(crate) state: u32,
}

/// What was gathered for a cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Closing {
    /// Nothing: there is no such cut.
    Nothing,
    /// Something.
    Carries,
    /// Something that is violated.
    Violated,
}

/// A violation: the paths to this cut that are in this state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    pub(crate) owner: u32,
    pub(crate) cut: Vec<u32>,
    pub(crate) at: PathState,
    /// An event that could come only as the last: the cut and the state are those before it.
    pub(crate) terminal: Option<u32>,
    /// How far the cut is from the recorded run.
    pub(crate) distance: u64,
}

/// What the cuts of a level carry, and how it changes along edges.
pub(crate) trait Payload {
    /// By cut of a level.
    type Column: Clone + Default;
    /// What is gathered for one cut.
    type Gathered: Default;
    /// An edge costs next to nothing.
    const FAST: bool;
    /// Edges must say their cuts.
    const WANTS_CUT: bool;
    /// No cut may be left out: a search that cannot keep them all ends.
    const EXACT: bool = false;

    /// The column of the level that has only the empty cut, and how much it carries; 0: nothing more can go wrong.
    fn start(&mut self) -> (Self::Column, usize);
    /// A level of so many cuts begins to be left.
    fn begin(&mut self, cuts: usize, recorded: &[u32]);
    /// Gathers what comes over an edge from a cut.
    fn edge(
        &mut self,
        from: &Self::Column,
        cut: usize,
        edge: &Edge<'_>,
        messages: &Messages<'_>,
        to: &mut Self::Gathered,
    );
    /// Adds what was gathered for a cut to its level, unless that is nothing.
    fn close(&mut self, gathered: &mut Self::Gathered, to: &mut Self::Column) -> Closing;
    /// Takes note of the violations of the last cut of a level.
    fn note(&mut self, column: &Self::Column, cut: &[u32]);
    /// The violations found while leaving the level, nearest to the recorded run, at most one for each owner.
    fn found(&mut self) -> Vec<Candidate>;
    /// Keeps only some cuts of a column.
    fn retain(column: &mut Self::Column, keep: &[bool]);
    /// An empty column with the memory of an old one.
    fn clear(column: Self::Column) -> Self::Column;
    fn bytes(column: &Self::Column) -> usize;

    /// The states of a cut.
    fn states(&self, column: &Self::Column, cut: usize) -> Vec<PathState>;
    /// The state after an event, if it can come.
    fn step(&mut self, at: PathState, edge: &Edge<'_>, messages: &Messages<'_>) -> Option<PathState>;

    /// Merges the next level; `threads` may work at once.
    fn merge<K: Key>(&mut self, merge: &Merge<'_, '_, K, Self::Column>, to: &mut Level<K, Self::Column>, threads: usize)
    where
        Self: Sized,
    {
        let _ = threads;
        merge.run(K::ZERO, None, self, to);
    }

    /// Memory beside the columns.
    fn overhead(&self) -> usize {
        0
    }

    /// Forgets that anything was found: everything is of interest again.
    fn revive(&mut self) {}
}

/// How far a cut is from another one of the same level.
pub(crate) fn distance(cut: &[u32], recorded: &[u32]) -> u64 {
    let longest = cut.len().max(recorded.len());
    let at = |counts: &[u32], chain| counts.get(chain).copied().unwrap_or(0);
    (0..longest).map(|chain| u64::from(at(cut, chain).abs_diff(at(recorded, chain)))).sum()
}

/// Keeps a candidate if it is the nearest of its owner.
pub(crate) fn offer(candidates: &mut Vec<Candidate>, candidate: Candidate) {
    let key = |c: &Candidate| (c.distance, c.terminal.is_some());
    match candidates.iter_mut().find(|c| c.owner == candidate.owner) {
        Some(old) if (key(&candidate), &candidate.cut) < (key(old), &old.cut) => *old = candidate,
        Some(_) => {}
        None => candidates.push(candidate),
    }
}
