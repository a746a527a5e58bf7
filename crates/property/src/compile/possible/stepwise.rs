//! A monitor that also remembers the letter of the last step, so that only steps that can follow it are taken.

use super::Letters;
use crate::monitor::{Alphabet, Letter, Monitor, Q, Size, Verdict};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a step leads that cannot be: nothing is said from there on.
const NOWHERE: Q = 0;

pub(super) struct Stepwise<'a, M> {
    monitor: &'a M,
    letters: &'a Letters,
    pairs: Mutex<Pairs>,
}

/// States are numbers of pairs, from 1.
#[derive(Default)]
struct Pairs {
    list: Vec<(Q, u64)>,
    numbers: HashMap<(Q, u64), Q>,
}

impl<'a, M: Monitor> Stepwise<'a, M> {
    pub(super) fn new(monitor: &'a M, letters: &'a Letters) -> Self {
        Stepwise { monitor, letters, pairs: Mutex::default() }
    }

    fn pairs(&self) -> MutexGuard<'_, Pairs> {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn number(&self, q: Q, letter: Letter) -> Q {
        // Nothing more is asked of a run that is decided.
        let last = if self.monitor.verdict(q).is_final() { 0 } else { letter.holds & self.letters.states() };
        let pairs = &mut *self.pairs();
        *pairs.numbers.entry((q, last)).or_insert_with(|| {
            pairs.list.push((q, last));
            pairs.list.len() as Q
        })
    }

    fn pair(&self, q: Q) -> Option<(Q, u64)> {
        self.pairs().list.get(q.checked_sub(1)? as usize).copied()
    }
}

impl<M: Monitor> Monitor for Stepwise<'_, M> {
    fn init(&self, step0: Letter) -> Q {
        self.number(self.monitor.init(step0), step0)
    }

    fn step(&self, q: Q, letter: Letter) -> Q {
        let Some((inner, last)) = self.pair(q) else { return NOWHERE };
        if self.monitor.verdict(inner).is_final() {
            return q;
        }
        if !self.letters.follows(&Letter::known(last), &letter) {
            return NOWHERE;
        }
        self.number(self.monitor.step(inner, letter), letter)
    }

    fn verdict(&self, q: Q) -> Verdict {
        self.pair(q).map_or(Verdict::Unknown, |(inner, _)| self.monitor.verdict(inner))
    }

    fn at_end(&self, q: Q, last: Letter) -> Verdict {
        self.pair(q).map_or(Verdict::Unknown, |(inner, _)| self.monitor.at_end(inner, last))
    }

    fn can_violate(&self, q: Q) -> bool {
        self.pair(q).is_some_and(|(inner, _)| self.monitor.can_violate(inner))
    }

    fn can_fail(&self, q: Q) -> bool {
        self.pair(q).is_some_and(|(inner, _)| self.monitor.can_fail(inner))
    }

    fn gave_up(&self, q: Q) -> bool {
        self.pair(q).is_some_and(|(inner, _)| self.monitor.gave_up(inner))
    }

    fn size(&self) -> Size {
        self.monitor.size()
    }

    fn alphabet(&self) -> &Alphabet {
        self.monitor.alphabet()
    }
}
