//! Automata whose states have a meaning and whose transitions are computed; what tables and lazy monitors are made of.

use super::completing::Completing;
use super::intern::Interner;
use super::leaves::Leaves;
use super::letter::{Alphabet, Letter};
use super::options::{Limits, Options, TooLarge};
use super::verdict::Verdict;
use super::{AnyMonitor, CompileError, Lazy, Table};

/// A deterministic automaton with states numbered in order of discovery.
pub(super) trait Automaton: Send {
    /// The state after step 0.
    fn init(&mut self, step0: Letter) -> Result<u32, TooLarge>;
    /// The state after one more step.
    fn step(&mut self, q: u32, letter: Letter) -> Result<u32, TooLarge>;
    /// What is known after the steps so far.
    fn verdict(&mut self, q: u32) -> Verdict;
    /// What is known when no more steps come.
    fn at_end(&mut self, q: u32) -> Verdict;
    /// Bits of the state of the past-time part.
    fn bits(&self) -> u32;
}

/// The part of an automaton that reads which predicates hold at a step, and does not care how they are decided.
pub(super) trait Reader: Send {
    /// The state after step 0. Word logics do not look at `leaves`: they never see step 0.
    fn init(&mut self, leaves: u64) -> Result<u32, TooLarge>;
    /// The state after one more step.
    fn step(&mut self, q: u32, leaves: u64) -> Result<u32, TooLarge>;
    /// What is known after the steps so far.
    fn verdict(&self, q: u32) -> Verdict;
    /// What is known when no more steps come.
    fn at_end(&self, q: u32) -> Verdict;
    /// Whether a state is never left.
    fn is_sink(&self, q: u32) -> bool;
}

/// A reader together with the past-time part that decides its leaves on the path.
pub(super) struct Product<R> {
    leaves: Leaves,
    reader: R,
    states: Interner<(u32, u32)>,
    limit: usize,
}

impl<R: Reader> Product<R> {
    pub(super) fn new(leaves: Leaves, reader: R, limits: &Limits) -> Self {
        Self { leaves, reader, states: Interner::default(), limit: limits.states }
    }

    fn state(&mut self, past: u32, q: u32) -> Result<u32, TooLarge> {
        // In a sink the past no longer matters; forgetting it makes equal states equal.
        let past = if self.reader.is_sink(q) { 0 } else { past };
        let id = self.states.intern((past, q));
        if self.states.len() > self.limit { Err(TooLarge) } else { Ok(id) }
    }
}

impl<R: Reader> Automaton for Product<R> {
    fn init(&mut self, step0: Letter) -> Result<u32, TooLarge> {
        let (past, leaves) = self.leaves.init(step0);
        let q = self.reader.init(leaves)?;
        self.state(past, q)
    }
    fn step(&mut self, q: u32, letter: Letter) -> Result<u32, TooLarge> {
        let (past, inner) = *self.states.get(q);
        if self.reader.is_sink(inner) {
            return Ok(q);
        }
        let (past, leaves) = self.leaves.step(past, letter);
        let inner = self.reader.step(inner, leaves)?;
        self.state(past, inner)
    }
    fn verdict(&mut self, q: u32) -> Verdict {
        self.reader.verdict(self.states.get(q).1)
    }
    fn at_end(&mut self, q: u32) -> Verdict {
        self.reader.at_end(self.states.get(q).1)
    }
    fn bits(&self) -> u32 {
        self.leaves.bits()
    }
}

/// Follows completions of unknown atoms where there can be any.
pub(super) fn complete(
    automaton: impl Automaton + 'static,
    used: u64,
    options: &Options<'_>,
) -> Result<AnyMonitor, CompileError> {
    if options.unknown & used == 0 {
        finish(Box::new(automaton), used, options)
    } else {
        let completing = Completing::new(automaton, used, options.unknown, options.limits.states);
        finish(Box::new(completing), used, options)
    }
}

/// A table if the automaton is small, a lazy monitor otherwise.
pub(super) fn finish(
    mut automaton: Box<dyn Automaton>,
    used: u64,
    options: &Options<'_>,
) -> Result<AnyMonitor, CompileError> {
    let alphabet = Alphabet::new(used, options.unknown);
    if let Some(table) = Table::build(&mut *automaton, &alphabet, options) {
        return Ok(AnyMonitor::Table(table));
    }
    // A property of which not even step 0 can be computed is refused rather than always unknown.
    automaton.init(Letter::known(0))?;
    Ok(AnyMonitor::Lazy(Lazy::new(automaton, alphabet)))
}
