//! What HotSpot compiles, and what it refuses to: read off what `-XX:+PrintCompilation` prints.
//!
//! A method that is too large is refused in silence. So what it compiles best when the program runs plainly must be
//! compiled so when it is watched, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Words of lines that report a refusal: `COMPILE SKIPPED: out of nodes`, `made not compilable on level 4`.
const REFUSALS: [&str; 5] =
    ["COMPILE SKIPPED", "made not compilable", "made not OSR compilable", "not compilable", "failed"];
/// The best of its compilers, which it calls tiers.
const BEST: &str = "4";

/// What it did in a run.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    /// The methods that the best compiler compiled; not those of packages, which are the virtual machine's.
    best: BTreeSet<String>,
    /// The methods that were refused, and how.
    refused: BTreeSet<String>,
}

impl Compiled {
    /// Lines are: milliseconds, number of the compilation, signs, tier, method, size, what became of it.
    pub(crate) fn read(output: &str) -> Compiled {
        let (mut best, mut refused) = (BTreeMap::new(), BTreeSet::new());
        for line in output.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(at) = words.iter().position(|word| word.contains("::")) else { continue };
            let (method, number) = (lasting(words[at]), words.get(1).copied());
            let others = [&words[..at], &words[at + 1..]].concat().join(" ");
            if let Some(begin) = REFUSALS.iter().find_map(|refusal| others.find(refusal)) {
                // It stands before the method in both kinds of lines.
                let tier = at.checked_sub(1).map_or("", |before| words[before]);
                refused.insert(format!("{method} (tier {tier}): {}", &others[begin..]));
                best.remove(&number);
            } else if at > 0 && words[at - 1] == BEST && !method.contains('.') {
                best.insert(number, method);
            }
        }
        Compiled { best: best.into_values().collect(), refused }
    }
}

/// The name of a method without what is another in every run: which lambda it is.
fn lasting(method: &str) -> String {
    match (method.find("$$Lambda"), method.find("::")) {
        (Some(begin), Some(end)) => format!("{}$$Lambda{}", &method[..begin], &method[end..]),
        _ => method.to_owned(),
    }
}

/// Says what is worse when a program is watched, and what is as it was.
pub(crate) fn compare(name: &str, plain: &Compiled, watched: &Compiled) -> String {
    let list = |methods: Vec<&String>| match methods.len() {
        0 => String::from("none"),
        _ => methods.iter().map(|method| method.as_str()).collect::<Vec<_>>().join("; "),
    };
    let mut text = String::new();
    let rows = [
        ("refused only when watched", list(watched.refused.difference(&plain.refused).collect())),
        ("compiled best only when plain", list(plain.best.difference(&watched.best).collect())),
        ("compiled best in both", list(plain.best.intersection(&watched.best).collect())),
    ];
    for (what, methods) in rows {
        writeln!(text, "{name}, {what}: {methods}").expect("a string takes all");
    }
    text
}
