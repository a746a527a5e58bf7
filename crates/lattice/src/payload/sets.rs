//! Sets of states as sorted lists: for any automaton, and for paths with a context.

use super::{Candidate, Closing, Edge, PathState, Payload, distance, offer};
use crate::automaton::Automaton;
use crate::messages::Messages;
use event::PathStatus;
use order::{Admission, Context};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The contexts of all paths so far, by number.
#[derive(Default)]
pub(crate) struct Contexts {
    numbers: FxHashMap<Arc<[(u32, u32)]>, u32>,
    all: Vec<Arc<[(u32, u32)]>>,
    /// The number of entries of all contexts.
    entries: usize,
    scratch: Context,
}

impl Contexts {
    /// The number of the empty context, with which paths begin.
    pub(crate) fn start(&mut self) -> u32 {
        self.number(&[])
    }

    fn number(&mut self, context: &[(u32, u32)]) -> u32 {
        if let Some(&number) = self.numbers.get(context) {
            return number;
        }
        let number = self.all.len() as u32;
        let context: Arc<[(u32, u32)]> = context.into();
        self.entries += context.len();
        self.all.push(context.clone());
        self.numbers.insert(context, number);
        number
    }

    /// Applies an event to a context: whether the context admits it, and the number of the context after it.
    pub(crate) fn apply(&mut self, context: u32, edge: &Edge<'_>, messages: &Messages<'_>) -> (Admission, u32) {
        let Some((rules, event)) = messages.rule_of(edge.chain, edge.number) else { return (Admission::Yes, context) };
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend_from_slice(&self.all[context as usize]);
        let admission = rules.apply(event, edge.chain, edge.cut, &mut scratch);
        let same = admission != Admission::Yes || *scratch == *self.all[context as usize];
        let next = if same { context } else { self.number(&scratch) };
        self.scratch = scratch;
        (admission, next)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.entries * 8 + self.all.len() * 64
    }
}

/// The states of the cuts of a level, one cut after another.
#[derive(Clone, Default)]
pub(crate) struct Column {
    /// By cut: where its states end.
    ends: Vec<usize>,
    states: Vec<PathState>,
}

impl Column {
    fn states_of(&self, cut: usize) -> &[PathState] {
        let from = if cut == 0 { 0 } else { self.ends[cut - 1] };
        &self.states[from..self.ends[cut]]
    }
}

pub(crate) struct Sets<A> {
    automaton: A,
    contexts: Contexts,
    recorded: Vec<u32>,
    found: Vec<Candidate>,
    retired: FxHashSet<u32>,
}

impl<A: Automaton> Sets<A> {
    pub(crate) fn new(automaton: A) -> Sets<A> {
        Sets {
            automaton,
            contexts: Contexts::default(),
            recorded: Vec::new(),
            found: Vec::new(),
            retired: FxHashSet::default(),
        }
    }

    fn is_alive(&self, state: u32) -> bool {
        self.retired.is_empty() || !self.retired.contains(&self.automaton.owner(state))
    }
}

impl<A: Automaton> Payload for Sets<A> {
    type Column = Column;
    type Gathered = Vec<PathState>;
    const FAST: bool = false;
    const WANTS_CUT: bool = true;

    fn start(&mut self) -> (Column, usize) {
        let context = self.contexts.start();
        let mut states: Vec<PathState> = Vec::new();
        for state in self.automaton.start() {
            match self.automaton.status(state) {
                PathStatus::Safe => continue,
                PathStatus::Violated => {
                    let owner = self.automaton.owner(state);
                    let path = PathState { context, state };
                    offer(
                        &mut self.found,
                        Candidate { owner, cut: Vec::new(), path, terminal: None, ended: false, distance: 0 },
                    );
                }
                PathStatus::Open => {}
            }
            states.push(PathState { context, state });
        }
        let carries = states.len();
        (Column { ends: vec![carries], states }, carries)
    }

    fn begin(&mut self, _cuts: usize, recorded: &[u32]) {
        self.recorded.clear();
        self.recorded.extend_from_slice(recorded);
    }

    fn edge(&mut self, from: &Column, cut: usize, edge: &Edge<'_>, messages: &Messages<'_>, to: &mut Vec<PathState>) {
        for &path in from.states_of(cut) {
            if !self.is_alive(path.state) || self.automaton.status(path.state) == PathStatus::Violated {
                continue;
            }
            let (admission, context) = self.contexts.apply(path.context, edge, messages);
            if admission == Admission::No {
                continue;
            }
            let state = self.automaton.step(path.state, edge.class);
            match (admission, self.automaton.status(state)) {
                (Admission::Yes, PathStatus::Open | PathStatus::Violated) => to.push(PathState { context, state }),
                (Admission::Terminal, PathStatus::Violated) => {
                    let mut after = edge.cut.to_vec();
                    after[edge.chain as usize] += 1;
                    let candidate = Candidate {
                        owner: self.automaton.owner(state),
                        distance: distance(&after, &self.recorded),
                        cut: edge.cut.to_vec(),
                        path,
                        terminal: Some(edge.chain),
                        ended: false,
                    };
                    offer(&mut self.found, candidate);
                }
                _ => {}
            }
        }
    }

    fn close(&mut self, gathered: &mut Vec<PathState>, to: &mut Column) -> Closing {
        if gathered.is_empty() {
            return Closing::Nothing;
        }
        gathered.sort_unstable();
        gathered.dedup();
        let violated = gathered.iter().any(|path| self.automaton.status(path.state) == PathStatus::Violated);
        to.states.append(gathered);
        to.ends.push(to.states.len());
        if violated { Closing::Violated } else { Closing::Carries }
    }

    fn note(&mut self, column: &Column, cut: &[u32]) {
        for &path in column.states_of(column.ends.len() - 1) {
            if self.automaton.status(path.state) == PathStatus::Violated {
                let distance = distance(cut, &self.recorded);
                let owner = self.automaton.owner(path.state);
                let (cut, terminal, ended) = (cut.to_vec(), None, false);
                offer(&mut self.found, Candidate { owner, cut, path, terminal, ended, distance });
            }
        }
    }

    fn end(&mut self, column: &Column, cut: &[u32]) {
        for &path in &column.states {
            if self.is_alive(path.state) && self.automaton.fails_at_end(path.state) {
                let (owner, cut) = (self.automaton.owner(path.state), cut.to_vec());
                offer(&mut self.found, Candidate { owner, cut, path, terminal: None, ended: true, distance: 0 });
            }
        }
    }

    fn found(&mut self) -> Vec<Candidate> {
        let found = std::mem::take(&mut self.found);
        self.retired.extend(found.iter().map(|candidate| candidate.owner));
        found
    }

    fn retain(column: &mut Column, keep: &[bool]) {
        let mut kept = Column::default();
        for cut in (0..column.ends.len()).filter(|&cut| keep[cut]) {
            kept.states.extend_from_slice(column.states_of(cut));
            kept.ends.push(kept.states.len());
        }
        *column = kept;
    }

    fn clear(mut column: Column) -> Column {
        column.ends.clear();
        column.states.clear();
        column
    }

    fn bytes(column: &Column) -> usize {
        column.ends.capacity() * size_of::<usize>() + column.states.capacity() * size_of::<PathState>()
    }

    fn states(&self, column: &Column, cut: usize) -> Vec<PathState> {
        column.states_of(cut).to_vec()
    }

    fn step(&mut self, path: PathState, edge: &Edge<'_>, messages: &Messages<'_>) -> Option<PathState> {
        let (admission, context) = self.contexts.apply(path.context, edge, messages);
        (admission == Admission::Yes).then(|| PathState { context, state: self.automaton.step(path.state, edge.class) })
    }

    fn revive(&mut self) {
        self.retired.clear();
    }

    fn overhead(&self) -> usize {
        self.contexts.bytes()
    }
}
