//! Exact numbers of paths as fixed rows of words, for small automata and structures without rules. This is the fast way
//! to count; `counts.rs` is the general one.
//!
//! Without rules every cut but the last one can be continued, and no path has a context, so a cut carries just a number
//! for each state of the automaton that paths arrive in. How many bits a number can take on a level is known
//! beforehand: the events of a cut cannot have more orders than if they were independent.

use super::{Candidate, Closing, Edge, PathState, Payload};
use crate::automaton::Automaton;
use crate::key::Key;
use crate::merge::{Level, Merge};
use crate::messages::Messages;
use event::PathStatus;
use num_bigint::BigUint;
use std::sync::Arc;

/// States of an automaton that is counted in this way.
const STATES: usize = 64;

/// The automaton as a table, with all its states.
struct Table {
    /// By class and state: the next state.
    next: Vec<[u8; STATES]>,
    start: Vec<u8>,
    /// By state: its owner, and whether it is violated.
    owners: Vec<(u32, bool)>,
}

impl Table {
    /// Discovers all states of an automaton; `None` if there are too many.
    fn new<A: Automaton>(automaton: &mut A, classes: u32) -> Option<Table> {
        let mut states: Vec<u32> = Vec::new();
        let number = |state: u32, states: &mut Vec<u32>| -> Option<u8> {
            let at = states.iter().position(|&known| known == state).unwrap_or(states.len());
            if at == states.len() {
                states.push(state);
            }
            (at < STATES).then_some(at as u8)
        };
        let start = automaton.start().into_iter().map(|state| number(state, &mut states));
        let start: Vec<u8> = start.collect::<Option<_>>()?;
        let mut next = vec![[0; STATES]; classes as usize];
        let mut at = 0;
        while at < states.len() {
            for class in 0..classes {
                let state = automaton.step(states[at], class);
                next[class as usize][at] = number(state, &mut states)?;
            }
            at += 1;
        }
        let owner = |&state: &u32| (automaton.owner(state), automaton.status(state) == PathStatus::Violated);
        Some(Table { next, start, owners: states.iter().map(owner).collect() })
    }
}

/// The numbers of paths to the cuts of a level, one cut after another.
#[derive(Clone, Default)]
pub(crate) struct Column {
    /// Words of a number.
    width: usize,
    /// By cut: the set of its states, and where its numbers end in `words`.
    states: Vec<(u64, usize)>,
    words: Vec<u64>,
}

impl Column {
    #[inline]
    fn numbers_of(&self, cut: usize) -> (u64, &[u64]) {
        let from = if cut == 0 { 0 } else { self.states[cut - 1].1 };
        let (states, to) = self.states[cut];
        (states, &self.words[from..to])
    }
}

/// What the edges to a cut have contributed.
#[derive(Default)]
pub(crate) struct Gathered {
    states: u64,
    /// By state: a number. Of states that are not in `states` it is 0 as long as numbers have at most 3 words, and
    /// means nothing after that (numbers only grow along a search).
    words: Vec<u64>,
}

pub(crate) struct Numbers {
    table: Arc<Table>,
    /// By depth: the words that a number of that level takes.
    widths: Arc<[u16]>,
    depth: usize,
    /// Those of the level that is made.
    width: usize,
    /// The number of pairs of a cut and an event that continues it.
    pub(crate) edges: u64,
}

impl Numbers {
    /// `None` if the automaton has too many states.
    pub(crate) fn new<A: Automaton>(automaton: &mut A, messages: &Messages<'_>) -> Option<Numbers> {
        let table = Arc::new(Table::new(automaton, messages.classes)?);
        Some(Numbers { table, widths: widths(messages), depth: 0, width: 1, edges: 0 })
    }

    /// By owner: the number of paths to a cut, and of those that violate.
    pub(crate) fn paths(&self, column: &Column, cut: usize, owners: usize) -> Vec<(BigUint, BigUint)> {
        let mut paths = vec![(BigUint::ZERO, BigUint::ZERO); owners];
        let (mut states, mut words) = column.numbers_of(cut);
        while states != 0 {
            let (number, rest) = words.split_at(column.width);
            let (owner, violated) = self.table.owners[states.trailing_zeros() as usize];
            let digits: Vec<u32> = number.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect();
            let number = BigUint::new(digits);
            let (all, bad) = &mut paths[owner as usize];
            if violated {
                *bad += &number;
            }
            *all += number;
            (states, words) = (states & (states - 1), rest);
        }
        paths
    }

    fn fork(&self) -> Numbers {
        Numbers { table: self.table.clone(), widths: self.widths.clone(), edges: 0, ..*self }
    }
}

/// By depth: how many words the numbers of paths to a cut of so many events take.
fn widths(messages: &Messages<'_>) -> Arc<[u16]> {
    let chains = messages.chains.len().max(1) as f64;
    // The orders of independent events, as a logarithm.
    let factorial = |n: u32| (1..=n).map(|k| f64::from(k).log2()).sum::<f64>();
    let events: u32 = messages.chains.iter().map(|chain| chain.ready).sum();
    let all = factorial(events) - messages.chains.iter().map(|chain| factorial(chain.ready)).sum::<f64>();
    // A bit for rounding, and one more.
    let width = |depth: u32| ((f64::from(depth) * chains.log2()).min(all) + 2.0) / 64.0;
    (0..=events).map(|depth| width(depth) as u16 + 1).collect()
}

/// Adds a number to another one that has room for the sum.
#[inline(always)]
fn add(to: &mut [u64], number: &[u64]) {
    let mut carry = false;
    let (low, high) = to.split_at_mut(number.len());
    for (to, &word) in low.iter_mut().zip(number) {
        let (sum, over) = to.overflowing_add(word);
        let (sum, more) = sum.overflowing_add(u64::from(carry));
        (*to, carry) = (sum, over | more);
    }
    for to in high {
        (*to, carry) = to.overflowing_add(u64::from(carry));
    }
}

/// Numbers of so many words are added to zeros, so that the first path to a state is no special case.
const SHORT: usize = 3;

/// Adds the numbers of a cut to what was gathered, along an edge of a class with these next states. `width` and
/// `from_width` are the words of a number; where the compiler knows them, no loop is left of an addition.
#[inline(always)]
fn add_all(to: &mut Gathered, width: usize, next: &[u8; STATES], from: (u64, &[u64]), from_width: usize) {
    let (mut states, words) = from;
    for number in words.chunks_exact(from_width) {
        let state = usize::from(next[states.trailing_zeros() as usize & (STATES - 1)]) & (STATES - 1);
        states &= states.wrapping_sub(1);
        to.states |= 1 << state;
        add(&mut to.words[state * width..][..width], number);
    }
}

/// As [`add_all`], for numbers of more words: the first path to a state is copied.
fn add_long(to: &mut Gathered, width: usize, next: &[u8; STATES], from: (u64, &[u64]), from_width: usize) {
    let (mut states, words) = from;
    for number in words.chunks_exact(from_width.max(1)) {
        let state = usize::from(next[states.trailing_zeros() as usize & (STATES - 1)]) & (STATES - 1);
        states &= states.wrapping_sub(1);
        let sum = &mut to.words[state * width..][..width];
        if to.states >> state & 1 == 0 {
            to.states |= 1 << state;
            sum[..number.len()].copy_from_slice(number);
            sum[number.len()..].fill(0);
        } else {
            add(sum, number);
        }
    }
}

/// Moves the numbers of some states to a column; short ones leave zeros.
#[inline(always)]
fn take_all(from: &mut Gathered, mut states: u64, width: usize, to: &mut Vec<u64>) {
    while states != 0 {
        let number = &mut from.words[states.trailing_zeros() as usize * width..][..width];
        to.extend_from_slice(number);
        if width <= SHORT {
            number.fill(0);
        }
        states &= states - 1;
    }
}

impl Payload for Numbers {
    type Column = Column;
    type Gathered = Gathered;
    const FAST: bool = true;
    const WANTS_CUT: bool = false;
    const EXACT: bool = true;

    fn start(&mut self) -> (Column, usize) {
        let states = self.table.start.iter().fold(0, |all, &state| all | 1u64 << state);
        let number = |state: u32| self.table.start.iter().filter(|&&start| u32::from(start) == state).count() as u64;
        let words: Vec<u64> = (0..64).filter(|state| states >> state & 1 == 1).map(number).collect();
        let carries = words.len();
        (Column { width: 1, states: vec![(states, carries)], words }, carries)
    }

    fn begin(&mut self, _cuts: usize, recorded: &[u32]) {
        // The recorded run's cut has as many events as every other one of its level.
        self.depth = recorded.iter().map(|&count| count as usize).sum();
        self.width = usize::from(self.widths.get(self.depth).copied().unwrap_or(1));
    }

    #[inline(always)]
    fn edge(&mut self, from: &Column, cut: usize, edge: &Edge<'_>, _messages: &Messages<'_>, to: &mut Gathered) {
        if to.words.len() < STATES * self.width {
            to.words.resize(STATES * self.width, 0);
        }
        let numbers = from.numbers_of(cut);
        let next = &self.table.next[edge.class as usize];
        match (from.width, self.width) {
            (1, 1) => add_all(to, 1, next, numbers, 1),
            (2, 2) => add_all(to, 2, next, numbers, 2),
            (3, 3) => add_all(to, 3, next, numbers, 3),
            (from_width, width) if width <= SHORT => add_all(to, width, next, numbers, from_width.max(1)),
            (from_width, width) => add_long(to, width, next, numbers, from_width),
        }
        self.edges += 1;
    }

    #[inline(always)]
    fn close(&mut self, gathered: &mut Gathered, to: &mut Column) -> Closing {
        to.width = self.width;
        let states = std::mem::take(&mut gathered.states);
        if states == 0 {
            return Closing::Nothing;
        }
        match self.width {
            1 => take_all(gathered, states, 1, &mut to.words),
            2 => take_all(gathered, states, 2, &mut to.words),
            3 => take_all(gathered, states, 3, &mut to.words),
            width => take_all(gathered, states, width, &mut to.words),
        }
        to.states.push((states, to.words.len()));
        Closing::Carries
    }

    fn note(&mut self, _column: &Column, _cut: &[u32]) {}

    fn found(&mut self) -> Vec<Candidate> {
        Vec::new()
    }

    fn retain(_column: &mut Column, _keep: &[bool]) {
        unreachable!("nothing is left out when paths are counted")
    }

    fn clear(mut column: Column) -> Column {
        column.states.clear();
        column.words.clear();
        column
    }

    fn bytes(column: &Column) -> usize {
        column.states.capacity() * size_of::<(u64, usize)>() + column.words.capacity() * 8
    }

    fn states(&self, column: &Column, cut: usize) -> Vec<PathState> {
        let states = column.states[cut].0;
        (0..64).filter(|state| states >> state & 1 == 1).map(|state| PathState { context: 0, state }).collect()
    }

    fn step(&mut self, path: PathState, edge: &Edge<'_>, _messages: &Messages<'_>) -> Option<PathState> {
        let state = self.table.next[edge.class as usize][path.state as usize].into();
        Some(PathState { context: 0, state })
    }

    fn merge<K: Key>(&mut self, merge: &Merge<'_, '_, K, Column>, to: &mut Level<K, Column>, threads: usize) {
        if threads < 2 {
            return merge.run(K::ZERO, None, self, to);
        }
        for (mut level, own) in merge.in_parts(threads, || self.fork()) {
            self.edges += own.edges;
            to.keys.append(&mut level.keys);
            let base = to.column.words.len();
            to.column.width = level.column.width;
            to.column.states.extend(level.column.states.iter().map(|&(states, end)| (states, base + end)));
            to.column.words.append(&mut level.column.words);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_carry() {
        let mut sum = [u64::MAX, u64::MAX, 0];
        add(&mut sum, &[1]);
        assert_eq!(sum, [0, 0, 1]);
        add(&mut sum, &[u64::MAX, 5]);
        assert_eq!(sum, [u64::MAX, 5, 1]);
        add(&mut sum, &[1, u64::MAX]);
        assert_eq!(sum, [0, 5, 2]);
    }
}
