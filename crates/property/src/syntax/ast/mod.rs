//! The syntax tree of a file, names as written and nothing resolved. Every node knows where it stands.

mod declarations;
mod expr;
mod properties;

pub use declarations::{Event, Let, Lock, Origin, Region, Side, Variable, When};
pub use expr::{BinOp, Domain, Ere, EreKind, Expr, ExprKind, ListOp, Quantifier, Repeat, UnOp};
pub use properties::{
    Action, Body, Check, EreMode, Fsm, Handler, Outcome, Property, Setting, SettingValue, State, Suppress, Transition,
    What,
};

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
