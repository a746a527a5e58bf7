//! A monitor and the variables it looks at, together as one deterministic automaton that is discovered as it runs.

use super::class::Class;
use super::instance::Instance;
use crate::compile::Compiled;
use crate::monitor::intern::FastMap;
use crate::monitor::{Letter, Monitor, Q, Verdict};
use event::PathStatus;
use std::sync::Arc;

/// Rows of this many classes are kept densely.
const DENSE: usize = 256;
const UNKNOWN: u32 = u32::MAX;

/// A state: the numbers of what variables hold, the unnamed parameters, whether an instance ended unfulfilled, and the
/// monitor's states; or, if nothing can change any more, only what is known.
type State = Box<[u64]>;

/// The state of paths that cannot be violated any more, and fail at the end: an instance ended unfulfilled.
const OWED: u64 = 3;

/// What is known of a state.
#[derive(Clone)]
struct Known {
    state: State,
    status: PathStatus,
    /// Some continuation may be violated.
    can_violate: bool,
    /// No event changes it.
    settled: bool,
}

/// The monitor and the valuation of one instance together. States are dense numbers; what is discovered is kept.
#[derive(Clone)]
pub struct PathAutomaton {
    compiled: Arc<Compiled>,
    instance: Option<Arc<Instance>>,
    /// The end of a complete path says something, too.
    judges_end: bool,
    states: Vec<Known>,
    numbers: FastMap<State, u32>,
    /// The state of paths of which nothing is known.
    gave_up: Option<u32>,
    start: u32,
    /// By state and class, if there are few classes.
    rows: Vec<u32>,
    sparse: FastMap<(u32, u32), u32>,
    /// Scratch: the state that is being made.
    next: Vec<u64>,
}

/// The subsets of a set, the empty one first. In this order the monitor's states stand in a state.
fn subsets(set: u64) -> impl Iterator<Item = u64> {
    let mut next = Some(0u64);
    std::iter::from_fn(move || {
        let now = next?;
        let after = now.wrapping_sub(set) & set;
        next = (after != 0).then_some(after);
        Some(now)
    })
}

/// The place of a subset in that order.
fn place(subset: u64, mut set: u64) -> usize {
    let (mut place, mut bit) = (0, 0);
    while set != 0 {
        let lowest = set & set.wrapping_neg();
        place |= usize::from(subset & lowest != 0) << bit;
        bit += 1;
        set &= !lowest;
    }
    place
}

/// What follows the variables in a state: the unnamed parameters, whether an instance ended unfulfilled, and the
/// monitor's states.
fn parts(rest: &[u64]) -> (u64, bool, &[Q]) {
    (rest[0], rest[1] != 0, &rest[2..])
}

impl PathAutomaton {
    pub(super) fn new(compiled: Arc<Compiled>, instance: Option<Arc<Instance>>) -> PathAutomaton {
        PathAutomaton::with(compiled, instance, false)
    }

    /// This automaton for complete paths, too, whose end is judged ([`fails_at_end`](PathAutomaton::fails_at_end)), or
    /// not. If it is, states are open as long as a path can be violated, or can fail at its end.
    pub fn judging_end(&self, judges_end: bool) -> PathAutomaton {
        PathAutomaton::with(self.compiled.clone(), self.instance.clone(), judges_end)
    }

    fn with(compiled: Arc<Compiled>, instance: Option<Arc<Instance>>, judges_end: bool) -> PathAutomaton {
        let mut automaton = PathAutomaton {
            compiled,
            instance: instance.clone(),
            judges_end,
            states: Vec::new(),
            numbers: FastMap::default(),
            gave_up: None,
            start: 0,
            rows: Vec::new(),
            sparse: FastMap::default(),
            next: Vec::new(),
        };
        automaton.start = match instance {
            None => automaton.give_up(),
            Some(instance) => {
                let values: Vec<u64> = instance.slots.iter().map(|slot| slot.initial.into()).collect();
                let q = automaton.compiled.monitor.init(instance.lasting(instance.tracked, &values));
                automaton.state_number(&instance, &values, (instance.tracked, false), &[q], false)
            }
        };
        automaton
    }

    /// The state after step 0.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// How many classes there are: those of the instance's steps are below.
    pub fn classes(&self) -> u32 {
        self.instance.as_ref().map_or(0, |instance| instance.classes.len() as u32)
    }

    /// Whether the monitor never steps at events of this class: they only change what variables hold.
    pub fn is_silent(&self, class: u32) -> bool {
        self.instance.as_ref().is_none_or(|instance| instance.classes[class as usize].steps.is_empty())
    }

    /// What is known of a path that led to this state.
    #[inline]
    pub fn status(&self, state: u32) -> PathStatus {
        self.states[state as usize].status
    }

    /// Whether a continuation of a path that led to this state may be violated.
    #[inline]
    pub fn can_violate(&self, state: u32) -> bool {
        self.states[state as usize].can_violate
    }

    /// Whether the end of paths is judged.
    pub fn judges_end(&self) -> bool {
        self.judges_end
    }

    /// Whether a complete path that led to this state is unfulfilled by the rule for the end, or an instance on it was
    /// when its object was freed. Only of automata that are [judging the end](PathAutomaton::judging_end).
    pub fn fails_at_end(&self, state: u32) -> bool {
        let Known { state, status, .. } = &self.states[state as usize];
        let Some(instance) = self.instance.as_ref().filter(|_| self.judges_end && *status == PathStatus::Open) else {
            return false;
        };
        if **state == [OWED] {
            return true;
        }
        let (unnamed, owed, states) = parts(&state[instance.slots.len()..]);
        owed || (unnamed == 0 && self.is_unfulfilled(states[0]))
    }

    fn is_unfulfilled(&self, q: Q) -> bool {
        // Monitors remember what they need of the last letter.
        self.compiled.monitor.at_end(q, Letter::default()) == Verdict::Unfulfilled
    }

    /// Whether nothing is known of a path that led to this state, for good: the monitor hit its bounds, or the instance
    /// cannot be followed. The status is then `Safe`: there is nothing to search for.
    #[inline]
    pub fn gave_up(&self, state: u32) -> bool {
        self.gave_up == Some(state)
    }

    /// How many states were discovered so far. Their numbers are below.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// The state after an event of this class, if that was discovered already.
    #[inline]
    pub fn known(&self, state: u32, class: u32) -> Option<u32> {
        if self.states[state as usize].settled {
            return Some(state);
        }
        let classes = self.classes() as usize;
        if classes > DENSE {
            return self.sparse.get(&(state, class)).copied();
        }
        Some(self.rows[state as usize * classes + class as usize]).filter(|&next| next != UNKNOWN)
    }

    /// The state after an event of this class.
    #[inline]
    pub fn step(&mut self, state: u32, class: u32) -> u32 {
        match self.known(state, class) {
            Some(next) => next,
            None => self.discover(state, class),
        }
    }

    /// Discovers everything reachable by any classes in any order, if these are at most `limit` states. Whether it did:
    /// then [`PathAutomaton::known`] knows everything.
    pub fn close(&mut self, limit: usize) -> bool {
        let mut state = 0;
        while state < self.states.len() {
            if self.states.len() > limit {
                return false;
            }
            for class in 0..self.classes() {
                self.step(state as u32, class);
            }
            state += 1;
        }
        self.states.len() <= limit
    }

    #[cold]
    fn discover(&mut self, state: u32, class: u32) -> u32 {
        let Some(instance) = self.instance.clone() else { return state };
        let next = self.after(&instance, state, &instance.classes[class as usize]);
        let classes = instance.classes.len();
        if classes > DENSE {
            self.sparse.insert((state, class), next);
        } else {
            self.rows[state as usize * classes + class as usize] = next;
        }
        next
    }

    /// The writes, then who is named, the step, and who is gone.
    fn after(&mut self, instance: &Instance, state: u32, class: &Class) -> u32 {
        let state = self.states[state as usize].state.clone();
        let (values, rest) = state.split_at(instance.slots.len());
        let mut values = values.to_vec();
        let (mut unnamed, mut owed, states) = parts(rest);
        for &(slot, value) in &class.writes {
            values[slot as usize] = value.into();
        }
        let named = class.named & unnamed;
        let more = instance.freed & !unnamed;
        unnamed &= !named;
        // An instance of a subject that is named for the first time did so far what one without it did.
        let mut states: Vec<Q> =
            subsets(instance.freed & !unnamed).map(|others| states[place(others & !named, more)]).collect();
        for (others, q) in subsets(instance.freed & !unnamed).zip(&mut states) {
            let without = unnamed | others;
            if class.is_step(without) && !self.compiled.monitor.verdict(*q).is_final() {
                let lasting = instance.lasting(without, &values);
                *q = self.compiled.monitor.step(*q, Letter::new(lasting.holds | class.held(without), lasting.unknown));
            }
        }
        let violated =
            instance.freed != 0 && unnamed == 0 && self.compiled.monitor.verdict(states[0]) == Verdict::Violated;
        let gone = class.gone & !unnamed;
        if gone != 0 {
            // The instance ends here.
            owed |= self.judges_end && unnamed == 0 && self.is_unfulfilled(states[0]);
            let before = instance.freed & !unnamed;
            unnamed |= gone;
            states = subsets(instance.freed & !unnamed).map(|others| states[place(others | gone, before)]).collect();
        }
        self.state_number(instance, &values, (unnamed, owed), &states, violated)
    }

    /// The number of a state. `violated`: it was seen to be before subjects were gone. `owed`: an instance ended
    /// unfulfilled.
    fn state_number(
        &mut self,
        instance: &Instance,
        values: &[u64],
        (unnamed, owed): (u64, bool),
        states: &[Q],
        violated: bool,
    ) -> u32 {
        let monitor = &self.compiled.monitor;
        if violated || (instance.freed == 0 && monitor.verdict(states[0]) == Verdict::Violated) {
            return self.fixed(PathStatus::Violated);
        }
        let can_violate = states.iter().any(|&q| monitor.can_violate(q));
        let can_fail = can_violate || (self.judges_end && states.iter().any(|&q| monitor.can_fail(q)));
        match (can_fail || owed, can_violate) {
            (false, _) => return self.fixed(PathStatus::Safe),
            (true, false) if owed => return self.intern(&[OWED], PathStatus::Open, false),
            (true, _) => {}
        }
        if states.iter().all(|&q| monitor.gave_up(q)) {
            return self.give_up();
        }
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        next.extend_from_slice(values);
        next.extend([unnamed, owed.into()]);
        next.extend_from_slice(states);
        let number = self.intern(&next, PathStatus::Open, can_violate);
        self.next = next;
        number
    }

    fn give_up(&mut self) -> u32 {
        // No other state is empty.
        let number = self.intern(&[], PathStatus::Safe, false);
        self.gave_up = Some(number);
        number
    }

    fn fixed(&mut self, status: PathStatus) -> u32 {
        // No other states have one word.
        self.intern(&[status as u64], status, status == PathStatus::Violated)
    }

    fn intern(&mut self, state: &[u64], status: PathStatus, can_violate: bool) -> u32 {
        if let Some(&number) = self.numbers.get(state) {
            return number;
        }
        let number = self.states.len() as u32;
        let settled = status != PathStatus::Open || *state == [OWED];
        self.states.push(Known { state: state.into(), status, can_violate, settled });
        self.numbers.insert(state.into(), number);
        if (self.classes() as usize) <= DENSE {
            self.rows.extend((0..self.classes()).map(|_| UNKNOWN));
        }
        number
    }
}
