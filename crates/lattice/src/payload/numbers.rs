//! Exact numbers of paths as rows of words, for automata of some thousand states and structures without rules.
//! `dense.rs` is the way for very few states, `counts.rs` the general one.
//!
//! Without rules every cut but the last one can be continued, and no path has a context, so a cut carries just a number
//! for each state of the automaton that paths arrive in.

use super::sums::{add, by_owner, widths};
use super::{Closing, Edge, PathState, Payload};
use crate::discovered::Discovered;
use crate::key::Key;
use crate::merge::{Level, Merge};
use crate::messages::Messages;
use num_bigint::BigUint;
use std::sync::Arc;

/// Stands for a place that there is not.
const NONE: u16 = u16::MAX;

/// The numbers of paths to the cuts of a level, one cut after another.
#[derive(Clone, Default)]
pub(crate) struct Column {
    /// Words of a number.
    width: usize,
    /// By cut: where its states end.
    ends: Vec<usize>,
    states: Vec<u16>,
    /// By place in `states`: a number.
    words: Vec<u64>,
}

impl Column {
    #[inline(always)]
    fn numbers_of(&self, cut: usize) -> (&[u16], &[u64]) {
        let from = if cut == 0 { 0 } else { self.ends[cut - 1] };
        let to = self.ends[cut];
        (&self.states[from..to], &self.words[from * self.width..to * self.width])
    }
}

/// What the edges to a cut have contributed.
#[derive(Default)]
pub(crate) struct Gathered {
    states: Vec<u16>,
    words: Vec<u64>,
    /// By state: its place in `states`.
    places: Vec<u16>,
}

pub(crate) struct Numbers {
    automaton: Arc<Discovered>,
    /// By depth: the words that a number of that level takes.
    widths: Arc<[u16]>,
    depth: usize,
    /// Those of the level that is made.
    width: usize,
    /// The number of pairs of a cut and an event that continues it.
    pub(crate) edges: u64,
}

impl Numbers {
    pub(crate) fn new(automaton: Discovered, messages: &Messages<'_>) -> Numbers {
        Numbers { automaton: Arc::new(automaton), widths: widths(messages), depth: 0, width: 1, edges: 0 }
    }

    /// By owner: the number of paths to a cut, and of those that violate.
    pub(crate) fn paths(&self, column: &Column, cut: usize, owners: usize) -> Vec<(BigUint, BigUint)> {
        let (states, words) = column.numbers_of(cut);
        by_owner(&self.automaton, states.iter().copied().zip(words.chunks_exact(column.width)), owners)
    }

    fn fork(&self) -> Numbers {
        Numbers { automaton: self.automaton.clone(), widths: self.widths.clone(), edges: 0, ..*self }
    }
}

/// Adds the numbers of a cut to what was gathered, along an edge with these next states. `width` and `from_width` are
/// the words of a number; where the compiler knows them, no loop is left of an addition.
#[inline(always)]
fn add_all(to: &mut Gathered, width: usize, next: &[u16], (states, words): (&[u16], &[u64]), from_width: usize) {
    for (&state, number) in states.iter().zip(words.chunks_exact(from_width)) {
        let state = next[usize::from(state)];
        let mut place = to.places[usize::from(state)];
        if place == NONE {
            place = to.states.len() as u16;
            to.places[usize::from(state)] = place;
            to.states.push(state);
            to.words.extend(std::iter::repeat_n(0, width));
        }
        add(&mut to.words[usize::from(place) * width..][..width], number);
    }
}

impl Payload for Numbers {
    type Column = Column;
    type Gathered = Gathered;
    const FAST: bool = true;
    const WANTS_CUT: bool = false;
    const EXACT: bool = true;

    fn start(&mut self) -> (Column, usize) {
        let mut states = self.automaton.start.clone();
        states.sort_unstable();
        states.dedup();
        let number = |state: &u16| self.automaton.start.iter().filter(|&start| start == state).count() as u64;
        let words = states.iter().map(number).collect();
        let carries = states.len();
        (Column { width: 1, ends: vec![carries], states, words }, carries)
    }

    fn begin(&mut self, _cuts: usize, recorded: &[u32]) {
        // The recorded run's cut has as many events as every other one of its level.
        self.depth = recorded.iter().map(|&count| count as usize).sum();
        self.width = usize::from(self.widths.get(self.depth).copied().unwrap_or(1));
    }

    #[inline(always)]
    fn edge(&mut self, from: &Column, cut: usize, edge: &Edge<'_>, _messages: &Messages<'_>, to: &mut Gathered) {
        let count = self.automaton.states.len();
        if to.places.is_empty() {
            to.places.resize(count, NONE);
        }
        let numbers = from.numbers_of(cut);
        let next = &self.automaton.next[edge.class as usize * count..][..count];
        match (from.width, self.width) {
            (1, 1) => add_all(to, 1, next, numbers, 1),
            (2, 2) => add_all(to, 2, next, numbers, 2),
            (3, 3) => add_all(to, 3, next, numbers, 3),
            (from_width, width) => add_all(to, width, next, numbers, from_width.max(1)),
        }
        self.edges += 1;
    }

    #[inline(always)]
    fn close(&mut self, gathered: &mut Gathered, to: &mut Column) -> Closing {
        to.width = self.width;
        if gathered.states.is_empty() {
            return Closing::Nothing;
        }
        gathered.states.iter().for_each(|&state| gathered.places[usize::from(state)] = NONE);
        to.states.append(&mut gathered.states);
        to.words.append(&mut gathered.words);
        to.ends.push(to.states.len());
        Closing::Carries
    }

    fn retain(_column: &mut Column, _keep: &[bool]) {
        unreachable!("nothing is left out when paths are counted")
    }

    fn clear(mut column: Column) -> Column {
        column.ends.clear();
        column.states.clear();
        column.words.clear();
        column
    }

    fn bytes(column: &Column) -> usize {
        let Column { ends, states, words, .. } = column;
        ends.capacity() * size_of::<usize>() + states.capacity() * 2 + words.capacity() * 8
    }

    fn states(&self, column: &Column, cut: usize) -> Vec<PathState> {
        let (states, _) = column.numbers_of(cut);
        states.iter().map(|&state| PathState { context: 0, state: state.into() }).collect()
    }

    fn step(&mut self, path: PathState, edge: &Edge<'_>, _messages: &Messages<'_>) -> Option<PathState> {
        let count = self.automaton.states.len();
        let state = self.automaton.next[edge.class as usize * count + path.state as usize].into();
        Some(PathState { context: 0, state })
    }

    fn merge<K: Key>(&mut self, merge: &Merge<'_, '_, K, Column>, to: &mut Level<K, Column>, threads: usize) {
        if threads < 2 {
            return merge.run(K::ZERO, None, self, to);
        }
        for (mut level, own) in merge.in_parts(threads, || self.fork()) {
            self.edges += own.edges;
            to.keys.append(&mut level.keys);
            let base = to.column.states.len();
            to.column.width = level.column.width;
            to.column.ends.extend(level.column.ends.iter().map(|&end| base + end));
            to.column.states.append(&mut level.column.states);
            to.column.words.append(&mut level.column.words);
        }
    }
}
