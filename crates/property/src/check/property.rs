//! One property: its parameters, its logic, its atoms.

use super::elaborate::{Elab, Mode};
use super::expr::ParamId;
use super::lets::hides;
use super::model::{Atom, Logic, Param, Property, Relevant};
use super::scope::{Scope, Symbol};
use super::settings::{self, Settings};
use super::{fsm, rest, twice};
use crate::syntax::ast::{self, Body, EreKind, EreMode, Outcome, Repeat, Sort};
use crate::syntax::{Diagnostic, Diagnostics, Span};
use crate::{Ere, Formula};

/// Checks a property; `None` if it has mistakes.
pub(super) fn check(ast: &ast::Property, scope: &Scope<'_>, out: &mut Diagnostics) -> Option<Property> {
    let before = out.len();
    let mut settings = Settings::default();
    settings::check(&ast.settings, &mut settings, &mut Vec::new(), out);
    let handlers = rest::handlers(ast.handlers.iter(), out);
    let mut elab = Elab::new(scope, mode(&ast.body), out);
    let mut params = Vec::new();
    for (i, param) in ast.params.list.iter().enumerate() {
        let name = &param.name;
        if let Some(first) = ast.params.list[..i].iter().find(|p| p.name.text == name.text) {
            elab.complain(twice("parameter", &name.text, name.span, first.name.span));
        } else if let Some((_, first)) = scope.names.get(&name.text) {
            elab.complain(hides(&name.text, name.span, *first));
        }
        elab.bind(&name.text, &param.sort);
        params.push(Param { name: name.text.clone(), sort: param.sort.clone(), span: name.span });
    }
    let filter = ast.params.filter.as_ref().and_then(|f| elab.filter(f));
    let logic = body(&mut elab, &ast.body);
    let Elab { atoms, used, failed, mut numbered, .. } = elab;
    let quantified = numbered.split_off(params.len());
    let logic = logic.filter(|_| !failed)?;
    warn(ast, &logic, &params, &used, &settings, out);
    let relevant = relevant(&atoms);
    (!out.has_errors_since(before)).then(|| Property {
        name: ast.name.text.clone(),
        params,
        quantified,
        filter,
        logic,
        atoms,
        settings,
        handlers,
        relevant,
        name_span: ast.name.span,
        span: ast.span,
    })
}

fn mode(body: &Body) -> Mode {
    match body {
        Body::Past(_) | Body::Broken => Mode::Past,
        Body::Future(_) => Mode::Future,
        Body::Mttl(..) => Mode::Mttl,
        Body::Ere(..) => Mode::Letter("a regular expression"),
        Body::Fsm(_) => Mode::Letter("the guard of a machine"),
        Body::Logic(..) => Mode::Letter("a proposition of another logic"),
    }
}

fn body(elab: &mut Elab<'_>, body: &Body) -> Option<Logic> {
    match body {
        Body::Past(f) => elab.formula(f)?.to_formula().map(Logic::Past),
        Body::Future(f) => elab.formula(f)?.to_formula().map(Logic::Future),
        Body::Mttl(name, f) => {
            let thread = elab.thread(name);
            let formula = elab.formula(f)?;
            Some(Logic::Mttl { thread: thread?, formula })
        }
        Body::Ere(mode, e) => Some(Logic::Ere { mode: *mode, ere: ere(elab, e)? }),
        Body::Fsm(f) => fsm::check(elab, f).map(Logic::Fsm),
        Body::Logic(which, lines) => {
            let propositions = propositions(elab, lines);
            let lines = lines.iter().map(|l| l.value.clone()).collect();
            Some(Logic::Logic { which: which.value.clone(), lines, propositions })
        }
        Body::Broken => None,
    }
}

fn ere(elab: &mut Elab<'_>, e: &ast::Ere) -> Option<Ere> {
    Some(match &e.kind {
        EreKind::Any => Ere::Any,
        EreKind::Eps => Ere::Eps,
        EreKind::Event(leaf) | EreKind::State(leaf) => Ere::Leaf(elab.formula(leaf)?.to_formula()?),
        EreKind::Cat(list) => ere_list(elab, list, Ere::Cat)?,
        EreKind::Or(list) => ere_list(elab, list, Ere::Or)?,
        EreKind::And(list) => ere_list(elab, list, Ere::And)?,
        EreKind::Not(inner) => Ere::Not(Box::new(ere(elab, inner)?)),
        EreKind::Repeat(repeat, inner) => {
            let inner = Box::new(ere(elab, inner)?);
            match repeat {
                Repeat::Star => Ere::Star(inner),
                Repeat::Plus => Ere::Plus(inner),
                Repeat::Opt => Ere::Opt(inner),
            }
        }
    })
}

/// Every part is checked; then they are joined in halves, so that a long list is not a deep tree.
fn ere_list(elab: &mut Elab<'_>, list: &[ast::Ere], join: fn(Box<Ere>, Box<Ere>) -> Ere) -> Option<Ere> {
    let parts: Vec<Option<Ere>> = list.iter().map(|e| ere(elab, e)).collect();
    let mut parts = parts.into_iter().collect::<Option<Vec<Ere>>>()?;
    while parts.len() > 1 {
        let mut joined = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            joined.push(match rest.next() {
                Some(right) => join(Box::new(left), Box::new(right)),
                None => left,
            });
        }
        parts = joined;
    }
    parts.pop()
}

/// The declared conditions that the text of another logic mentions by name.
fn propositions(elab: &mut Elab<'_>, lines: &[ast::Text]) -> Vec<(String, Formula)> {
    let mut found: Vec<(String, Formula)> = Vec::new();
    for line in lines {
        for word in line.value.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')) {
            if word.is_empty() || found.iter().any(|(name, _)| name == word) {
                continue;
            }
            let condition = match elab.scope.get(word) {
                Some(Symbol::Event(_)) => true,
                Some(Symbol::Let(number)) => {
                    let info = &elab.scope.lets[number as usize];
                    info.ast.params.list.is_empty() && info.ty == Some(super::elaborate::Ty::BOOL)
                }
                Some(Symbol::Var(v)) => elab.scope.spec.variables[v as usize].ty == Some(ast::Type::Bool),
                _ => false,
            };
            if condition {
                let expr = ast::Expr::new(ast::ExprKind::Name(word.to_owned()), line.span);
                if let Some(f) = elab.formula(&expr).and_then(|f| f.to_formula()) {
                    found.push((word.to_owned(), f));
                }
            }
        }
    }
    found
}

/// What its atoms mention.
pub(super) fn relevant(atoms: &[(Atom, Span)]) -> Relevant {
    let mut relevant = Relevant::default();
    for (atom, _) in atoms {
        match atom {
            Atom::State(expr) => {
                for var in expr.variables() {
                    if !relevant.variables.contains(var) {
                        relevant.variables.push(var.clone());
                    }
                }
            }
            Atom::Event(pattern) => relevant.events.push(pattern.clone()),
            Atom::Instance(_) => {}
        }
    }
    relevant
}

/// What is allowed but cannot be meant.
fn warn(
    ast: &ast::Property,
    logic: &Logic,
    params: &[Param],
    used: &[ParamId],
    settings: &Settings,
    out: &mut Diagnostics,
) {
    for (id, param) in params.iter().enumerate() {
        if !used.contains(&(id as ParamId)) && !matches!(logic, Logic::Logic { .. }) {
            let what = match param.sort {
                Sort::Thread => "thread",
                Sort::Lock => "lock",
                Sort::Object(_) => "object",
                Sort::Value(_) => "value",
            };
            out.push(
                Diagnostic::warning("name", format!("the parameter `{}` is not used", param.name))
                    .at(param.span, format!("every {what} gets the same verdict"))
                    .help("remove it"),
            );
        }
    }
    let ends = matches!(logic, Logic::Future(_) | Logic::Ere { mode: EreMode::Follows, .. } | Logic::Logic { .. });
    if settings.at_end.is_some()
        && !matches!(logic, Logic::Future(_) | Logic::Logic { .. })
        && let Some(setting) = ast.settings.iter().find(|s| s.name.text == "at_end")
    {
        out.push(
            Diagnostic::warning("setting", format!("`at_end` has no effect on a property in {}", logic.text()))
                .at(setting.name.span, "only future-time properties have an end rule"),
        );
    }
    for handler in &ast.handlers {
        let never = match (handler.outcome, logic) {
            (Outcome::Unfulfilled, _) => !ends,
            (Outcome::Match, Logic::Ere { mode, .. }) => *mode == EreMode::Follows,
            (Outcome::Fail, Logic::Ere { mode, .. }) => *mode != EreMode::Follows,
            (Outcome::Match | Outcome::Fail, _) => true,
            _ => false,
        };
        if never {
            let word = handler.outcome.text();
            let help = match handler.outcome {
                Outcome::Unfulfilled => "only future-time properties and `ere follows` can be left unfulfilled",
                Outcome::Match => "`match` is for `ere never` and `ere never_from_start`",
                _ => "`fail` is for `ere follows`",
            };
            out.push(
                Diagnostic::warning("name", format!("`on {word}` never happens for a property in {}", logic.text()))
                    .at(handler.span, "this handler never runs")
                    .help(help),
            );
        }
    }
}
