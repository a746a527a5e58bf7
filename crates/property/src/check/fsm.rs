//! Machines: their states exist, are reached, and say what to do with every letter.

use super::elaborate::Elab;
use super::{nearest, twice};
use crate::syntax::Diagnostic;
use crate::syntax::ast::{self, Name};
use crate::{Formula, Fsm, FsmState, Guard};

/// The most different conditions in the guards of a state for which it is tried whether one of them always holds.
const MAX_TRIED: usize = 12;

pub(super) fn check(elab: &mut Elab<'_>, ast: &ast::Fsm) -> Option<Fsm> {
    for (i, state) in ast.states.iter().enumerate() {
        if let Some(first) = ast.states[..i].iter().find(|s| s.name.text == state.name.text) {
            elab.complain(twice("state", &state.name.text, state.name.span, first.name.span));
        }
    }
    let init = find(elab, ast, &ast.init);
    let bad = find(elab, ast, &ast.bad);
    let mut states = Vec::new();
    for (number, state) in ast.states.iter().enumerate() {
        let mut transitions = Vec::new();
        for t in &state.transitions {
            let guard = match &t.guard {
                Some(guard) => elab.formula(guard).and_then(|f| f.to_formula()).map(Guard::If),
                None => Some(Guard::Else),
            };
            let targets: Vec<Option<usize>> = t.targets.iter().map(|name| find(elab, ast, name)).collect();
            let targets: Option<Vec<usize>> = targets.into_iter().collect();
            if let (Some(guard), Some(targets)) = (guard, targets) {
                transitions.push((guard, targets));
            }
        }
        one_else(elab, state);
        if ast.otherwise.is_none() && Some(number) != bad && !elab.failed && !total(&transitions) {
            elab.complain(
                Diagnostic::error("fsm", format!("the state `{}` does not take every step", state.name.text))
                    .at(state.name.span, "what happens if no guard holds?")
                    .help(
                        "say so for all states with `otherwise stay;` (or `die`, `bad`) after `bad …;`, \
                         or add `else => …;` here",
                    ),
            );
        }
        states.push(FsmState { name: state.name.text.clone(), transitions });
    }
    let (init, bad) = (init?, bad?);
    if elab.failed {
        return None;
    }
    warn(elab, ast, &states, init, bad);
    Some(Fsm { states, init, bad, otherwise: ast.otherwise })
}

fn find(elab: &mut Elab<'_>, ast: &ast::Fsm, name: &Name) -> Option<usize> {
    let found = ast.states.iter().position(|s| s.name.text == name.text);
    if found.is_none() {
        let near = nearest(&name.text, ast.states.iter().map(|s| s.name.text.as_str()));
        let help =
            near.map_or_else(|| format!("declare it: `{} {{ }}`", name.text), |near| format!("did you mean `{near}`?"));
        elab.error("fsm", format!("unknown state `{}`", name.text), name.span, "no such state", Some(help));
    }
    found
}

fn one_else(elab: &mut Elab<'_>, state: &ast::State) {
    let mut elses = state.transitions.iter().filter(|t| t.guard.is_none());
    if let (Some(first), Some(second)) = (elses.next(), elses.next()) {
        elab.complain(
            Diagnostic::error("fsm", format!("the state `{}` has two `else`", state.name.text))
                .at(second.span, "a second `else`")
                .at(first.span, "the first one")
                .help("one `else` can lead to several states: `else => s1, s2;`"),
        );
    }
}

/// Whether some guard holds at every letter, as far as that shows without looking into temporal operators.
fn total(transitions: &[(Guard, Vec<usize>)]) -> bool {
    let mut guards = Vec::new();
    for (guard, _) in transitions {
        match guard {
            Guard::Else => return true,
            Guard::If(f) => guards.push(f),
        }
    }
    let mut leaves = Vec::new();
    for guard in &guards {
        collect(guard, &mut leaves);
    }
    leaves.len() <= MAX_TRIED
        && (0u32..1 << leaves.len()).all(|row| guards.iter().any(|guard| value(guard, &leaves, row)))
}

fn collect<'a>(f: &'a Formula, leaves: &mut Vec<&'a Formula>) {
    match f {
        Formula::Const(_) => {}
        Formula::Not(f) => collect(f, leaves),
        Formula::And(f, g) | Formula::Or(f, g) | Formula::Implies(f, g) | Formula::Iff(f, g) => {
            collect(f, leaves);
            collect(g, leaves);
        }
        leaf => {
            if !leaves.contains(&leaf) && leaves.len() <= MAX_TRIED {
                leaves.push(leaf);
            }
        }
    }
}

fn value(f: &Formula, leaves: &[&Formula], row: u32) -> bool {
    let of = |f: &Formula| value(f, leaves, row);
    match f {
        Formula::Const(c) => *c,
        Formula::Not(f) => !of(f),
        Formula::And(f, g) => of(f) && of(g),
        Formula::Or(f, g) => of(f) || of(g),
        Formula::Implies(f, g) => !of(f) || of(g),
        Formula::Iff(f, g) => of(f) == of(g),
        leaf => leaves.iter().position(|l| *l == leaf).is_some_and(|i| row >> i & 1 == 1),
    }
}

fn warn(elab: &mut Elab<'_>, ast: &ast::Fsm, states: &[FsmState], init: usize, bad: usize) {
    let mut warnings = Vec::new();
    if init == bad {
        warnings.push(
            Diagnostic::warning("fsm", "the machine begins in its bad state")
                .at(ast.bad.span, "every run is bad")
                .at(ast.init.span, "the same state"),
        );
    }
    if let Some(t) = ast.states[bad].transitions.first() {
        warnings.push(
            Diagnostic::warning("fsm", "a transition out of the bad state")
                .at(t.span, "never taken: a run that was bad stays bad")
                .at(ast.bad.span, "the bad state"),
        );
    }
    let mut reached = vec![false; states.len()];
    let mut open = vec![init];
    while let Some(state) = open.pop() {
        if std::mem::replace(&mut reached[state], true) {
            continue;
        }
        if state != bad {
            open.extend(states[state].transitions.iter().flat_map(|(_, targets)| targets.iter().copied()));
        }
    }
    let by_otherwise = ast.otherwise == Some(crate::Otherwise::Bad);
    for (number, state) in ast.states.iter().enumerate() {
        if reached[number] || (number == bad && by_otherwise) {
            continue;
        }
        let diagnostic = if number == bad {
            Diagnostic::warning("fsm", "the bad state is never reached").at(state.name.span, "no run can be bad")
        } else {
            Diagnostic::warning("fsm", format!("the state `{}` is never reached", state.name.text))
                .at(state.name.span, "no transition leads here")
        };
        warnings.push(diagnostic);
    }
    for warning in warnings {
        elab.out.push(warning);
    }
}
