//! The monitor that runs along every path: a deterministic automaton over the classes of events.

use event::PathStatus;

/// A deterministic automaton, discovered as it runs.
///
/// Several properties can share a search: their automaton starts in several states, one for each property. The property
/// is the *owner* of its start state and of all states that follow from it.
pub trait Automaton {
    /// The states before the first event, one for each owner.
    fn start(&mut self) -> Vec<u32>;

    /// The state after an event of a class.
    fn step(&mut self, state: u32, class: u32) -> u32;

    /// What a state says about the continuations.
    fn status(&self, state: u32) -> PathStatus;

    /// Whether a run of all events that ends in this state fails, although no step of it is violated.
    fn fails_at_end(&self, state: u32) -> bool {
        let _ = state;
        false
    }

    /// The owner of a state; owners count from 0.
    fn owner(&self, state: u32) -> u32 {
        let _ = state;
        0
    }
}

impl<A: Automaton + ?Sized> Automaton for &mut A {
    fn start(&mut self) -> Vec<u32> {
        (**self).start()
    }
    fn step(&mut self, state: u32, class: u32) -> u32 {
        (**self).step(state, class)
    }
    fn status(&self, state: u32) -> PathStatus {
        (**self).status(state)
    }
    fn fails_at_end(&self, state: u32) -> bool {
        (**self).fails_at_end(state)
    }
    fn owner(&self, state: u32) -> u32 {
        (**self).owner(state)
    }
}

/// A small automaton as tables: at most 64 states that are not safe. Sets of states are bit sets.
pub(crate) struct SmallAutomaton {
    /// The start states that are not safe.
    pub(crate) start: u64,
    /// By class and state: the next state as a bit; 0 if it is safe.
    pub(crate) next: Vec<[u64; 64]>,
    pub(crate) violated: u64,
    /// Those that fail at the end.
    pub(crate) ends: u64,
    /// By owner: the set of its states.
    pub(crate) owned: Vec<u64>,
    pub(crate) states: usize,
}

impl SmallAutomaton {
    /// Discovers all states of an automaton; `None` if there are too many.
    pub(crate) fn new<A: Automaton>(automaton: &mut A, classes: u32) -> Option<SmallAutomaton> {
        let mut seen: Vec<u32> = Vec::new();
        let mut number = |state: u32, status: PathStatus| match seen.iter().position(|&s| s == state) {
            _ if status == PathStatus::Safe => Some(None),
            Some(at) => Some(Some(at)),
            None if seen.len() < 64 => {
                seen.push(state);
                Some(Some(seen.len() - 1))
            }
            None => None,
        };
        let mut small = SmallAutomaton {
            start: 0,
            next: vec![[0; 64]; classes as usize],
            violated: 0,
            ends: 0,
            owned: Vec::new(),
            states: 0,
        };
        let start = automaton.start();
        let mut states: Vec<u32> = Vec::new();
        let mut add = |state: u32, automaton: &A, states: &mut Vec<u32>| -> Option<u64> {
            let at = number(state, automaton.status(state))?;
            let Some(at) = at else { return Some(0) };
            if at == states.len() {
                states.push(state);
            }
            Some(1 << at)
        };
        for state in start {
            small.start |= add(state, automaton, &mut states)?;
        }
        let mut at = 0;
        while at < states.len() {
            for class in 0..classes {
                let next = automaton.step(states[at], class);
                small.next[class as usize][at] = add(next, automaton, &mut states)?;
            }
            at += 1;
        }
        for (at, &state) in states.iter().enumerate() {
            if automaton.status(state) == PathStatus::Violated {
                small.violated |= 1 << at;
            }
            if automaton.fails_at_end(state) {
                small.ends |= 1 << at;
            }
            let owner = automaton.owner(state) as usize;
            if small.owned.len() <= owner {
                small.owned.resize(owner + 1, 0);
            }
            small.owned[owner] |= 1 << at;
        }
        small.states = states.len();
        Some(small)
    }
}
