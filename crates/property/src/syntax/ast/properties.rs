//! Properties, settings, checks, handlers and suppressions.

use super::{Const, Ere, Expr, Name, Params, Place, Text};
use crate::syntax::Span;

/// A property.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Params,
    /// What it says.
    pub body: Body,
    /// `with { … }`
    pub settings: Vec<Setting>,
    /// The handlers after it.
    pub handlers: Vec<Handler>,
    /// All of it.
    pub span: Span,
}

/// When an expression's words matter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EreMode {
    /// No stretch of the run may match.
    Never,
    /// No beginning of the run may match.
    NeverFromStart,
    /// The run must be able to become a match.
    Follows,
}

impl EreMode {
    /// Its keyword.
    pub fn text(self) -> &'static str {
        match self {
            EreMode::Never => "never",
            EreMode::NeverFromStart => "never_from_start",
            EreMode::Follows => "follows",
        }
    }
}

/// What a property says.
#[derive(Clone, Debug)]
pub enum Body {
    /// `past { … }`
    Past(Expr),
    /// `future { … }`
    Future(Expr),
    /// `mttl at i { … }`
    Mttl(Name, Expr),
    /// `ere MODE { … }`
    Ere(EreMode, Ere),
    /// `fsm { … }`
    Fsm(Fsm),
    /// `logic "…" { "…" … }`
    Logic(Text, Vec<Text>),
    /// Could not be read.
    Broken,
}

/// `fsm { … }`
#[derive(Clone, Debug)]
pub struct Fsm {
    /// The first state.
    pub init: Name,
    /// The bad state.
    pub bad: Name,
    /// What becomes of letters without a transition.
    pub otherwise: Option<crate::Otherwise>,
    /// The states.
    pub states: Vec<State>,
}

/// A state of a machine.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
    pub name: Name,
    /// Its transitions.
    pub transitions: Vec<Transition>,
}

/// `guard => state, …;`
#[derive(Clone, Debug)]
pub struct Transition {
    /// `None`: `else`.
    pub guard: Option<Expr>,
    /// Where the guard stands.
    pub span: Span,
    /// Where it leads.
    pub targets: Vec<Name>,
}

/// `name = value;`
#[derive(Clone, Debug)]
pub struct Setting {
    /// The name of the setting.
    pub name: Name,
    /// Its value.
    pub value: SettingValue,
}

/// The value of a setting.
#[derive(Clone, Debug)]
pub enum SettingValue {
    /// A constant.
    Const(Const),
    /// A word; hyphens are written as underscores.
    Word(Name),
}

/// `check …;`
#[derive(Clone, Debug)]
pub struct Check {
    /// What is looked for.
    pub what: What,
    /// `with { … }`
    pub settings: Vec<Setting>,
    /// Where the check is named.
    pub span: Span,
}

/// The built-in checks.
#[derive(Clone, Debug)]
pub enum What {
    /// `races [on names] [using X]`
    Races(Vec<Name>, Option<Name>),
    /// `deadlocks [upto N threads]`
    Deadlocks(Option<(u64, Span)>),
    /// `atomicity of names`
    Atomicity(Vec<Name>),
    /// `mutex of names`
    Mutex(Vec<Name>),
    /// `lost_wakeup [on names]`
    LostWakeup(Vec<Name>),
}

/// What a handler waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Outcome {
    /// The recorded run violates.
    Violation,
    /// Another run does.
    Predicted,
    /// The end of the trace left something open.
    Unfulfilled,
    /// An expression matched.
    Match,
    /// An expression can no longer match.
    Fail,
    /// A search was cut short.
    Truncated,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Outcome; 6] = [
        Outcome::Violation,
        Outcome::Predicted,
        Outcome::Unfulfilled,
        Outcome::Match,
        Outcome::Fail,
        Outcome::Truncated,
    ];

    /// Its keyword.
    pub fn text(self) -> &'static str {
        match self {
            Outcome::Violation => "violation",
            Outcome::Predicted => "predicted",
            Outcome::Unfulfilled => "unfulfilled",
            Outcome::Match => "match",
            Outcome::Fail => "fail",
            Outcome::Truncated => "truncated",
        }
    }
}

/// `on … { … }`
#[derive(Clone, Debug)]
pub struct Handler {
    /// When.
    pub outcome: Outcome,
    /// What to do.
    pub actions: Vec<Action>,
    /// Where `on …` stands.
    pub span: Span,
}

/// What a handler does.
#[derive(Clone, Debug)]
pub enum Action {
    /// `report ["…"];`
    Report(Option<Text>),
    /// `call PLACE;`
    Call(Place),
    /// `exec "…";`
    Exec(Text),
    /// `exit N;`
    Exit(u64, Span),
    /// `stop;`
    Stop,
}

/// `suppress NAME at "File:line" because "…";`
#[derive(Clone, Debug)]
pub struct Suppress {
    /// The property.
    pub name: Name,
    /// Where.
    pub at: Text,
    /// Why.
    pub because: Option<Text>,
}
