//! `foretrace run`: records a program, analyses what it did, reports. The main job.

use super::check::{Text, show};
use crate::analyse::{Analysed, analyse_recording};
use crate::args::Run;
use crate::confirming::{Trying, confirm};
use crate::output::say;
use crate::recording::{Stdout, Way, end_like, halt_when, path_of, record, wanted};
use crate::specs::wants_color;
use anyhow::Result;
use observe::{Agent, Output, ProcessRecord, Recorded, StoredTrace};
use report::{Process, ProcessOf, Report, TraceFigures};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Instant;
use trace::Loss;

pub(crate) fn run(args: &Run) -> Result<u8> {
    let color = wants_color(args.analysis.color, &std::io::stderr());
    let wanted = wanted(&args.analysis.spec, &args.recorder, color)?;
    let output = match &args.recorder.output {
        Some(path) => Output::Path(path.clone()),
        None => Output::Temporary,
    };
    let result_on_stdout = args.analysis.json.as_deref() == Some(Path::new("-"));
    let halt = args.halt_on_error.then(|| halt_when(&args.analysis, args.recorder.lossy)).transpose()?;
    let started = Instant::now();
    let stdout = if result_on_stdout { Stdout::Stderr } else { Stdout::Ours };
    let recorded = record(&args.recorder, wanted, Way { output, stdout, halt, gates: Vec::new() })?;
    let took = started.elapsed();
    let mut all = Vec::new();
    for process in &recorded.processes {
        // A shell that only starts the program has no events.
        if process.events > 0
            && let Some(path) = path_of(&process.trace)
        {
            match analyse_recording(&path, &args.analysis, took) {
                Ok(mut analysed) => {
                    let benign: Vec<String> = process.benign.iter().map(|(name, _)| name.clone()).collect();
                    analysed.excuse(&benign);
                    all.push((process, analysed));
                }
                Err(error) if process.main => return Err(error),
                Err(error) => say(&format!("process {}: {error:#}", process.pid)),
            }
        }
    }
    let nothing = launch::why_nothing(&recorded, &args.recorder.command[0]);
    let code = report_all(args, &recorded, all, nothing.as_deref())?;
    if nothing.is_some() {
        return Ok(FAILED);
    }
    Ok(if code == 0 { end_like(recorded.exit) } else { code })
}

/// Runs towards each finding with `--confirm`, and seconds of each at most: as `confirm` has it by default.
const TRIES: u32 = 3;
const LONGEST_TRY: u64 = 20;

/// The tool failed: nothing was watched.
const FAILED: u8 = 2;

/// Shows everything as one result, and gives the exit code of the findings.
fn report_all(
    args: &Run,
    recorded: &Recorded,
    mut all: Vec<(&ProcessRecord, Analysed)>,
    unwatched: Option<&str>,
) -> Result<u8> {
    let mut code = 0;
    for (process, analysed) in &mut all {
        analysed.name = name(process);
        forgive_the_end(process, analysed);
        analysed.report.set_process(&whose(process));
        let findings = analysed.conclude(&args.analysis);
        code = if code == 0 { findings } else { code };
    }
    // The report of a process with findings comes first, and absorbs those of the others.
    all.sort_by_key(|(process, analysed)| (analysed.report.findings.is_empty(), !process.main));
    let mut all = all.into_iter();
    let mut report = match all.next() {
        Some((_, first)) => {
            for note in report::notes(&first.report) {
                say(&format!("{}: {note}", first.name));
            }
            first.report
        }
        // Either no thread did what another could notice, or nothing was watched: the report says which.
        None => {
            let report = Report::new(env!("CARGO_PKG_VERSION"), nothing(recorded, unwatched));
            code = report::exit_code(&report, args.analysis.strict) * args.analysis.exit_code.unwrap_or(1);
            report
        }
    };
    for (process, analysed) in all {
        for note in report::notes(&analysed.report) {
            say(&format!("{}: {note}", analysed.name));
        }
        report.absorb(process.pid, analysed.report);
    }
    report.processes = recorded.processes.iter().map(process).collect();
    if args.confirm && unwatched.is_none() {
        let trying = Trying {
            command: args.recorder.command.clone(),
            tries: TRIES,
            timeout: args.recorder.timeout.unwrap_or(LONGEST_TRY),
            output: false,
            quiet: args.analysis.quiet,
        };
        let interrupted = confirm(&mut report, &trying, |_| true)?;
        let found = report::exit_code(&report, args.analysis.strict) * args.analysis.exit_code.unwrap_or(1);
        code = interrupted.unwrap_or(code.max(found));
    }
    // A text without findings would say that none were found.
    show(&args.analysis, &report, if unwatched.is_some() { Text::None } else { Text::Stderr })?;
    if let Some(why) = unwatched {
        let program = args.recorder.command[0].display();
        say(&format!("{program}: nothing was watched: {why}"));
    }
    Ok(code)
}

/// A process that the program started and that was killed recorded what it did up to then: of the program's own trace
/// nothing is missing.
fn forgive_the_end(process: &ProcessRecord, analysed: &mut Analysed) {
    let trace = &mut analysed.report.trace;
    if !process.main && trace.losses.iter().any(|loss| Loss::says_killed(loss)) {
        trace.losses.retain(|loss| !Loss::says_killed(loss));
        trace.complete = trace.losses.is_empty();
        say(&format!("{}: it was killed; what it recorded up to then was looked at", analysed.name));
    }
}

/// The figures of a run without events.
fn nothing(recorded: &Recorded, unwatched: Option<&str>) -> TraceFigures {
    let of = |process: &ProcessRecord| -> Vec<String> {
        let losses = process.losses.iter().filter(|loss| process.main || !Loss::says_killed(loss));
        losses.map(|loss| if process.main { loss.clone() } else { format!("{}: {loss}", name(process)) }).collect()
    };
    let mut losses: Vec<String> = recorded.processes.iter().flat_map(of).collect();
    losses.extend(unwatched.map(|why| format!("nothing was watched: {why}")));
    TraceFigures { complete: losses.is_empty(), losses, ..TraceFigures::default() }
}

fn name(process: &ProcessRecord) -> String {
    format!("{} ({})", program(process), process.pid)
}

fn program(process: &ProcessRecord) -> String {
    let program = process.argv.first().map(|word| word.to_string_lossy().into_owned());
    program.unwrap_or_else(|| "process".to_owned())
}

/// What a finding says of the process that it was found in.
fn whose(process: &ProcessRecord) -> ProcessOf {
    let trace = match &process.trace {
        StoredTrace::Path(path) => Some(path.display().to_string()),
        StoredTrace::File(_) | StoredTrace::Failed(_) => None,
    };
    ProcessOf { pid: process.pid, program: program(process), trace }
}

fn process(process: &ProcessRecord) -> Process {
    Process {
        pid: process.pid,
        argv: process.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        exit: process.exit.and_then(|exit| exit.code()),
        signal: process.exit.and_then(|exit| exit.signal()),
        agent: match process.agent {
            Agent::Static | Agent::Library => "native".to_owned(),
            Agent::Preloaded => "native, locks only".to_owned(),
            Agent::Java => "java".to_owned(),
            Agent::Other => "unknown".to_owned(),
        },
        events: process.events,
        lost: process.lost,
        unwatched: process.unwatched,
        pinned: process.dropped,
        without_hooks: process.without_hooks.iter().map(|path| path.display().to_string()).collect(),
        system_libraries: process.system_modules,
    }
}
