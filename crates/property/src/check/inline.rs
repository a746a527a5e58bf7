//! `--property` and `--init`: a formula and initial values without a file, over the names of a trace.

use super::elaborate::{Elab, Mode};
use super::expr::Const;
use super::model::{Lock, Logic, Property, Spec, Variable, VariableKind};
use super::place::Place;
use super::property::relevant;
use super::scope::{Scope, Symbol, names_in};
use super::settings::Settings;
use crate::syntax::ast::{ConstKind, Lang};
use crate::syntax::{Diagnostic, Diagnostics, Sources, Span, is_name, parse_constant, parse_formula};

/// What came of a text of the command line, and the text that its diagnostics point into.
pub type Inline<T> = (Sources, Result<T, Vec<Diagnostic>>);

/// The names of a trace, as an inline formula may use them.
#[derive(Clone, Copy, Default, Debug)]
pub struct TraceNames<'a> {
    /// Variables.
    pub variables: &'a [&'a str],
    /// Locks.
    pub locks: &'a [&'a str],
    /// Threads.
    pub threads: &'a [&'a str],
}

/// Checks a past-time formula. The result is a specification with that one property and the variables it mentions,
/// whose types are whatever the trace says; else the diagnostics, of which some are errors.
pub fn check_formula(name: &str, text: &str, known: TraceNames<'_>) -> Inline<Spec> {
    let mut sources = Sources::default();
    let file = sources.add(format!("--property ({name})"), text);
    let mut out = Diagnostics::default();
    let is_known = |n: &str| known.variables.contains(&n) || known.locks.contains(&n) || known.threads.contains(&n);
    let Some(formula) = parse_formula(&sources, file, is_known, &mut out) else {
        return (sources, Err(out.into_sorted()));
    };
    let mut scope = Scope::default();
    scope.spec.name = name.to_owned();
    scope.others = known.variables.iter().chain(known.locks).chain(known.threads).copied().collect();
    names_in(&formula, &mut |n, span| {
        if scope.names.contains_key(n) {
            return;
        }
        let place = Place { lang: Lang::Trace, file: None, parts: vec![n.to_owned()] };
        if known.locks.contains(&n) {
            let number = scope.spec.locks.len() as u32;
            let lock = Lock { name: n.to_owned(), index: None, place: place.clone(), span };
            scope.spec.locks.push(lock);
            scope.names.insert(n.to_owned(), (Symbol::Lock(number), span));
        }
        if known.variables.contains(&n) {
            let number = scope.spec.variables.len() as u32;
            scope.spec.variables.push(Variable {
                name: n.to_owned(),
                kind: VariableKind::Shared,
                ty: None,
                index: None,
                init: None,
                place: Some(place),
                span,
            });
            scope.names.insert(n.to_owned(), (Symbol::Var(number), span));
        } else if known.threads.contains(&n) && !known.locks.contains(&n) {
            scope.names.insert(n.to_owned(), (Symbol::Thread, span));
        }
    });
    let mut elab = Elab::new(&scope, Mode::Past, &mut out);
    let logic = elab.formula(&formula).and_then(|f| f.to_formula()).map(Logic::Past);
    let atoms = elab.atoms;
    let Some(logic) = logic.filter(|_| !out.has_errors()) else { return (sources, Err(out.into_sorted())) };
    let property = Property {
        name: name.to_owned(),
        params: Vec::new(),
        quantified: Vec::new(),
        filter: None,
        logic,
        relevant: relevant(&atoms),
        atoms,
        settings: Settings::default(),
        handlers: Vec::new(),
        name_span: Span { file, start: 0, end: 0 },
        span: formula.span,
    };
    let mut spec = scope.spec;
    spec.properties.push(property);
    (sources, Ok(spec))
}

/// Reads `x=0,y=true,z="a"`: initial values by name.
pub fn parse_init(text: &str) -> Inline<Vec<(String, Const)>> {
    let mut sources = Sources::default();
    let file = sources.add("--init", text);
    let mut out = Diagnostics::default();
    let mut values: Vec<(String, Const)> = Vec::new();
    let mut at = 0;
    for part in parts(text) {
        let span = Span { file, start: at as u32, end: (at + part.len()) as u32 };
        at += part.len() + 1;
        let Some((name, value)) = part.split_once('=') else {
            out.push(
                Diagnostic::error("syntax", "expected `name=value`")
                    .at(span, "without a value")
                    .help("initial values look like `x=0,y=true`"),
            );
            continue;
        };
        let value_span = Span { start: span.end - value.len() as u32, ..span };
        let name = name.trim();
        if name.is_empty() {
            out.push(Diagnostic::error("syntax", "expected a name before `=`").at(span, "without a name"));
            continue;
        }
        if values.iter().any(|(n, _)| n == name) {
            out.push(Diagnostic::error("name", format!("`{name}` has two initial values")).at(span, "the second one"));
            continue;
        }
        let constant = match parse_constant(value.trim()) {
            Some(ConstKind::Bool(b)) => Const::Bool(b),
            Some(ConstKind::Int(n)) => Const::Int(n),
            Some(ConstKind::Real(r)) => Const::Real(r),
            Some(ConstKind::Str(s)) => Const::Str(s),
            // `unknown` is what a variable without an initial value is anyway.
            Some(ConstKind::Unknown) => continue,
            None => {
                let help = if is_name(value.trim()) {
                    format!("a string stands in quotes: \"{}\"", value.trim())
                } else {
                    "values are numbers, strings, `true` and `false`".to_owned()
                };
                out.push(
                    Diagnostic::error("syntax", format!("no initial value for `{name}`"))
                        .at(value_span, "not a constant")
                        .help(help),
                );
                continue;
            }
        };
        values.push((name.to_owned(), constant));
    }
    if out.is_empty() { (sources, Ok(values)) } else { (sources, Err(out.into_sorted())) }
}

/// Splits at commas outside strings.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let mut escaped = false;
    text.split(move |c: char| {
        let here = c == ',' && !quoted;
        if c == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = c == '\\' && quoted && !escaped;
        here
    })
}
