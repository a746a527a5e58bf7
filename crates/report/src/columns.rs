//! A schedule laid out in columns, one per thread, so that it reads from top to bottom as time passes.

use crate::plain::{harmless, pad, width};
use std::collections::HashMap;

/// One step of a schedule.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Step {
    /// The thread that makes it.
    pub thread: String,
    /// What it does (`w(x)=1`).
    pub text: String,
    /// It stands elsewhere than in the recorded run.
    pub moved: bool,
    /// A remark at the end of its line (`race`); empty for none.
    pub mark: String,
}

/// Room for the sign of a moved step.
const GUTTER: usize = 2;

/// Between two columns.
const GAP: usize = 2;

/// The schedule with one column per thread, in the order in which they first step; moved steps have a `*` before
/// their line, remarks stand behind it. If the columns do not fit the width: a list, each step behind its thread's
/// name.
pub fn columns(steps: &[Step], max_width: usize) -> String {
    let mut number: HashMap<&str, usize> = HashMap::new();
    let mut threads: Vec<String> = Vec::new();
    let mut cells: Vec<(usize, String)> = Vec::with_capacity(steps.len());
    for step in steps {
        let column = *number.entry(&step.thread).or_insert_with(|| {
            threads.push(harmless(&step.thread).into_owned());
            threads.len() - 1
        });
        cells.push((column, harmless(&step.text).into_owned()));
    }
    let marks: Vec<String> = steps
        .iter()
        .map(|s| if s.mark.is_empty() { String::new() } else { format!("<- {}", harmless(&s.mark)) })
        .collect();
    let mut widths: Vec<usize> = threads.iter().map(|name| width(name)).collect();
    for (column, text) in &cells {
        widths[*column] = widths[*column].max(width(text));
    }
    let mark_width = marks.iter().map(|m| width(m)).max().unwrap_or(0);
    let margin = widths.iter().map(|w| w + GAP).sum::<usize>();
    let needed = GUTTER + if mark_width == 0 { margin.saturating_sub(GAP) } else { margin + mark_width };

    let mut out = String::new();
    if steps.is_empty() {
        return out;
    }
    let mut line = |moved: bool, body: &str| {
        out.push_str(format!("{} {body}", if moved { '*' } else { ' ' }).trim_end());
        out.push('\n');
    };
    let lines = steps.iter().zip(&cells).zip(&marks);
    if needed <= max_width {
        let mut starts = vec![0];
        starts.extend(widths.iter().scan(0, |at, w| {
            *at += w + GAP;
            Some(*at)
        }));
        let header: String = threads.iter().zip(&widths).map(|(name, w)| pad(name, w + GAP)).collect();
        line(false, &header);
        for ((step, (column, text)), mark) in lines {
            let cell = pad("", starts[*column]) + text;
            line(step.moved, &format!("{}{mark}", pad(&cell, margin)));
        }
    } else {
        let names = threads.iter().map(|name| width(name)).max().unwrap_or(0);
        for ((step, (column, text)), mark) in lines {
            line(step.moved, &format!("{}  {text}  {mark}", pad(&threads[*column], names)));
        }
    }
    if steps.iter().any(|s| s.moved) {
        out.push_str("(* moved against the recorded order)\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `thread text [mark]`, one a line; a leading `*` is a moved step.
    fn steps(text: &str) -> Vec<Step> {
        let step = |line: &str| {
            let (moved, line) = (line.starts_with('*'), line.trim_start_matches('*'));
            let mut words = line.split_whitespace().map(str::to_owned);
            let mut next = || words.next().unwrap_or_default();
            Step { thread: next(), text: next(), mark: next(), moved }
        };
        text.lines().map(step).collect()
    }

    #[test]
    fn one_column_per_thread() {
        let text = "main w(x)=1\nT2 acq(lock)\nT2 r(x)=1\n*main w(x)=2 race\nT2 rel(lock)";
        let expected = [
            "  main    T2",
            "  w(x)=1",
            "          acq(lock)",
            "          r(x)=1",
            "* w(x)=2             <- race",
            "          rel(lock)",
            "(* moved against the recorded order)",
        ];
        assert_eq!(columns(&steps(text), 80).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn too_many_threads_for_the_width_become_a_list() {
        let text = "T1 w(x)\n*T10 w(y) here\nT200 w(z)";
        let expected =
            ["  T1    w(x)", "* T10   w(y)  <- here", "  T200  w(z)", "(* moved against the recorded order)"];
        assert_eq!(columns(&steps(text), 20).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_width_is_used_to_its_last_column() {
        let two = steps("T1 w(x)\nT2 w(y)");
        let widest = |at| columns(&two, at).lines().map(width).max().unwrap_or(0);
        assert!(columns(&two, 12).lines().count() == 3 && widest(12) == 12);
        assert_eq!(columns(&two, 11).lines().count(), 2);
    }

    #[test]
    fn wide_and_hostile_names_keep_their_column() {
        let text = "変数 größe=1\nb\u{1b}[2J x\n変数 e\u{301} ok";
        let expected = ["  変数     b\\x1b[2J", "  größe=1", "           x", "  e\u{301}                  <- ok"];
        assert_eq!(columns(&steps(text), 80).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn no_steps_give_nothing() {
        assert_eq!(columns(&[], 80), "");
        assert_eq!(columns(&[], 0), "");
    }
}
