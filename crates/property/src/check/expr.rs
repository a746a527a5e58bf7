//! Values over variables and parameters: what comparisons in atoms are made of.

use crate::syntax::Span;

/// The number of a variable in its specification.
pub type VarId = u32;

/// The number of a parameter in its property. Numbers beyond the parameters are those of quantified threads.
pub type ParamId = u32;

/// A constant.
#[derive(Clone, Debug)]
pub enum Const {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A real.
    Real(f64),
    /// A string.
    Str(String),
}

/// Constants are equal if they are written alike: reals by their bits.
impl PartialEq for Const {
    fn eq(&self, other: &Const) -> bool {
        match (self, other) {
            (Const::Bool(a), Const::Bool(b)) => a == b,
            (Const::Int(a), Const::Int(b)) => a == b,
            (Const::Real(a), Const::Real(b)) => a.to_bits() == b.to_bits(),
            (Const::Str(a), Const::Str(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Const {}

/// An argument of an event, or the index of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// Anything.
    Free,
    /// What the parameter stands for.
    Param(ParamId),
    /// This value.
    Const(Const),
    /// The thread with this name.
    Thread(String),
}

/// A variable, of an instance if it is indexed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VarRef {
    /// Which.
    pub var: VarId,
    /// Whose: the index of an indexed variable, the thread of a local one.
    pub index: Option<Arg>,
}

/// Arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the usual operators")]
pub enum ArithOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl ArithOp {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            ArithOp::Add => "+",
            ArithOp::Sub => "-",
            ArithOp::Mul => "*",
            ArithOp::Div => "/",
            ArithOp::Rem => "%",
        }
    }
}

/// Comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the usual operators")]
pub enum CompareOp {
    Eq,
    Ne,
    Le,
    Ge,
    Lt,
    Gt,
}

impl CompareOp {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Le => "<=",
            CompareOp::Ge => ">=",
            CompareOp::Lt => "<",
            CompareOp::Gt => ">",
        }
    }
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// Expressions are equal wherever they stand in the text: equal atoms are one.
impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.kind == other.kind
    }
}

/// The kinds of values.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A constant.
    Const(Const),
    /// A variable.
    Var(VarRef),
    /// A parameter.
    Param(ParamId),
    /// A thread given by name.
    Thread(String),
    /// `-e`
    Neg(Box<Expr>),
    /// Arithmetic.
    Arith(ArithOp, Box<Expr>, Box<Expr>),
    /// Comparison.
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    /// `!e`; conditions on parameters only.
    Not(Box<Expr>),
    /// `e && f`; conditions on parameters only.
    And(Vec<Expr>),
    /// `e || f`; conditions on parameters only.
    Or(Vec<Expr>),
    /// The value at the last known position of a thread.
    At(ParamId, Box<Expr>),
}

impl Expr {
    /// A value at a place.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        Expr { kind, span }
    }

    /// Calls `visit` on every node.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        visit(self);
        match &self.kind {
            ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Param(_) | ExprKind::Thread(_) => {}
            ExprKind::Neg(e) | ExprKind::Not(e) | ExprKind::At(_, e) => e.walk(visit),
            ExprKind::Arith(_, a, b) | ExprKind::Compare(_, a, b) => {
                a.walk(visit);
                b.walk(visit);
            }
            ExprKind::And(list) | ExprKind::Or(list) => list.iter().for_each(|e| e.walk(visit)),
        }
    }

    /// The variables it mentions, in order, each once.
    pub fn variables(&self) -> Vec<&VarRef> {
        let mut found: Vec<&VarRef> = Vec::new();
        self.walk(&mut |e| {
            if let ExprKind::Var(v) = &e.kind
                && !found.contains(&v)
            {
                found.push(v);
            }
        });
        found
    }
}
