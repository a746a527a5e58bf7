//! Formulas in the syntax of the shipped modules, with all parentheses.

use property::Formula;

/// The formula for PROP, LTL or PTLTL, which write alike what they share.
pub(crate) fn print(formula: &Formula, atoms: &[&str]) -> String {
    use Formula::*;
    let p = |f: &Formula| print(f, atoms);
    let two = |f: &Formula, op: &str, g: &Formula| format!("({} {op} {})", p(f), p(g));
    let one = |op: &str, f: &Formula| format!("({op} {})", p(f));
    match formula {
        Const(true) => "True".to_owned(),
        Const(false) => "False".to_owned(),
        Atom(a) => atoms[*a as usize].to_owned(),
        Not(f) => one("~", f),
        And(f, g) => two(f, "/\\", g),
        Or(f, g) => two(f, "\\/", g),
        Implies(f, g) => two(f, "->", g),
        Iff(f, g) => two(f, "<->", g),
        Prev(f) => one("prev", f),
        Yesterday(f) => one("yesterday", f),
        WYesterday(f) => one("wyesterday", f),
        Once(f) => one("once", f),
        Hist(f) => one("hist", f),
        Start(f) => one("start", f),
        End(f) => one("end", f),
        Since(f, g) => two(f, "since", g),
        WSince(f, g) => two(f, "wsince", g),
        Interval(f, g) => format!("interval({}, {})", p(f), p(g)),
        WInterval(f, g) => format!("weakInterval({}, {})", p(f), p(g)),
        Always(f) => one("[]", f),
        Eventually(f) => one("<>", f),
        Next(f) => one("o", f),
        WNext(f) => format!("(~ (o (~ {})))", p(f)),
        Until(f, g) => two(f, "U", g),
        WUntil(f, g) => two(f, "W", g),
        Releases(f, g) => two(f, "R", g),
    }
}
