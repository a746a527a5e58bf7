//! Formulas, values and regular expressions.

use super::{Name, Sort};
use crate::syntax::Span;

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the words of the language")]
pub enum UnOp {
    Not,
    Neg,
    Prev,
    Yesterday,
    WYesterday,
    Once,
    Hist,
    Start,
    End,
    Always,
    Eventually,
    Next,
    WNext,
}

impl UnOp {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            UnOp::Not => "!",
            UnOp::Neg => "-",
            UnOp::Prev => "prev",
            UnOp::Yesterday => "yesterday",
            UnOp::WYesterday => "wyesterday",
            UnOp::Once => "once",
            UnOp::Hist => "hist",
            UnOp::Start => "start",
            UnOp::End => "end",
            UnOp::Always => "always",
            UnOp::Eventually => "eventually",
            UnOp::Next => "next",
            UnOp::WNext => "wnext",
        }
    }
}

/// Operators with two operands, `&&` and `||` aside.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the words of the language")]
pub enum BinOp {
    Iff,
    Implies,
    Since,
    WSince,
    Until,
    WUntil,
    Releases,
    Eq,
    Ne,
    Le,
    Ge,
    Lt,
    Gt,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl BinOp {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            BinOp::Iff => "<->",
            BinOp::Implies => "->",
            BinOp::Since => "since",
            BinOp::WSince => "wsince",
            BinOp::Until => "until",
            BinOp::WUntil => "wuntil",
            BinOp::Releases => "releases",
            BinOp::Eq => "==",
            BinOp::Ne => "!=",
            BinOp::Le => "<=",
            BinOp::Ge => ">=",
            BinOp::Lt => "<",
            BinOp::Gt => ">",
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::Rem => "%",
        }
    }
}

/// Operators of any number of operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ListOp {
    /// `&&`
    And,
    /// `||`
    Or,
}

impl ListOp {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            ListOp::And => "&&",
            ListOp::Or => "||",
        }
    }
}

/// Quantifiers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Quantifier {
    /// `exists`
    Exists,
    /// `forall`
    Forall,
}

impl Quantifier {
    /// Its keyword.
    pub fn text(self) -> &'static str {
        match self {
            Quantifier::Exists => "exists",
            Quantifier::Forall => "forall",
        }
    }
}

/// What a quantified name ranges over.
#[derive(Clone, Debug)]
pub enum Domain {
    /// `: sort [where …]`
    Sort(Sort, Span, Option<Box<Expr>>),
    /// `!= i`: every other thread.
    NotEqual(Name),
}

/// A formula or a value.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
    height: u16,
}

/// The kinds of formulas and values.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer, at most 2^63 (that one only under a minus).
    Int(u64),
    /// A real.
    Real(f64),
    /// A string.
    Str(String),
    /// `true` or `false`.
    Bool(bool),
    /// A name.
    Name(String),
    /// `NAME[…]`
    Index(Name, Box<Expr>),
    /// `NAME(…)`
    Call(Name, Vec<Expr>),
    /// An operator, where it stands, and its operand.
    Unary(UnOp, Span, Box<Expr>),
    /// An operator, where it stands, and its operands.
    Binary(BinOp, Span, Box<Expr>, Box<Expr>),
    /// `a && b && …`: at least two.
    List(ListOp, Vec<Expr>),
    /// `[a, b)`, `weak [a, b)`
    Interval(bool, Box<Expr>, Box<Expr>),
    /// `exists j … . F`, with the place of the word.
    Quant(Quantifier, Span, Name, Domain, Box<Expr>),
    /// `@j F`
    At(Name, Box<Expr>),
}

impl Expr {
    /// A node; its height is computed here.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        let below = match &kind {
            ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Str(_) | ExprKind::Bool(_) | ExprKind::Name(_) => 0,
            ExprKind::Index(_, e) | ExprKind::Unary(_, _, e) | ExprKind::At(_, e) => e.height,
            ExprKind::Binary(_, _, a, b) | ExprKind::Interval(_, a, b) => a.height.max(b.height),
            ExprKind::Call(_, list) | ExprKind::List(_, list) => list.iter().map(|e| e.height).max().unwrap_or(0),
            ExprKind::Quant(_, _, _, domain, body) => match domain {
                Domain::Sort(_, _, Some(filter)) => body.height.max(filter.height),
                _ => body.height,
            },
        };
        Expr { kind, span, height: below.saturating_add(1) }
    }

    /// Adds an operand to a list, whose height is known.
    pub(crate) fn push(&mut self, operand: Expr) {
        self.span = self.span.to(operand.span);
        self.height = self.height.max(operand.height.saturating_add(1));
        if let ExprKind::List(_, list) = &mut self.kind {
            list.push(operand);
        }
    }

    /// How many nodes stand above one another.
    pub fn height(&self) -> usize {
        usize::from(self.height)
    }
}

/// An extended regular expression.
#[derive(Clone, Debug)]
pub struct Ere {
    /// What it is.
    pub kind: EreKind,
    /// Where.
    pub span: Span,
    height: u16,
}

/// Operators after an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Repeat {
    /// `*`
    Star,
    /// `+`
    Plus,
    /// `?`
    Opt,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum EreKind {
    /// `NAME` or `NAME(…)`: an event.
    Event(Box<Expr>),
    /// `{ formula }`
    State(Box<Expr>),
    /// `any`
    Any,
    /// `eps`
    Eps,
    /// One after the other, at least two.
    Cat(Vec<Ere>),
    /// `a | b | …`, at least two.
    Or(Vec<Ere>),
    /// `a & b & …`, at least two.
    And(Vec<Ere>),
    /// `~ a`
    Not(Box<Ere>),
    /// `a*`, `a+`, `a?`
    Repeat(Repeat, Box<Ere>),
}

impl Ere {
    /// A node; its height is computed here.
    pub fn new(kind: EreKind, span: Span) -> Ere {
        let below = match &kind {
            EreKind::Any | EreKind::Eps => 0,
            EreKind::Event(e) | EreKind::State(e) => e.height,
            EreKind::Cat(list) | EreKind::Or(list) | EreKind::And(list) => {
                list.iter().map(|e| e.height).max().unwrap_or(0)
            }
            EreKind::Not(e) | EreKind::Repeat(_, e) => e.height,
        };
        Ere { kind, span, height: below.saturating_add(1) }
    }

    /// How many nodes stand above one another.
    pub fn height(&self) -> usize {
        usize::from(self.height)
    }
}
