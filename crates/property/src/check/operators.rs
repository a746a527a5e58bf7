//! Operators of formulas and values: which logic has them, and what they apply to.

use super::elaborate::{Elab, Mode, Term, Ty, article, fits, term_text};
use super::expr::{ArithOp, CompareOp, Const, Expr, ExprKind};
use super::typed::{Connective, Typed};
use crate::syntax::ast::{self, BinOp, ListOp, Sort, Type, UnOp};
use crate::syntax::{Diagnostic, Span};

impl Elab<'_> {
    pub(super) fn negative(&mut self, op: Span, operand: &ast::Expr, span: Span) -> Term {
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
    pub(super) fn allowed(&mut self, text: &'static str, span: Span, future: bool) -> bool {
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
    pub(super) fn in_past<T>(&mut self, span: Span, text: &'static str, run: impl FnOnce(&mut Self) -> T) -> T {
        let saved = self.past.replace((span, text));
        let result = run(self);
        self.past = saved;
        result
    }

    pub(super) fn unary(&mut self, op: UnOp, op_span: Span, operand: &ast::Expr) -> Term {
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

    pub(super) fn interval(&mut self, weak: bool, from: &ast::Expr, to: &ast::Expr, span: Span) -> Term {
        if !self.allowed("[…, …)", span, false) {
            return Term::Error;
        }
        let (f, g) = self.in_past(span, "[…, …)", |e| (e.formula(from), e.formula(to)));
        let (Some(f), Some(g)) = (f, g) else { return Term::Error };
        let op = if weak { Connective::WInterval } else { Connective::Interval };
        Term::Bool(Typed::Binary(op, Box::new(f), Box::new(g)))
    }

    pub(super) fn list(&mut self, op: ListOp, list: &[ast::Expr]) -> Term {
        let items: Vec<Option<Typed>> = list.iter().map(|e| self.formula(e)).collect();
        match items.into_iter().collect::<Option<Vec<Typed>>>() {
            Some(items) => Term::Bool(Typed::List(op, items)),
            None => Term::Error,
        }
    }

    pub(super) fn binary(&mut self, op: BinOp, op_span: Span, left: &ast::Expr, right: &ast::Expr, span: Span) -> Term {
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

    pub(super) fn arithmetic(
        &mut self,
        op: ArithOp,
        op_span: Span,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Term {
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

    pub(super) fn compare(
        &mut self,
        op: CompareOp,
        op_span: Span,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Term {
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
