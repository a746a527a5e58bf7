//! Schedules laid out in columns, one per thread, so that they read from top to bottom as time passes.

use crate::plain::{harmless, pad, width};
use std::collections::HashMap;

/// One step of a schedule.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Step {
    /// The thread that makes it; empty for a line about all of them (`… 7 events as recorded`).
    pub thread: String,
    /// What it does (`w(x)=1`).
    pub text: String,
    /// It stands elsewhere than in the recorded run.
    pub moved: bool,
    /// A remark at the end of its line (`race`); empty for none.
    pub mark: String,
}

/// A schedule with a heading.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Schedule {
    /// What it is (`recorded`); empty for no heading.
    pub title: String,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// Room for the sign of a moved step.
const GUTTER: usize = 2;

/// Between two columns.
const GAP: usize = 2;

/// Between two schedules.
const BETWEEN: usize = 4;

/// What [`side_by_side`] says below schedules in which steps moved.
const LEGEND: &str = "(* moved against the recorded order)\n";

/// The schedule with one column per thread, in the order in which they first step; moved steps have a `*` before
/// their line, remarks stand behind it. If the columns do not fit the width: a list, each step behind its thread's
/// name.
pub fn columns(steps: &[Step], max_width: usize) -> String {
    side_by_side(&[Schedule { title: String::new(), steps: steps.to_vec() }], max_width)
}

/// Schedules as in [`columns`], the threads in the same order in all of them: as many beside each other as fit
/// the width, the others below.
pub fn side_by_side(schedules: &[Schedule], max_width: usize) -> String {
    let schedules: Vec<&Schedule> = schedules.iter().filter(|schedule| !schedule.steps.is_empty()).collect();
    let grid = Grid::new(&schedules);
    let blocks = |aligned| -> Vec<Vec<String>> { schedules.iter().map(|s| grid.columns(s, aligned)).collect() };
    let widths = |blocks: &[Vec<String>]| -> Vec<usize> {
        blocks.iter().map(|lines| lines.iter().map(|line| width(line)).max().unwrap_or(0)).collect()
    };
    let mut laid_out = blocks(true);
    let all: usize = widths(&laid_out).iter().map(|w| w + BETWEEN).sum();
    if all > max_width + BETWEEN {
        laid_out = blocks(false);
    }
    let blocks = laid_out;
    let widths = widths(&blocks);
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    let mut first = 0;
    while first < blocks.len() {
        if first > 0 {
            line("");
        }
        if widths[first] > max_width {
            grid.list(schedules[first]).iter().for_each(|text| line(text));
            first += 1;
            continue;
        }
        // As many as fit beside it.
        let mut room = max_width;
        let fits = |w: &&usize| {
            let fits = **w <= room;
            room = room.saturating_sub(**w + BETWEEN);
            fits
        };
        let end = first + widths[first..].iter().take_while(fits).count();
        let longest = blocks[first..end].iter().map(Vec::len).max().unwrap_or(0);
        for row in 0..longest {
            let cell = |at: usize| pad(blocks[at].get(row).map_or("", String::as_str), widths[at] + BETWEEN);
            line(&(first..end).map(cell).collect::<String>());
        }
        first = end;
    }
    if schedules.iter().flat_map(|schedule| &schedule.steps).any(|step| step.moved) {
        out.push_str(LEGEND);
    }
    out
}

/// The columns that schedules share.
struct Grid<'a> {
    number: HashMap<&'a str, usize>,
    threads: Vec<String>,
    /// Where each column starts, and where remarks do.
    starts: Vec<usize>,
}

impl<'a> Grid<'a> {
    fn new(schedules: &[&'a Schedule]) -> Grid<'a> {
        let mut grid = Grid { number: HashMap::new(), threads: Vec::new(), starts: Vec::new() };
        let mut widths: Vec<usize> = Vec::new();
        let steps = || schedules.iter().flat_map(|schedule| &schedule.steps);
        for step in steps().filter(|step| !step.thread.is_empty()) {
            let column = *grid.number.entry(&step.thread).or_insert_with(|| {
                grid.threads.push(harmless(&step.thread).into_owned());
                widths.push(grid.threads.last().map_or(0, |name| width(name)));
                widths.len() - 1
            });
            widths[column] = widths[column].max(width(&harmless(&step.text)));
        }
        let mut at = 0;
        grid.starts.push(0);
        for w in &widths {
            at += w + GAP;
            grid.starts.push(at);
        }
        // A line about all threads may be wider than they are.
        let across = steps().filter(|step| step.thread.is_empty()).map(|step| width(&step.text) + GAP).max();
        if let Some(end) = grid.starts.last_mut() {
            *end = (*end).max(across.unwrap_or(0));
        }
        grid
    }

    fn heading(&self, schedule: &Schedule) -> Option<String> {
        let title = harmless(&schedule.title);
        (!title.is_empty()).then(|| pad("", GUTTER) + &title)
    }

    /// `aligned`: remarks stand in a column of their own, else right behind their steps.
    fn columns(&self, schedule: &Schedule, aligned: bool) -> Vec<String> {
        let mut lines: Vec<String> = self.heading(schedule).into_iter().collect();
        let mut head = String::new();
        for (name, start) in self.threads.iter().zip(&self.starts) {
            head = pad(&head, *start) + name;
        }
        lines.push(pad("", GUTTER) + &head);
        let end = self.starts.last().copied().unwrap_or(0);
        for step in &schedule.steps {
            let start = self.number.get(step.thread.as_str()).map_or(0, |&column| self.starts[column]);
            let cell = pad("", start) + &harmless(&step.text);
            let margin = if aligned { end } else { width(&cell) + GAP };
            let body = if step.mark.is_empty() { cell } else { pad(&cell, margin) + &remark(step) };
            lines.push(sign(step) + &body);
        }
        lines
    }

    fn list(&self, schedule: &Schedule) -> Vec<String> {
        let mut lines: Vec<String> = self.heading(schedule).into_iter().collect();
        let names = self.threads.iter().map(|name| width(name)).max().unwrap_or(0);
        for step in &schedule.steps {
            let name = if step.thread.is_empty() { String::new() } else { pad(&harmless(&step.thread), names + GAP) };
            let remark = if step.mark.is_empty() { String::new() } else { format!("  {}", remark(step)) };
            lines.push(format!("{}{name}{}{remark}", sign(step), harmless(&step.text)));
        }
        lines
    }
}

fn sign(step: &Step) -> String {
    pad(if step.moved { "*" } else { "" }, GUTTER)
}

fn remark(step: &Step) -> String {
    format!("<- {}", harmless(&step.mark))
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

    #[test]
    fn schedules_share_their_columns_and_stand_beside_each_other_if_they_fit() {
        let mut recorded = Schedule { title: "recorded".into(), steps: steps("A w(x)\nB w(y)") };
        recorded.steps.insert(0, Step { text: "… 7 events".into(), ..Step::default() });
        let predicted = Schedule { title: "predicted".into(), steps: steps("*B w(y)\nA w(x) bad") };
        let both = [recorded, predicted];
        let expected = [
            "  recorded        predicted",
            "  A     B         A     B",
            "  … 7 events    *       w(y)",
            "  w(x)            w(x)        <- bad",
            "        w(y)",
            "(* moved against the recorded order)",
        ];
        assert_eq!(side_by_side(&both, 36).lines().collect::<Vec<_>>(), expected);
        let below = [
            "  recorded",
            "  A     B",
            "  … 7 events",
            "  w(x)",
            "        w(y)",
            "",
            "  predicted",
            "  A     B",
            "*       w(y)",
            "  w(x)  <- bad",
            "(* moved against the recorded order)",
        ];
        assert!(side_by_side(&both, 35).contains("\n  w(x)            w(x)  <- bad\n"), "closer, but side by side");
        assert_eq!(side_by_side(&both, 29).lines().collect::<Vec<_>>(), below);
        assert!(side_by_side(&both, 13).contains("* B  w(y)\n  A  w(x)  <- bad\n"));
    }
}
