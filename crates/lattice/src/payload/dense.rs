//! Exact numbers of paths for automata of at most four states: a cut carries a number for each of them, 0 where no path
//! arrives. Without masks and places, an edge is little more than an addition.

use super::sums::{add, by_owner, widths};
use super::{Closing, Edge, PathState, Payload};
use crate::discovered::Discovered;
use crate::key::Key;
use crate::merge::{Level, Merge};
use crate::messages::Messages;
use num_bigint::BigUint;
use std::sync::Arc;

/// States, and words of their numbers, that there is room for.
const MOST_STATES: usize = 4;
const MOST_WORDS: usize = 3;

/// The numbers of paths to the cuts of a level: by cut and state.
#[derive(Clone, Default)]
pub(crate) struct Column {
    /// Words of a number.
    width: usize,
    words: Vec<u64>,
}

pub(crate) struct Dense {
    automaton: Arc<Discovered>,
    /// By class and state: the next state.
    next: Arc<[[u8; MOST_STATES]]>,
    /// How many numbers a cut has: 1, 2 or 4.
    slots: usize,
    /// By depth: the words that a number of that level takes.
    widths: Arc<[u16]>,
    depth: usize,
    /// Those of the level that is made.
    width: usize,
    /// The number of pairs of a cut and an event that continues it.
    pub(crate) edges: u64,
}

impl Dense {
    /// Gives the automaton back if it has too many states, or the numbers have too many words.
    pub(crate) fn new(automaton: Discovered, messages: &Messages<'_>) -> Result<Dense, Discovered> {
        let widths = widths(messages);
        let states = automaton.states.len();
        if states > MOST_STATES || widths.iter().any(|&width| usize::from(width) > MOST_WORDS) {
            return Err(automaton);
        }
        let next = automaton.next.chunks_exact(states.max(1)).map(|of_class| {
            let mut next = [0; MOST_STATES];
            next.iter_mut().zip(of_class).for_each(|(next, &state)| *next = state as u8);
            next
        });
        let next = next.collect();
        let slots = states.max(1).next_power_of_two();
        Ok(Dense { automaton: Arc::new(automaton), next, slots, widths, depth: 0, width: 1, edges: 0 })
    }

    /// By owner: the number of paths to a cut, and of those that violate.
    pub(crate) fn paths(&self, column: &Column, cut: usize, owners: usize) -> Vec<(BigUint, BigUint)> {
        let row = self.slots * column.width;
        let numbers = column.words[cut * row..][..row].chunks_exact(column.width);
        let states = 0..self.automaton.states.len() as u16;
        by_owner(&self.automaton, states.zip(numbers), owners)
    }

    fn fork(&self) -> Dense {
        Dense {
            automaton: self.automaton.clone(),
            next: self.next.clone(),
            widths: self.widths.clone(),
            edges: 0,
            ..*self
        }
    }
}

/// Adds the numbers of a cut, of so many words, to those gathered, of as many words.
#[inline(always)]
fn add_row<const SLOTS: usize, const WIDTH: usize>(
    to: &mut [u64; MOST_STATES * MOST_WORDS],
    next: &[u8; MOST_STATES],
    words: &[u64],
    cut: usize,
) {
    let row = &words[cut * SLOTS * WIDTH..][..SLOTS * WIDTH];
    for slot in 0..SLOTS {
        let state = if SLOTS == 1 { 0 } else { usize::from(next[slot]) & (SLOTS - 1) };
        add(&mut to[state * WIDTH..][..WIDTH], &row[slot * WIDTH..][..WIDTH]);
    }
}

impl Payload for Dense {
    type Column = Column;
    type Gathered = [u64; MOST_STATES * MOST_WORDS];
    const FAST: bool = true;
    const WANTS_CUT: bool = false;
    const EXACT: bool = true;

    fn start(&mut self) -> (Column, usize) {
        let mut words = vec![0; self.slots];
        self.automaton.start.iter().for_each(|&state| words[usize::from(state)] += 1);
        (Column { width: 1, words }, self.automaton.start.len())
    }

    fn begin(&mut self, _cuts: usize, recorded: &[u32]) {
        // The recorded run's cut has as many events as every other one of its level.
        self.depth = recorded.iter().map(|&count| count as usize).sum();
        self.width = usize::from(self.widths.get(self.depth).copied().unwrap_or(1));
    }

    #[inline(always)]
    fn edge(&mut self, from: &Column, cut: usize, edge: &Edge<'_>, _: &Messages<'_>, to: &mut Self::Gathered) {
        self.edges += 1;
        let next = &self.next[edge.class as usize];
        let (words, width) = (&from.words, self.width);
        if from.width == width {
            match (self.slots, width) {
                (1, 1) => return add_row::<1, 1>(to, next, words, cut),
                (1, 2) => return add_row::<1, 2>(to, next, words, cut),
                (1, 3) => return add_row::<1, 3>(to, next, words, cut),
                (2, 1) => return add_row::<2, 1>(to, next, words, cut),
                (2, 2) => return add_row::<2, 2>(to, next, words, cut),
                (2, 3) => return add_row::<2, 3>(to, next, words, cut),
                (4, 1) => return add_row::<4, 1>(to, next, words, cut),
                (4, 2) => return add_row::<4, 2>(to, next, words, cut),
                (4, 3) => return add_row::<4, 3>(to, next, words, cut),
                _ => {}
            }
        }
        let row = &words[cut * self.slots * from.width..][..self.slots * from.width];
        for (slot, number) in row.chunks_exact(from.width).enumerate() {
            add(&mut to[usize::from(next[slot]) * width..][..width], number);
        }
    }

    #[inline(always)]
    fn close(&mut self, gathered: &mut Self::Gathered, to: &mut Column) -> Closing {
        to.width = self.width;
        let row = &mut gathered[..self.slots * self.width];
        to.words.extend_from_slice(row);
        row.fill(0);
        Closing::Carries
    }

    fn retain(_column: &mut Column, _keep: &[bool]) {
        unreachable!("nothing is left out when paths are counted")
    }

    fn clear(mut column: Column) -> Column {
        column.words.clear();
        column
    }

    fn bytes(column: &Column) -> usize {
        column.words.capacity() * 8
    }

    fn states(&self, column: &Column, cut: usize) -> Vec<PathState> {
        let row = &column.words[cut * self.slots * column.width..][..self.slots * column.width];
        let numbers = (0..).zip(row.chunks_exact(column.width));
        let reached = numbers.filter(|(_, number)| number.iter().any(|&word| word != 0));
        reached.map(|(state, _)| PathState { context: 0, state }).collect()
    }

    fn step(&mut self, path: PathState, edge: &Edge<'_>, _messages: &Messages<'_>) -> Option<PathState> {
        let state = self.next[edge.class as usize][path.state as usize].into();
        Some(PathState { context: 0, state })
    }

    fn merge<K: Key>(&mut self, merge: &Merge<'_, '_, K, Column>, to: &mut Level<K, Column>, threads: usize) {
        if threads < 2 {
            return merge.run(K::ZERO, None, self, to);
        }
        for (mut level, own) in merge.in_parts(threads, || self.fork()) {
            self.edges += own.edges;
            to.keys.append(&mut level.keys);
            to.column.width = level.column.width;
            to.column.words.append(&mut level.column.words);
        }
    }
}
