//! Past-time LTL by docs/semantics.md: set-theoretically, in Kleene's three values.

use property::Formula;

/// Truth: `None` is unknown.
pub(crate) type Truth = Option<bool>;
/// The atoms at each step.
pub(crate) type Run = Vec<Vec<Truth>>;

pub(crate) fn not(a: Truth) -> Truth {
    a.map(|a| !a)
}

/// Kleene's conjunction of any number.
pub(crate) fn all(values: impl Iterator<Item = Truth>) -> Truth {
    let values = values.collect::<Vec<_>>();
    if values.contains(&Some(false)) {
        Some(false)
    } else if values.contains(&None) {
        None
    } else {
        Some(true)
    }
}

pub(crate) fn any(values: impl Iterator<Item = Truth>) -> Truth {
    not(all(values.map(not)))
}

fn and(a: Truth, b: Truth) -> Truth {
    all([a, b].into_iter())
}

fn or(a: Truth, b: Truth) -> Truth {
    any([a, b].into_iter())
}

/// The value at every step.
pub(crate) fn values(formula: &Formula, run: &Run) -> Vec<Truth> {
    use Formula::*;
    let at = |f: &Formula| values(f, run);
    let steps = 0..run.len();
    match formula {
        Const(value) => vec![Some(*value); run.len()],
        Atom(atom) => run.iter().map(|step| step[*atom as usize]).collect(),
        Not(f) => at(f).into_iter().map(not).collect(),
        And(f, g) => at(f).into_iter().zip(at(g)).map(|(f, g)| and(f, g)).collect(),
        Or(f, g) => at(f).into_iter().zip(at(g)).map(|(f, g)| or(f, g)).collect(),
        Implies(f, g) => at(f).into_iter().zip(at(g)).map(|(f, g)| or(not(f), g)).collect(),
        Iff(f, g) => at(f).into_iter().zip(at(g)).map(|(f, g)| Some(f? == g?)).collect(),
        Prev(f) => {
            let f = at(f);
            steps.map(|k| if k == 0 { f[0] } else { f[k - 1] }).collect()
        }
        Yesterday(f) => {
            let f = at(f);
            steps.map(|k| if k == 0 { Some(false) } else { f[k - 1] }).collect()
        }
        WYesterday(f) => {
            let f = at(f);
            steps.map(|k| if k == 0 { Some(true) } else { f[k - 1] }).collect()
        }
        Once(f) => {
            let f = at(f);
            steps.map(|k| any((0..=k).map(|j| f[j]))).collect()
        }
        Hist(f) => {
            let f = at(f);
            steps.map(|k| all((0..=k).map(|j| f[j]))).collect()
        }
        Since(f, g) => {
            let (f, g) = (at(f), at(g));
            steps.map(|k| since(&f, &g, k)).collect()
        }
        WSince(f, g) => {
            let (f, g) = (at(f), at(g));
            steps.map(|k| or(since(&f, &g, k), all((0..=k).map(|j| f[j])))).collect()
        }
        Interval(f, g) => {
            let (f, g) = (at(f), at(g));
            steps.map(|k| interval(&f, &g, k)).collect()
        }
        WInterval(f, g) => {
            let (f, g) = (at(f), at(g));
            steps.map(|k| or(interval(&f, &g, k), all((0..=k).map(|j| not(g[j]))))).collect()
        }
        Start(f) => {
            let f = at(f);
            steps.map(|k| if k == 0 { Some(false) } else { and(f[k], not(f[k - 1])) }).collect()
        }
        End(f) => {
            let f = at(f);
            steps.map(|k| if k == 0 { Some(false) } else { and(not(f[k]), f[k - 1]) }).collect()
        }
        Always(_) | Eventually(_) | Next(_) | WNext(_) | Until(..) | WUntil(..) | Releases(..) => {
            panic!("a future-time operator in a past-time formula")
        }
    }
}

/// `g` at some `j <= k` and `f` at every `i`, `j < i <= k`.
fn since(f: &[Truth], g: &[Truth], k: usize) -> Truth {
    any((0..=k).map(|j| and(g[j], all((j + 1..=k).map(|i| f[i])))))
}

/// `f` at some `j <= k` and `g` at no `i`, `j <= i <= k`.
fn interval(f: &[Truth], g: &[Truth], k: usize) -> Truth {
    any((0..=k).map(|j| and(f[j], all((j..=k).map(|i| not(g[i]))))))
}
