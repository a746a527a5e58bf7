//! From syntax trees to properties: names, types, the rules of each logic, and numbered atoms.
//!
//! Rules that the grammar leaves open:
//!
//! * An `import` adds the specifications of the other file; every specification has its own names.
//! * Integers and reals mix: an operation with one real is a real operation, and comparisons are exact. `/` on
//!   integers truncates, `%` is for integers only. Strings compare by their bytes, identities only for equality.
//! * `==` and `!=` between truth values are `<->` and its negation.
//! * In events, `_` is any value; a thread at the end may be left out (any thread), and so may an index (any instance)
//!   or all arguments of a declared event.
//! * A local variable or the flag of a region is that of the thread in mttl, and `v[t]` elsewhere.
//! * Past operators may stand under future ones, not the other way round; letters of `ere`, guards of `fsm` and
//!   propositions of `logic` have no future operators.
//! * `suppress` takes the name of a property or of a check (`races`, `deadlocks`, …).
//! * Quantifiers and `@` are for mttl only: elsewhere parameters do their work.

mod declare;
mod declared;
mod elaborate;
mod eval;
mod events;
mod explain;
mod expr;
mod fsm;
mod inline;
mod lets;
mod model;
mod nearest;
mod operators;
mod place;
mod property;
mod rest;
mod scope;
mod settings;
mod threads;
mod typed;

pub use declared::{checks, declarations, heading};
pub use elaborate::MAX_ATOMS;
pub use eval::{Truth, Unknown, Valuation, Value, evaluate, holds};
pub use explain::{atom_text, explain};
pub use expr::{Arg, ArithOp, CompareOp, Const, Expr, ExprKind, ParamId, VarId, VarRef};
pub use inline::{Inline, TraceNames, check_formula, parse_init};
pub use model::{
    Action, Atom, Check, CheckKind, EventPattern, Handler, Lock, LockPattern, Logic, Param, Property, RaceMethod,
    Relevant, Spec, Suppression, UserEvent, Variable, VariableKind,
};
pub(crate) use nearest::nearest;
pub use place::Place;
pub use settings::{AtEnd, Breadth, Settings, Steps};
pub use typed::{Connective, Typed};

use crate::syntax::{Diagnostic, Diagnostics, Loader, Severity, Sources, Span, ast, load};
use std::collections::BTreeMap;

/// What came of a file.
#[derive(Clone, Default, Debug)]
pub struct Checked {
    /// The texts that spans point into.
    pub sources: Sources,
    /// The specifications, those of imported files first; what has mistakes is left out of them.
    pub specs: Vec<Spec>,
    /// Mistakes and warnings, by place.
    pub diagnostics: Vec<Diagnostic>,
}

impl Checked {
    /// Whether there are mistakes: then nothing of it should be used.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }
}

/// Reads and checks a file and what it imports.
pub fn check_file(path: &str, loader: &dyn Loader) -> Checked {
    let mut sources = Sources::default();
    let mut out = Diagnostics::default();
    let files = load(path, loader, &mut sources, &mut out);
    let mut first: BTreeMap<&str, Span> = BTreeMap::new();
    let mut specs = Vec::new();
    for spec in &files {
        let name = &spec.name;
        if let Some(other) = first.insert(&name.text, name.span) {
            out.push(twice("specification", &name.text, name.span, other));
        }
        specs.push(check_spec(spec, &mut out));
    }
    Checked { specs, diagnostics: out.into_sorted(), sources }
}

fn check_spec(ast: &ast::Spec, out: &mut Diagnostics) -> Spec {
    let mut scope = declare::declare(ast, out);
    lets::check(&mut scope, out);
    let mut properties = Vec::new();
    let mut names: BTreeMap<&str, Span> = BTreeMap::new();
    for decl in &ast.decls {
        if let ast::Decl::Property(p) = decl {
            if let Some(other) = names.insert(&p.name.text, p.name.span) {
                out.push(twice("property", &p.name.text, p.name.span, other));
            }
            properties.extend(property::check(p, &scope, out));
        }
    }
    scope.spec.properties = properties;
    rest::check(ast, &mut scope, out);
    scope.spec
}

/// Two things of one name.
fn twice(what: &str, name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("name", format!("the {what} `{name}` is declared twice"))
        .at(span, "declared again here")
        .at(first, "first declared here")
}

/// An integer beyond 64 bits.
pub(crate) fn too_large(span: Span) -> Diagnostic {
    Diagnostic::error("syntax", "number too large").at(span, "integers have 64 bits: at most 9223372036854775807")
}
