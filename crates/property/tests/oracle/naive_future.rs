//! Future-time LTL on finite runs, by recursion over positions (docs/semantics.md).

use property::Formula;
use property::monitor::{AtEnd, Verdict};

use crate::naive_past::{Run, values};

/// Formulas brought down to `until` and `next`, by the definitions of the derived operators.
///
/// An obligation carries the number of its variable, once that is known.
#[derive(Clone, Debug)]
enum Simple {
    Const(bool),
    Leaf(usize),
    Not(Box<Simple>),
    And(Box<Simple>, Box<Simple>),
    Until(Box<Simple>, Box<Simple>, usize),
    Next(Box<Simple>, usize),
}

fn not(f: Simple) -> Simple {
    Simple::Not(Box::new(f))
}

fn or(f: Simple, g: Simple) -> Simple {
    not(Simple::And(Box::new(not(f)), Box::new(not(g))))
}

fn until(f: Simple, g: Simple) -> Simple {
    Simple::Until(Box::new(f), Box::new(g), 0)
}

fn always(f: Simple) -> Simple {
    not(until(Simple::Const(true), not(f)))
}

fn simple(formula: &Formula, leaves: &mut Vec<Formula>) -> Simple {
    use Formula::*;
    let mut of = |f: &Formula| simple(f, leaves);
    match formula {
        Const(value) => Simple::Const(*value),
        Not(f) => not(of(f)),
        And(f, g) => Simple::And(Box::new(of(f)), Box::new(of(g))),
        Or(f, g) => or(of(f), of(g)),
        Implies(f, g) => or(not(of(f)), of(g)),
        Iff(f, g) => {
            let (f, g) = (of(f), of(g));
            or(Simple::And(Box::new(f.clone()), Box::new(g.clone())), Simple::And(Box::new(not(f)), Box::new(not(g))))
        }
        Always(f) => always(of(f)),
        Eventually(f) => until(Simple::Const(true), of(f)),
        Next(f) => Simple::Next(Box::new(of(f)), 0),
        WNext(f) => not(Simple::Next(Box::new(not(of(f))), 0)),
        Until(f, g) => until(of(f), of(g)),
        WUntil(f, g) => {
            let (f, g) = (of(f), of(g));
            or(until(f.clone(), g), always(f))
        }
        Releases(f, g) => not(until(not(of(f)), not(of(g)))),
        leaf => Simple::Leaf(leaves.iter().position(|f| f == leaf).unwrap_or_else(|| {
            leaves.push(leaf.clone());
            leaves.len() - 1
        })),
    }
}

/// A Boolean function of the variables (leaves and obligations), one bit for each assignment.
type Function = Vec<u64>;

/// The variables of residuals: the leaves, and the obligations up to equality of the functions that they are over.
#[derive(Clone)]
pub(crate) struct Definition {
    formula: Formula,
    simple: Simple,
    leaves: Vec<Formula>,
    obligations: Vec<(Function, Option<Function>)>,
    words: usize,
}

/// More variables than this make the functions too long.
const MAX_VARIABLES: usize = 11;

impl Definition {
    /// `None` if there are too many obligations for this way of defining.
    pub(crate) fn new(formula: &Formula) -> Option<Self> {
        let mut leaves = Vec::new();
        let mut simple = simple(formula, &mut leaves);
        let most = leaves.len() + count(&simple);
        if most > MAX_VARIABLES {
            return None;
        }
        let words = (1_usize << most).div_ceil(64);
        let mut this =
            Self { formula: formula.clone(), simple: simple.clone(), leaves, obligations: Vec::new(), words };
        this.number(&mut simple);
        this.simple = simple;
        Some(this)
    }

    /// Numbers the obligations, inner ones first. Two are the same if they are over the same functions.
    fn number(&mut self, f: &mut Simple) {
        let (key, number) = match f {
            Simple::Const(_) | Simple::Leaf(_) => return,
            Simple::Not(f) => return self.number(f),
            Simple::And(f, g) => {
                self.number(f);
                return self.number(g);
            }
            Simple::Until(a, b, number) => {
                self.number(a);
                self.number(b);
                ((self.open(a), Some(self.open(b))), number)
            }
            Simple::Next(a, number) => {
                self.number(a);
                ((self.open(a), None), number)
            }
        };
        let at = self.obligations.iter().position(|known| *known == key).unwrap_or_else(|| {
            self.obligations.push(key);
            self.obligations.len() - 1
        });
        *number = self.leaves.len() + at;
    }

    fn constant(&self, value: bool) -> Function {
        vec![if value { u64::MAX } else { 0 }; self.words]
    }

    /// The function that is a variable.
    fn projection(&self, variable: usize) -> Function {
        const PATTERN: [u64; 6] = [
            0xaaaa_aaaa_aaaa_aaaa,
            0xcccc_cccc_cccc_cccc,
            0xf0f0_f0f0_f0f0_f0f0,
            0xff00_ff00_ff00_ff00,
            0xffff_0000_ffff_0000,
            0xffff_ffff_0000_0000,
        ];
        let word = |w: usize| match variable {
            0..6 => PATTERN[variable],
            _ if w >> (variable - 6) & 1 == 1 => u64::MAX,
            _ => 0,
        };
        (0..self.words).map(word).collect()
    }

    /// A formula at a position about which nothing is known yet.
    fn open(&self, f: &Simple) -> Function {
        match f {
            Simple::Const(value) => self.constant(*value),
            Simple::Leaf(leaf) => self.projection(*leaf),
            Simple::Not(f) => flip(self.open(f)),
            Simple::And(f, g) => meet(self.open(f), &self.open(g)),
            Simple::Until(_, _, number) | Simple::Next(_, number) => self.projection(*number),
        }
    }

    /// A formula at positions `0..=k`, and at `k + 1`, where nothing is known: progression through step `k`.
    fn residuals(&self, f: &Simple, leaves: &[Vec<bool>], k: usize) -> Vec<Function> {
        let zip = |f: Vec<Function>, g: Vec<Function>| f.into_iter().zip(g);
        match f {
            Simple::Const(value) => vec![self.constant(*value); k + 2],
            Simple::Leaf(leaf) => {
                let mut out = (0..=k).map(|j| self.constant(leaves[*leaf][j])).collect::<Vec<_>>();
                out.push(self.projection(*leaf));
                out
            }
            Simple::Not(f) => self.residuals(f, leaves, k).into_iter().map(flip).collect(),
            Simple::And(f, g) => {
                zip(self.residuals(f, leaves, k), self.residuals(g, leaves, k)).map(|(f, g)| meet(f, &g)).collect()
            }
            Simple::Until(a, b, _) => {
                let (a, b) = (self.residuals(a, leaves, k), self.residuals(b, leaves, k));
                let mut out = vec![self.open(f); k + 2];
                for j in (0..=k).rev() {
                    let still = meet(a[j].clone(), &out[j + 1]);
                    out[j] = flip(meet(flip(b[j].clone()), &flip(still)));
                }
                out
            }
            Simple::Next(a, _) => {
                let a = self.residuals(a, leaves, k);
                let mut out = a[1..].to_vec();
                out.push(self.open(f));
                out
            }
        }
    }

    /// The verdict after each step, and the verdict if the run ended there. All atoms are known.
    pub(crate) fn verdicts(&self, run: &Run, rule: AtEnd) -> Vec<(Verdict, Verdict)> {
        let leaves = self.leaves.iter().map(|f| known(f, run)).collect::<Vec<_>>();
        (0..run.len())
            .map(|k| {
                let residual = self.residuals(&self.simple, &leaves, k).swap_remove(0);
                let (never, surely) = (residual.iter().all(|w| *w == 0), residual.iter().all(|w| *w == u64::MAX));
                let end = self.end(&run[..=k].to_vec(), rule);
                match (never, surely, end) {
                    // Final only if it holds whether or not the run goes on.
                    (true, _, None | Some(false)) => (Verdict::Violated, Verdict::Violated),
                    (_, true, None | Some(true)) => (Verdict::Satisfied, Verdict::Satisfied),
                    (_, _, Some(true)) => (Verdict::Pending, Verdict::Fulfilled),
                    (_, _, Some(false)) => (Verdict::Pending, Verdict::Unfulfilled),
                    (_, _, None) => (Verdict::Pending, Verdict::Pending),
                }
            })
            .collect()
    }

    /// The value by the rule for the end. `None`: the rule gives none.
    pub(crate) fn end(&self, run: &Run, rule: AtEnd) -> Option<bool> {
        match rule {
            AtEnd::None => None,
            AtEnd::Weak => Some(weak(&self.formula, false, run)[0]),
            _ => Some(strict(&self.formula, run, rule == AtEnd::Strong)[0]),
        }
    }
}

fn count(f: &Simple) -> usize {
    match f {
        Simple::Const(_) | Simple::Leaf(_) => 0,
        Simple::Not(f) => count(f),
        Simple::And(f, g) => count(f) + count(g),
        Simple::Until(f, g, _) => 1 + count(f) + count(g),
        Simple::Next(f, _) => 1 + count(f),
    }
}

fn flip(f: Function) -> Function {
    f.into_iter().map(|w| !w).collect()
}

fn meet(f: Function, g: &Function) -> Function {
    f.into_iter().zip(g).map(|(f, g)| f & g).collect()
}

/// A leaf at every step.
fn known(leaf: &Formula, run: &Run) -> Vec<bool> {
    values(leaf, run).into_iter().map(|t| t.expect("all atoms are known")).collect()
}

/// From the last step back: its value by the end column, and `now` of (step, value of the step after) before it.
fn back(steps: usize, last: bool, now: impl Fn(usize, bool) -> bool) -> Vec<bool> {
    let mut out = vec![last; steps];
    for k in (0..steps - 1).rev() {
        out[k] = now(k, out[k + 1]);
    }
    out
}

/// The tables of section 3 for `stutter` and `strong`: the value at every step of a run that ends.
fn strict(formula: &Formula, run: &Run, strong: bool) -> Vec<bool> {
    use Formula::*;
    let n = run.len();
    let at = |f: &Formula| strict(f, run, strong);
    let both = |f: &Formula, g: &Formula| at(f).into_iter().zip(at(g));
    match formula {
        Not(f) => at(f).into_iter().map(|f| !f).collect(),
        And(f, g) => both(f, g).map(|(f, g)| f && g).collect(),
        Or(f, g) => both(f, g).map(|(f, g)| f || g).collect(),
        Implies(f, g) => both(f, g).map(|(f, g)| !f || g).collect(),
        Iff(f, g) => both(f, g).map(|(f, g)| f == g).collect(),
        Always(f) => {
            let f = at(f);
            back(n, f[n - 1], |k, later| f[k] && later)
        }
        Eventually(f) => {
            let f = at(f);
            back(n, f[n - 1], |k, later| f[k] || later)
        }
        Next(f) | WNext(f) => {
            let mut f = at(f);
            let last = if strong { matches!(formula, WNext(_)) } else { f[n - 1] };
            f.remove(0);
            f.push(last);
            f
        }
        Until(f, g) => {
            let (f, g) = (at(f), at(g));
            back(n, g[n - 1], |k, later| g[k] || f[k] && later)
        }
        WUntil(f, g) => {
            let until = at(&Until(f.clone(), g.clone()));
            until.into_iter().zip(at(&Always(f.clone()))).map(|(u, a)| u || a).collect()
        }
        Releases(f, g) => at(&Until(Box::new(Not(f.clone())), Box::new(Not(g.clone())))).iter().map(|u| !u).collect(),
        leaf => known(leaf, run),
    }
}

/// The rule `weak`, on the negation normal form: the value of the formula, or of its negation, at every step.
fn weak(formula: &Formula, negated: bool, run: &Run) -> Vec<bool> {
    use Formula::*;
    let n = run.len();
    let at = |f: &Formula, flip: bool| weak(f, negated != flip, run);
    let and = |f: Vec<bool>, g: Vec<bool>| f.into_iter().zip(g).map(|(f, g)| f && g).collect::<Vec<_>>();
    let or = |f: Vec<bool>, g: Vec<bool>| f.into_iter().zip(g).map(|(f, g)| f || g).collect::<Vec<_>>();
    match (formula, negated) {
        (Not(f), _) => at(f, true),
        (And(f, g), false) | (Or(f, g), true) => and(at(f, false), at(g, false)),
        (And(f, g), true) | (Or(f, g), false) => or(at(f, false), at(g, false)),
        (Implies(f, g), false) => or(at(f, true), at(g, false)),
        (Implies(f, g), true) => and(at(f, true), at(g, false)),
        (Iff(f, g), _) => {
            let same = and(weak(f, false, run), at(g, false));
            or(same, and(weak(f, true, run), at(g, true)))
        }
        (Always(f), false) | (Eventually(f), true) => {
            let f = at(f, false);
            back(n, f[n - 1], |k, later| f[k] && later)
        }
        (Eventually(f), false) | (Always(f), true) => {
            let f = at(f, false);
            back(n, true, |k, later| f[k] || later)
        }
        (Next(f) | WNext(f), _) => {
            let mut f = at(f, false);
            f.remove(0);
            f.push(true);
            f
        }
        (Until(f, g), false) | (Releases(f, g), true) => {
            let (f, g) = (at(f, false), at(g, false));
            back(n, f[n - 1] || g[n - 1], |k, later| g[k] || f[k] && later)
        }
        (Releases(f, g), false) | (Until(f, g), true) => {
            let (f, g) = (at(f, false), at(g, false));
            back(n, g[n - 1], |k, later| g[k] && (f[k] || later))
        }
        (WUntil(f, g), false) => {
            let (f, g) = (at(f, false), at(g, false));
            back(n, f[n - 1] || g[n - 1], |k, later| g[k] || f[k] && later)
        }
        (WUntil(f, g), true) => {
            // !((f until g) || always f)
            and(weak(&Until(f.clone(), g.clone()), true, run), weak(&Always(f.clone()), true, run))
        }
        (leaf, _) => known(leaf, run).into_iter().map(|value| value != negated).collect(),
    }
}
