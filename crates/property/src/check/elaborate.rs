//! Formulas: names resolved, types and the rules of the logic checked, names for formulas replaced, atoms numbered.

use super::expr::{Const, Expr, ExprKind, ParamId};
use super::model::{Atom, VariableKind};
use super::scope::{BUILT_IN, Scope, Symbol};
use super::typed::Typed;
use crate::syntax::ast::{self, Name, Sort, Type, UnOp};
use crate::syntax::{Diagnostic, Diagnostics, MAX_DEPTH, Span};

/// How many atoms a property may have: a letter is 64 bits.
pub const MAX_ATOMS: usize = 64;

/// How many nodes a formula may have once names for formulas are replaced.
const MAX_SIZE: usize = 100_000;

/// The rules a formula is checked by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Mode {
    /// A name for a formula: what is allowed depends on where it is used.
    Declare,
    Past,
    Future,
    Mttl,
    /// One letter of a word logic, named in messages.
    Letter(&'static str),
    /// Conditions on parameters.
    Filter,
}

/// The type of a value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Ty {
    Sort(Sort),
    /// Whatever the trace says.
    Any,
}

impl Ty {
    pub(super) const BOOL: Ty = Ty::Sort(Sort::Value(Type::Bool));
    pub(super) const INT: Ty = Ty::Sort(Sort::Value(Type::Int));
    pub(super) const REAL: Ty = Ty::Sort(Sort::Value(Type::Real));
    pub(super) const STRING: Ty = Ty::Sort(Sort::Value(Type::String));

    pub(super) fn is_numeric(&self) -> bool {
        *self == Ty::INT || *self == Ty::REAL || *self == Ty::Any
    }

    pub(super) fn text(&self) -> String {
        match self {
            Ty::Sort(sort) => crate::syntax::sort_text(sort),
            Ty::Any => "anything".to_owned(),
        }
    }
}

/// What an expression turned out to be.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Bool(Typed),
    Value(Expr, Ty),
    /// Complained of.
    Error,
}

/// What a local name stands for.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    Param(ParamId, Sort),
    Term(Term),
    /// `_` given for a parameter of a name.
    Free,
}

pub(super) struct Elab<'a> {
    pub(super) scope: &'a Scope<'a>,
    pub(super) out: &'a mut Diagnostics,
    pub(super) mode: Mode,
    /// Local names, innermost last.
    pub(super) binds: Vec<(String, Bound)>,
    /// The names of all parameters and quantified threads, by number.
    pub(super) numbered: Vec<String>,
    pub(super) atoms: Vec<(Atom, Span)>,
    /// Parameters that matter.
    pub(super) used: Vec<ParamId>,
    /// Something was wrong.
    pub(super) failed: bool,
    /// The past operator around.
    pub(super) past: Option<(Span, &'static str)>,
    /// Where the names being replaced are used, outermost first.
    pub(super) expansion: Vec<Span>,
    depth: usize,
    size: usize,
}

impl<'a> Elab<'a> {
    pub(super) fn new(scope: &'a Scope<'a>, mode: Mode, out: &'a mut Diagnostics) -> Elab<'a> {
        Elab {
            scope,
            out,
            mode,
            binds: Vec::new(),
            numbered: Vec::new(),
            atoms: Vec::new(),
            used: Vec::new(),
            failed: false,
            past: None,
            expansion: Vec::new(),
            depth: 0,
            size: 0,
        }
    }

    /// Adds a parameter.
    pub(super) fn bind(&mut self, name: &str, sort: &Sort) -> ParamId {
        let id = self.numbered.len() as ParamId;
        self.numbered.push(name.to_owned());
        self.binds.push((name.to_owned(), Bound::Param(id, sort.clone())));
        id
    }

    pub(super) fn bound(&self, name: &str) -> Option<&Bound> {
        self.binds.iter().rev().find(|(n, _)| n == name).map(|(_, bound)| bound)
    }

    /// Complains. A mistake that shows only where a name for a formula is used is shown there first.
    pub(super) fn complain(&mut self, mut diagnostic: Diagnostic) {
        self.failed = true;
        if let Some(&site) = self.expansion.first() {
            diagnostic.labels.insert(0, (site, "in what this stands for".to_owned()));
        }
        self.out.push(diagnostic);
    }

    pub(super) fn error(&mut self, code: &'static str, message: String, span: Span, label: &str, help: Option<String>) {
        self.complain(Diagnostic::error(code, message).at(span, label).maybe_help(help));
    }

    /// A formula.
    pub(super) fn formula(&mut self, expr: &ast::Expr) -> Option<Typed> {
        let term = self.term(expr);
        self.condition(term, expr)
    }

    pub(super) fn mark(&mut self, param: ParamId) {
        if !self.used.contains(&param) {
            self.used.push(param);
        }
    }

    /// A term that must be a condition.
    pub(super) fn condition(&mut self, term: Term, expr: &ast::Expr) -> Option<Typed> {
        let span = expr.span;
        match term {
            Term::Bool(typed) => Some(typed),
            Term::Value(value, ty) if ty == Ty::BOOL || ty == Ty::Any => self.atom_of(value, span),
            Term::Value(_, ty) => {
                let text = crate::syntax::print_expr(expr);
                let text = if text.len() > 30 { "…".to_owned() } else { text };
                let help = match ty {
                    Ty::Sort(Sort::Value(Type::Int | Type::Real)) => format!("compare it: `{text} != 0`"),
                    _ => format!("compare it: `{text} == …`"),
                };
                self.error(
                    "type",
                    format!("expected a condition, found {}", article(&ty.text())),
                    span,
                    &format!("this is {}", article(&ty.text())),
                    Some(help),
                );
                None
            }
            Term::Error => None,
        }
    }

    /// A state predicate or a condition on parameters, as an atom.
    pub(super) fn atom_of(&mut self, value: Expr, span: Span) -> Option<Typed> {
        let mut steady = true;
        value.walk(&mut |e| steady &= !matches!(e.kind, ExprKind::Var(_) | ExprKind::At(..)));
        let atom = if steady { Atom::Instance(value) } else { Atom::State(value) };
        self.atom(atom, span)
    }

    /// The number of an atom.
    pub(super) fn atom(&mut self, atom: Atom, span: Span) -> Option<Typed> {
        if let Some(found) = self.atoms.iter().position(|(a, _)| *a == atom) {
            return Some(Typed::Atom(found as u32));
        }
        if self.atoms.len() == MAX_ATOMS && self.mode != Mode::Declare {
            if !self.failed {
                let help = "split the property into several".to_owned();
                let message = format!("more than {MAX_ATOMS} different conditions and events in one property");
                self.error("limit", message, span, "one too many", Some(help));
            }
            self.failed = true;
            return None;
        }
        self.atoms.push((atom, span));
        Some(Typed::Atom(self.atoms.len() as u32 - 1))
    }

    pub(super) fn term(&mut self, expr: &ast::Expr) -> Term {
        self.size += 1;
        if self.depth >= MAX_DEPTH || self.size > MAX_SIZE {
            if !self.failed {
                let what = if self.depth >= MAX_DEPTH {
                    format!("nested more than {MAX_DEPTH} levels deep")
                } else {
                    format!("more than {MAX_SIZE} operators")
                };
                let message = format!("{what} once names are replaced");
                self.error("limit", message, expr.span, "too much here", Some("split the property".to_owned()));
            }
            return Term::Error;
        }
        self.depth += 1;
        let term = self.kind(expr);
        self.depth -= 1;
        if matches!(term, Term::Error) {
            self.failed = true;
        }
        term
    }

    fn kind(&mut self, expr: &ast::Expr) -> Term {
        let span = expr.span;
        let value = |kind, ty| Term::Value(Expr::new(kind, span), ty);
        match &expr.kind {
            ast::ExprKind::Int(n) => match i64::try_from(*n) {
                Ok(n) => value(ExprKind::Const(Const::Int(n)), Ty::INT),
                Err(_) => {
                    self.complain(super::too_large(span));
                    Term::Error
                }
            },
            ast::ExprKind::Real(r) => value(ExprKind::Const(Const::Real(*r)), Ty::REAL),
            ast::ExprKind::Str(s) => value(ExprKind::Const(Const::Str(s.clone())), Ty::STRING),
            ast::ExprKind::Bool(b) => Term::Bool(Typed::Const(*b)),
            ast::ExprKind::Name(name) => self.name(name, span),
            ast::ExprKind::Index(name, index) => self.indexed(name, index, span),
            ast::ExprKind::Call(name, arguments) => self.call(name, arguments, span),
            ast::ExprKind::Unary(UnOp::Neg, op, operand) => self.negative(*op, operand, span),
            ast::ExprKind::Unary(op, op_span, operand) => self.unary(*op, *op_span, operand),
            ast::ExprKind::Binary(op, op_span, left, right) => self.binary(*op, *op_span, left, right, span),
            ast::ExprKind::List(op, list) => self.list(*op, list),
            ast::ExprKind::Interval(weak, from, to) => self.interval(*weak, from, to, span),
            ast::ExprKind::Quant(quantifier, word, name, domain, body) => {
                self.quantified(*quantifier, *word, name, domain, body)
            }
            ast::ExprKind::At(thread, operand) => self.remote(thread, operand, span),
        }
    }

    fn name(&mut self, name: &str, span: Span) -> Term {
        match self.bound(name).cloned() {
            Some(Bound::Param(id, sort)) => {
                self.mark(id);
                return Term::Value(Expr::new(ExprKind::Param(id), span), Ty::Sort(sort));
            }
            Some(Bound::Term(Term::Bool(f))) if self.mode == Mode::Filter && !matches!(f, Typed::Const(_)) => {
                return self.not_steady(span);
            }
            Some(Bound::Term(term)) => return term,
            Some(Bound::Free) => {
                let message = format!("`{name}` is `_` here, which has no value");
                self.error("name", message, span, "its value is needed", None);
                return Term::Error;
            }
            None => {}
        }
        let Some(symbol) = self.scope.get(name) else { return self.unknown(name, span) };
        match symbol {
            Symbol::Var(var) => self.variable(var, span, None),
            Symbol::Event(event) => {
                let count = self.scope.spec.events[event as usize].params.len();
                self.user_event(event, vec![super::expr::Arg::Free; count], span)
            }
            Symbol::Let(number) => self.expand(number, &[], span, span),
            Symbol::Lock(_) => {
                let help = format!("`acquire({name}, t)` is true when t takes it");
                self.error("type", format!("the lock `{name}` is not a condition"), span, "a lock", Some(help));
                Term::Error
            }
            Symbol::Thread => {
                let kind = ExprKind::Thread(name.to_owned());
                Term::Value(Expr::new(kind, span), Ty::Sort(Sort::Thread))
            }
            Symbol::Broken => Term::Error,
        }
    }

    fn unknown(&mut self, name: &str, span: Span) -> Term {
        if let Some((_, usage)) = BUILT_IN.iter().find(|(n, _)| *n == name) {
            let message = format!("the event `{name}` needs arguments");
            self.error("name", message, span, "without arguments", Some(format!("write {usage}")));
            return Term::Error;
        }
        self.unknown_name(name, span);
        Term::Error
    }

    pub(super) fn unknown_name(&mut self, name: &str, span: Span) {
        self.failed = true;
        if self.scope.is_news(name) {
            let help = self.scope.suggestion(name, self.binds.iter().map(|(n, _)| n.as_str()));
            self.error("name", format!("unknown name `{name}`"), span, "not declared", help);
        }
    }

    fn variable(&mut self, var: u32, span: Span, index: Option<&ast::Expr>) -> Term {
        let Some(reference) = self.var_ref(var, span, index, false) else { return Term::Error };
        let variable = &self.scope.spec.variables[var as usize];
        let ty = variable.ty.map_or(Ty::Any, |ty| Ty::Sort(Sort::Value(ty)));
        let value = Expr::new(ExprKind::Var(reference), span);
        if ty == Ty::BOOL {
            return self.atom_of(value, span).map_or(Term::Error, Term::Bool);
        }
        Term::Value(value, ty)
    }

    fn indexed(&mut self, name: &Name, index: &ast::Expr, span: Span) -> Term {
        match self.scope.get(&name.text) {
            None => self.unknown(&name.text, name.span),
            Some(Symbol::Broken) => Term::Error,
            Some(Symbol::Var(var)) if self.bound(&name.text).is_none() => self.variable(var, span, Some(index)),
            Some(symbol) => {
                let kind = self.scope.kind(symbol);
                let message = format!("`{}` is {kind} and has no index", name.text);
                self.error("type", message, span, "only variables have an index", None);
                Term::Error
            }
        }
    }

    pub(super) fn is_local(&self, var: u32) -> bool {
        self.scope.spec.variables[var as usize].kind != VariableKind::Shared
    }
}

/// Whether what is of one sort can stand where another is wanted.
pub(super) fn fits(given: &Sort, wanted: &Sort) -> bool {
    match (given, wanted) {
        (Sort::Object(None), Sort::Object(_)) | (Sort::Object(_), Sort::Object(None)) => true,
        // A class may be given with its package in one place and without in another.
        (Sort::Object(Some(a)), Sort::Object(Some(b))) => {
            a == b
                || a.strip_suffix(b.as_str()).is_some_and(|p| p.ends_with('.'))
                || b.strip_suffix(a.as_str()).is_some_and(|p| p.ends_with('.'))
        }
        (Sort::Value(Type::Int), Sort::Value(Type::Real)) => true,
        (Sort::Value(Type::Ref), Sort::Thread | Sort::Lock | Sort::Object(_)) => true,
        (Sort::Thread | Sort::Lock | Sort::Object(_), Sort::Value(Type::Ref)) => true,
        _ => given == wanted,
    }
}

pub(super) fn term_text(term: &Term) -> String {
    match term {
        Term::Bool(_) => "bool".to_owned(),
        Term::Value(_, ty) => ty.text(),
        Term::Error => "unknown".to_owned(),
    }
}

/// `a bool`, `an int`.
pub(super) fn article(noun: &str) -> String {
    match noun {
        "anything" => noun.to_owned(),
        "bool" => "a truth value".to_owned(),
        _ if noun.starts_with(['a', 'e', 'i', 'o']) => format!("an {noun}"),
        _ => format!("a {noun}"),
    }
}

pub(super) fn counted(count: usize, noun: &str) -> String {
    match count {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}
