//! Future-time formulas on finite runs: progression over canonical residuals (docs/semantics.md).

use super::AnyMonitor;
use super::automaton::{Product, Reader, complete};
use super::bdd::{Bdd, FALSE, TRUE};
use super::intern::Interner;
use super::leaves::{LeafSet, atoms};
use super::normal::Normal;
use super::options::{AtEnd, CompileError, Options, TooLarge};
use super::verdict::Verdict;
use crate::Formula;

/// Compiles a future-time formula. Past-time subformulas are decided on the path, like atoms.
///
/// The residual of a step assumes that more is to come; what holds if the step is the last is another column of the
/// table. A state keeps both: the residual after the step, and the value of the residual before under the rule for
/// the end. `violated` and `satisfied` are final, so they are said only when the two agree (`wnext false` is not
/// violated at the last step under `strong`). Under `stutter` they always do.
pub fn future(formula: &Formula, options: &Options<'_>) -> Result<AnyMonitor, CompileError> {
    let used = atoms(formula)?;
    let mut leaves = LeafSet::default();
    let mut normal = Normal::new(options.at_end, &options.limits);
    let whole = normal.whole(formula, &mut leaves)?;
    let residuals = Residuals { normal, whole, rule: options.at_end, states: Interner::default() };
    let product = Product::new(leaves.finish()?, residuals, &options.limits);
    complete(product, used, options)
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    residual: Bdd,
    /// The value if the run ends here.
    end: bool,
    verdict: Verdict,
}

struct Residuals {
    normal: Normal,
    whole: Bdd,
    rule: AtEnd,
    states: Interner<State>,
}

impl Residuals {
    fn read(&mut self, before: Bdd, leaves: u64) -> Result<u32, TooLarge> {
        let residual = self.normal.progress(before, leaves)?;
        let plain = self.normal.plain(residual)?;
        // Without a rule for the end, the residual alone decides.
        let end = match self.rule {
            AtEnd::None => plain == TRUE,
            rule => self.normal.end(before, leaves, rule),
        };
        let verdict = match (plain, end) {
            (FALSE, false) => Verdict::Violated,
            (TRUE, true) => Verdict::Satisfied,
            _ => Verdict::Pending,
        };
        let residual = if verdict == Verdict::Pending { residual } else { plain };
        Ok(self.states.intern(State { residual, end, verdict }))
    }
}

impl Reader for Residuals {
    fn init(&mut self, leaves: u64) -> Result<u32, TooLarge> {
        self.read(self.whole, leaves)
    }
    fn step(&mut self, q: u32, leaves: u64) -> Result<u32, TooLarge> {
        self.read(self.states.get(q).residual, leaves)
    }
    fn verdict(&self, q: u32) -> Verdict {
        self.states.get(q).verdict
    }
    fn at_end(&self, q: u32) -> Verdict {
        let state = self.states.get(q);
        match (state.verdict, self.rule) {
            (Verdict::Pending, AtEnd::None) => Verdict::Pending,
            (Verdict::Pending, _) if state.end => Verdict::Fulfilled,
            (Verdict::Pending, _) => Verdict::Unfulfilled,
            (verdict, _) => verdict,
        }
    }
    fn is_sink(&self, q: u32) -> bool {
        self.states.get(q).verdict.is_final()
    }
}
