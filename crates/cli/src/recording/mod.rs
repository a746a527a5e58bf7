//! Runs a program with the agents in it, records it, and says what could not be seen. What `run` and `record` share.

mod ending;
mod halting;

pub(crate) use ending::end_like;
pub(crate) use halting::{halt_at_deadlock, halt_when, struck};

use crate::args::{Recorder, What};
use crate::output::say;
use crate::specs;
use anyhow::{Context, Result};
use launch::Recordable;
use observe::{Agent, Ended, Halt, HaltWhen, Options, Output, Recorded, Recording, StoredTrace};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

/// What specifications want recorded of the program of the command line.
pub(crate) fn wanted(specs: &[PathBuf], recorder: &Recorder, color: bool) -> Result<Recordable> {
    let mut loaded = Vec::new();
    for path in specs {
        let checked = specs::load(path, color)?;
        loaded.extend(checked.specs.into_iter().map(|spec| (path.as_path(), spec)));
    }
    let program = recorder.command.first().context("no program is named")?;
    let wanted = launch::bind(loaded.iter().map(|(path, spec)| (*path, spec)), program)?;
    for note in &wanted.notes {
        say(note);
    }
    Ok(wanted)
}

/// Where the standard output of the program goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stdout {
    /// Where ours goes.
    Ours,
    /// To standard error: standard output is for the result alone.
    Stderr,
    /// Nowhere, and so does its standard error. Its standard input is empty. The program is run once more, and its user
    /// has seen its output.
    Nowhere,
}

/// What else there is to say of a recording.
pub(crate) struct Way {
    pub(crate) output: Output,
    pub(crate) stdout: Stdout,
    /// When to end the program.
    pub(crate) halt: Option<HaltWhen>,
    /// Places at which its threads are held; empty: none.
    pub(crate) gates: Vec<u8>,
}

/// Runs the program of the command line and records it.
pub(crate) fn record(args: &Recorder, wanted: Recordable, way: Way) -> Result<Recorded> {
    let mut command = launch::command(&args.command)?;
    let program = &args.command[0];
    match way.stdout {
        Stdout::Ours => {}
        Stdout::Stderr => drop(command.stdout(Stdio::from(std::io::stderr()))),
        Stdout::Nowhere => drop(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())),
    }
    let is_controlled = !way.gates.is_empty();
    let options = Options {
        record_all: args.record == Some(What::All),
        no_accesses: args.record == Some(What::Sync),
        lossy: args.lossy,
        watched: wanted.native,
        java: wanted.java + &launch::filter_settings(&args.packages.include, &args.packages.exclude),
        output: way.output,
        halt: way.halt,
        gates: way.gates,
        timeout: args.timeout.map(Duration::from_secs),
        exit_wait: Duration::from_secs_f64(args.exit_wait),
        naming: Box::new(|| Box::new(observe::Symbols::default())),
        ..Options::default()
    };
    // The program decides what a signal means; we only see to it that the trace is finished.
    let signal = Arc::new(AtomicUsize::new(0));
    let ids: Vec<_> = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2]
        .into_iter()
        .filter_map(|number| signal_hook::flag::register_usize(number, signal.clone(), number as usize).ok())
        .collect();
    let recorded = Recording::start(options)?.run(&mut command, &signal);
    for id in ids {
        signal_hook::low_level::unregister(id);
    }
    let recorded = recorded?;
    if !is_controlled {
        warn_after(&recorded, program);
    }
    Ok(recorded)
}

/// Says what was not watched, or lost.
fn warn_after(recorded: &Recorded, program: &OsString) {
    if let Some(halt) = recorded.halted {
        let why = match halt {
            Halt::Error => "stopped at its first error, as --halt-on-error asks",
            Halt::Timeout => "stopped, for it ran longer than --timeout allows",
        };
        say(&format!("{}: {why}", program.display()));
    }
    for problem in &recorded.problems {
        say(problem);
    }
    for refusal in &recorded.refused {
        say(&format!("process {} was not watched: {}", refusal.pid, refusal.why));
    }
    // A script or `make` has no hooks, and needs none where the programs that it starts have them.
    let has_hooks = |process: &observe::ProcessRecord| !matches!(process.agent, Agent::Preloaded | Agent::Other);
    let any_hooks = recorded.processes.iter().any(has_hooks);
    for process in &recorded.processes {
        for note in &process.notes {
            say(&format!("process {}: {note}", process.pid));
        }
        if process.ended == Ended::Unwatched {
            let name = process.argv.first().unwrap_or(program);
            for loss in &process.losses {
                say(&format!("process {} ({}): {loss}", process.pid, name.display()));
            }
        }
        if let StoredTrace::Failed(error) = &process.trace {
            say(&format!("process {}: its trace could not be written: {error}", process.pid));
        }
        if process.main && process.agent == Agent::Preloaded && !any_hooks {
            say(&format!(
                "{}: built without hooks: locks, threads and conditions were watched (deadlocks can be found), its \
                 accesses of memory were not (no races); build it with `foretrace cc` or -fsanitize=thread for these",
                program.display()
            ));
        }
    }
}

/// A name under which a trace can be opened, as often as needed, while it is kept.
pub(crate) fn path_of(trace: &StoredTrace) -> Option<PathBuf> {
    match trace {
        StoredTrace::Path(path) => Some(path.clone()),
        StoredTrace::File(file) => Some(PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))),
        StoredTrace::Failed(_) => None,
    }
}
