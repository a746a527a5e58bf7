//! What a property says once names are resolved: formulas, expressions and machines over numbered atoms.
//!
//! An atom is a predicate on one step (a state predicate, an event); what it means is not known here. Monitors are
//! compiled from these types; the checker of the language produces them.

/// The number of an atom in its property.
pub type AtomId = u32;

/// A temporal formula over atoms. docs/semantics.md defines the operators.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Formula {
    /// `true` or `false`.
    Const(bool),
    /// A predicate on the current step.
    Atom(AtomId),
    /// `!f`
    Not(Box<Formula>),
    /// `f && g`
    And(Box<Formula>, Box<Formula>),
    /// `f || g`
    Or(Box<Formula>, Box<Formula>),
    /// `f -> g`
    Implies(Box<Formula>, Box<Formula>),
    /// `f <-> g`
    Iff(Box<Formula>, Box<Formula>),

    /// `prev f`: stationary at step 0.
    Prev(Box<Formula>),
    /// `yesterday f`: false at step 0.
    Yesterday(Box<Formula>),
    /// `wyesterday f`: true at step 0.
    WYesterday(Box<Formula>),
    /// `once f`
    Once(Box<Formula>),
    /// `hist f`
    Hist(Box<Formula>),
    /// `f since g`
    Since(Box<Formula>, Box<Formula>),
    /// `f wsince g`
    WSince(Box<Formula>, Box<Formula>),
    /// `[f, g)`
    Interval(Box<Formula>, Box<Formula>),
    /// `weak [f, g)`
    WInterval(Box<Formula>, Box<Formula>),
    /// `start(f)`
    Start(Box<Formula>),
    /// `end(f)`
    End(Box<Formula>),

    /// `always f`
    Always(Box<Formula>),
    /// `eventually f`
    Eventually(Box<Formula>),
    /// `next f`
    Next(Box<Formula>),
    /// `wnext f`
    WNext(Box<Formula>),
    /// `f until g`
    Until(Box<Formula>, Box<Formula>),
    /// `f wuntil g`
    WUntil(Box<Formula>, Box<Formula>),
    /// `f releases g`
    Releases(Box<Formula>, Box<Formula>),
}

/// An extended regular expression. A leaf is a formula without future operators: it matches a letter where it holds
/// on the path so far (`event p = start(x > 0)` looks one step back).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Ere {
    /// No word at all.
    Empty,
    /// The empty word.
    Eps,
    /// Any one letter.
    Any,
    /// One letter at which the formula holds.
    Leaf(Formula),
    /// One after the other.
    Cat(Box<Ere>, Box<Ere>),
    /// `e | f`
    Or(Box<Ere>, Box<Ere>),
    /// `e & f`
    And(Box<Ere>, Box<Ere>),
    /// `~e`, with respect to all words.
    Not(Box<Ere>),
    /// `e*`
    Star(Box<Ere>),
    /// `e+`
    Plus(Box<Ere>),
    /// `e?`
    Opt(Box<Ere>),
}

/// What a state does with a letter that none of its guards takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Otherwise {
    /// It stays.
    Stay,
    /// The path ends, safely.
    Die,
    /// The path is bad.
    Bad,
}

/// When a transition is taken.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Guard {
    /// The formula (without future operators) holds.
    If(Formula),
    /// No formula of the state holds.
    Else,
}

/// A state of a machine: all transitions whose guard holds are taken.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FsmState {
    /// Its name.
    pub name: String,
    /// Guards, and the states they lead to.
    pub transitions: Vec<(Guard, Vec<usize>)>,
}

/// A nondeterministic machine: a run is bad if some path reaches the bad state, which it never leaves.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fsm {
    /// The states.
    pub states: Vec<FsmState>,
    /// Where it begins.
    pub init: usize,
    /// The bad one.
    pub bad: usize,
    /// What happens to a letter that no guard of a state takes. `None`: every state takes every letter.
    pub otherwise: Option<Otherwise>,
}
