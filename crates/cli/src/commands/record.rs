//! `foretrace record`: only records.

use crate::args::{Color, Record};
use crate::output::say;
use crate::recording::{Stdout, Way, end_like, record, wanted};
use crate::specs::wants_color;
use anyhow::Result;
use observe::{Output, StoredTrace};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

pub(crate) fn run(args: &Record) -> Result<u8> {
    let color = wants_color(Color::Auto, &std::io::stderr());
    let wanted = wanted(&args.spec, &args.recorder, color)?;
    let output = args.recorder.output.as_deref().unwrap_or(Path::new("foretrace.ftrace"));
    let way = Way { output: Output::Path(output.to_owned()), stdout: Stdout::Ours, halt: None, gates: Vec::new() };
    let recorded = record(&args.recorder, wanted, way)?;
    for process in &recorded.processes {
        if let StoredTrace::Path(path) = &process.trace
            && !args.quiet
        {
            say(&format!("{}: {} events of process {}", path.display(), process.events, process.pid));
        }
        for loss in &process.losses {
            say(&format!("process {}: {loss}", process.pid));
        }
    }
    if let Some(signal) = recorded.exit.signal() {
        let program = args.recorder.command.first().map(|program| program.display().to_string());
        say(&format!("{} was killed by {}", program.unwrap_or_default(), report::signal_text(signal)));
    }
    // A trace that could not be written was named already.
    let failed = recorded.processes.iter().any(|process| matches!(process.trace, StoredTrace::Failed(_)));
    if let Some(why) = launch::why_nothing(&recorded, &args.recorder.command[0]).filter(|_| !failed) {
        say(&format!("{}: it ran unwatched: {why}", args.recorder.command[0].display()));
    }
    Ok(end_like(recorded.exit))
}
