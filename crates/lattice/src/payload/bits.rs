//! Sets of states as machine words, for small automata without context. This is the fast payload.

use super::{Candidate, Closing, Edge, PathState, Payload, distance, offer};
use crate::automaton::SmallAutomaton;
use crate::key::Key;
use crate::merge::{Level, Merge};
use crate::messages::Messages;
use std::sync::Arc;

/// A set of states in a word, and how a table steps all of them at once.
pub(crate) trait Word: Copy + Default + Send + Sync + PartialEq + 'static {
    /// Appends the part of the table for the next class.
    fn extend(table: &mut Vec<Self>, next: &[u64; 64]);
    /// The set of states after an event of a class.
    fn step(self, class: u32, table: &[Self]) -> Self;
    fn or(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
}

/// A set of at most 8 states: a step is one load.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct Few(u8);

impl Word for Few {
    fn extend(table: &mut Vec<Few>, next: &[u64; 64]) {
        let step = |set: usize| (0..8).filter(|q| set >> q & 1 == 1).fold(0, |all, q| all | next[q] as u8);
        table.extend((0..256).map(|set| Few(step(set))));
    }
    #[inline(always)]
    fn step(self, class: u32, table: &[Few]) -> Few {
        table[class as usize * 256 + self.0 as usize]
    }
    #[inline(always)]
    fn or(self, other: Few) -> Few {
        Few(self.0 | other.0)
    }
    #[inline(always)]
    fn and(self, other: Few) -> Few {
        Few(self.0 & other.0)
    }
    fn from_bits(bits: u64) -> Few {
        Few(bits as u8)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.0.into()
    }
}

/// A set of at most 64 states: a step goes state by state.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct Many(u64);

impl Word for Many {
    fn extend(table: &mut Vec<Many>, next: &[u64; 64]) {
        table.extend(next.iter().copied().map(Many));
    }
    #[inline(always)]
    fn step(self, class: u32, table: &[Many]) -> Many {
        let table = &table[class as usize * 64..][..64];
        let (mut set, mut all) = (self.0, 0);
        while set != 0 {
            all |= table[set.trailing_zeros() as usize & 63].0;
            set &= set - 1;
        }
        Many(all)
    }
    #[inline(always)]
    fn or(self, other: Many) -> Many {
        Many(self.0 | other.0)
    }
    #[inline(always)]
    fn and(self, other: Many) -> Many {
        Many(self.0 & other.0)
    }
    fn from_bits(bits: u64) -> Many {
        Many(bits)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.0
    }
}

pub(crate) struct Bits<W: Word> {
    automaton: Arc<SmallAutomaton>,
    table: Arc<[W]>,
    violated: W,
    /// The states of owners without a violation.
    alive: W,
    recorded: Vec<u32>,
    found: Vec<Candidate>,
}

impl<W: Word> Bits<W> {
    pub(crate) fn new(automaton: SmallAutomaton) -> Bits<W> {
        let mut table = Vec::new();
        automaton.next.iter().for_each(|next| W::extend(&mut table, next));
        Bits {
            table: table.into(),
            violated: W::from_bits(automaton.violated),
            alive: W::from_bits(u64::MAX),
            automaton: Arc::new(automaton),
            recorded: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Notes the states of a cut that are bad: violated, or that fail at the end.
    fn note_set(&mut self, mut bad: u64, cut: &[u32], ended: bool) {
        while bad != 0 {
            let state = bad.trailing_zeros();
            bad &= bad - 1;
            let owner = self.automaton.owned.iter().position(|states| states >> state & 1 == 1).unwrap_or(0) as u32;
            let distance = distance(cut, &self.recorded);
            let path = PathState { context: 0, state };
            offer(&mut self.found, Candidate { owner, cut: cut.to_vec(), path, terminal: None, ended, distance });
        }
    }

    fn retire(&mut self, owner: u32) {
        let states = self.automaton.owned[owner as usize];
        self.alive = W::from_bits(self.alive.bits() & !states);
    }
}

impl<W: Word> Payload for Bits<W> {
    type Column = Vec<W>;
    type Gathered = W;
    const FAST: bool = true;
    const WANTS_CUT: bool = false;

    fn start(&mut self) -> (Vec<W>, usize) {
        let start = W::from_bits(self.automaton.start);
        if start.and(self.violated).bits() != 0 {
            self.note_set(start.and(self.violated).bits(), &[], false);
        }
        (vec![start], self.automaton.start.count_ones() as usize)
    }

    fn begin(&mut self, _cuts: usize, recorded: &[u32]) {
        self.recorded.clear();
        self.recorded.extend_from_slice(recorded);
    }

    #[inline(always)]
    fn edge(&mut self, from: &Vec<W>, cut: usize, edge: &Edge<'_>, _messages: &Messages<'_>, to: &mut W) {
        *to = to.or(from[cut].step(edge.class, &self.table));
    }

    #[inline(always)]
    fn close(&mut self, gathered: &mut W, to: &mut Vec<W>) -> Closing {
        let set = gathered.and(self.alive);
        *gathered = W::default();
        if set == W::default() {
            return Closing::Nothing;
        }
        to.push(set);
        if set.and(self.violated) == W::default() { Closing::Carries } else { Closing::Violated }
    }

    #[cold]
    fn note(&mut self, column: &Vec<W>, cut: &[u32]) {
        if let Some(&set) = column.last() {
            self.note_set(set.and(self.violated).bits(), cut, false);
        }
    }

    #[cold]
    fn end(&mut self, column: &Vec<W>, cut: &[u32]) {
        if let Some(&set) = column.last() {
            self.note_set(set.and(self.alive).bits() & self.automaton.ends, cut, true);
        }
    }

    fn found(&mut self) -> Vec<Candidate> {
        let found = std::mem::take(&mut self.found);
        found.iter().for_each(|candidate| self.retire(candidate.owner));
        found
    }

    fn retain(column: &mut Vec<W>, keep: &[bool]) {
        let mut keep = keep.iter();
        column.retain(|_| *keep.next().expect("one for each cut"));
    }

    fn clear(mut column: Vec<W>) -> Vec<W> {
        column.clear();
        column
    }

    fn bytes(column: &Vec<W>) -> usize {
        column.capacity() * size_of::<W>()
    }

    fn states(&self, column: &Vec<W>, cut: usize) -> Vec<PathState> {
        let set = column[cut].bits();
        (0..64).filter(|state| set >> state & 1 == 1).map(|state| PathState { context: 0, state }).collect()
    }

    fn step(&mut self, path: PathState, edge: &Edge<'_>, _messages: &Messages<'_>) -> Option<PathState> {
        let next = self.automaton.next[edge.class as usize][path.state as usize];
        (next != 0).then(|| PathState { context: 0, state: next.trailing_zeros() })
    }

    fn merge<K: Key>(&mut self, merge: &Merge<'_, '_, K, Vec<W>>, to: &mut Level<K, Vec<W>>, threads: usize) {
        if threads < 2 {
            return merge.run(K::ZERO, None, self, to);
        }
        for (mut level, own) in merge.in_parts(threads, || self.fork()) {
            to.keys.append(&mut level.keys);
            to.column.append(&mut level.column);
            own.found.into_iter().for_each(|candidate| offer(&mut self.found, candidate));
        }
    }

    fn revive(&mut self) {
        self.alive = W::from_bits(u64::MAX);
    }
}

impl<W: Word> Bits<W> {
    /// A copy for another thread.
    fn fork(&self) -> Bits<W> {
        Bits {
            automaton: self.automaton.clone(),
            table: self.table.clone(),
            recorded: self.recorded.clone(),
            found: Vec::new(),
            ..*self
        }
    }
}
