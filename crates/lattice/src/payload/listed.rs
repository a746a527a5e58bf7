//! Sets of states of an automaton whose states are too many for a word, but all known: a cut carries the number of its
//! only state, or the place of a list. Most cuts have one state, wherever a property depends on what its variables hold
//! and each thread writes its own.

use super::{Candidate, Closing, Edge, PathState, Payload, distance, offer};
use crate::discovered::Discovered;
use crate::key::Key;
use crate::merge::{Level, Merge};
use crate::messages::Messages;
use event::PathStatus;
use std::sync::Arc;

/// No state: paths that are safe.
const NONE: u16 = u16::MAX;

/// A cut with this bit has the place of a list: its length, then its states, ascending.
const LIST: u32 = 1 << 31;

const VIOLATED: u8 = 1;
const RETIRED: u8 = 2;

/// The states of the cuts of a level.
#[derive(Clone, Default)]
pub(crate) struct Column {
    cuts: Vec<u32>,
    lists: Vec<u16>,
}

impl Column {
    /// The only state of a cut, or else its list.
    #[inline(always)]
    fn states_of(&self, cut: usize) -> Result<u16, &[u16]> {
        let word = self.cuts[cut];
        if word & LIST == 0 {
            return Ok(word as u16);
        }
        let at = (word & !LIST) as usize;
        Err(&self.lists[at + 1..][..usize::from(self.lists[at])])
    }

    fn push_list(&mut self, states: &[u16]) {
        self.cuts.push(LIST | self.lists.len() as u32);
        self.lists.push(states.len() as u16);
        self.lists.extend_from_slice(states);
    }
}

/// What the edges to a cut have contributed.
pub(crate) struct Gathered {
    first: u16,
    /// States that came after another one; not sorted, and some maybe several times.
    more: Vec<u16>,
}

impl Default for Gathered {
    fn default() -> Self {
        Gathered { first: NONE, more: Vec::new() }
    }
}

impl Gathered {
    #[inline(always)]
    fn add(&mut self, state: u16) {
        if self.first == NONE {
            self.first = state;
        } else if state != self.first && state != NONE {
            self.more.push(state);
        }
    }
}

pub(crate) struct Listed {
    automaton: Arc<Discovered>,
    /// By class and state: the next state, if some continuation may be violated.
    next: Arc<[u16]>,
    /// By state.
    flags: Vec<u8>,
    recorded: Vec<u32>,
    found: Vec<Candidate>,
}

impl Listed {
    pub(crate) fn new(automaton: Discovered) -> Listed {
        let states = &automaton.states;
        let status = |state: u16| states[usize::from(state)].status;
        let next = automaton.next.iter().enumerate().map(|(at, &next)| {
            let is_over = states[at % states.len()].status == PathStatus::Violated || status(next) == PathStatus::Safe;
            if is_over { NONE } else { next }
        });
        let next = next.collect();
        let violated = |is: bool| if is { VIOLATED } else { 0 };
        let flags = states.iter().map(|state| violated(state.status == PathStatus::Violated)).collect();
        Listed { automaton: Arc::new(automaton), next, flags, recorded: Vec::new(), found: Vec::new() }
    }

    /// A copy for another thread.
    fn fork(&self) -> Listed {
        Listed {
            automaton: self.automaton.clone(),
            next: self.next.clone(),
            flags: self.flags.clone(),
            recorded: self.recorded.clone(),
            found: Vec::new(),
        }
    }

    fn offer(&mut self, state: u16, cut: &[u32], ended: bool) {
        let owner = self.automaton.states[usize::from(state)].owner;
        let distance = if ended { 0 } else { distance(cut, &self.recorded) };
        let path = PathState { context: 0, state: state.into() };
        offer(&mut self.found, Candidate { owner, cut: cut.to_vec(), path, terminal: None, ended, distance });
    }

    fn list(column: &Column, cut: usize) -> Vec<u16> {
        column.states_of(cut).map_or_else(<[u16]>::to_vec, |state| vec![state])
    }

    /// Several states, as they were gathered.
    #[cold]
    #[inline(never)]
    fn close_list(&self, gathered: &mut Gathered, to: &mut Column) -> Closing {
        let mut states = std::mem::take(&mut gathered.more);
        states.push(std::mem::replace(&mut gathered.first, NONE));
        states.retain(|&state| self.flags[usize::from(state)] & RETIRED == 0);
        states.sort_unstable();
        states.dedup();
        let closing = match states[..] {
            [] => Closing::Nothing,
            [state] => {
                to.cuts.push(state.into());
                Closing::Carries
            }
            _ => {
                to.push_list(&states);
                Closing::Carries
            }
        };
        let violated = states.iter().any(|&state| self.flags[usize::from(state)] & VIOLATED != 0);
        states.clear();
        gathered.more = states;
        if violated { Closing::Violated } else { closing }
    }
}

impl Payload for Listed {
    type Column = Column;
    type Gathered = Gathered;
    const FAST: bool = true;
    const WANTS_CUT: bool = false;

    fn start(&mut self) -> (Column, usize) {
        let automaton = self.automaton.clone();
        let mut states: Vec<u16> = automaton.start.clone();
        states.retain(|&state| automaton.states[usize::from(state)].status != PathStatus::Safe);
        states.sort_unstable();
        states.dedup();
        for &state in
            states.iter().filter(|&&state| automaton.states[usize::from(state)].status == PathStatus::Violated)
        {
            self.offer(state, &[], false);
        }
        let carries = states.len();
        let mut column = Column::default();
        column.push_list(&states);
        (column, carries)
    }

    fn begin(&mut self, _cuts: usize, recorded: &[u32]) {
        self.recorded.clear();
        self.recorded.extend_from_slice(recorded);
    }

    #[inline(always)]
    fn edge(&mut self, from: &Column, cut: usize, edge: &Edge<'_>, _messages: &Messages<'_>, to: &mut Gathered) {
        let next = &self.next[edge.class as usize * self.flags.len()..][..self.flags.len()];
        match from.states_of(cut) {
            Ok(state) => to.add(next[usize::from(state)]),
            Err(list) => list.iter().for_each(|&state| to.add(next[usize::from(state)])),
        }
    }

    #[inline(always)]
    fn close(&mut self, gathered: &mut Gathered, to: &mut Column) -> Closing {
        let state = gathered.first;
        if state == NONE {
            return Closing::Nothing;
        }
        if !gathered.more.is_empty() {
            return self.close_list(gathered, to);
        }
        gathered.first = NONE;
        match self.flags[usize::from(state)] {
            0 => {
                to.cuts.push(state.into());
                Closing::Carries
            }
            VIOLATED => {
                to.cuts.push(state.into());
                Closing::Violated
            }
            _ => Closing::Nothing,
        }
    }

    #[cold]
    fn note(&mut self, column: &Column, cut: &[u32]) {
        for state in Self::list(column, column.cuts.len() - 1) {
            if self.flags[usize::from(state)] & VIOLATED != 0 {
                self.offer(state, cut, false);
            }
        }
    }

    #[cold]
    fn end(&mut self, column: &Column, cut: &[u32]) {
        for last in 0..column.cuts.len() {
            for state in Self::list(column, last) {
                let fails = self.automaton.states[usize::from(state)].fails_at_end;
                if fails && self.flags[usize::from(state)] & RETIRED == 0 {
                    self.offer(state, cut, true);
                }
            }
        }
    }

    fn found(&mut self) -> Vec<Candidate> {
        let found = std::mem::take(&mut self.found);
        for candidate in &found {
            for (state, flags) in self.automaton.states.iter().zip(&mut self.flags) {
                *flags |= if state.owner == candidate.owner { RETIRED } else { 0 };
            }
        }
        found
    }

    fn retain(column: &mut Column, keep: &[bool]) {
        let mut kept = Column::default();
        for cut in (0..column.cuts.len()).filter(|&cut| keep[cut]) {
            match column.states_of(cut) {
                Ok(state) => kept.cuts.push(state.into()),
                Err(list) => kept.push_list(list),
            }
        }
        *column = kept;
    }

    fn clear(mut column: Column) -> Column {
        column.cuts.clear();
        column.lists.clear();
        column
    }

    fn bytes(column: &Column) -> usize {
        column.cuts.capacity() * size_of::<u32>() + column.lists.capacity() * size_of::<u16>()
    }

    fn states(&self, column: &Column, cut: usize) -> Vec<PathState> {
        let states = Self::list(column, cut);
        states.into_iter().map(|state| PathState { context: 0, state: state.into() }).collect()
    }

    fn step(&mut self, path: PathState, edge: &Edge<'_>, _messages: &Messages<'_>) -> Option<PathState> {
        let next = self.next[edge.class as usize * self.flags.len() + path.state as usize];
        (next != NONE).then(|| PathState { context: 0, state: next.into() })
    }

    fn merge<K: Key>(&mut self, merge: &Merge<'_, '_, K, Column>, to: &mut Level<K, Column>, threads: usize) {
        if threads < 2 {
            return merge.run(K::ZERO, None, self, to);
        }
        for (mut level, own) in merge.in_parts(threads, || self.fork()) {
            to.keys.append(&mut level.keys);
            let base = to.column.lists.len() as u32;
            let moved = |&word: &u32| if word & LIST == 0 { word } else { word + base };
            to.column.cuts.extend(level.column.cuts.iter().map(moved));
            to.column.lists.append(&mut level.column.lists);
            own.found.into_iter().for_each(|candidate| offer(&mut self.found, candidate));
        }
    }

    fn revive(&mut self) {
        self.flags.iter_mut().for_each(|flags| *flags &= !RETIRED);
    }
}
