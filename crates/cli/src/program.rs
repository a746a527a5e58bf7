//! The program that is to be watched: its environment, the signals that come while it runs, and how it ended.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// A command with the agents in its way: in the place of libtsan, and before all other libraries.
pub(crate) fn watched(words: &[OsString]) -> Result<Command> {
    let (program, arguments) = words.split_first().context("there is no program to run")?;
    let agents = agents::Agents::ready().context("the agent is not there")?;
    let mut command = Command::new(program);
    command.args(arguments);
    command.env("LD_LIBRARY_PATH", before("LD_LIBRARY_PATH", agents.folder().as_os_str()));
    command.env("LD_PRELOAD", before("LD_PRELOAD", agents.library().as_os_str()));
    Ok(command)
}

/// A list of the environment with one more entry, first.
fn before(variable: &str, entry: &OsStr) -> OsString {
    let mut list = entry.to_owned();
    if let Some(old) = std::env::var_os(variable).filter(|old| !old.is_empty()) {
        list.push(":");
        list.push(old);
    }
    list
}

/// Begins to note signals instead of dying by them: the program is sent them, and decides. Holds the last one's number.
pub(crate) fn signals() -> Arc<AtomicUsize> {
    let signal = Arc::new(AtomicUsize::new(0));
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        // Where that fails, the signal does what it always does.
        let _ = signal_hook::flag::register_usize(number, signal.clone(), number as usize);
    }
    signal
}

/// Ends as the program did: with its exit code, or by the same signal.
pub(crate) fn end_as(status: ExitStatus) -> u8 {
    if let Some(signal) = status.signal() {
        // Does not come back, unless the signal is one that nobody dies by.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        return 128u8.wrapping_add(signal as u8);
    }
    status.code().unwrap_or(2) as u8
}
