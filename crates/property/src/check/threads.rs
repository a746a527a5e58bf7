//! Quantifiers and `@`, conditions on parameters, and names for formulas replaced by what they stand for.

use super::elaborate::{Bound, Elab, Mode, Term, Ty, counted};
use super::expr::{CompareOp, Const, Expr, ExprKind, ParamId};
use super::model::Atom;
use super::typed::{Connective, Typed};
use crate::syntax::ast::{self, Domain, ListOp, Name, Quantifier, Sort, UnOp};
use crate::syntax::{Diagnostic, Span};

impl Elab<'_> {
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

    pub(super) fn remote(&mut self, thread: &Name, operand: &ast::Expr, span: Span) -> Term {
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

    pub(super) fn quantified(
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
    pub(super) fn not_steady(&mut self, span: Span) -> Term {
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
