//! `foretrace record`: runs a program and writes what it does to a trace.

use crate::args::{Record, RecordingOptions, Which};
use crate::output::say;
use crate::program;
use anyhow::{Result, bail};
use observe::{Agent, Kept, Options, Output, ProcessRecord, Recorded, Recording};
use std::ffi::OsString;

pub(crate) fn run(args: &Record) -> Result<u8> {
    if args.output.extension().is_none_or(|extension| extension != "ftrace") {
        bail!("{}: traces are recorded in the binary format, so name it .ftrace", args.output.display());
    }
    let mut command = program::watched(&args.command)?;
    let signals = program::signals();
    let recording = Recording::start(options(&args.recording, Output::Path(args.output.clone())))?;
    let recorded = recording.run(&mut command, &signals)?;
    let failed = tell(&recorded, args.quiet);
    Ok(if failed && recorded.exit.success() { crate::FAILED } else { program::end_as(recorded.exit) })
}

/// What the command line says of recording.
pub(crate) fn options(args: &RecordingOptions, output: Output) -> Options {
    Options { record_all: args.record == Which::All, lossy: args.lossy, output, ..Options::default() }
}

/// Says what was recorded and what is missing. Whether a trace could not be written.
fn tell(recorded: &Recorded, quiet: bool) -> bool {
    for problem in &recorded.problems {
        say(problem);
    }
    if recorded.processes.is_empty() {
        say("nothing was recorded: no process of the program could be watched (is it linked statically, or setuid?)");
    }
    let mut failed = false;
    for process in &recorded.processes {
        match &process.trace {
            Kept::Path(path) if !quiet => {
                let what = if process.agent == Agent::Preloaded { " (no memory accesses)" } else { "" };
                say(&format!("{}: {} events of {}{what}", path.display(), process.events, called(process)));
            }
            Kept::Failed(error) => {
                say(&format!("the trace of {} could not be written: {error}", called(process)));
                failed = true;
            }
            _ => {}
        }
        for text in process.losses.iter().chain(&process.notes) {
            say(&format!("{}: {text}", called(process)));
        }
    }
    failed
}

/// What a process is called: its program and number.
fn called(process: &ProcessRecord) -> String {
    let program = process.argv.first().map(OsString::as_os_str).unwrap_or_default();
    let program = std::path::Path::new(program).file_name().unwrap_or(program);
    format!("{} ({})", program.to_string_lossy(), process.pid)
}
