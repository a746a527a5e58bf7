//! `foretrace window`: the threads of findings and warnings, and those that have a hand in them.

use super::print_lines;
use crate::analyse::conclude;
use crate::args::Window;
use crate::choice::chosen;
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::walk::walk;
use analysis::{Analysis, Plan};
use anyhow::Result;
use detect::race_window::{Dependencies, Reason};
use event::{Names, Space, ThreadId};
use report::Finding;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Findings that are named as reasons for one thread.
const NAMED: usize = 3;

pub(crate) fn run(args: &Window) -> Result<u8> {
    let mut input = input::open(&args.trace)?;
    let interrupt = Interrupt::listen();
    let mut plan = Plan::new();
    if !args.detect.is_empty() {
        plan = plan.detectors(chosen(&args.detect)?);
    }
    let mut analysis = Analysis::new(plan)?;
    let mut dependencies = Dependencies::default();
    let walked = walk(&mut input, &interrupt, |source, batch| {
        analysis.feed(source, batch);
        dependencies.batch(source.names(), batch);
        ControlFlow::Continue(())
    });
    walked.complain(&input)?;
    let outcome = conclude(&mut analysis, &input, &args.trace, &walked, &interrupt)?;
    let names = input.source.names();
    let threads = threads(outcome.report.findings.iter(), names);
    for (analysis, stats) in &outcome.report.stats.per_analysis {
        if let Some(what) = &stats.truncated {
            say(&format!("{}: {analysis} was cut short: {what}", input.name));
        }
    }
    if dependencies.unrecorded() > 0 {
        let accesses = dependencies.unrecorded();
        say(&format!("{}: {accesses} accesses found no room, the window may be too small", input.name));
    }
    let window: Vec<ThreadId> = threads.keys().copied().collect();
    print_lines(&describe(&threads, &dependencies.extend(&window), names))?;
    Ok(walked.interrupted.or(interrupt.asked()).unwrap_or(0))
}

/// The threads of findings, with what they are in.
fn threads<'a>(findings: impl Iterator<Item = &'a Finding>, names: &Names) -> BTreeMap<ThreadId, Vec<String>> {
    let mut threads: BTreeMap<ThreadId, Vec<String>> = BTreeMap::new();
    for finding in findings {
        let what = format!("{} {} on {}", finding.status().text(), finding.kind.text(), finding.objects.join(", "));
        for side in &finding.sides {
            if let Some(thread) = names.space(Space::Thread).find(side.thread.as_bytes()) {
                let list = threads.entry(ThreadId(thread)).or_default();
                if !list.contains(&what) {
                    list.push(what.clone());
                }
            }
        }
    }
    threads
}

fn describe(threads: &BTreeMap<ThreadId, Vec<String>>, extended: &[(ThreadId, Reason)], names: &Names) -> String {
    if threads.is_empty() {
        return "the race window is empty: there are neither findings nor warnings\n".to_owned();
    }
    let all = names.space(Space::Thread).len();
    let widest = extended.iter().map(|(thread, _)| names.thread(*thread).chars().count()).max().unwrap_or(0);
    let mut text = format!("race window: {} of {all} threads\n", threads.len());
    for (thread, what) in threads {
        let more = what.len().saturating_sub(NAMED);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let some = what[..what.len().min(NAMED)].join("; ");
        text += &format!("  {:<widest$}  {some}{more}\n", names.thread(*thread));
    }
    text += &format!("\nextended by those that have a hand in them: {} of {all} threads\n", extended.len());
    for (thread, reason) in extended {
        let why = match reason {
            Reason::Given => "in the window".to_owned(),
            Reason::Forked(child) => format!("forked {}", names.thread(*child)),
            Reason::Wrote(var, reader) => format!("wrote {}, which {} reads", names.var(*var), names.thread(*reader)),
        };
        text += &format!("  {:<widest$}  {why}\n", names.thread(*thread));
    }
    text
}
