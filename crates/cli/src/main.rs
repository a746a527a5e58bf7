//! The `foretrace` command. Thin: it opens inputs, calls the crates that know, and shows what they say.

mod analyse;
mod args;
mod choice;
mod commands;
mod confirming;
mod heap_names;
mod help;
mod input;
mod interrupt;
mod output;
mod plan;
mod progress;
mod recording;
mod specs;
mod usage;
mod walk;

use clap::Parser;
use std::io;
use std::process::ExitCode;

/// The tool or its input failed.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    match commands::run(args::Cli::parse()) {
        Ok(code) => ExitCode::from(code),
        // The reader of our output has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::say(&format!("{error:#}"));
            ExitCode::from(FAILED)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = match cause.downcast_ref::<trace::Error>() {
            Some(trace::Error::Io(io)) => Some(io),
            _ => cause.downcast_ref::<io::Error>(),
        };
        io.is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
    })
}
