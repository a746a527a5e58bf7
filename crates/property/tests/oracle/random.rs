//! Random properties and runs, from a seed.

use property::{Ere, Formula, Fsm, FsmState, Guard, Otherwise};

use crate::naive_past::Run;

pub(crate) struct Random(u64);

type Binary = fn(Box<Formula>, Box<Formula>) -> Formula;
type Unary = fn(Box<Formula>) -> Formula;

const BOOL: [Binary; 4] = [Formula::And, Formula::Or, Formula::Implies, Formula::Iff];
const PAST1: [Unary; 7] = [
    Formula::Prev,
    Formula::Yesterday,
    Formula::WYesterday,
    Formula::Once,
    Formula::Hist,
    Formula::Start,
    Formula::End,
];
const PAST2: [Binary; 4] = [Formula::Since, Formula::WSince, Formula::Interval, Formula::WInterval];
const FUTURE1: [Unary; 4] = [Formula::Always, Formula::Eventually, Formula::Next, Formula::WNext];
const FUTURE2: [Binary; 3] = [Formula::Until, Formula::WUntil, Formula::Releases];

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as usize) % n
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn leaf(&mut self, atoms: usize) -> Formula {
        if self.one_in(12) { Formula::Const(self.one_in(2)) } else { Formula::Atom(self.below(atoms) as u32) }
    }

    fn split(&mut self, size: usize) -> (usize, usize) {
        let left = self.below(size);
        (left, size - 1 - left)
    }

    /// A past-time formula with exactly `size` operators.
    pub(crate) fn past(&mut self, size: usize, atoms: usize) -> Formula {
        if size == 0 {
            return self.leaf(atoms);
        }
        match self.below(10) {
            0 => Formula::Not(Box::new(self.past(size - 1, atoms))),
            1..=4 => {
                let op = PAST1[self.below(PAST1.len())];
                op(Box::new(self.past(size - 1, atoms)))
            }
            kind => {
                let op = if kind < 8 { PAST2[self.below(PAST2.len())] } else { BOOL[self.below(BOOL.len())] };
                let (left, right) = self.split(size);
                op(Box::new(self.past(left, atoms)), Box::new(self.past(right, atoms)))
            }
        }
    }

    /// A future-time formula with exactly `size` operators; some leaves look at the past.
    pub(crate) fn future(&mut self, size: usize, atoms: usize) -> Formula {
        if size == 0 {
            return self.leaf(atoms);
        }
        match self.below(14) {
            0 if size <= 3 => self.past(size, atoms),
            0..=1 => Formula::Not(Box::new(self.future(size - 1, atoms))),
            2..=5 => {
                let op = FUTURE1[self.below(FUTURE1.len())];
                op(Box::new(self.future(size - 1, atoms)))
            }
            kind => {
                let op = if kind < 10 { FUTURE2[self.below(FUTURE2.len())] } else { BOOL[self.below(BOOL.len())] };
                let (left, right) = self.split(size);
                op(Box::new(self.future(left, atoms)), Box::new(self.future(right, atoms)))
            }
        }
    }

    /// A predicate of a letter; now and then one that looks back.
    fn predicate(&mut self, atoms: usize) -> Formula {
        let atom = Formula::Atom(self.below(atoms) as u32);
        match self.below(8) {
            0 => Formula::Start(Box::new(atom)),
            1 => {
                let size = 1 + self.below(2);
                self.past(size, atoms)
            }
            2 => Formula::Not(Box::new(atom)),
            _ => atom,
        }
    }

    pub(crate) fn ere(&mut self, size: usize, atoms: usize) -> Ere {
        if size == 0 {
            return match self.below(10) {
                0 => Ere::Any,
                1 => Ere::Eps,
                2 if self.one_in(3) => Ere::Empty,
                _ => Ere::Leaf(self.predicate(atoms)),
            };
        }
        match self.below(12) {
            0..=1 => Ere::Not(Box::new(self.ere(size - 1, atoms))),
            2 => Ere::Star(Box::new(self.ere(size - 1, atoms))),
            3 => Ere::Plus(Box::new(self.ere(size - 1, atoms))),
            4 => Ere::Opt(Box::new(self.ere(size - 1, atoms))),
            kind => {
                let (left, right) = self.split(size);
                let (left, right) = (Box::new(self.ere(left, atoms)), Box::new(self.ere(right, atoms)));
                match kind {
                    5..=8 => Ere::Cat(left, right),
                    9..=10 => Ere::Or(left, right),
                    _ => Ere::And(left, right),
                }
            }
        }
    }

    pub(crate) fn fsm(&mut self, atoms: usize) -> Fsm {
        let count = 2 + self.below(4);
        let state = |r: &mut Self, name: usize| {
            let mut transitions = Vec::new();
            for _ in 0..r.below(4) {
                let targets = (0..1 + r.below(2)).map(|_| r.below(count)).collect();
                let guard = if r.one_in(5) { Guard::Else } else { Guard::If(r.predicate(atoms)) };
                transitions.push((guard, targets));
            }
            FsmState { name: format!("s{name}"), transitions }
        };
        Fsm {
            states: (0..count).map(|name| state(self, name)).collect(),
            init: self.below(count),
            bad: if self.one_in(10) { self.below(count) } else { count - 1 },
            otherwise: match self.below(4) {
                0 => None,
                1 => Some(Otherwise::Die),
                2 => Some(Otherwise::Bad),
                _ => Some(Otherwise::Stay),
            },
        }
    }

    /// A run of 1 to `most` steps. About `unknown` atoms in it, of the first `may` atoms, are unknown.
    pub(crate) fn run(&mut self, atoms: usize, most: usize, unknown: usize, may: usize) -> Run {
        let steps = 1 + self.below(most);
        let mut run = (0..steps).map(|_| (0..atoms).map(|_| Some(self.one_in(2))).collect()).collect::<Run>();
        if unknown > 0 && may > 0 {
            for _ in 0..self.below(unknown + 1) {
                let (step, atom) = (self.below(steps), self.below(may.min(atoms)));
                run[step][atom] = None;
            }
        }
        run
    }
}
