//! The parameters of a compilation, and why it can fail.

use super::letter::{Letter, MAX_ATOMS};
use crate::AtomId;

/// The rule for the end of a run (docs/semantics.md, "Future-time operators"). Only future-time formulas ask for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AtEnd {
    /// The last step repeats for ever.
    #[default]
    Stutter,
    /// There is no next step: `next` is false, `wnext` true.
    Strong,
    /// What is still owed is excused, on the negation normal form.
    Weak,
    /// The end gives no verdict.
    None,
}

/// When a pattern is violated (docs/semantics.md, "Regular expressions").
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EreMode {
    /// Some suffix of the letters so far matches.
    Never,
    /// All the letters so far match.
    NeverFromStart,
    /// The letters so far cannot be continued to a match.
    Follows,
}

/// The letters that can occur. Atoms need not be independent (`x > 0` and `x < 0` exclude each other; no event atom
/// holds at step 0). Only letters without unknown atoms are asked about. Verdicts never depend on this; what
/// *can* happen does: [`super::Monitor::can_violate`] and [`super::Exploration`].
#[derive(Clone, Copy)]
pub struct Possible<'a> {
    /// At step 0.
    pub at_start: &'a dyn Fn(&Letter) -> bool,
    /// At every later step.
    pub later: &'a dyn Fn(&Letter) -> bool,
}

impl Default for Possible<'_> {
    fn default() -> Self {
        Self { at_start: &|_| true, later: &|_| true }
    }
}

/// Bounds that keep a compilation from running away.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Transitions of a table made ahead; a larger automaton is discovered as it runs.
    pub table: usize,
    /// States that may ever be discovered; at most 2^20.
    pub states: usize,
    /// Terms (derivatives, or nodes of residuals) that may ever be made.
    pub terms: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { table: 1 << 16, states: 1 << 20, terms: 1 << 21 }
    }
}

/// The parameters of a compilation.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// The atoms that a letter may leave unknown. A letter that leaves another atom unknown is read as if that atom
    /// were false, so this set must not be too small.
    pub unknown: u64,
    /// The rule for the end of a run.
    pub at_end: AtEnd,
    /// The letters that can occur.
    pub possible: Possible<'a>,
    /// Bounds.
    pub limits: Limits,
}

/// Why a property has no monitor.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompileError {
    /// An atom's number is out of range.
    #[error("the property has more than {MAX_ATOMS} atoms (atom {0} is out of range)")]
    TooManyAtoms(AtomId),
    /// A pattern, a machine or a future-time formula looks at too many different predicates.
    #[error("the property distinguishes {0} different predicates; at most 64 are supported")]
    TooManyLeaves(usize),
    /// A future-time operator where the formula must be decided by what has happened.
    #[error("the future-time operator `{0}` cannot stand here: its value is not known at the step")]
    FutureOperator(&'static str),
    /// A transition leads to a state that does not exist.
    #[error("the machine has {states} states, but refers to state {state}")]
    NoSuchState {
        /// The state referred to.
        state: usize,
        /// How many there are.
        states: usize,
    },
    /// The formula has too many parts for one step.
    #[error("the property has more than {0} different subformulas")]
    TooManyParts(usize),
    /// Even the first states exceed the bounds.
    #[error("the monitor of this property is too large")]
    TooLarge,
}

/// A bound of [`Limits`] was hit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooLarge;

impl From<TooLarge> for CompileError {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
}
