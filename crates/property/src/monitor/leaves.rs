//! The predicates that patterns, machines and future-time formulas look at: past-time formulas decided on the path.

use super::intern::Interner;
use super::letter::Letter;
use super::options::CompileError;
use super::program::Program;
use crate::Formula;

/// Distinct predicates of one property: their values are a bit set.
const MAX_LEAVES: usize = 64;

/// Collects the leaves of a property, each once.
#[derive(Default)]
pub(super) struct LeafSet {
    formulas: Vec<Formula>,
}

impl LeafSet {
    /// The number of a leaf.
    pub(super) fn add(&mut self, formula: &Formula) -> Result<u32, CompileError> {
        let at = match self.formulas.iter().position(|f| f == formula) {
            Some(at) => at,
            None => {
                self.formulas.push(formula.clone());
                self.formulas.len() - 1
            }
        };
        if at < MAX_LEAVES { Ok(at as u32) } else { Err(CompileError::TooManyLeaves(at + 1)) }
    }

    /// The past-time part that decides them. Every atom counts as known: completions are followed one by one.
    pub(super) fn finish(self) -> Result<Leaves, CompileError> {
        let program = Program::new(&self.formulas.iter().collect::<Vec<_>>(), 0)?;
        let mut states = Interner::default();
        let blank = program.blank();
        states.intern(blank.clone());
        Ok(Leaves { program, blank, states })
    }
}

/// Decides the leaves at each step. States are numbers.
pub(super) struct Leaves {
    program: Program,
    blank: Box<[u64]>,
    states: Interner<Box<[u64]>>,
}

impl Leaves {
    /// The state after step 0, and the leaves that hold there.
    pub(super) fn init(&mut self, letter: Letter) -> (u32, u64) {
        let mut after = self.blank.clone();
        let leaves = self.program.init(&mut after, letter, |regs| self.program.roots(regs));
        (self.states.intern(after), leaves)
    }

    /// The state after one more step, and the leaves that hold there.
    pub(super) fn step(&mut self, q: u32, letter: Letter) -> (u32, u64) {
        let mut after = self.blank.clone();
        let leaves = self.program.step(self.states.get(q), &mut after, letter, |regs| self.program.roots(regs));
        (self.states.intern(after), leaves)
    }

    /// Bits of a state.
    pub(super) fn bits(&self) -> u32 {
        self.program.bits()
    }
}

/// The atoms of a formula, as a set.
pub(super) fn atoms(formula: &Formula) -> Result<u64, CompileError> {
    let mut set = 0;
    let mut todo = vec![formula];
    while let Some(f) = todo.pop() {
        if let Formula::Atom(atom) = f {
            set |= 1_u64.checked_shl(*atom).ok_or(CompileError::TooManyAtoms(*atom))?;
        }
        todo.extend(parts(f));
    }
    Ok(set)
}

/// The direct subformulas.
pub(super) fn parts(formula: &Formula) -> impl Iterator<Item = &Formula> {
    use Formula::{
        Always, And, Atom, Const, End, Eventually, Hist, Iff, Implies, Interval, Next, Not, Once, Or, Prev, Releases,
        Since, Start, Until, WInterval, WNext, WSince, WUntil, WYesterday, Yesterday,
    };
    let (first, second) = match formula {
        Const(_) | Atom(_) => (None, None),
        Not(f) | Prev(f) | Yesterday(f) | WYesterday(f) | Once(f) | Hist(f) | Start(f) | End(f) | Always(f)
        | Eventually(f) | Next(f) | WNext(f) => (Some(f), None),
        And(f, g)
        | Or(f, g)
        | Implies(f, g)
        | Iff(f, g)
        | Since(f, g)
        | WSince(f, g)
        | Interval(f, g)
        | WInterval(f, g)
        | Until(f, g)
        | WUntil(f, g)
        | Releases(f, g) => (Some(f), Some(g)),
    };
    first.into_iter().chain(second).map(|f| &**f)
}
