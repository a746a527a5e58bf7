//! Names for formulas, checked where they are declared: in an order in which none is used before it is known.

use super::elaborate::{Elab, Mode, Term, Ty};
use super::scope::{Scope, Symbol, names_in};
use crate::syntax::{Diagnostic, Diagnostics, Span};

/// Finds the type of every name. Those that are defined by themselves are complained of and stay without one.
pub(super) fn check(scope: &mut Scope<'_>, out: &mut Diagnostics) {
    for number in order(scope, out) {
        let ast = scope.lets[number].ast;
        let mut elab = Elab::new(scope, Mode::Declare, out);
        for param in &ast.params.list {
            if let Some((_, first)) = elab.scope.names.get(&param.name.text) {
                let first = *first;
                elab.complain(hides(&param.name.text, param.name.span, first));
            }
            elab.bind(&param.name.text, &param.sort);
        }
        let term = elab.term(&ast.body);
        let mut failed = elab.failed;
        let ty = match term {
            Term::Bool(_) => Some(Ty::BOOL),
            Term::Value(_, ty) => Some(ty),
            Term::Error => None,
        };
        if let Some(ty) = &ty
            && ast.is_event
            && *ty != Ty::BOOL
            && !failed
        {
            failed = true;
            out.push(
                Diagnostic::error(
                    "type",
                    format!("an event must be a condition, not {}", super::elaborate::article(&ty.text())),
                )
                .at(ast.body.span, "happens at no step")
                .help("name a value with `let`"),
            );
        }
        scope.lets[number].ty = ty.filter(|_| !failed);
    }
}

/// A parameter with the name of something else.
pub(super) fn hides(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("name", format!("the parameter `{name}` has the name of something else"))
        .at(span, "choose another name")
        .at(first, "already declared here")
}

/// Numbers of the names, each after those it uses; without those on a circle. Not recursive: chains can be long.
fn order(scope: &Scope<'_>, out: &mut Diagnostics) -> Vec<usize> {
    let uses: Vec<Vec<(usize, Span)>> = scope
        .lets
        .iter()
        .map(|info| {
            let mut found = Vec::new();
            names_in(&info.ast.body, &mut |name, span| {
                let hidden = info.ast.params.list.iter().any(|p| p.name.text == name);
                if let Some(Symbol::Let(number)) = scope.get(name)
                    && !hidden
                    && !found.iter().any(|(n, _)| *n == number as usize)
                {
                    found.push((number as usize, span));
                }
            });
            found
        })
        .collect();
    let mut order = Vec::new();
    // 0: not seen, 1: open, 2: done.
    let mut state = vec![0u8; uses.len()];
    for root in 0..uses.len() {
        if state[root] != 0 {
            continue;
        }
        let mut stack = vec![(root, 0usize)];
        state[root] = 1;
        while let Some(top) = stack.last_mut() {
            let (node, next) = *top;
            top.1 += 1;
            match uses[node].get(next) {
                Some(&(used, span)) if state[used] == 0 => {
                    let _ = span;
                    state[used] = 1;
                    stack.push((used, 0));
                }
                Some(&(used, span)) if state[used] == 1 => {
                    let name = &scope.lets[used].ast.name;
                    out.push(
                        Diagnostic::error("name", format!("`{}` is defined by itself", name.text))
                            .at(name.span, "its meaning depends on itself")
                            .at(span, "because of this use"),
                    );
                    // Everything on the circle is done and stays without a type.
                    while let Some((open, _)) = stack.pop() {
                        state[open] = 3;
                        if open == used {
                            break;
                        }
                    }
                }
                Some(_) => {}
                None => {
                    stack.pop();
                    state[node] = 2;
                    order.push(node);
                }
            }
        }
    }
    order
}
