//! Random formulas and runs, from a seed.

use property::Formula;
use property::monitor::Letter;

pub(crate) struct Random(u64);

type Unary = fn(Box<Formula>) -> Formula;
type Binary = fn(Box<Formula>, Box<Formula>) -> Formula;

/// The operators that a formula is made of.
pub(crate) struct Operators {
    pub(crate) one: &'static [Unary],
    pub(crate) two: &'static [Binary],
}

pub(crate) const PROP: Operators =
    Operators { one: &[Formula::Not], two: &[Formula::And, Formula::Or, Formula::Implies, Formula::Iff] };

pub(crate) const LTL: Operators = Operators {
    one: &[Formula::Not, Formula::Always, Formula::Eventually, Formula::Next, Formula::WNext],
    two: &[
        Formula::And,
        Formula::Or,
        Formula::Implies,
        Formula::Iff,
        Formula::Until,
        Formula::WUntil,
        Formula::Releases,
    ],
};

pub(crate) const PTLTL: Operators = Operators {
    one: &[
        Formula::Not,
        Formula::Prev,
        Formula::Yesterday,
        Formula::WYesterday,
        Formula::Once,
        Formula::Hist,
        Formula::Start,
        Formula::End,
    ],
    two: &[
        Formula::And,
        Formula::Or,
        Formula::Implies,
        Formula::Iff,
        Formula::Since,
        Formula::WSince,
        Formula::Interval,
        Formula::WInterval,
    ],
};

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

    /// A formula with exactly `size` operators.
    pub(crate) fn formula(&mut self, of: &Operators, size: usize, atoms: usize) -> Formula {
        if size == 0 {
            return match self.below(12) {
                0 => Formula::Const(self.below(2) == 0),
                _ => Formula::Atom(self.below(atoms) as u32),
            };
        }
        if self.below(2) == 0 {
            let op = of.one[self.below(of.one.len())];
            return op(Box::new(self.formula(of, size - 1, atoms)));
        }
        let op = of.two[self.below(of.two.len())];
        let left = self.below(size);
        op(Box::new(self.formula(of, left, atoms)), Box::new(self.formula(of, size - 1 - left, atoms)))
    }

    pub(crate) fn run(&mut self, atoms: usize, steps: usize) -> Vec<Letter> {
        (0..steps).map(|_| Letter::known(self.below(1 << atoms) as u64)).collect()
    }
}
