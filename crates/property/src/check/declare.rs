//! The declarations of a specification: its lists and its table of names.

use super::expr::Const;
use super::model::{Lock, UserEvent, Variable, VariableKind};
use super::place::{self, Use};
use super::scope::{BUILT_IN, LetInfo, Scope, Symbol};
use super::twice;
use crate::syntax::ast::{self, ConstKind, Decl, Lang, Name, Origin, Params, Side, Type, When};
use crate::syntax::{Diagnostic, Diagnostics, Span};

/// Collects what is declared. Names of declarations with mistakes are kept, so that their uses are not mistakes too.
pub(super) fn declare<'a>(ast: &'a ast::Spec, out: &mut Diagnostics) -> Scope<'a> {
    let mut d = Declare { scope: Scope::default(), target: None, out };
    d.scope.spec.name = ast.name.text.clone();
    for decl in &ast.decls {
        d.decl(decl);
    }
    d.scope
}

struct Declare<'a, 'o> {
    scope: Scope<'a>,
    target: Option<Span>,
    out: &'o mut Diagnostics,
}

impl<'a> Declare<'a, '_> {
    /// Enters a name, unless it is taken.
    fn enter(&mut self, name: &Name, symbol: Symbol) {
        let text = &name.text;
        if BUILT_IN.iter().any(|(n, _)| n == text) || text == "_" {
            self.out.push(
                Diagnostic::error("name", format!("`{text}` cannot be declared"))
                    .at(name.span, if text == "_" { "this means any value" } else { "the name of a built-in event" })
                    .help("choose another name"),
            );
            return;
        }
        if let Some((_, first)) = self.scope.names.get(text) {
            self.out.push(twice("name", text, name.span, *first));
            return;
        }
        self.scope.names.insert(text.clone(), (symbol, name.span));
    }

    /// `start(…)`, `end(…)` and `weak […` are operators whatever is declared.
    fn not_operator(&mut self, name: &Name, word: &str, usage: &str) {
        self.out.push(
            Diagnostic::error("name", format!("`{word}{usage}` is always the operator"))
                .at(name.span, "this could never be used")
                .help("choose another name"),
        );
    }

    fn place(&mut self, place: &ast::Place, usage: Use) -> Option<place::Place> {
        let checked = place::check(place, usage, self.out)?;
        if let (Some(target), Some(said)) = (self.scope.spec.target, self.target)
            && place.lang != target
            && place.lang != Lang::Trace
        {
            self.out.push(
                Diagnostic::warning(
                    "place",
                    format!("a {} place in a program in {}", place.lang.text(), target.text()),
                )
                .at(place.span, "another language")
                .at(said, "than said here"),
            );
        }
        Some(checked)
    }

    fn decl(&mut self, decl: &'a Decl) {
        match decl {
            Decl::Target(lang, span) => {
                if let Some(first) = self.target {
                    self.out.push(
                        Diagnostic::error("name", "the target is given twice")
                            .at(*span, "given again here")
                            .at(first, "first given here"),
                    );
                } else {
                    self.target = Some(*span);
                    self.scope.spec.target = Some(*lang);
                }
            }
            Decl::Shared(v) => self.variable(v, VariableKind::Shared),
            Decl::Local(v) => self.variable(v, VariableKind::Local),
            Decl::Region(r) => {
                let place = self.place(&r.place, Use::Code);
                self.enter(&r.name, Symbol::Var(self.scope.spec.variables.len() as u32));
                self.scope.spec.variables.push(Variable {
                    name: r.name.text.clone(),
                    kind: VariableKind::Region,
                    ty: Some(Type::Bool),
                    index: None,
                    init: Some(Const::Bool(false)),
                    place,
                    span: r.name.span,
                });
            }
            Decl::Lock(l) => match self.place(&l.place, Use::Lock) {
                Some(place) => {
                    self.enter(&l.name, Symbol::Lock(self.scope.spec.locks.len() as u32));
                    let index = l.index.as_ref().map(|p| p.sort.clone());
                    self.scope.spec.locks.push(Lock { name: l.name.text.clone(), index, place, span: l.name.span });
                }
                None => self.enter(&l.name, Symbol::Broken),
            },
            Decl::Event(e) => self.event(e),
            Decl::Let(l) => {
                if matches!(l.name.text.as_str(), "start" | "end") && !l.params.list.is_empty() {
                    self.not_operator(&l.name, &l.name.text, "(…)");
                }
                self.params(&l.params, if l.is_event { "events" } else { "names" });
                self.enter(&l.name, Symbol::Let(self.scope.lets.len() as u32));
                self.scope.lets.push(LetInfo { ast: l, ty: None });
            }
            Decl::Broken(Some(name)) if !self.scope.names.contains_key(&name.text) => {
                self.enter(name, Symbol::Broken);
            }
            Decl::Broken(None) => self.scope.incomplete = true,
            _ => {}
        }
    }

    fn variable(&mut self, v: &ast::Variable, kind: VariableKind) {
        if v.name.text == "weak" && v.index.is_some() {
            self.not_operator(&v.name, "weak", " […");
        }
        let place = v.place.as_ref().and_then(|p| self.place(p, Use::Data));
        let init = v.init.as_ref().and_then(|c| self.initial(v.ty, c));
        self.enter(&v.name, Symbol::Var(self.scope.spec.variables.len() as u32));
        self.scope.spec.variables.push(Variable {
            name: v.name.text.clone(),
            kind,
            ty: Some(v.ty),
            index: v.index.as_ref().map(|p| p.sort.clone()),
            init,
            place,
            span: v.name.span,
        });
    }

    /// An initial value; `None` for `unknown`.
    fn initial(&mut self, ty: Type, value: &ast::Const) -> Option<Const> {
        let constant = match (&value.kind, ty) {
            (ConstKind::Unknown, _) => return None,
            (ConstKind::Bool(b), Type::Bool) => Some(Const::Bool(*b)),
            (ConstKind::Int(n), Type::Int) => Some(Const::Int(*n)),
            (ConstKind::Int(n), Type::Real) => Some(Const::Real(*n as f64)),
            (ConstKind::Real(r), Type::Real) => Some(Const::Real(*r)),
            (ConstKind::Str(s), Type::String) => Some(Const::Str(s.clone())),
            _ => None,
        };
        if constant.is_none() {
            let help = match ty {
                Type::Ref => "identities exist only during a run: leave it out, or write `unknown`",
                Type::Bool => "write `true`, `false` or `unknown`",
                Type::Int => "write an integer or `unknown`",
                Type::Real => "write a number or `unknown`",
                Type::String => "write a string or `unknown`",
            };
            self.out.push(
                Diagnostic::error("type", format!("not an initial value of type {}", ty.text()))
                    .at(value.span, format!("not of type {}", ty.text()))
                    .help(help),
            );
        }
        constant
    }

    /// Rules for the parameters of declarations: they have no condition.
    fn params(&mut self, params: &Params, whose: &str) {
        if let Some(filter) = &params.filter {
            self.out.push(
                Diagnostic::error("logic", format!("{whose} have no conditions on their parameters"))
                    .at(filter.span, "only properties have them"),
            );
        }
        for (i, param) in params.list.iter().enumerate() {
            if let Some(first) = params.list[..i].iter().find(|p| p.name.text == param.name.text) {
                self.out.push(twice("parameter", &param.name.text, param.name.span, first.name.span));
            }
        }
    }

    fn event(&mut self, e: &ast::Event) {
        if matches!(e.name.text.as_str(), "start" | "end") && !e.params.list.is_empty() {
            self.not_operator(&e.name, &e.name.text, "(…)");
        }
        self.params(&e.params, "events");
        let when = e.when.unwrap_or(When::Before);
        for (origin, span) in &e.origins {
            let problem = match origin {
                Origin::Arg(0) => ("arguments are counted from 1", "there is no argument 0", "write `arg 1`"),
                Origin::Result if when == When::Before => {
                    ("there is no result before the call", "not known yet", "write `after` in front of the parentheses")
                }
                _ => continue,
            };
            self.out.push(Diagnostic::error("place", problem.0).at(*span, problem.1).help(problem.2));
        }
        if let (Some((_, first)), Some((_, last))) = (e.origins.first(), e.origins.last())
            && e.origins.len() != e.params.list.len()
        {
            let message =
                format!("`{}` has {} parameters but {} values", e.name.text, e.params.list.len(), e.origins.len());
            self.out.push(
                Diagnostic::error("name", message)
                    .at(first.to(*last), "one value for each parameter")
                    .at(e.name.span, "declared here"),
            );
        }
        let Some(place) = self.place(&e.place, Use::Code) else {
            self.enter(&e.name, Symbol::Broken);
            return;
        };
        let params: Vec<_> = e.params.list.iter().map(|p| (p.name.text.clone(), p.sort.clone())).collect();
        let origins = if e.origins.is_empty() {
            (1..=params.len() as u32).map(Origin::Arg).collect()
        } else {
            e.origins.iter().map(|(origin, _)| *origin).collect()
        };
        self.enter(&e.name, Symbol::Event(self.scope.spec.events.len() as u32));
        self.scope.spec.events.push(UserEvent {
            name: e.name.text.clone(),
            params,
            place,
            when,
            side: e.side.unwrap_or(Side::Exec),
            origins,
            span: e.name.span,
        });
    }
}
