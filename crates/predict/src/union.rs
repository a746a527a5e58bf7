//! Several instances with the same events as one automaton: each state stays with its instance.

use event::PathStatus;
use lattice::{Automaton, Violation};
use property::steps::PathAutomaton;
use rustc_hash::FxHashMap;

/// The class of events that are no steps: they change nothing.
pub(crate) const SILENCE: u32 = 0;

/// The automata of some instances.
pub(crate) struct UnionAutomaton {
    parts: Vec<PathAutomaton>,
    /// Where each begins; what is not of interest any more does not.
    starts: Vec<Option<u32>>,
    /// By class: that of each part. The first is silence.
    classes: Vec<Box<[u32]>>,
    numbers: FxHashMap<Box<[u32]>, u32>,
    states: Vec<(u32, u32)>,
    by_state: FxHashMap<(u32, u32), u32>,
    /// By part: whether a complete run that fails at its end is of interest.
    asks_end: Vec<bool>,
    /// The events that are searched are the last ones.
    pub(crate) is_last: bool,
    /// A monitor hit its bounds.
    pub(crate) gave_up: bool,
}

impl UnionAutomaton {
    pub(crate) fn new(parts: Vec<PathAutomaton>) -> UnionAutomaton {
        let starts = parts.iter().map(|part| Some(part.start())).collect();
        UnionAutomaton {
            asks_end: parts.iter().map(PathAutomaton::judges_end).collect(),
            is_last: true,
            parts,
            starts,
            classes: vec![Box::new([])],
            numbers: FxHashMap::default(),
            states: Vec::new(),
            by_state: FxHashMap::default(),
            gave_up: false,
        }
    }

    /// The class of an event, from what it is to each part.
    pub(crate) fn class(&mut self, of_parts: Box<[u32]>) -> u32 {
        if let Some(&number) = self.numbers.get(&of_parts) {
            return number;
        }
        let number = self.classes.len() as u32;
        self.classes.push(of_parts.clone());
        self.numbers.insert(of_parts, number);
        number
    }

    /// Goes on along the recorded run: what follows begins behind an event of this class.
    pub(crate) fn go_on(&mut self, class: u32) {
        for (part, start) in self.starts.iter_mut().enumerate() {
            if let Some(state) = start {
                *state = self.parts[part].step(*state, self.classes[class as usize][part]);
            }
        }
    }

    /// An instance is not of interest any more.
    pub(crate) fn retire(&mut self, part: usize) {
        self.starts[part] = None;
    }

    /// Something was found of an instance. If only the end of a run shows it, violations are still of interest.
    pub(crate) fn found(&mut self, violation: &Violation) {
        let part = violation.owner as usize;
        if violation.ended {
            self.asks_end[part] = false;
        } else {
            self.retire(part);
        }
    }

    /// Whether some state met so far fails at the end of a run.
    pub(crate) fn may_fail_at_end(&self) -> bool {
        (0..self.states.len() as u32).any(|state| self.fails_at_end(state))
    }

    /// Whether the end of runs counts for an instance.
    fn judges_end(&self, part: u32) -> bool {
        self.is_last && self.asks_end[part as usize]
    }

    /// None is of interest any more.
    pub(crate) fn is_idle(&self) -> bool {
        self.starts.iter().all(Option::is_none)
    }

    fn number(&mut self, part: u32, state: u32) -> u32 {
        let fresh = self.states.len() as u32;
        let number = *self.by_state.entry((part, state)).or_insert(fresh);
        if number == fresh {
            self.states.push((part, state));
            self.gave_up |= self.parts[part as usize].gave_up(state);
        }
        number
    }
}

impl Automaton for UnionAutomaton {
    fn start(&mut self) -> Vec<u32> {
        let starts: Vec<(u32, u32)> = (0..).zip(&self.starts).filter_map(|(part, s)| Some((part, (*s)?))).collect();
        starts.into_iter().map(|(part, state)| self.number(part, state)).collect()
    }

    fn step(&mut self, state: u32, class: u32) -> u32 {
        if class == SILENCE {
            return state;
        }
        let (part, state) = self.states[state as usize];
        let class = self.classes[class as usize][part as usize];
        let next = self.parts[part as usize].step(state, class);
        self.number(part, next)
    }

    fn status(&self, state: u32) -> PathStatus {
        let (part, state) = self.states[state as usize];
        let automaton = &self.parts[part as usize];
        match automaton.status(state) {
            // Only the end could say something, and does not count.
            PathStatus::Open if !automaton.can_violate(state) && !self.judges_end(part) => PathStatus::Safe,
            status => status,
        }
    }

    fn fails_at_end(&self, state: u32) -> bool {
        let (part, state) = self.states[state as usize];
        self.judges_end(part) && self.parts[part as usize].fails_at_end(state)
    }

    fn owner(&self, state: u32) -> u32 {
        self.states[state as usize].0
    }
}
