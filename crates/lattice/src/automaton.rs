//! What is carried along every path: a deterministic automaton over the classes of the events.

/// What is known of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It can still be violated.
    Open,
    /// It can never be violated.
    Safe,
    /// It is violated, for ever.
    Violated,
}

/// A deterministic automaton, discovered as it runs. Several properties are one automaton that starts in several states,
/// each of which stays with its *owner*.
pub trait Automaton {
    /// The states before the first event, one for each owner.
    fn start(&mut self) -> Vec<u32>;

    /// The state after an event of a class.
    fn step(&mut self, state: u32, class: u32) -> u32;

    /// What is known of a state.
    fn status(&self, state: u32) -> Status;

    /// Whose state it is: owners count from 0.
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
    fn status(&self, state: u32) -> Status {
        (**self).status(state)
    }
    fn owner(&self, state: u32) -> u32 {
        (**self).owner(state)
    }
}

/// All of a small automaton: at most 64 states that are not safe, and what each class makes of them.
pub(crate) struct Closed {
    /// The start states among them.
    pub(crate) start: u64,
    /// By class and state: the next one as a bit; 0 if it is safe.
    pub(crate) next: Vec<[u64; 64]>,
    pub(crate) violated: u64,
    /// By owner: its states.
    pub(crate) owned: Vec<u64>,
    pub(crate) states: usize,
}

impl Closed {
    /// Discovers all of an automaton, if it is small.
    pub(crate) fn new<A: Automaton>(automaton: &mut A, classes: u32) -> Option<Closed> {
        let mut seen: Vec<u32> = Vec::new();
        let mut number = |state: u32, status: Status| match seen.iter().position(|&s| s == state) {
            _ if status == Status::Safe => Some(None),
            Some(at) => Some(Some(at)),
            None if seen.len() < 64 => {
                seen.push(state);
                Some(Some(seen.len() - 1))
            }
            None => None,
        };
        let mut closed =
            Closed { start: 0, next: vec![[0; 64]; classes as usize], violated: 0, owned: Vec::new(), states: 0 };
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
            closed.start |= add(state, automaton, &mut states)?;
        }
        let mut at = 0;
        while at < states.len() {
            for class in 0..classes {
                let next = automaton.step(states[at], class);
                closed.next[class as usize][at] = add(next, automaton, &mut states)?;
            }
            at += 1;
        }
        for (at, &state) in states.iter().enumerate() {
            if automaton.status(state) == Status::Violated {
                closed.violated |= 1 << at;
            }
            let owner = automaton.owner(state) as usize;
            if closed.owned.len() <= owner {
                closed.owned.resize(owner + 1, 0);
            }
            closed.owned[owner] |= 1 << at;
        }
        closed.states = states.len();
        Some(closed)
    }
}
