//! Event atoms and what stands in their parentheses; indexes of variables.

use super::elaborate::{Bound, Elab, Mode, Term, Ty, article, counted, fits, term_text};
use super::expr::{Arg, Const, Expr, ExprKind, VarId, VarRef};
use super::model::{Atom, EventPattern, LockPattern, VariableKind};
use super::scope::{BUILT_IN, Symbol};
use super::typed::Typed;
use crate::syntax::ast::{self, Name, Sort, Type};
use crate::syntax::{Diagnostic, Span};

impl Elab<'_> {
    pub(super) fn call(&mut self, name: &Name, arguments: &[ast::Expr], span: Span) -> Term {
        if let Some((built_in, usage)) = BUILT_IN.iter().find(|(n, _)| *n == name.text) {
            if !self.events_allowed(span) {
                return Term::Error;
            }
            let lowest = match *built_in {
                "fork" | "join" => 2,
                _ => 1,
            };
            let highest = if matches!(*built_in, "started" | "finished") { 1 } else { 2 };
            if arguments.len() < lowest || arguments.len() > highest {
                let message = format!("`{built_in}` does not take {}", counted(arguments.len(), "argument"));
                let help = format!("write {usage}");
                self.error("name", message, span, "wrong number of arguments", Some(help));
                return Term::Error;
            }
            let Some(pattern) = self.built_in(built_in, arguments) else { return Term::Error };
            return self.event_atom(pattern, span);
        }
        if self.bound(&name.text).is_some() {
            let message = format!("`{}` is not an event", name.text);
            self.error("type", message, name.span, "a parameter takes no arguments", None);
            return Term::Error;
        }
        match self.scope.get(&name.text) {
            Some(Symbol::Let(number)) => self.expand(number, arguments, span, span),
            Some(Symbol::Event(event)) => {
                let scope = self.scope;
                let declared = &scope.spec.events[event as usize];
                if declared.params.len() != arguments.len() {
                    let message = format!(
                        "`{}` takes {}, not {}",
                        name.text,
                        counted(declared.params.len(), "argument"),
                        arguments.len()
                    );
                    self.complain(
                        Diagnostic::error("name", message)
                            .at(span, "wrong number of arguments")
                            .at(declared.span, "declared here")
                            .help("`_` stands for any value"),
                    );
                    return Term::Error;
                }
                let args: Vec<Option<Arg>> =
                    declared.params.iter().zip(arguments).map(|((_, sort), e)| self.arg(e, sort, true)).collect();
                match args.into_iter().collect::<Option<Vec<Arg>>>() {
                    Some(args) => self.user_event(event, args, span),
                    None => Term::Error,
                }
            }
            Some(Symbol::Broken) => Term::Error,
            Some(symbol) => {
                let message = format!("`{}` is {}, not an event", name.text, self.scope.kind(symbol));
                let help = matches!(symbol, Symbol::Var(_)).then(|| "an index stands in brackets: `v[o]`".to_owned());
                self.error("type", message, name.span, "takes no arguments", help);
                Term::Error
            }
            None if !self.scope.is_news(&name.text) => Term::Error,
            None => {
                let help = self.scope.suggestion(&name.text, std::iter::empty());
                let message = format!("unknown event `{}`", name.text);
                self.error("name", message, name.span, "not declared", help);
                Term::Error
            }
        }
    }

    fn events_allowed(&mut self, span: Span) -> bool {
        if self.mode == Mode::Filter {
            let help = "such a condition compares parameters: `i != j`".to_owned();
            self.error("logic", "an event in a condition on parameters".to_owned(), span, "needs a run", Some(help));
            return false;
        }
        true
    }

    fn event_atom(&mut self, pattern: EventPattern, span: Span) -> Term {
        self.atom(Atom::Event(pattern), span).map_or(Term::Error, Term::Bool)
    }

    pub(super) fn user_event(&mut self, event: u32, args: Vec<Arg>, span: Span) -> Term {
        if !self.events_allowed(span) {
            return Term::Error;
        }
        self.event_atom(EventPattern::User(event, args), span)
    }

    fn built_in(&mut self, name: &str, arguments: &[ast::Expr]) -> Option<EventPattern> {
        let (first, second) = (arguments.first()?, arguments.get(1));
        if matches!(name, "fork" | "join" | "started" | "finished") {
            let one = self.arg(first, &Sort::Thread, true);
            let two = second.map_or(Some(Arg::Free), |e| self.arg(e, &Sort::Thread, true));
            let (one, two) = (one?, two?);
            return Some(match name {
                "fork" => EventPattern::Fork(one, two),
                "join" => EventPattern::Join(one, two),
                "started" => EventPattern::Started(one),
                _ => EventPattern::Finished(one),
            });
        }
        enum Subject {
            Var(VarRef),
            Region(VarId),
            Lock(LockPattern),
        }
        let subject = match name {
            "read" | "write" => self.accessed(first).map(Subject::Var),
            "enter" | "exit" => self.region(first).map(Subject::Region),
            _ => self.lock(first).map(Subject::Lock),
        };
        let thread = second.map_or(Some(Arg::Free), |e| self.arg(e, &Sort::Thread, true));
        let thread = thread?;
        Some(match (name, subject?) {
            ("read", Subject::Var(v)) => EventPattern::Read(v, thread),
            (_, Subject::Var(v)) => EventPattern::Write(v, thread),
            ("enter", Subject::Region(r)) => EventPattern::Enter(r, thread),
            (_, Subject::Region(r)) => EventPattern::Exit(r, thread),
            ("acquire", Subject::Lock(l)) => EventPattern::Acquire(l, thread),
            ("release", Subject::Lock(l)) => EventPattern::Release(l, thread),
            ("wait_begin", Subject::Lock(l)) => EventPattern::WaitBegin(l, thread),
            ("wait_end", Subject::Lock(l)) => EventPattern::WaitEnd(l, thread),
            (_, Subject::Lock(l)) => EventPattern::Notify(l, thread),
        })
    }

    /// The name and index of an argument that must be one.
    fn named<'e>(&mut self, expr: &'e ast::Expr, what: &str) -> Option<(&'e str, Option<&'e ast::Expr>)> {
        match &expr.kind {
            ast::ExprKind::Name(name) => Some((name, None)),
            ast::ExprKind::Index(name, index) => Some((&name.text, Some(index))),
            _ => {
                let message = format!("expected the name of {what}");
                self.error("type", message, expr.span, &format!("not the name of {what}"), None);
                None
            }
        }
    }

    fn wrong_kind(&mut self, name: &str, span: Span, what: &str) {
        match self.scope.get(name) {
            Some(Symbol::Broken) => self.failed = true,
            Some(symbol) => {
                let message = format!("`{name}` is {}, not {what}", self.scope.kind(symbol));
                self.error("type", message, span, &format!("expected {what}"), None);
            }
            None if self.bound(name).is_some() => {
                let message = format!("the parameter `{name}` is not {what}");
                self.error("type", message, span, &format!("expected {what}"), None);
            }
            None => self.unknown_name(name, span),
        }
    }

    fn accessed(&mut self, expr: &ast::Expr) -> Option<VarRef> {
        let (name, index) = self.named(expr, "a shared variable")?;
        match self.scope.get(name) {
            Some(Symbol::Var(var)) if self.bound(name).is_none() && !self.is_local(var) => {
                self.var_ref(var, expr.span, index, true)
            }
            _ => {
                self.wrong_kind(name, expr.span, "a shared variable");
                None
            }
        }
    }

    fn region(&mut self, expr: &ast::Expr) -> Option<VarId> {
        let (name, index) = self.named(expr, "a region")?;
        match self.scope.get(name) {
            Some(Symbol::Var(var))
                if index.is_none() && self.scope.spec.variables[var as usize].kind == VariableKind::Region =>
            {
                Some(var)
            }
            _ => {
                self.wrong_kind(name, expr.span, "a region");
                None
            }
        }
    }

    fn lock(&mut self, expr: &ast::Expr) -> Option<LockPattern> {
        let (name, index) = self.named(expr, "a lock")?;
        if name == "_" && index.is_none() {
            return Some(LockPattern::Arg(Arg::Free));
        }
        if index.is_none() {
            match self.bound(name).cloned() {
                Some(Bound::Param(id, Sort::Lock | Sort::Object(_))) => {
                    self.mark(id);
                    return Some(LockPattern::Arg(Arg::Param(id)));
                }
                Some(Bound::Free) => return Some(LockPattern::Arg(Arg::Free)),
                Some(Bound::Term(Term::Value(
                    Expr { kind: ExprKind::Param(id), .. },
                    Ty::Sort(Sort::Lock | Sort::Object(_)),
                ))) => {
                    self.mark(id);
                    return Some(LockPattern::Arg(Arg::Param(id)));
                }
                _ => {}
            }
        }
        let declared = match self.scope.get(name) {
            Some(Symbol::Lock(lock)) => Some(lock),
            // In a trace a variable and a lock may have the same name.
            _ => self.scope.spec.locks.iter().position(|l| l.name == name).map(|i| i as u32),
        };
        let Some(lock) = declared.filter(|_| self.bound(name).is_none()) else {
            self.wrong_kind(name, expr.span, "a lock");
            return None;
        };
        let scope = self.scope;
        let index = match (&scope.spec.locks[lock as usize].index, index) {
            (None, None) => None,
            (Some(_), None) => Some(Arg::Free),
            (Some(sort), Some(e)) => Some(self.arg(e, sort, true)?),
            (None, Some(_)) => {
                let message = format!("the lock `{name}` has no index");
                self.error("type", message, expr.span, "there is only one", None);
                return None;
            }
        };
        Some(LockPattern::Lock(lock, index))
    }

    /// A variable and its index. In events a missing index means any instance.
    pub(super) fn var_ref(&mut self, var: VarId, span: Span, index: Option<&ast::Expr>, event: bool) -> Option<VarRef> {
        let scope = self.scope;
        let variable = &scope.spec.variables[var as usize];
        let name = &variable.name;
        if self.mode == Mode::Filter {
            let help = "such a condition compares parameters: `i != j`".to_owned();
            let message = format!("the variable `{name}` in a condition on parameters");
            self.error("logic", message, span, "changes during a run", Some(help));
            return None;
        }
        let index = if self.is_local(var) {
            match (self.mode, index) {
                (Mode::Mttl | Mode::Declare, None) => None,
                (Mode::Mttl, Some(_)) => {
                    let help = format!("write `@t({name})`");
                    let message = format!("`{name}` has no index in mttl");
                    self.error("logic", message, span, "the thread is implied", Some(help));
                    return None;
                }
                (_, Some(e)) => Some(self.arg(e, &Sort::Thread, false)?),
                (_, None) => {
                    let help =
                        format!("say whose: `{name}[t]` with a parameter `t : thread`, or use `mttl at t {{ … }}`");
                    let message = format!("`{name}` is different in each thread");
                    self.error("logic", message, span, "whose?", Some(help));
                    return None;
                }
            }
        } else {
            match (&variable.index, index) {
                (None, None) => None,
                (Some(sort), Some(e)) => Some(self.arg(e, sort, event)?),
                (Some(_), None) if event => Some(Arg::Free),
                (Some(sort), None) => {
                    let sort = crate::syntax::sort_text(sort);
                    let help = format!("write `{name}[o]` with a parameter `o : {sort}`");
                    let message = format!("`{name}` is one variable for each {sort}");
                    self.error("type", message, span, "which one?", Some(help));
                    return None;
                }
                (None, Some(_)) => {
                    self.complain(
                        Diagnostic::error("type", format!("`{name}` has no index"))
                            .at(span, "there is only one")
                            .at(variable.span, "declared here"),
                    );
                    return None;
                }
            }
        };
        Some(VarRef { var, index })
    }

    /// An argument or index: a parameter, a constant, or (in events) `_`.
    pub(super) fn arg(&mut self, expr: &ast::Expr, wanted: &Sort, free: bool) -> Option<Arg> {
        if let ast::ExprKind::Name(name) = &expr.kind {
            if name == "_" && free {
                return Some(Arg::Free);
            }
            match self.bound(name).cloned() {
                Some(Bound::Free) if free => return Some(Arg::Free),
                Some(Bound::Param(id, sort)) => {
                    if fits(&sort, wanted) {
                        self.mark(id);
                        return Some(Arg::Param(id));
                    }
                    return self.wrong_sort(expr.span, &Ty::Sort(sort), wanted);
                }
                _ => {}
            }
        }
        let (given, arg) = match self.term(expr) {
            Term::Value(Expr { kind, .. }, ty) => {
                let arg = match kind {
                    ExprKind::Param(id) => Some(Arg::Param(id)),
                    ExprKind::Thread(name) => Some(Arg::Thread(name)),
                    ExprKind::Const(Const::Int(n)) if *wanted == Sort::Value(Type::Real) => {
                        Some(Arg::Const(Const::Real(n as f64)))
                    }
                    ExprKind::Const(c) => Some(Arg::Const(c)),
                    _ => None,
                };
                (ty, arg)
            }
            Term::Bool(Typed::Const(value)) => (Ty::BOOL, Some(Arg::Const(Const::Bool(value)))),
            Term::Bool(_) => (Ty::BOOL, None),
            Term::Error => return None,
        };
        match (given, arg) {
            (given, Some(arg)) if given == Ty::Any || matches!(&given, Ty::Sort(s) if fits(s, wanted)) => Some(arg),
            (given, Some(_)) => self.wrong_sort(expr.span, &given, wanted),
            (_, None) => {
                let help = "an event is compared with what the parameter stands for when it happens".to_owned();
                let what = if free { "a parameter, a constant or `_`" } else { "a parameter or a constant" };
                let message = format!("expected {what}");
                self.error("type", message, expr.span, &format!("not {what}"), Some(help));
                None
            }
        }
    }

    fn wrong_sort<T>(&mut self, span: Span, given: &Ty, wanted: &Sort) -> Option<T> {
        let wanted = article(&crate::syntax::sort_text(wanted));
        let given = article(&given.text());
        self.error("type", format!("expected {wanted}, found {given}"), span, &format!("this is {given}"), None);
        None
    }

    /// What is given for a parameter of a name for a formula.
    pub(super) fn let_argument(&mut self, expr: &ast::Expr, wanted: &Sort) -> Option<Bound> {
        if let ast::ExprKind::Name(name) = &expr.kind {
            if name == "_" {
                return Some(Bound::Free);
            }
            if let Some(Bound::Free) = self.bound(name) {
                return Some(Bound::Free);
            }
        }
        let term = self.term(expr);
        let fine = match &term {
            Term::Error => return None,
            Term::Bool(_) => *wanted == Sort::Value(Type::Bool),
            Term::Value(_, Ty::Any) => true,
            Term::Value(_, Ty::Sort(sort)) => fits(sort, wanted),
        };
        if fine {
            return Some(Bound::Term(term));
        }
        let given = match &term {
            Term::Value(_, ty) => ty.clone(),
            _ => Ty::BOOL,
        };
        debug_assert!(!term_text(&term).is_empty());
        self.wrong_sort(expr.span, &given, wanted)
    }
}
