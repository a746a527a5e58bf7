//! Checks, settings of the whole specification, handlers and suppressions.

use super::model::{Action, Check, CheckKind, Handler, RaceMethod, Suppression, VariableKind};
use super::place::{self, Use};
use super::scope::{Scope, Symbol};
use super::settings::{self, Settings};
use super::{nearest, twice};
use crate::syntax::ast::{self, Decl, Name, What};
use crate::syntax::{Diagnostic, Diagnostics};
use event::Causality;

const METHODS: [(&str, RaceMethod); 7] = [
    ("lockset", RaceMethod::Lockset),
    ("hb", RaceMethod::Hb),
    ("sync_preserving", RaceMethod::SyncPreserving),
    (Causality::Maximal.keyword(), RaceMethod::Model(Causality::Maximal)),
    (Causality::SyncOnly.keyword(), RaceMethod::Model(Causality::SyncOnly)),
    (Causality::FullHb.keyword(), RaceMethod::Model(Causality::FullHb)),
    (Causality::WeakHb.keyword(), RaceMethod::Model(Causality::WeakHb)),
];

const CHECKS: [&str; 6] = ["races", "deadlocks", "atomicity", "mutex", "lost_wakeup", "misuse"];

pub(super) fn check(ast: &ast::Spec, scope: &mut Scope<'_>, out: &mut Diagnostics) {
    let mut settings = Settings::default();
    let mut seen = Vec::new();
    let mut checks = Vec::new();
    let mut suppressions = Vec::new();
    for decl in &ast.decls {
        match decl {
            Decl::Explore(written) => settings::check(written, &mut settings, &mut seen, out),
            Decl::Check(c) => checks.extend(one(c, scope, out)),
            Decl::Suppress(s) => suppressions.extend(suppress(s, ast, out)),
            _ => {}
        }
    }
    let spec_handlers = ast.decls.iter().filter_map(|d| match d {
        Decl::Handler(h) => Some(h),
        _ => None,
    });
    scope.spec.handlers = handlers(spec_handlers, out);
    scope.spec.settings = settings;
    scope.spec.checks = checks;
    scope.spec.suppressions = suppressions;
}

/// Handlers of one scope: one for each outcome.
pub(super) fn handlers<'a>(list: impl Iterator<Item = &'a ast::Handler>, out: &mut Diagnostics) -> Vec<Handler> {
    let mut seen = Vec::new();
    let mut result = Vec::new();
    for handler in list {
        if let Some((_, first)) = seen.iter().find(|(outcome, _)| *outcome == handler.outcome) {
            out.push(twice("handler", &format!("on {}", handler.outcome.text()), handler.span, *first));
        }
        seen.push((handler.outcome, handler.span));
        let actions = handler.actions.iter().filter_map(|a| action(a, out)).collect();
        result.push(Handler { outcome: handler.outcome, actions });
    }
    result
}

fn action(action: &ast::Action, out: &mut Diagnostics) -> Option<Action> {
    Some(match action {
        ast::Action::Report(text) => Action::Report(text.as_ref().map(|t| t.value.clone())),
        ast::Action::Call(place) => Action::Call(place::check(place, Use::Code, out)?),
        ast::Action::Exec(text) => Action::Exec(text.value.clone()),
        ast::Action::Exit(code, span) => match u8::try_from(*code) {
            Ok(code) => Action::Exit(code),
            Err(_) => {
                out.push(
                    Diagnostic::error("setting", format!("{code} is not an exit code"))
                        .at(*span, "exit codes are 0 to 255"),
                );
                return None;
            }
        },
        ast::Action::Stop => Action::Stop,
    })
}

/// Names of one kind. What is wrong is left out.
fn names(
    list: &[Name],
    scope: &Scope<'_>,
    what: &str,
    out: &mut Diagnostics,
    pick: impl Fn(Symbol) -> Option<u32>,
) -> Vec<u32> {
    let mut found = Vec::new();
    for name in list {
        let symbol = scope.get(&name.text);
        match symbol.map(|s| (s, pick(s))) {
            Some((_, Some(number))) if found.contains(&number) => out.push(
                Diagnostic::warning("name", format!("`{}` is named twice", name.text)).at(name.span, "once is enough"),
            ),
            Some((_, Some(number))) => found.push(number),
            Some((Symbol::Broken, _)) => {}
            Some((symbol, None)) => out.push(
                Diagnostic::error("type", format!("`{}` is {}, not {what}", name.text, scope.kind(symbol)))
                    .at(name.span, format!("expected {what}")),
            ),
            None if !scope.is_news(&name.text) => {}
            None => {
                let fitting = scope.names.iter().filter(|(_, (s, _))| pick(*s).is_some()).map(|(n, _)| n.as_str());
                let help = nearest(&name.text, fitting).map(|near| format!("did you mean `{near}`?"));
                out.push(
                    Diagnostic::error("name", format!("unknown name `{}`", name.text))
                        .at(name.span, "not declared")
                        .maybe_help(help),
                );
            }
        }
    }
    found
}

fn one(check: &ast::Check, scope: &Scope<'_>, out: &mut Diagnostics) -> Option<Check> {
    let before = out.len();
    let mut settings = Settings::default();
    settings::check(&check.settings, &mut settings, &mut Vec::new(), out);
    let of_kind = |kind: VariableKind| {
        move |symbol: Symbol| match symbol {
            Symbol::Var(v) if scope.spec.variables[v as usize].kind == kind => Some(v),
            _ => None,
        }
    };
    let what = match &check.what {
        What::Races(on, using) => {
            let on = names(on, scope, "a shared variable", out, of_kind(VariableKind::Shared));
            CheckKind::Races(on, using.as_ref().and_then(|name| method(name, out)))
        }
        What::Deadlocks(None) => CheckKind::Deadlocks(None),
        What::Deadlocks(Some((count, span))) => match u32::try_from(*count) {
            Ok(count) if count >= 2 => CheckKind::Deadlocks(Some(count)),
            _ => {
                out.push(
                    Diagnostic::error("setting", format!("no deadlock has {count} threads"))
                        .at(*span, "must be at least 2, and fit 32 bits"),
                );
                return None;
            }
        },
        What::Atomicity(of) => CheckKind::Atomicity(names(of, scope, "a region", out, of_kind(VariableKind::Region))),
        What::Mutex(of) => CheckKind::Mutex(names(of, scope, "a region", out, of_kind(VariableKind::Region))),
        What::LostWakeup(on) => {
            let lock = |symbol| match symbol {
                Symbol::Lock(l) => Some(l),
                _ => None,
            };
            CheckKind::LostWakeup(names(on, scope, "a lock", out, lock))
        }
    };
    (!out.has_errors_since(before)).then_some(Check { what, settings, span: check.span })
}

fn method(name: &Name, out: &mut Diagnostics) -> Option<RaceMethod> {
    let found = METHODS.iter().find(|(text, _)| *text == name.text);
    if found.is_none() {
        let help = match nearest(&name.text, METHODS.iter().map(|(text, _)| *text)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "detectors are `lockset`, `hb`, `sync_preserving`, `maximal`; \
                 models are `sync_only`, `full_hb`, `weak_hb`, `maximal`"
                .to_owned(),
        };
        out.push(
            Diagnostic::error("setting", format!("`{}` finds no races", name.text))
                .at(name.span, "not a detector or a causality model")
                .help(help),
        );
    }
    found.map(|(_, method)| *method)
}

fn suppress(s: &ast::Suppress, spec: &ast::Spec, out: &mut Diagnostics) -> Option<Suppression> {
    let properties = || {
        spec.decls.iter().filter_map(|d| match d {
            Decl::Property(p) => Some(p.name.text.as_str()),
            Decl::Broken(Some(name)) => Some(name.text.as_str()),
            _ => None,
        })
    };
    let name = s.name.text.as_str();
    if !CHECKS.contains(&name) && !properties().any(|p| p == name) {
        let near = nearest(name, properties().chain(CHECKS));
        out.push(
            Diagnostic::error("name", format!("unknown property `{name}`"))
                .at(s.name.span, "no property or check has this name")
                .maybe_help(near.map(|near| format!("did you mean `{near}`?"))),
        );
        return None;
    }
    let place = s.at.value.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)));
    let Some((file, line)) = place.filter(|(file, line)| !file.is_empty() && *line > 0) else {
        out.push(
            Diagnostic::error("place", "not a place in a source file")
                .at(s.at.span, "expected a file and a line")
                .help("for example \"Main.java:12\""),
        );
        return None;
    };
    let because = s.because.as_ref().map(|b| b.value.clone());
    Some(Suppression { name: name.to_owned(), file: file.to_owned(), line, because })
}
