//! The syntax tree of a file, names as written and nothing resolved. Every node knows where it stands.

mod expr;

pub use expr::{BinOp, Domain, Ere, EreKind, Expr, ExprKind, ListOp, Quantifier, Repeat, UnOp};

use super::Span;

/// A name as written.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A string as written, escapes resolved.
#[derive(Clone, Debug)]
pub struct Text {
    /// What it says.
    pub value: String,
    /// Where, quotes included.
    pub span: Span,
}

/// A file.
#[derive(Clone, Default, Debug)]
pub struct File {
    /// What it holds, in order.
    pub items: Vec<Item>,
}

/// What stands at the top of a file.
#[derive(Clone, Debug)]
pub enum Item {
    /// `import "other.rvs";`
    Import(Text),
    /// `spec NAME { … }`
    Spec(Spec),
}

/// `spec NAME { … }`
#[derive(Clone, Debug)]
pub struct Spec {
    /// Its name.
    pub name: Name,
    /// Its declarations, in order.
    pub decls: Vec<Decl>,
    /// All of it.
    pub span: Span,
}

/// A declaration.
#[derive(Clone, Debug)]
pub enum Decl {
    /// `target LANG;`
    Target(Lang, Span),
    /// `shared T v …;`
    Shared(Variable),
    /// `local T v …;`
    Local(Variable),
    /// `lock l … at …;`
    Lock(Lock),
    /// `region r at …;`
    Region(Region),
    /// `event e … at …;`
    Event(Event),
    /// `event e … = …;` and `let n … = …;`
    Let(Let),
    /// `property …`
    Property(Box<Property>),
    /// `check …;`
    Check(Check),
    /// `explore { … }`
    Explore(Vec<Setting>),
    /// `on … { … }` that belongs to no property.
    Handler(Handler),
    /// `suppress …;`
    Suppress(Suppress),
    /// One that could not be read. Uses of its name are not complained of again.
    Broken(Option<Name>),
}

/// A language of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lang {
    /// `java`
    Java,
    /// `c`
    C,
    /// `rust`
    Rust,
    /// `trace`: names as they stand in the trace.
    Trace,
}

impl Lang {
    /// Every language.
    pub const ALL: [Lang; 4] = [Lang::Java, Lang::C, Lang::Rust, Lang::Trace];

    /// Its keyword.
    pub fn text(self) -> &'static str {
        match self {
            Lang::Java => "java",
            Lang::C => "c",
            Lang::Rust => "rust",
            Lang::Trace => "trace",
        }
    }
}

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Type {
    /// Truth values.
    Bool,
    /// 64-bit integers.
    Int,
    /// 64-bit reals.
    Real,
    /// Strings.
    String,
    /// Identities of objects, threads and locks.
    Ref,
}

impl Type {
    /// Every type.
    pub const ALL: [Type; 5] = [Type::Bool, Type::Int, Type::Real, Type::String, Type::Ref];

    /// Its keyword.
    pub fn text(self) -> &'static str {
        match self {
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Real => "real",
            Type::String => "string",
            Type::Ref => "ref",
        }
    }
}

/// What a parameter stands for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sort {
    /// A thread.
    Thread,
    /// A lock.
    Lock,
    /// An object, of a class if one is given.
    Object(Option<String>),
    /// A value.
    Value(Type),
}

/// `LANG PLACE`
#[derive(Clone, Debug)]
pub struct Place {
    /// The language.
    pub lang: Lang,
    /// The rest, without quotes.
    pub path: String,
    /// Whether it was written as a string.
    pub quoted: bool,
    /// Where the path stands.
    pub span: Span,
}

/// A constant.
#[derive(Clone, Debug)]
pub struct Const {
    /// Which.
    pub kind: ConstKind,
    /// Where.
    pub span: Span,
}

/// The kinds of constants.
#[derive(Clone, PartialEq, Debug)]
pub enum ConstKind {
    /// An integer.
    Int(i64),
    /// A real.
    Real(f64),
    /// A string.
    Str(String),
    /// `true` or `false`.
    Bool(bool),
    /// `unknown`
    Unknown,
}

/// `NAME : sort`
#[derive(Clone, Debug)]
pub struct Param {
    /// The name.
    pub name: Name,
    /// What it stands for.
    pub sort: Sort,
    /// Where the sort stands.
    pub sort_span: Span,
}

/// `( params [where formula] )`
#[derive(Clone, Default, Debug)]
pub struct Params {
    /// The parameters.
    pub list: Vec<Param>,
    /// Which of their values count.
    pub filter: Option<Expr>,
}

/// A shared or local variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Name,
    /// One variable for each of these.
    pub index: Option<Param>,
    /// Its initial value.
    pub init: Option<Const>,
    /// Where it is in the program.
    pub place: Option<Place>,
}

/// A lock.
#[derive(Clone, Debug)]
pub struct Lock {
    /// Its name.
    pub name: Name,
    /// One lock for each of these.
    pub index: Option<Param>,
    /// Where it is in the program.
    pub place: Place,
}

/// A region.
#[derive(Clone, Debug)]
pub struct Region {
    /// Its name.
    pub name: Name,
    /// Where it is in the program.
    pub place: Place,
}

/// On which side of the place an event happens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum When {
    /// `before`
    Before,
    /// `after`
    After,
}

/// Whose side of a call is the place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// `call`: the caller's.
    Call,
    /// `exec`: the callee's.
    Exec,
}

/// Where an event's argument comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// `this`
    This,
    /// `result`
    Result,
    /// `arg N`, counted from 1.
    Arg(u32),
}

/// `event e(params) at PLACE …;`
#[derive(Clone, Debug)]
pub struct Event {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Params,
    /// Where it is in the program.
    pub place: Place,
    /// `before` or `after`.
    pub when: Option<When>,
    /// `call` or `exec`.
    pub side: Option<Side>,
    /// Where the parameters come from; empty: the arguments in order.
    pub origins: Vec<(Origin, Span)>,
}

/// A name for a formula.
#[derive(Clone, Debug)]
pub struct Let {
    /// Written `event`, not `let`.
    pub is_event: bool,
    /// The name.
    pub name: Name,
    /// Its parameters.
    pub params: Params,
    /// What it stands for.
    pub body: Expr,
}

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
