//! Past-time LTL step by step: the recurrences of docs/semantics.md, as they stand there.

use crate::naive_past::{Truth, all, any, not};
use property::Formula;

/// The truth of every sub-formula at one step, operands before their operator: all that later steps can depend on.
pub(crate) type Column = Vec<Truth>;

/// The next column; `before` is `None` at step 0.
pub(crate) fn step(formula: &Formula, before: Option<&Column>, letter: &[Truth]) -> Column {
    let mut now = Column::new();
    push(formula, before, letter, &mut now);
    now
}

/// Adds the sub-formulas of one, itself last, and gives its place.
fn push(formula: &Formula, before: Option<&Column>, letter: &[Truth], now: &mut Column) -> usize {
    use Formula::*;
    let and = |a, b| all([a, b].into_iter());
    let or = |a, b| any([a, b].into_iter());
    let mut operand = |f: &Formula| {
        let place = push(f, before, letter, now);
        (now[place], before.map(|before| before[place]))
    };
    let truth = match formula {
        Const(value) => Some(*value),
        Atom(atom) => letter[*atom as usize],
        Not(f) => not(operand(f).0),
        And(f, g) => and(operand(f).0, operand(g).0),
        Or(f, g) => or(operand(f).0, operand(g).0),
        Implies(f, g) => or(not(operand(f).0), operand(g).0),
        Iff(f, g) => match (operand(f).0, operand(g).0) {
            (Some(f), Some(g)) => Some(f == g),
            _ => None,
        },
        Prev(f) => {
            let (f, pre) = operand(f);
            pre.unwrap_or(f)
        }
        Yesterday(f) => operand(f).1.unwrap_or(Some(false)),
        WYesterday(f) => operand(f).1.unwrap_or(Some(true)),
        Start(f) => match operand(f) {
            (f, Some(pre)) => and(f, not(pre)),
            _ => Some(false),
        },
        End(f) => match operand(f) {
            (f, Some(pre)) => and(not(f), pre),
            _ => Some(false),
        },
        Once(f) => {
            let f = operand(f).0;
            own(before, now).map_or(f, |pre| or(f, pre))
        }
        Hist(f) => {
            let f = operand(f).0;
            own(before, now).map_or(f, |pre| and(f, pre))
        }
        Since(f, g) => {
            let (f, g) = (operand(f).0, operand(g).0);
            own(before, now).map_or(g, |pre| or(g, and(f, pre)))
        }
        WSince(f, g) => {
            let (f, g) = (operand(f).0, operand(g).0);
            own(before, now).map_or(or(f, g), |pre| or(g, and(f, pre)))
        }
        Interval(f, g) => {
            let (f, g) = (operand(f).0, operand(g).0);
            own(before, now).map_or(and(f, not(g)), |pre| and(not(g), or(f, pre)))
        }
        WInterval(f, g) => {
            let (f, g) = (operand(f).0, operand(g).0);
            own(before, now).map_or(not(g), |pre| and(not(g), or(f, pre)))
        }
        Always(_) | Eventually(_) | Next(_) | WNext(_) | Until(..) | WUntil(..) | Releases(..) => {
            panic!("a future-time operator in a past-time formula")
        }
    };
    now.push(truth);
    now.len() - 1
}

/// The formula whose operands were just added, at the step before.
fn own(before: Option<&Column>, now: &Column) -> Option<Truth> {
    before.map(|before| before[now.len()])
}
