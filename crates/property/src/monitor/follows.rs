//! Emptiness for `follows`: a prefix that cannot be continued to a match is a violation.

use std::collections::VecDeque;

use super::automaton::Automaton;
use super::intern::{FastMap, Fx};
use super::letter::{Letter, subsets};
use super::options::TooLarge;
use super::verdict::Verdict;
use std::collections::HashSet;
use std::hash::BuildHasherDefault;

/// Steps that one search for a match may take. A state whose search is longer counts as one that can still match: then
/// the violation is reported at the end at the latest, as unfulfilled, and never wrongly.
const MAX_SEARCH: usize = 1 << 18;

/// An automaton in which a state is violated when no continuation, by any letters, is accepted at its end.
///
/// The search is over letters of atoms, not over values of leaves: leaves that exclude each other, or that look back,
/// never make a continuation that cannot exist.
pub(super) struct Follows<A> {
    inner: A,
    used: u64,
    live: FastMap<u32, bool>,
}

impl<A: Automaton> Follows<A> {
    pub(super) fn new(inner: A, used: u64) -> Self {
        Self { inner, used, live: FastMap::default() }
    }

    fn live(&mut self, start: u32) -> bool {
        if let Some(live) = self.live.get(&start) {
            return *live;
        }
        let mut seen: HashSet<u32, BuildHasherDefault<Fx>> = HashSet::default();
        let mut parent: FastMap<u32, u32> = FastMap::default();
        let mut todo = VecDeque::from([start]);
        seen.insert(start);
        let mut budget = MAX_SEARCH;
        while let Some(q) = todo.pop_front() {
            if self.live.get(&q) == Some(&true) || self.inner.at_end(q) == Verdict::Fulfilled {
                let mut at = Some(q);
                while let Some(q) = at {
                    self.live.insert(q, true);
                    at = parent.get(&q).copied();
                }
                return true;
            }
            if self.live.get(&q) == Some(&false) {
                continue;
            }
            for holds in subsets(self.used) {
                let Some(left) = budget.checked_sub(1) else {
                    self.live.insert(start, true);
                    return true;
                };
                budget = left;
                let Ok(to) = self.inner.step(q, Letter::known(holds)) else {
                    self.live.insert(start, true);
                    return true;
                };
                if seen.insert(to) {
                    parent.insert(to, q);
                    todo.push_back(to);
                }
            }
        }
        for q in seen {
            self.live.insert(q, false);
        }
        false
    }
}

impl<A: Automaton> Automaton for Follows<A> {
    fn init(&mut self, step0: Letter) -> Result<u32, TooLarge> {
        self.inner.init(step0)
    }
    fn step(&mut self, q: u32, letter: Letter) -> Result<u32, TooLarge> {
        self.inner.step(q, letter)
    }
    fn verdict(&mut self, q: u32) -> Verdict {
        if self.live(q) { self.inner.verdict(q) } else { Verdict::Violated }
    }
    fn at_end(&mut self, q: u32) -> Verdict {
        if self.live(q) { self.inner.at_end(q) } else { Verdict::Violated }
    }
    fn bits(&self) -> u32 {
        self.inner.bits()
    }
}
