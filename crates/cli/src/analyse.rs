//! One trace through everything: reading, validation, detectors, properties. What `check` and `run` have in common.

use crate::args::{Analysis, Detector};
use crate::detectors::{Detectors, Plan};
use crate::input::{self, Input};
use crate::interrupt::Interrupt;
use crate::kept::{Ending, Kept};
use crate::output::say;
use crate::properties::Properties;
use crate::recording::ONLINE;
use crate::specs::wants_color;
use crate::usage;
use crate::walk::{Walked, walk};
use anyhow::{Context, Result};
use event::Space;
use report::{AnalysisStats, Kind, Problem, Report, Stats, Suppressions, TraceFigures};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use trace::Loss;
use trace::validate::Validator;

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
        self.report.findings.update(|finding| {
            let meant = !finding.objects.is_empty() && finding.objects.iter().all(|name| benign.contains(name));
            finding.suppressed |= finding.kind == Kind::Race && meant;
        });
    }

    /// Carries out what handlers asked for, and says how the analysis ends.
    pub(crate) fn conclude(&self, strict: bool) -> u8 {
        for command in &self.commands {
            // Standard output is for the result.
            let status = std::process::Command::new("sh").args(["-c", command]).stdout(std::io::stderr()).status();
            if !status.as_ref().is_ok_and(std::process::ExitStatus::success) {
                say(&format!("`exec {command}` failed: {status:?}"));
            }
        }
        let ill_formed = !self.report.trace.problems.is_empty();
        match (self.interrupted, report::exit_code(&self.report, strict)) {
            (Some(code), _) => code,
            (None, 1) => self.exit.unwrap_or(1),
            (None, 0) if strict && ill_formed => 1,
            (None, code) => code,
        }
    }
}

/// Reads a trace and looks for what is asked.
pub(crate) fn analyse(trace: &Path, args: &Analysis) -> Result<Analysed> {
    look(trace, args, &Interrupt::listen(), None, None)
}

/// The same with the trace of a program that ran just now, and took so long: searches need not take much longer.
pub(crate) fn analyse_recording(trace: &Path, args: &Analysis, took: Duration) -> Result<Analysed> {
    look(trace, args, &Interrupt::listen(), None, Some(took))
}

/// The same in the trace of a program that still runs: only what is so in the recorded run, in one pass.
pub(crate) fn analyse_so_far(trace: &Path, args: &Analysis) -> Result<Analysed> {
    look(trace, args, &Interrupt::deaf(), Some(&ONLINE), None)
}

fn look(
    trace: &Path,
    args: &Analysis,
    interrupt: &Interrupt,
    only: Option<&[Detector]>,
    recording: Option<Duration>,
) -> Result<Analysed> {
    let started = Instant::now();
    let mut suppressions = suppressions(&args.suppress)?;
    // A formula on the command line is about the names of the trace: they must be known before it is understood.
    let (mut input, names) = if args.property.is_empty() {
        (input::open(trace)?, None)
    } else {
        let (input, names) = input::open_with_names(trace)?;
        (input, Some(names))
    };
    let mut properties = Properties::load(args, names.as_ref(), wants_color(args.color, &std::io::stderr()))?;
    let mut plan = Plan::new(args, &properties, recording)?;
    if let Some(detectors) = only {
        plan.only(detectors);
    }
    let mut detectors = Detectors::new(plan);
    let mut kept = Kept::new(only.is_none() && (properties.search() || detectors.need_trace()));
    if kept.keeps() {
        detectors.wait_for_the_end();
    }
    let read = read(&mut input, &mut properties, &mut detectors, &mut kept, interrupt);
    let Read { walked, problems, omitted, stopped } = read;
    let Walked { events, interrupted, .. } = walked;
    if let Some(error) = &walked.error
        && events == 0
    {
        anyhow::bail!("{}: {error}", input.name);
    }
    let names = input.source.names();
    let losses = walked.losses(&input);
    if events == 0
        && let Some(loss) = losses.first()
    {
        anyhow::bail!("{}: {loss}", input.name);
    }
    let figures = TraceFigures {
        events,
        threads: names.space(Space::Thread).len() as u64,
        variables: names.space(Space::Var).len() as u64,
        locks: names.space(Space::Lock).len() as u64,
        complete: losses.is_empty(),
        problems,
        problems_omitted: omitted,
        losses,
    };
    let unread = if interrupted.is_some() { Some("interrupted") } else { stopped.then_some("stopped by a handler") };
    let reading = started.elapsed().as_secs_f64();
    let searching = Instant::now();
    let at_end = figures.complete && !stopped;
    let problems = figures.problems.len() as u64 + figures.problems_omitted;
    let up_to_date = input.source.losses().iter().all(Loss::is_the_end) && walked.error.is_none() && unread.is_none();
    let doubt = input.source.losses().iter().find(|loss| loss.casts_doubt()).map(ToString::to_string);
    let ending = Ending { at_end, whole: up_to_date, doubt, problems, unread, kept: &kept, interrupt };
    let mut judged = properties.finish((input.source.names(), input.source.meta()), &ending)?;
    let took = |seconds| AnalysisStats { seconds, ..AnalysisStats::default() };
    let mut per_analysis: BTreeMap<_, _> = [("validate".to_owned(), took(reading))].into();
    if !properties.is_empty() {
        per_analysis.insert("properties".to_owned(), took(searching.elapsed().as_secs_f64()));
    }
    let known = (input.source.names(), input.source.meta());
    let mut detected = detectors.finish(&properties, known, trace, &ending);
    properties.suppress(&mut detected.findings);
    suppressions.apply(&mut detected.findings);
    suppressions.apply(&mut judged.findings);
    if args.detect.is_empty() {
        properties.handle(&detected.findings, &detected.stats, &mut judged);
    }
    per_analysis.extend(detected.stats);
    let interrupted = interrupted.or(interrupt.asked());
    let mut report = Report::new(env!("CARGO_PKG_VERSION"), figures);
    report.trace.problems.retain(|problem| problem.event.is_none_or(|event| !detected.told.contains(&event)));
    report.properties = judged.results;
    report.findings.add(judged.findings.into_iter().chain(detected.findings));
    report.suppressions = (!args.suppress.is_empty()).then(|| suppressions.figures());
    let seconds = started.elapsed().as_secs_f64();
    report.stats = Stats { seconds, peak_rss_bytes: usage::peak_rss_bytes(), per_analysis };
    Ok(Analysed { name: input.name, report, commands: judged.commands, exit: judged.exit, interrupted })
}

/// The rules of the files that the user gives.
fn suppressions(files: &[PathBuf]) -> Result<Suppressions> {
    let mut suppressions = Suppressions::default();
    for path in files {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        suppressions.read(&text).with_context(|| path.display().to_string())?;
    }
    Ok(suppressions)
}

/// What reading a trace to its end gave.
struct Read {
    walked: Walked,
    problems: Vec<Problem>,
    /// Problems beyond those kept in words.
    omitted: u64,
    /// A property asked for it.
    stopped: bool,
}

fn read(
    input: &mut Input,
    properties: &mut Properties,
    detectors: &mut Detectors,
    kept: &mut Kept,
    interrupt: &Interrupt,
) -> Read {
    let mut validator = Validator::new();
    let mut problems = Vec::new();
    let mut stopped = false;
    let name = input.name.clone();
    let walked = walk(input, interrupt, |source, batch| {
        for problem in validator.check(source.names(), batch) {
            let place = source.place((problem.event - batch.first) as usize);
            problems.push(Problem {
                event: Some(problem.event),
                place: place.map(|place| place.to_string()),
                message: problem.message.clone(),
            });
        }
        if let Some(given_up) = kept.add(batch) {
            detectors.catch_up(source.names(), &given_up);
        }
        detectors.batch(source.names(), batch);
        if !properties.is_empty() {
            properties.batch((source.names(), source.meta()), batch);
            if let Some(property) = properties.stop() {
                say(&format!("{name}: stopped, as property {property} asks for"));
                stopped = true;
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    });
    let omitted = validator.count() - problems.len() as u64;
    Read { walked, problems, omitted, stopped }
}
