//! The text renderer: the trace's figures, its problems, the properties, each finding, the warnings that are patterns
//! only, and one closing line.

mod finding;
mod labels;
mod warnings;

use crate::exit::{is_truncated, unlisted};
use crate::paths::Paths;
use crate::plain::{harmless, pad, width, wrap};
use crate::process::signal_text;
use crate::style::Style;
use crate::{Finding, Kind, Process, PropertyResult, Report, Status, SuppressionFigures, TraceFigures, Verdict};
use event::Causality;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// How to show a report on a terminal or in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextOptions {
    /// Use ANSI colours.
    pub color: bool,
    /// Break running text at this width.
    pub width: usize,
    /// Show every warning in full.
    pub warnings: bool,
    /// Show every frame of call stacks, also those of libraries.
    pub full_stacks: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions { color: false, width: 100, warnings: false, full_stacks: false }
    }
}

/// How many problems, losses or properties are shown before the rest is only counted.
const SHOWN: usize = 20;

/// How many findings of a kind are shown before the rest is only counted.
pub const SHOWN_FINDINGS: usize = 30;

/// How wide the words are that open the lines of the head.
const HEAD: usize = 10;

/// Writes the report as text. Suppressed findings are only counted.
pub fn render_text(report: &Report, options: &TextOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let style = Style { color: options.color };
    trace(&report.trace, style, options.width, out)?;
    processes(&report.processes, options.width, out)?;
    killed(&report.processes, options.width, out)?;
    unseen(&report.processes, options.width, out)?;
    if !report.properties.is_empty() {
        writeln!(out)?;
        properties(&report.properties, style, options.width, out)?;
    }
    let shown = Shown {
        style,
        width: options.width,
        full_stacks: options.full_stacks,
        paths: Paths::of_findings(&report.findings),
        several: report.processes.len() > 1,
    };
    let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
    let in_full = |finding: &&Finding| !finding.suppressed && (options.warnings || !warnings::is_pattern(finding));
    for finding in report.findings.iter().filter(in_full) {
        let seen = kinds.entry(finding.kind).or_default();
        *seen += 1;
        if *seen <= SHOWN_FINDINGS {
            writeln!(out)?;
            finding::render(finding, &shown, out)?;
        }
    }
    let more = kinds.iter().filter(|(_, seen)| **seen > SHOWN_FINDINGS);
    let more: Vec<String> =
        more.map(|(kind, seen)| format!("{} more {}", seen - SHOWN_FINDINGS, kind.plural())).collect();
    if !more.is_empty() {
        writeln!(out)?;
        writeln!(out, "… and {}; --json has them", more.join(", "))?;
    }
    let patterns = warnings::Patterns::of(report, options.warnings);
    patterns.render(&shown, out)?;
    for (name, more) in unlisted(report) {
        writeln!(out)?;
        writeln!(out, "… and {more} more that {} found and that nothing lists, --json neither", harmless(name))?;
    }
    if let Some(figures) = &report.suppressions {
        suppressions(figures, options.width, out)?;
    }
    writeln!(out)?;
    writeln!(out, "{}", style.bold(&summary(report, patterns.kept_apart())))
}

/// Writes one finding as text.
pub fn render_finding(finding: &Finding, options: &TextOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let style = Style { color: options.color };
    let paths = Paths::of_findings(std::slice::from_ref(finding));
    let shown = Shown { style, width: options.width, full_stacks: options.full_stacks, paths, several: false };
    finding::render(finding, &shown, out)
}

/// What the parts of a report need to know to be shown.
struct Shown {
    style: Style,
    width: usize,
    full_stacks: bool,
    paths: Paths,
    /// Several processes were watched.
    several: bool,
}

/// Which rules of the user's suppressions were used, and which match nothing any more.
fn suppressions(figures: &SuppressionFigures, at: usize, out: &mut dyn io::Write) -> io::Result<()> {
    let used: Vec<String> = figures
        .used
        .iter()
        .map(|used| format!("{} by {}", count(used.findings, "finding"), harmless(&used.rule)))
        .collect();
    let unused: Vec<String> = figures.unused.iter().map(|rule| format!("{} matched nothing", harmless(rule))).collect();
    if !used.is_empty() || !unused.is_empty() {
        writeln!(out)?;
    }
    entries("silenced", &used, 0, at, out)?;
    entries("unused", &unused, 0, at, out)
}

/// `1 lock`, `2 locks`.
fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// One entry of the head or of a finding: a word, then text that goes on below itself.
fn entry(indent: usize, word: &str, text: &str, at: usize, out: &mut dyn io::Write) -> io::Result<()> {
    let left = indent + HEAD;
    for (i, line) in wrap(text, at.saturating_sub(left)).iter().enumerate() {
        writeln!(out, "{}{}{line}", pad("", indent), pad(if i == 0 { word } else { "" }, HEAD))?;
    }
    Ok(())
}

/// The first entries under one word, then how many more there are; `omitted` are not even in the list.
fn entries(word: &str, texts: &[String], omitted: u64, at: usize, out: &mut dyn io::Write) -> io::Result<()> {
    for (i, text) in texts.iter().take(SHOWN).enumerate() {
        entry(0, if i == 0 { word } else { "" }, text, at, out)?;
    }
    match texts.len().saturating_sub(SHOWN) as u64 + omitted {
        0 => Ok(()),
        more => entry(0, "", &format!("… and {more} more"), at, out),
    }
}

fn trace(trace: &TraceFigures, style: Style, at: usize, out: &mut dyn io::Write) -> io::Result<()> {
    let figures = [
        count(trace.events, "event"),
        count(trace.threads, "thread"),
        count(trace.variables, "variable"),
        count(trace.locks, "lock"),
    ];
    writeln!(out, "{}{}", pad("trace", HEAD), figures.join(", "))?;
    if trace.is_complete() {
        writeln!(out, "{}{}", pad("", HEAD), style.good("complete"))?;
    } else {
        writeln!(out, "{}{}", pad("", HEAD), style.caution("incomplete"))?;
        let losses: Vec<String> = trace.losses.iter().map(|loss| harmless(loss).into_owned()).collect();
        entries("lost", &losses, 0, at, out)?;
    }
    let problem = |problem: &crate::Problem| {
        let event = problem.event.map(|event| format!("event {event}"));
        let place: Vec<String> = problem.place.clone().into_iter().chain(event).collect();
        let place = if place.is_empty() { String::new() } else { place.join(", ") + ": " };
        harmless(&(place + &problem.message)).into_owned()
    };
    entries("problems", &trace.problems.iter().map(problem).collect::<Vec<_>>(), trace.problems_omitted, at, out)
}

/// Which signals killed which processes.
fn killed(processes: &[Process], at: usize, out: &mut dyn io::Write) -> io::Result<()> {
    let text = |process: &Process| {
        let program = process.argv.first().map_or("process", String::as_str);
        let signal = signal_text(process.signal?);
        Some(format!("{} ({}) was killed by {signal}", harmless(program), process.pid))
    };
    entries("ended", &processes.iter().filter_map(text).collect::<Vec<_>>(), 0, at, out)
}

/// The processes that were watched, if there are several: a script, or what `make` runs.
fn processes(processes: &[Process], at: usize, out: &mut dyn io::Write) -> io::Result<()> {
    let line = |process: &Process| {
        let program = process.argv.first().map_or("?", String::as_str);
        harmless(&format!("{program} ({}): {}", process.pid, count(process.events, "event"))).into_owned()
    };
    let lines = processes.iter().filter(|process| process.events > 0).map(line).collect::<Vec<_>>();
    if processes.len() > 1 { entries("watched", &lines, 0, at, out) } else { Ok(()) }
}

/// The code whose accesses were not recorded. For a program that has no hooks at all, the recorder says so.
fn unseen(processes: &[Process], at: usize, out: &mut dyn io::Write) -> io::Result<()> {
    let files = processes.iter().filter(|process| process.agent == "native").flat_map(|process| &process.without_hooks);
    let files: BTreeSet<&String> = files.collect();
    let file = |file: &&String| format!("what {} accesses: it was built without hooks", harmless(file));
    entries("unseen", &files.iter().map(file).collect::<Vec<_>>(), 0, at, out)
}

fn properties(results: &[PropertyResult], style: Style, at: usize, out: &mut dyn io::Write) -> io::Result<()> {
    let name = |p: &PropertyResult| {
        let instance = p.instance_text().map(|i| format!(" {i}")).unwrap_or_default();
        harmless(&format!("{}{instance}", p.name)).into_owned()
    };
    let shown = &results[..results.len().min(SHOWN)];
    let names = shown.iter().map(|p| width(&name(p))).max().unwrap_or(0);
    let verdicts = shown.iter().map(|p| p.verdict.text().len()).max().unwrap_or(0).max("unfulfilled".len());
    for p in shown {
        let verdict = pad(p.verdict.text(), verdicts);
        let verdict = match p.verdict {
            Verdict::Holds => style.good(&verdict),
            Verdict::Violated | Verdict::Predicted => style.bad(&verdict),
            Verdict::Unfulfilled | Verdict::PredictedUnfulfilled => style.bad(&verdict),
            Verdict::Truncated | Verdict::Unknown | Verdict::Vacuous => style.caution(&verdict),
        };
        writeln!(out, "{}{}  {verdict}  {}", pad("property", HEAD), pad(&name(p), names), property_details(p))?;
        for line in &p.unseen {
            entry(0, "", &harmless(line), at, out)?;
        }
    }
    match results.len() - shown.len() {
        0 => Ok(()),
        more => writeln!(out, "{}… and {more} more", pad("", HEAD)),
    }
}

fn property_details(p: &PropertyResult) -> String {
    let mut details = vec![p.logic.clone(), p.causality.text().to_owned()];
    if p.causality == Causality::SyncOnly {
        details.push("whose values may be impossible".to_owned());
    }
    details.extend(p.cuts.map(|n| count(n, "cut")));
    details.extend(p.edges.map(|n| count(n, "edge")));
    details.extend(p.runs.as_ref().map(|n| format!("{n} run{}", if n == "1" { "" } else { "s" })));
    details.extend(p.bad_runs.as_ref().map(|n| format!("{n} bad")));
    details.extend(p.dead_ends.filter(|n| *n > 0).map(|n| count(n, "dead end")));
    details.extend(p.end.map(|end| format!("{} at the end", end.text())));
    details.extend(p.is_provisional().then(|| "provisional".to_owned()));
    details.extend(p.instances_omitted.map(|n| format!("{} not shown", count(n, "instance"))));
    // What a wider model would have said is not known.
    let found = matches!(p.verdict, Verdict::Violated | Verdict::Predicted);
    let wider = p.tried.iter().flatten().filter(|_| !found);
    details.extend(
        wider.filter_map(|tried| Some(format!("{} cut short ({})", tried.causality, tried.cut_short.as_ref()?))),
    );
    if p.is_truncated() {
        let why = if p.cut_short.is_empty() { String::new() } else { format!(" ({})", p.cut_short.join("; ")) };
        details.push(format!("search cut short{why}"));
    }
    details.retain(|detail| !detail.is_empty());
    harmless(&details.join(", ")).into_owned()
}

/// Whether anything was looked for, beside what is wrong with the trace itself.
fn looked(report: &Report) -> bool {
    !report.properties.is_empty()
        || report.findings.iter().next().is_some()
        || report.stats.per_analysis.keys().any(|analysis| analysis != "validate")
}

/// `2 findings: 1 observed, 1 predicted; 3 warnings`, and what keeps it from being the last word.
///
/// Warnings that are only counted are so many.
fn summary(report: &Report, only_counted: u64) -> String {
    let shown = |status| report.findings.iter().filter(|f| !f.suppressed && f.status() == status).count() as u64;
    let mut by_status = Vec::new();
    let mut total = 0;
    for status in Status::ALL.into_iter().filter(|&s| s != Status::Warning) {
        let n = shown(status);
        total += n;
        if n > 0 {
            by_status.push(format!("{n} {}", status.text()));
        }
    }
    let mut parts = Vec::new();
    parts.push(match total {
        0 if !looked(report) => "no findings: neither detectors nor properties were asked for".to_owned(),
        0 => "no findings".to_owned(),
        n => format!("{}: {}", count(n, "finding"), by_status.join(", ")),
    });
    match (shown(Status::Warning) - only_counted, only_counted) {
        (0, 0) => {}
        (n, 0) => parts.push(count(n, "warning")),
        (0, more) => parts.push(format!("{} with --warnings", count(more, "warning"))),
        (n, more) => parts.push(format!("{}, {more} more with --warnings", count(n, "warning"))),
    }
    match report.findings.iter().filter(|f| f.suppressed).count() {
        0 => {}
        n => parts.push(format!("{n} suppressed")),
    }
    if is_truncated(report) {
        parts.push("search cut short".to_owned());
    }
    if unlisted(report).next().is_some() {
        parts.push("not all listed".to_owned());
    }
    if !report.trace.is_complete() {
        parts.push("trace incomplete".to_owned());
    }
    parts.join("; ")
}
