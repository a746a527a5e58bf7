//! The names of a specification.

use super::elaborate::Ty;
use super::model::{Spec, VariableKind};
use super::nearest;
use crate::syntax::{Span, ast};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// What a name stands for; numbers index the lists of the [`Spec`] or [`Scope::lets`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Symbol {
    Var(u32),
    Lock(u32),
    Event(u32),
    Let(u32),
    /// A thread of the trace, on the command line.
    Thread,
    /// Declared, but not understood.
    Broken,
}

/// A `let`, or an event that is a formula.
pub(super) struct LetInfo<'a> {
    pub(super) ast: &'a ast::Let,
    /// What it is; `None`: it has a mistake, which was complained of.
    pub(super) ty: Option<Ty>,
}

/// Built-in events and how they are used.
pub(super) const BUILT_IN: [(&str, &str); 13] = [
    ("read", "`read(x)` or `read(x, t)`"),
    ("write", "`write(x)` or `write(x, t)`"),
    ("acquire", "`acquire(l, t)`"),
    ("release", "`release(l, t)`"),
    ("wait_begin", "`wait_begin(o, t)`"),
    ("wait_end", "`wait_end(o, t)`"),
    ("notify", "`notify(o, t)`"),
    ("fork", "`fork(t, u)`: t starts u"),
    ("join", "`join(t, u)`: t waits for u"),
    ("enter", "`enter(r, t)`"),
    ("exit", "`exit(r, t)`"),
    ("started", "`started(t)`"),
    ("finished", "`finished(t)`"),
];

#[derive(Default)]
pub(super) struct Scope<'a> {
    pub(super) spec: Spec,
    pub(super) lets: Vec<LetInfo<'a>>,
    pub(super) names: BTreeMap<String, (Symbol, Span)>,
    /// Some declaration could not be read at all: a name that is not known may be its.
    pub(super) incomplete: bool,
    /// Names complained of: once is enough.
    unknown: RefCell<BTreeSet<String>>,
    /// Names of the trace that could have been meant, on the command line.
    pub(super) others: Vec<&'a str>,
}

impl Scope<'_> {
    pub(super) fn get(&self, name: &str) -> Option<Symbol> {
        self.names.get(name).map(|(symbol, _)| *symbol)
    }

    /// Whether a name that is not known is worth a complaint: not the second time, nor if it may have been declared.
    pub(super) fn is_news(&self, name: &str) -> bool {
        !self.incomplete && self.unknown.borrow_mut().insert(name.to_owned())
    }

    /// What a name is, with an article.
    pub(super) fn kind(&self, symbol: Symbol) -> &'static str {
        match symbol {
            Symbol::Var(v) => match self.spec.variables[v as usize].kind {
                VariableKind::Shared => "a shared variable",
                VariableKind::Local => "a local variable",
                VariableKind::Region => "a region",
            },
            Symbol::Lock(_) => "a lock",
            Symbol::Event(_) => "an event",
            Symbol::Let(l) if self.lets[l as usize].ast.is_event => "an event",
            Symbol::Let(_) => "a name for a formula",
            Symbol::Thread => "a thread",
            Symbol::Broken => "a name",
        }
    }

    /// Advice for an unknown name.
    pub(super) fn suggestion<'b>(&'b self, name: &str, local: impl Iterator<Item = &'b str>) -> Option<String> {
        let declared = self.names.keys().map(String::as_str);
        let built_in = BUILT_IN.iter().map(|(n, _)| *n);
        let all: Vec<&str> = local.chain(declared).chain(self.others.iter().copied()).collect();
        if let Some(near) = nearest(name, all.iter().copied().chain(built_in)) {
            return Some(format!("did you mean `{near}`?"));
        }
        match all.len() {
            0 => None,
            1..=8 => {
                Some(format!("declared are {}", all.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")))
            }
            count => Some(format!("none of the {count} declared names is like it")),
        }
    }
}

/// Calls `visit` on every name used in a formula, with its place.
pub(super) fn names_in<'a>(expr: &'a ast::Expr, visit: &mut impl FnMut(&'a str, Span)) {
    use ast::{Domain, ExprKind};
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Str(_) | ExprKind::Bool(_) => {}
        ExprKind::Name(name) => visit(name, expr.span),
        ExprKind::Index(name, e) => {
            visit(&name.text, name.span);
            names_in(e, visit);
        }
        ExprKind::At(_, e) | ExprKind::Unary(_, _, e) => names_in(e, visit),
        ExprKind::Call(name, list) => {
            visit(&name.text, name.span);
            list.iter().for_each(|e| names_in(e, visit));
        }
        ExprKind::List(_, list) => list.iter().for_each(|e| names_in(e, visit)),
        ExprKind::Binary(_, _, a, b) | ExprKind::Interval(_, a, b) => {
            names_in(a, visit);
            names_in(b, visit);
        }
        ExprKind::Quant(_, _, _, domain, body) => {
            if let Domain::Sort(_, _, Some(filter)) = domain {
                names_in(filter, visit);
            }
            names_in(body, visit);
        }
    }
}
