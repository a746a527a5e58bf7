//! Extended regular expressions over the letters of steps 1, 2, … (docs/semantics.md, "Regular expressions").

use super::AnyMonitor;
use super::automaton::{Product, Reader, complete};
use super::derivative::{ALL, EMPTY, Term, Terms};
use super::follows::Follows;
use super::leaves::{LeafSet, atoms};
use super::options::{CompileError, EreMode, Options, TooLarge};
use super::verdict::Verdict;
use crate::Ere;

/// Compiles a pattern. The letters are those of steps 1, 2, …; before the first, the empty word has been read, and a
/// pattern that matches it is violated at step 0 (`never`, `never_from_start`).
pub fn ere(pattern: &Ere, mode: EreMode, options: &Options<'_>) -> Result<AnyMonitor, CompileError> {
    let used = used(pattern)?;
    let mut leaves = LeafSet::default();
    let mut terms = Terms::new(options.limits.terms);
    let mut start = terms.add(pattern, &mut leaves)?;
    if mode == EreMode::Never {
        start = terms.cat(ALL, start)?;
    }
    let derivatives = Derivatives { terms, start, mode };
    let product = Product::new(leaves.finish()?, derivatives, &options.limits);
    if mode == EreMode::Follows {
        complete(Follows::new(product, used), used, options)
    } else {
        complete(product, used, options)
    }
}

fn used(pattern: &Ere) -> Result<u64, CompileError> {
    let mut set = 0;
    let mut todo = vec![pattern];
    while let Some(e) = todo.pop() {
        match e {
            Ere::Empty | Ere::Eps | Ere::Any => {}
            Ere::Leaf(formula) => set |= atoms(formula)?,
            Ere::Cat(a, b) | Ere::Or(a, b) | Ere::And(a, b) => todo.extend([&**a, &**b]),
            Ere::Not(a) | Ere::Star(a) | Ere::Plus(a) | Ere::Opt(a) => todo.push(a),
        }
    }
    Ok(set)
}

/// States are derivatives. In the two `never` modes a match is final, so one term stands for all of them: the term of
/// all words, which matches for ever.
struct Derivatives {
    terms: Terms,
    start: Term,
    mode: EreMode,
}

impl Derivatives {
    fn reached(&self, t: Term) -> Term {
        if self.mode != EreMode::Follows && self.terms.nullable(t) { ALL } else { t }
    }
}

impl Reader for Derivatives {
    fn init(&mut self, _leaves: u64) -> Result<u32, TooLarge> {
        Ok(self.reached(self.start))
    }
    fn step(&mut self, q: u32, leaves: u64) -> Result<u32, TooLarge> {
        let t = self.terms.derivative(q, leaves)?;
        Ok(self.reached(t))
    }
    fn verdict(&self, q: u32) -> Verdict {
        match self.mode {
            EreMode::Follows if q == EMPTY => Verdict::Violated,
            EreMode::Follows => Verdict::Pending,
            _ if self.terms.nullable(q) => Verdict::Violated,
            _ => Verdict::Pending,
        }
    }
    fn at_end(&self, q: u32) -> Verdict {
        match (self.verdict(q), self.mode) {
            (Verdict::Pending, EreMode::Follows) if self.terms.nullable(q) => Verdict::Fulfilled,
            (Verdict::Pending, EreMode::Follows) => Verdict::Unfulfilled,
            (verdict, _) => verdict,
        }
    }
    fn is_sink(&self, q: u32) -> bool {
        q == EMPTY || q == ALL
    }
}
