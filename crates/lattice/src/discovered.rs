//! An automaton of some thousand states as tables, discovered before the search begins.

use crate::automaton::Automaton;
use event::PathStatus;
use rustc_hash::FxHashMap;

/// Numbers of states are below.
const MOST_STATES: usize = 1 << 14;

/// Entries of a table, at most: to discover them must not cost more than a search.
const MOST_ENTRIES: usize = 1 << 18;

/// Entries that are looked at to find out which states are equal, at most.
const MOST_COMPARED: usize = 1 << 22;

/// What is said of a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct State {
    pub(crate) owner: u32,
    pub(crate) status: PathStatus,
    pub(crate) fails_at_end: bool,
}

/// All states of an automaton.
#[derive(Debug)]
pub(crate) struct Discovered {
    pub(crate) start: Vec<u16>,
    pub(crate) states: Vec<State>,
    /// By class and state: the next state. The entries of a class stand together.
    pub(crate) next: Vec<u16>,
}

impl Discovered {
    /// Discovers all states; `None` if there are too many, or more steps than `steps`.
    pub(crate) fn new<A: Automaton>(automaton: &mut A, classes: u32, steps: u64) -> Option<Discovered> {
        let most = MOST_ENTRIES.min(usize::try_from(steps).unwrap_or(usize::MAX));
        let mut numbers: FxHashMap<u32, u16> = FxHashMap::default();
        let mut found: Vec<u32> = Vec::new();
        let mut number = |state: u32, found: &mut Vec<u32>| {
            let number = *numbers.entry(state).or_insert(found.len() as u16);
            if usize::from(number) == found.len() {
                found.push(state);
            }
            (found.len() <= MOST_STATES && found.len() * classes as usize <= most).then_some(number)
        };
        let start = automaton.start().into_iter().map(|state| number(state, &mut found)).collect::<Option<_>>()?;
        let mut by_state: Vec<u16> = Vec::new();
        let mut at = 0;
        while let Some(&state) = found.get(at) {
            for class in 0..classes {
                by_state.push(number(automaton.step(state, class), &mut found)?);
            }
            at += 1;
        }
        let said = |&state: &u32| State {
            owner: automaton.owner(state),
            status: automaton.status(state),
            fails_at_end: automaton.fails_at_end(state),
        };
        let states: Vec<State> = found.iter().map(said).collect();
        let entry = |class: usize, state: usize| by_state[state * classes as usize + class];
        let next = (0..classes as usize).flat_map(|class| (0..states.len()).map(move |state| (class, state)));
        let next = next.map(|(class, state)| entry(class, state)).collect();
        Some(Discovered { start, states, next })
    }

    /// The automaton with states made one that all runs go on alike from, as far as `of` tells them apart.
    pub(crate) fn minimised(self, of: impl Fn(&State) -> State) -> Discovered {
        let count = self.states.len();
        let classes = self.next.len() / count.max(1);
        let mut blocks: Vec<u16> = number_by(self.states.iter().map(of));
        let mut distinct = distinct(&blocks);
        let mut compared = 0;
        loop {
            compared += self.next.len();
            if compared > MOST_COMPARED {
                return self;
            }
            let signature = |state: usize| {
                let nexts = (0..classes).map(|class| blocks[usize::from(self.next[class * count + state])]);
                std::iter::once(blocks[state]).chain(nexts).collect::<Vec<u16>>()
            };
            let finer = number_by((0..count).map(signature));
            let more = self::distinct(&finer);
            blocks = finer;
            if more == distinct {
                break;
            }
            distinct = more;
        }
        let mut first = vec![usize::MAX; distinct];
        for (state, &block) in blocks.iter().enumerate().rev() {
            first[usize::from(block)] = state;
        }
        let next = (0..classes).flat_map(|class| first.iter().map(move |&state| class * count + state));
        Discovered {
            start: self.start.iter().map(|&state| blocks[usize::from(state)]).collect(),
            states: first.iter().map(|&state| self.states[state]).collect(),
            next: next.map(|entry| blocks[usize::from(self.next[entry])]).collect(),
        }
    }
}

/// Equal values get equal numbers, in the order in which they come.
fn number_by<T: std::hash::Hash + Eq>(values: impl Iterator<Item = T>) -> Vec<u16> {
    let mut numbers: FxHashMap<T, u16> = FxHashMap::default();
    let number = |value| {
        let fresh = numbers.len() as u16;
        *numbers.entry(value).or_insert(fresh)
    };
    values.map(number).collect()
}

/// How many numbers there are.
fn distinct(numbers: &[u16]) -> usize {
    numbers.iter().max().map_or(0, |&most| usize::from(most) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts events of class 1 up to a number, and remembers in vain whether one of class 0 came last.
    struct Counter(u32);

    impl Automaton for Counter {
        fn start(&mut self) -> Vec<u32> {
            vec![0]
        }
        fn step(&mut self, state: u32, class: u32) -> u32 {
            match class {
                0 => state | 1,
                _ => ((state >> 1) + 1).min(self.0) << 1,
            }
        }
        fn status(&self, state: u32) -> PathStatus {
            if state >> 1 == self.0 { PathStatus::Violated } else { PathStatus::Open }
        }
    }

    #[test]
    fn what_makes_no_difference_is_forgotten() {
        let all = Discovered::new(&mut Counter(9), 2, u64::MAX).unwrap();
        assert_eq!((all.states.len(), all.next.len()), (20, 40));
        let least = all.minimised(|state| *state);
        assert_eq!((least.states.len(), least.start.clone()), (10, vec![0]));
        let mut state = 0;
        for step in 1..=9 {
            assert_eq!(least.next[state], state as u16, "a silent event");
            state = usize::from(least.next[10 + state]);
            assert_eq!(least.states[state].status == PathStatus::Violated, step == 9);
        }
    }

    #[test]
    fn too_many_states_are_not_discovered() {
        assert!(Discovered::new(&mut Counter(9), 2, 39).is_none());
        assert!(Discovered::new(&mut Counter(1 << 20), 2, u64::MAX).is_none());
    }
}
