//! Formulas: names resolved, types and the rules of the logic checked, names for formulas replaced, atoms numbered.

use super::expr::{ArithOp, CompareOp, Const, Expr, ExprKind, ParamId};
use super::model::{Atom, VariableKind};
use super::scope::{BUILT_IN, Scope, Symbol};
use super::typed::{Connective, Typed};
use crate::syntax::ast::{self, BinOp, Domain, ListOp, Name, Quantifier, Sort, Type, UnOp};
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

    fn is_numeric(&self) -> bool {
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
    past: Option<(Span, &'static str)>,
    /// Where the names being replaced are used, outermost first.
    expansion: Vec<Span>,
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
    fn condition(&mut self, term: Term, expr: &ast::Expr) -> Option<Typed> {
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
    fn atom_of(&mut self, value: Expr, span: Span) -> Option<Typed> {
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
        let help = self.scope.suggestion(name, self.binds.iter().map(|(n, _)| n.as_str()));
        self.error("name", format!("unknown name `{name}`"), span, "not declared", help);
        Term::Error
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

    fn negative(&mut self, op: Span, operand: &ast::Expr, span: Span) -> Term {
        // The smallest integer has no positive counterpart.
        if let ast::ExprKind::Int(n) = operand.kind {
            let n = (n as i64).wrapping_neg();
            return Term::Value(Expr::new(ExprKind::Const(Const::Int(n)), span), Ty::INT);
        }
        match self.term(operand) {
            Term::Value(Expr { kind: ExprKind::Const(Const::Real(r)), .. }, ty) => {
                Term::Value(Expr::new(ExprKind::Const(Const::Real(-r)), span), ty)
            }
            Term::Value(value, ty) if ty.is_numeric() => {
                Term::Value(Expr::new(ExprKind::Neg(Box::new(value)), span), ty)
            }
            Term::Error => Term::Error,
            term => {
                let found = article(&term_text(&term));
                self.complain(
                    Diagnostic::error("type", "`-` needs a number")
                        .at(operand.span, format!("this is {found}"))
                        .at(op, "for this minus"),
                );
                Term::Error
            }
        }
    }

    /// Complains of an operator that the logic does not have.
    fn allowed(&mut self, text: &'static str, span: Span, future: bool) -> bool {
        let mode = self.mode;
        if mode == Mode::Filter {
            let message = format!("`{text}` in a condition on parameters");
            let help = "such a condition compares parameters: `i != j`".to_owned();
            self.error("logic", message, span, "needs a run", Some(help));
            return false;
        }
        if !future {
            return true;
        }
        let counterpart = match text {
            "always" => "; `hist` is its counterpart in the past",
            "eventually" => "; `once` is its counterpart in the past",
            "next" | "wnext" => "; `prev` is its counterpart in the past",
            "until" | "wuntil" => "; `since` is its counterpart in the past",
            _ => "",
        };
        let (what, help) = match mode {
            Mode::Past => ("a past-time property", format!("use `future {{ … }}`{counterpart}")),
            Mode::Mttl => ("an mttl property", format!("mttl properties look back only{counterpart}")),
            Mode::Letter(what) => (what, format!("each letter is judged when it is read{counterpart}")),
            _ => match self.past {
                Some((around, past)) => {
                    self.complain(
                        Diagnostic::error("logic", format!("`{text}` inside `{past}`"))
                            .at(span, "looks into the future")
                            .at(around, "looks into the past")
                            .help("a past operator can only be applied to what is known when it is judged"),
                    );
                    return false;
                }
                None => return true,
            },
        };
        self.error("logic", format!("`{text}` in {what}"), span, "looks into the future", Some(help));
        false
    }

    /// An operand of a past operator.
    fn in_past<T>(&mut self, span: Span, text: &'static str, run: impl FnOnce(&mut Self) -> T) -> T {
        let saved = self.past.replace((span, text));
        let result = run(self);
        self.past = saved;
        result
    }

    fn unary(&mut self, op: UnOp, op_span: Span, operand: &ast::Expr) -> Term {
        let future = matches!(op, UnOp::Always | UnOp::Eventually | UnOp::Next | UnOp::WNext);
        if op != UnOp::Not && !self.allowed(op.text(), op_span, future) {
            return Term::Error;
        }
        let inner = if op == UnOp::Not || future {
            self.formula(operand)
        } else {
            self.in_past(op_span, op.text(), |e| e.formula(operand))
        };
        inner.map_or(Term::Error, |f| Term::Bool(Typed::Unary(op, Box::new(f))))
    }

    fn interval(&mut self, weak: bool, from: &ast::Expr, to: &ast::Expr, span: Span) -> Term {
        if !self.allowed("[…, …)", span, false) {
            return Term::Error;
        }
        let (f, g) = self.in_past(span, "[…, …)", |e| (e.formula(from), e.formula(to)));
        let (Some(f), Some(g)) = (f, g) else { return Term::Error };
        let op = if weak { Connective::WInterval } else { Connective::Interval };
        Term::Bool(Typed::Binary(op, Box::new(f), Box::new(g)))
    }

    fn list(&mut self, op: ListOp, list: &[ast::Expr]) -> Term {
        let items: Vec<Option<Typed>> = list.iter().map(|e| self.formula(e)).collect();
        match items.into_iter().collect::<Option<Vec<Typed>>>() {
            Some(items) => Term::Bool(Typed::List(op, items)),
            None => Term::Error,
        }
    }

    fn binary(&mut self, op: BinOp, op_span: Span, left: &ast::Expr, right: &ast::Expr, span: Span) -> Term {
        let connective = match op {
            BinOp::Iff => Connective::Iff,
            BinOp::Implies => Connective::Implies,
            BinOp::Since => Connective::Since,
            BinOp::WSince => Connective::WSince,
            BinOp::Until => Connective::Until,
            BinOp::WUntil => Connective::WUntil,
            BinOp::Releases => Connective::Releases,
            BinOp::Eq => return self.compare(CompareOp::Eq, op_span, left, right, span),
            BinOp::Ne => return self.compare(CompareOp::Ne, op_span, left, right, span),
            BinOp::Le => return self.compare(CompareOp::Le, op_span, left, right, span),
            BinOp::Ge => return self.compare(CompareOp::Ge, op_span, left, right, span),
            BinOp::Lt => return self.compare(CompareOp::Lt, op_span, left, right, span),
            BinOp::Gt => return self.compare(CompareOp::Gt, op_span, left, right, span),
            BinOp::Add => return self.arithmetic(ArithOp::Add, op_span, left, right, span),
            BinOp::Sub => return self.arithmetic(ArithOp::Sub, op_span, left, right, span),
            BinOp::Mul => return self.arithmetic(ArithOp::Mul, op_span, left, right, span),
            BinOp::Div => return self.arithmetic(ArithOp::Div, op_span, left, right, span),
            BinOp::Rem => return self.arithmetic(ArithOp::Rem, op_span, left, right, span),
        };
        let temporal = !matches!(op, BinOp::Iff | BinOp::Implies);
        let future = matches!(op, BinOp::Until | BinOp::WUntil | BinOp::Releases);
        if temporal && !self.allowed(op.text(), op_span, future) {
            return Term::Error;
        }
        let both = |e: &mut Self| (e.formula(left), e.formula(right));
        let (f, g) = if temporal && !future { self.in_past(op_span, op.text(), both) } else { both(self) };
        let (Some(f), Some(g)) = (f, g) else { return Term::Error };
        Term::Bool(Typed::Binary(connective, Box::new(f), Box::new(g)))
    }

    fn arithmetic(&mut self, op: ArithOp, op_span: Span, left: &ast::Expr, right: &ast::Expr, span: Span) -> Term {
        let (a, b) = (self.term(left), self.term(right));
        let mut numbers = Vec::new();
        let mut wrong = false;
        for (term, side) in [(a, left), (b, right)] {
            match term {
                Term::Value(value, ty) if ty.is_numeric() && !(op == ArithOp::Rem && ty == Ty::REAL) => {
                    numbers.push((value, ty));
                }
                Term::Error => wrong = true,
                _ if wrong => {}
                term => {
                    wrong = true;
                    let number = if op == ArithOp::Rem { "integers" } else { "numbers" };
                    self.complain(
                        Diagnostic::error("type", format!("`{}` needs {number}", op.text()))
                            .at(side.span, format!("this is {}", article(&term_text(&term))))
                            .at(op_span, "for this operator"),
                    );
                }
            }
        }
        let (Some((b, tb)), Some((a, ta))) = (numbers.pop(), numbers.pop()) else { return Term::Error };
        let ty = match (&ta, &tb) {
            (Ty::Any, _) | (_, Ty::Any) => Ty::Any,
            _ if ta == Ty::REAL || tb == Ty::REAL => Ty::REAL,
            _ => Ty::INT,
        };
        Term::Value(Expr::new(ExprKind::Arith(op, Box::new(a), Box::new(b)), span), ty)
    }

    fn compare(&mut self, op: CompareOp, op_span: Span, left: &ast::Expr, right: &ast::Expr, span: Span) -> Term {
        let (a, b) = (self.term(left), self.term(right));
        let truth = |t: &Term| matches!(t, Term::Bool(_)) || matches!(t, Term::Value(_, ty) if *ty == Ty::BOOL);
        let any = |t: &Term| matches!(t, Term::Value(_, Ty::Any));
        if matches!(a, Term::Error) || matches!(b, Term::Error) {
            return Term::Error;
        }
        if (truth(&a) && (truth(&b) || any(&b))) || (truth(&b) && any(&a)) {
            if !matches!(op, CompareOp::Eq | CompareOp::Ne) {
                let message = format!("`{}` between truth values", op.text());
                let help = "truth values are only equal or not; `a -> b` says that a holds only if b does".to_owned();
                self.error("type", message, op_span, "truth values have no order", Some(help));
                return Term::Error;
            }
            let (a, b) = (self.condition(a, left), self.condition(b, right));
            let (Some(a), Some(b)) = (a, b) else { return Term::Error };
            return Term::Bool(equal(a, b, op == CompareOp::Eq));
        }
        let (Term::Value(x, tx), Term::Value(y, ty)) = (&a, &b) else {
            let (flag, other) = if truth(&a) { (left, &b) } else { (right, &a) };
            let found = article(&term_text(other));
            self.complain(
                Diagnostic::error("type", format!("a truth value is compared with {found}"))
                    .at(op_span, "the sides do not fit")
                    .at(left.span, format!("this is {}", article(&term_text(&a))))
                    .at(right.span, format!("this is {}", article(&term_text(&b))))
                    .help(format!(
                        "write `{0}` or `!{0}` alone",
                        if matches!(flag.kind, ast::ExprKind::Name(_)) {
                            crate::syntax::print_expr(flag)
                        } else {
                            "…".to_owned()
                        }
                    )),
            );
            return Term::Error;
        };
        let ordered = !matches!(op, CompareOp::Eq | CompareOp::Ne);
        let problem = if !comparable(tx, ty) {
            Some(format!("cannot compare {} with {}", article(&tx.text()), article(&ty.text())))
        } else if ordered && !(tx.is_numeric() || *tx == Ty::STRING) {
            Some(format!("`{}` between identities", op.text()))
        } else {
            None
        };
        if let Some(problem) = problem {
            let help = ordered && comparable(tx, ty);
            self.complain(
                Diagnostic::error("type", problem)
                    .at(op_span, "the sides do not fit")
                    .at(left.span, format!("this is {}", article(&tx.text())))
                    .at(right.span, format!("this is {}", article(&ty.text())))
                    .maybe_help(help.then(|| "threads, locks and objects are only equal or not".to_owned())),
            );
            return Term::Error;
        }
        let compared = Expr::new(ExprKind::Compare(op, Box::new(x.clone()), Box::new(y.clone())), span);
        self.atom_of(compared, span).map_or(Term::Error, Term::Bool)
    }

    /// The parameter or quantified name of a thread.
    pub(super) fn thread(&mut self, name: &Name) -> Option<ParamId> {
        match self.bound(&name.text).cloned() {
            Some(Bound::Param(id, Sort::Thread)) => {
                self.mark(id);
                Some(id)
            }
            Some(Bound::Term(Term::Value(Expr { kind: ExprKind::Param(id), .. }, Ty::Sort(Sort::Thread)))) => {
                self.mark(id);
                Some(id)
            }
            Some(_) => {
                let message = format!("`{}` is not a thread", name.text);
                self.error("type", message, name.span, "a thread is needed here", None);
                None
            }
            None => {
                if let Some(symbol) = self.scope.get(&name.text) {
                    let message = format!("`{}` is {}, not a thread", name.text, self.scope.kind(symbol));
                    self.error("type", message, name.span, "a thread is needed here", None);
                } else {
                    let near = super::nearest(&name.text, self.binds.iter().map(|(n, _)| n.as_str()));
                    let help = near.map_or_else(
                        || format!("make it a parameter: `({} : thread)`", name.text),
                        |near| format!("did you mean `{near}`?"),
                    );
                    let message = format!("unknown thread `{}`", name.text);
                    self.error("name", message, name.span, "not declared", Some(help));
                }
                None
            }
        }
    }

    fn remote(&mut self, thread: &Name, operand: &ast::Expr, span: Span) -> Term {
        if !matches!(self.mode, Mode::Mttl | Mode::Declare) {
            let help = "give the event its thread instead, as in `write(x, j)`, or use `mttl at i { … }`".to_owned();
            let at = Span { end: thread.span.end, ..span };
            self.error("logic", "`@` outside mttl".to_owned(), at, "only mttl properties have it", Some(help));
            return Term::Error;
        }
        let Some(id) = self.thread(thread) else { return Term::Error };
        match self.term(operand) {
            Term::Bool(f) => Term::Bool(Typed::At(id, Box::new(f))),
            Term::Value(value, ty) => Term::Value(Expr::new(ExprKind::At(id, Box::new(value)), span), ty),
            Term::Error => Term::Error,
        }
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        word: Span,
        name: &Name,
        domain: &Domain,
        body: &ast::Expr,
    ) -> Term {
        if !matches!(self.mode, Mode::Mttl | Mode::Declare) {
            let help = match quantifier {
                Quantifier::Forall => {
                    format!("make `{}` a parameter: the property is checked for each value of it", name.text)
                }
                Quantifier::Exists => {
                    "use `mttl at i { … }`, or leave the argument of the event open with `_`".to_owned()
                }
            };
            let message = format!("`{}` outside mttl", quantifier.text());
            self.error("logic", message, word, "only mttl properties have quantifiers", Some(help));
            return Term::Error;
        }
        if self.bound(&name.text).is_some() || self.scope.get(&name.text).is_some() {
            let message = format!("`{}` already means something else", name.text);
            self.error("name", message, name.span, "choose another name", None);
            return Term::Error;
        }
        if let Domain::Sort(sort, span, _) = domain
            && *sort != Sort::Thread
        {
            let message = "quantifiers range over threads".to_owned();
            self.error("type", message, *span, "write `thread`", None);
            return Term::Error;
        }
        let other = match domain {
            Domain::NotEqual(other) => match self.thread(other) {
                Some(id) => Some((id, other.span)),
                None => return Term::Error,
            },
            Domain::Sort(..) => None,
        };
        let id = self.bind(&name.text, &Sort::Thread);
        let filter = match domain {
            Domain::Sort(_, _, Some(filter)) => self.filter(filter),
            _ => other.map(|(other, span)| {
                let sides = [id, other].map(|p| Box::new(Expr::new(ExprKind::Param(p), span)));
                let [left, right] = sides;
                Expr::new(ExprKind::Compare(CompareOp::Ne, left, right), span)
            }),
        };
        let body = self.formula(body);
        self.binds.pop();
        body.map_or(Term::Error, |f| Term::Bool(Typed::Quant(quantifier, id, filter, Box::new(f))))
    }

    /// A condition on parameters.
    pub(super) fn filter(&mut self, expr: &ast::Expr) -> Option<Expr> {
        let mode = std::mem::replace(&mut self.mode, Mode::Filter);
        let atoms = std::mem::take(&mut self.atoms);
        let used = self.used.clone();
        let condition = self.formula(expr);
        // To be compared with another parameter is no use of a parameter.
        self.used = used;
        self.mode = mode;
        let filter_atoms = std::mem::replace(&mut self.atoms, atoms);
        let filter = condition.and_then(|c| as_condition(&c, &filter_atoms, expr.span));
        if filter.is_none() && !self.failed {
            self.not_steady(expr.span);
        }
        filter
    }

    /// Complains of a condition on parameters that is about something else.
    fn not_steady(&mut self, span: Span) -> Term {
        let help = "such a condition compares parameters: `i != j`".to_owned();
        let message = "a condition on parameters depends on the run".to_owned();
        self.error("logic", message, span, "changes during a run", Some(help));
        Term::Error
    }

    /// What a name for a formula stands for here.
    pub(super) fn expand(&mut self, number: u32, arguments: &[ast::Expr], span: Span, name_span: Span) -> Term {
        let scope = self.scope;
        let info = &scope.lets[number as usize];
        let Some(ty) = &info.ty else { return Term::Error };
        let params = &info.ast.params.list;
        if params.len() != arguments.len() {
            let message = format!(
                "`{}` takes {}, not {}",
                info.ast.name.text,
                counted(params.len(), "argument"),
                arguments.len()
            );
            self.complain(
                Diagnostic::error("name", message)
                    .at(span, "wrong number of arguments")
                    .at(info.ast.name.span, "declared here"),
            );
            return Term::Error;
        }
        let mut binds = Vec::new();
        for (param, argument) in params.iter().zip(arguments) {
            let Some(bound) = self.let_argument(argument, &param.sort) else { return Term::Error };
            binds.push((param.name.text.clone(), bound));
        }
        if self.mode == Mode::Declare {
            // Checked where it is declared; here only its type matters.
            return match ty {
                ty if *ty == Ty::BOOL => Term::Bool(Typed::Const(true)),
                ty => Term::Value(Expr::new(ExprKind::Const(Const::Int(0)), span), ty.clone()),
            };
        }
        let saved = std::mem::replace(&mut self.binds, binds);
        self.expansion.push(name_span);
        let term = self.term(&info.ast.body);
        self.expansion.pop();
        self.binds = saved;
        term
    }

    pub(super) fn is_local(&self, var: u32) -> bool {
        self.scope.spec.variables[var as usize].kind != VariableKind::Shared
    }
}

/// `a == b` of truth values, a constant side left out.
fn equal(a: Typed, b: Typed, same: bool) -> Typed {
    let not = |f| Typed::Unary(UnOp::Not, Box::new(f));
    match (a, b) {
        (Typed::Const(c), f) | (f, Typed::Const(c)) => {
            if c == same {
                f
            } else {
                not(f)
            }
        }
        (a, b) => {
            let iff = Typed::Binary(Connective::Iff, Box::new(a), Box::new(b));
            if same { iff } else { not(iff) }
        }
    }
}

/// A formula over conditions on parameters as one condition.
fn as_condition(f: &Typed, atoms: &[(Atom, Span)], span: Span) -> Option<Expr> {
    let kind = match f {
        Typed::Const(c) => ExprKind::Const(Const::Bool(*c)),
        Typed::Atom(a) => match atoms.get(*a as usize) {
            Some((Atom::Instance(e), _)) => return Some(e.clone()),
            _ => return None,
        },
        Typed::Unary(UnOp::Not, f) => ExprKind::Not(Box::new(as_condition(f, atoms, span)?)),
        Typed::List(op, list) => {
            let list = list.iter().map(|f| as_condition(f, atoms, span)).collect::<Option<Vec<Expr>>>()?;
            if *op == ListOp::And { ExprKind::And(list) } else { ExprKind::Or(list) }
        }
        Typed::Binary(op @ (Connective::Implies | Connective::Iff), a, b) => {
            let (a, b) = (as_condition(a, atoms, span)?, as_condition(b, atoms, span)?);
            if *op == Connective::Implies {
                ExprKind::Or(vec![Expr::new(ExprKind::Not(Box::new(a)), span), b])
            } else {
                ExprKind::Compare(CompareOp::Eq, Box::new(a), Box::new(b))
            }
        }
        _ => return None,
    };
    Some(Expr::new(kind, span))
}

/// Whether values of these types can be compared.
fn comparable(a: &Ty, b: &Ty) -> bool {
    let identity = |t: &Ty| matches!(t, Ty::Sort(Sort::Thread | Sort::Lock | Sort::Object(_)));
    let reference = Ty::Sort(Sort::Value(Type::Ref));
    match (a, b) {
        (Ty::Any, _) | (_, Ty::Any) => true,
        _ if a.is_numeric() && b.is_numeric() => true,
        _ if *a == reference => *b == reference || identity(b),
        _ if *b == reference => identity(a),
        (Ty::Sort(a), Ty::Sort(b)) => fits(a, b),
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
