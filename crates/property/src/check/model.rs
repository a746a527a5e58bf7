//! What a checked specification consists of.

use super::expr::{Arg, Const, Expr, ParamId, VarId, VarRef};
use super::place::Place;
use super::settings::Settings;
use super::typed::Typed;
use crate::syntax::Span;
use crate::syntax::ast::{EreMode, Lang, Origin, Outcome, Side, Sort, Type, When};
use crate::{Ere, Formula, Fsm};
use event::Causality;

/// A checked specification. Numbers in properties and checks index its lists.
#[derive(Clone, Default, Debug)]
pub struct Spec {
    /// Its name.
    pub name: String,
    /// The language of the program, if said.
    pub target: Option<Lang>,
    /// Shared and local variables, and the flags of regions.
    pub variables: Vec<Variable>,
    /// Locks.
    pub locks: Vec<Lock>,
    /// Events bound to places.
    pub events: Vec<UserEvent>,
    /// Properties without mistakes.
    pub properties: Vec<Property>,
    /// Built-in checks.
    pub checks: Vec<Check>,
    /// `explore { … }`
    pub settings: Settings,
    /// Handlers for properties that have none of the kind themselves.
    pub handlers: Vec<Handler>,
    /// What is not to be reported.
    pub suppressions: Vec<Suppression>,
}

/// What maintains a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VariableKind {
    /// The program: one for all threads.
    Shared,
    /// One for each thread.
    Local,
    /// Whether the thread is in a region.
    Region,
}

/// A variable.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    /// Its name in the specification.
    pub name: String,
    /// What maintains it.
    pub kind: VariableKind,
    /// Its type; `None`: whatever the trace says.
    pub ty: Option<Type>,
    /// One variable for each of these.
    pub index: Option<Sort>,
    /// Its initial value; `None`: unknown.
    pub init: Option<Const>,
    /// Where it is in the program.
    pub place: Option<Place>,
    /// Where it is declared.
    pub span: Span,
}

/// A lock.
#[derive(Clone, PartialEq, Debug)]
pub struct Lock {
    /// Its name in the specification.
    pub name: String,
    /// One lock for each of these.
    pub index: Option<Sort>,
    /// Where it is in the program.
    pub place: Place,
    /// Where it is declared.
    pub span: Span,
}

/// An event of the program.
#[derive(Clone, PartialEq, Debug)]
pub struct UserEvent {
    /// Its name in the specification.
    pub name: String,
    /// Names and sorts of its arguments.
    pub params: Vec<(String, Sort)>,
    /// Where it is in the program.
    pub place: Place,
    /// `before` if unsaid.
    pub when: When,
    /// `exec` if unsaid.
    pub side: Side,
    /// Where each argument comes from.
    pub origins: Vec<Origin>,
    /// Where it is declared.
    pub span: Span,
}

impl UserEvent {
    /// The name as recorders write it: that of its place; in Java and C, with how it is bound if that is not `before
    /// exec` with the arguments in order, so that two events at one place have two names. (Whether a call or its
    /// execution is meant is all the same in C, and the end of a function has no values there.)
    pub fn recorded(&self) -> String {
        let mut name = self.place.recorded();
        if !matches!(self.place.lang, Lang::Java | Lang::C) {
            return name;
        }
        if self.when == When::After && self.place.lang == Lang::Java {
            name.push_str("/after");
        }
        if self.side == Side::Call && self.place.lang == Lang::Java {
            name.push_str("/call");
        }
        let is_default = self.origins.iter().zip(1..).all(|(&origin, number)| origin == Origin::Arg(number));
        for origin in self.origins.iter().filter(|_| !is_default) {
            match origin {
                Origin::This => name.push_str("/this"),
                Origin::Result => name.push_str("/result"),
                Origin::Arg(number) => name.push_str(&format!("/arg{number}")),
            }
        }
        name
    }
}

/// A parameter of a property.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub sort: Sort,
    /// Where it is declared.
    pub span: Span,
}

/// A predicate on one step.
#[derive(Clone, PartialEq, Debug)]
pub enum Atom {
    /// On the valuation; unknown if what it needs is.
    State(Expr),
    /// On the parameters alone: the same at every step of an instance.
    Instance(Expr),
    /// On the event; false at step 0.
    Event(EventPattern),
}

/// A lock in an event.
#[derive(Clone, PartialEq, Debug)]
pub enum LockPattern {
    /// A declared one, of an instance if it is indexed.
    Lock(u32, Option<Arg>),
    /// A parameter (a lock or an object), or any.
    Arg(Arg),
}

/// Which events an event atom is about.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs, reason = "the atoms of the language; the last argument is the thread")]
pub enum EventPattern {
    Read(VarRef, Arg),
    Write(VarRef, Arg),
    Acquire(LockPattern, Arg),
    Release(LockPattern, Arg),
    WaitBegin(LockPattern, Arg),
    WaitEnd(LockPattern, Arg),
    /// `notify` and `notifyall`.
    Notify(LockPattern, Arg),
    /// The first starts the second.
    Fork(Arg, Arg),
    /// The first has waited for the second.
    Join(Arg, Arg),
    /// The region, by its flag.
    Enter(VarId, Arg),
    Exit(VarId, Arg),
    Started(Arg),
    Finished(Arg),
    /// An event of [`Spec::events`].
    User(u32, Vec<Arg>),
}

/// What a property says.
#[derive(Clone, PartialEq, Debug)]
pub enum Logic {
    /// At every step the formula holds.
    Past(Formula),
    /// The formula holds at step 0.
    Future(Formula),
    /// A regular expression over the steps.
    Ere {
        /// What a match means.
        mode: EreMode,
        /// The expression.
        ere: Ere,
    },
    /// A machine.
    Fsm(Fsm),
    /// At every position of the thread the formula holds.
    Mttl {
        /// The parameter that is the thread.
        thread: ParamId,
        /// The formula.
        formula: Typed,
    },
    /// A logic defined elsewhere.
    Logic {
        /// Which.
        which: String,
        /// The property in its own syntax.
        lines: Vec<String>,
        /// The declared names that its words mention, and what they stand for (no future operators).
        propositions: Vec<(String, Formula)>,
    },
}

impl Logic {
    /// Its keyword.
    pub fn text(&self) -> &'static str {
        match self {
            Logic::Past(_) => "past",
            Logic::Future(_) => "future",
            Logic::Ere { .. } => "ere",
            Logic::Fsm(_) => "fsm",
            Logic::Mttl { .. } => "mttl",
            Logic::Logic { .. } => "logic",
        }
    }
}

/// What makes a step of a property: it is syntactic, so `x >= x` counts.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Relevant {
    /// Variables of state atoms: their writes are steps.
    pub variables: Vec<VarRef>,
    /// Events of event atoms.
    pub events: Vec<EventPattern>,
}

/// A property, ready to be compiled.
#[derive(Clone, PartialEq, Debug)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The names of quantified threads (mttl), whose numbers follow those of the parameters.
    pub quantified: Vec<String>,
    /// Which values of the parameters count: evaluated when an instance is made.
    pub filter: Option<Expr>,
    /// What it says.
    pub logic: Logic,
    /// What the atoms in it mean, and where each first stands.
    pub atoms: Vec<(Atom, Span)>,
    /// `with { … }`
    pub settings: Settings,
    /// Its own handlers.
    pub handlers: Vec<Handler>,
    /// What makes a step.
    pub relevant: Relevant,
    /// Where its name stands.
    pub name_span: Span,
    /// All of it.
    pub span: Span,
}

/// A built-in check.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// What is looked for.
    pub what: CheckKind,
    /// `with { … }`
    pub settings: Settings,
    /// Where it stands.
    pub span: Span,
}

/// What races are looked for with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RaceMethod {
    /// `lockset`
    Lockset,
    /// `hb`
    Hb,
    /// `sync_preserving`
    SyncPreserving,
    /// Adjacent accesses under a causality model; `maximal` is the detector of that name.
    Model(Causality),
}

/// The built-in checks. Numbers index [`Spec::variables`] and [`Spec::locks`].
#[derive(Clone, PartialEq, Debug)]
pub enum CheckKind {
    /// Data races, on some variables if any are given.
    Races(Vec<VarId>, Option<RaceMethod>),
    /// Deadlocks of at most so many threads.
    Deadlocks(Option<u32>),
    /// Regions that must be atomic.
    Atomicity(Vec<VarId>),
    /// Regions that only one thread may be in.
    Mutex(Vec<VarId>),
    /// Lost wake-ups, on some locks if any are given.
    LostWakeup(Vec<u32>),
}

/// What happens on an outcome.
#[derive(Clone, PartialEq, Debug)]
pub struct Handler {
    /// When.
    pub outcome: Outcome,
    /// What, in order.
    pub actions: Vec<Action>,
}

/// What a handler does.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Reports, with a text of the user.
    Report(Option<String>),
    /// Calls a place of the program.
    Call(Place),
    /// Runs a command.
    Exec(String),
    /// Ends with this code.
    Exit(u8),
    /// Stops the analysis.
    Stop,
}

/// What is not to be reported.
#[derive(Clone, PartialEq, Debug)]
pub struct Suppression {
    /// The property, or the kind of check.
    pub name: String,
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
    /// Why.
    pub because: Option<String>,
}
