//! One trace through the analysis, with a progress bar and messages on standard error. What `check` and `run` share.

use crate::args::Options;
use crate::heap_names;
use crate::input::{self, Input};
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::plan::plan;
use crate::progress::Phases;
use crate::specs::{complain, wants_color};
use crate::usage;
use crate::walk::{Walked, walk};
use analysis::{Analysis, Control, EachBatch, End, Message, Outcome, Plan};
use anyhow::{Result, anyhow};
use event::Batch;
use report::{Finding, Kind, Report};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;
use trace::ResumePoint;

/// A trace with all that was found in it.
pub(crate) struct Analysed {
    /// What the user calls the trace.
    pub(crate) name: String,
    pub(crate) report: Report,
    /// Commands that handlers of a specification want carried out.
    commands: Vec<String>,
    /// The exit code that a handler wants for findings.
    exit: Option<u8>,
    /// The exit code of an interrupted analysis.
    interrupted: Option<u8>,
}

impl Analysed {
    /// Suppresses the races on these variables: the program says that they are meant.
    pub(crate) fn excuse(&mut self, benign: &[String]) {
        let excuse = |finding: &mut Finding| {
            let meant = !finding.objects.is_empty() && finding.objects.iter().all(|name| benign.contains(name));
            finding.suppressed |= finding.kind == Kind::Race && meant;
        };
        let mut uncovered = Vec::new();
        self.report.findings.update(|finding| {
            excuse(finding);
            uncovered.extend(finding.uncover());
        });
        uncovered.iter_mut().for_each(excuse);
        self.report.findings.add(uncovered);
    }

    /// Carries out what handlers asked for, and says how the analysis ends.
    pub(crate) fn conclude(&self, args: &Options) -> u8 {
        for command in &self.commands {
            // Standard output is for the result.
            let status = std::process::Command::new("sh").args(["-c", command]).stdout(std::io::stderr()).status();
            if !status.as_ref().is_ok_and(std::process::ExitStatus::success) {
                say(&format!("`exec {command}` failed: {status:?}"));
            }
        }
        let ill_formed = !self.report.trace.problems.is_empty();
        let findings = args.exit_code.unwrap_or(1);
        match (self.interrupted, report::exit_code(&self.report, args.strict)) {
            (Some(code), _) => code,
            (None, 1) => self.exit.unwrap_or(findings),
            (None, 0) if args.strict && ill_formed => findings,
            (None, code) => code,
        }
    }
}

/// Reads a trace and looks for what is asked.
pub(crate) fn analyse(trace: &Path, args: &Options) -> Result<Analysed> {
    look(trace, args, &Interrupt::listen(), |plan| plan)
}

/// Analyses the trace of a program that ran just now, and took so long: searches need not take much longer.
pub(crate) fn analyse_recording(trace: &Path, args: &Options, took: Duration) -> Result<Analysed> {
    look(trace, args, &Interrupt::listen(), |plan| plan.recorded_in(Some(took)))
}

/// Analyses the trace of a program that still runs: only what the recorded run shows, in one pass.
pub(crate) fn analyse_so_far(trace: &Path, args: &Options) -> Result<Analysed> {
    look(trace, args, &Interrupt::deaf(), Plan::observed_only)
}

/// Analyses the trace of a controlled run, which may still go on, without a word.
pub(crate) fn analyse_controlled(trace: &Path, args: &Options) -> Result<Analysed> {
    look(trace, args, &Interrupt::deaf(), |plan| plan)
}

fn look(trace: &Path, args: &Options, interrupt: &Interrupt, adapt: impl FnOnce(Plan) -> Plan) -> Result<Analysed> {
    let color = wants_color(args.color, &std::io::stderr());
    // A formula on the command line is about the names of the trace: they must be known before it is understood.
    let (mut input, names) = if args.property.is_empty() {
        (input::open(trace)?, None)
    } else {
        let (input, names) = input::open_with_names(trace)?;
        (input, Some(names))
    };
    let plan = plan(args, names.as_ref(), color)?.rereadable(is_rereadable(trace));
    let mut analysis = Analysis::new(adapt(plan))?;
    let outcome = drive(&mut analysis, &mut input, trace, interrupt);
    if let Some(property) = analysis.stopped() {
        say(&format!("{}: stopped, as property {property} asks for", input.name));
    }
    for message in analysis.take_messages() {
        match message {
            Message::Note(text) => say(&text),
            Message::Diagnostics(diagnostics, sources) => complain(&diagnostics, &sources, color),
        }
    }
    let Outcome { mut report, commands, exit, .. } = outcome?;
    heap_names::name(&mut report, input.source.names(), input.source.meta(), trace);
    report.stats.peak_rss_bytes = usage::peak_rss_bytes();
    Ok(Analysed { name: input.name, report, commands, exit, interrupted: interrupt.asked() })
}

/// Feeds a trace to an analysis, to its end.
fn drive(analysis: &mut Analysis, input: &mut Input, path: &Path, interrupt: &Interrupt) -> Result<Outcome> {
    let walked = walk(input, interrupt, |source, batch| {
        analysis.feed(source, batch);
        if analysis.stopped().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    conclude(analysis, input, path, &walked, interrupt)
}

/// Finishes the analysis of a trace that the caller has read.
pub(crate) fn conclude(
    analysis: &mut Analysis,
    input: &Input,
    path: &Path,
    walked: &Walked,
    interrupt: &Interrupt,
) -> Result<Outcome> {
    let reread = |from: u64, each: &mut EachBatch<'_>| read_again(path, input, &walked.resume_points, from, each);
    let control = Control { cancel: interrupt.flag(), progress: &Phases::default(), reread: Some(&reread) };
    let end = End { error: walked.error.as_ref(), interrupted: walked.interrupted.is_some() };
    analysis.finish(&*input.source, end, &control).map_err(|error| named(error, input))
}

/// Names the trace, if the error is about it.
fn named(error: analysis::Error, input: &Input) -> anyhow::Error {
    match error {
        analysis::Error::Unreadable(why) => anyhow!("{}: {why}", input.name),
        error => error.into(),
    }
}

/// Whether a trace stands in a file, and not in a stream.
fn is_rereadable(path: &Path) -> bool {
    path != Path::new("-") && path.is_file()
}

/// Reads a trace once more from an event on, or from one before it, unless it came from a stream.
fn read_again(path: &Path, read: &Input, points: &[ResumePoint], from: u64, each: &mut EachBatch<'_>) {
    if !is_rereadable(path) {
        return;
    }
    let point = points[..points.partition_point(|point| point.event <= from)].last();
    let opened = match point {
        // The names of what comes before are those that were read the first time.
        Some(&point) => std::fs::File::open(path)
            .map_err(trace::Error::from)
            .and_then(|file| trace::resume(file, point, read.source.names().clone()))
            .ok(),
        None => input::open(path).ok().and_then(|mut input| {
            input.source.skip_to(from).ok()?;
            Some(input.source)
        }),
    };
    let Some(mut source) = opened else { return };
    let mut batch = Batch::default();
    while let Ok(true) = source.next_batch(&mut batch) {
        if each(&*source, &batch).is_break() {
            break;
        }
    }
}
