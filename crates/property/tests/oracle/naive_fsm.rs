//! Explicit machines: a run is bad if some path reaches the bad state (docs/semantics.md, "Explicit machines").

use property::monitor::Verdict;
use property::{Formula, Fsm, Guard, Otherwise};

use crate::naive_past::{Run, values};

fn holds(f: &Formula, run: &Run, k: usize) -> bool {
    values(f, run)[k] == Some(true)
}

/// The successors of a state at step `k`.
fn successors(machine: &Fsm, state: usize, run: &Run, k: usize) -> Vec<usize> {
    if state == machine.bad {
        return vec![state];
    }
    let transitions = &machine.states[state].transitions;
    let guards = transitions.iter().filter_map(|(guard, _)| match guard {
        Guard::If(f) => Some(holds(f, run, k)),
        Guard::Else => None,
    });
    let some = guards.into_iter().any(|g| g);
    let has_else = transitions.iter().any(|(guard, _)| *guard == Guard::Else);
    if !some && !has_else {
        return match machine.otherwise {
            Some(Otherwise::Stay) => vec![state],
            Some(Otherwise::Bad) => vec![machine.bad],
            Some(Otherwise::Die) | None => vec![],
        };
    }
    let taken = transitions.iter().filter(|(guard, _)| match guard {
        Guard::If(f) => holds(f, run, k),
        Guard::Else => !some,
    });
    taken.flat_map(|(_, targets)| targets.clone()).collect()
}

/// Whether a path from a state, before step `k`, reaches the bad state by step `to`.
fn reaches(machine: &Fsm, state: usize, run: &Run, k: usize, to: usize) -> bool {
    state == machine.bad
        || k <= to && successors(machine, state, run, k).into_iter().any(|next| reaches(machine, next, run, k + 1, to))
}

/// The verdict after each step. All atoms are known.
pub(crate) fn verdicts(machine: &Fsm, run: &Run) -> Vec<(Verdict, Verdict)> {
    (0..run.len())
        .map(|k| {
            let bad = reaches(machine, machine.init, run, 1, k);
            let verdict = if bad { Verdict::Violated } else { Verdict::Pending };
            (verdict, verdict)
        })
        .collect()
}
