//! The command of a program that loads the agents.

use crate::{Error, java};
use agents::Agents;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The command that runs a program, given as the words of a command line, with the agents in it and in every program
/// that it starts.
///
/// # Errors
///
/// The agents cannot be unpacked, or there are no words.
pub fn command(words: &[OsString]) -> Result<Command, Error> {
    let agents = Agents::ready()?;
    let [program, rest @ ..] = words else { return Err(Error::Nameless) };
    let kind = find(program).and_then(|file| source::kind(&file).ok());
    let mut command = Command::new(program);
    java::add_agent(&mut command, program, &agents.jvm());
    command.args(rest);
    // What another sanitizer calls in the place of the C library's functions must not be ours.
    if kind != Some(source::Watched::StaticTsan) {
        command.env("LD_LIBRARY_PATH", before("LD_LIBRARY_PATH", agents.folder(), ":"));
        command.env("LD_PRELOAD", before("LD_PRELOAD", &agents.library(), " "));
    }
    Ok(command)
}

/// The file that running `program` would start.
pub fn find(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if program.as_encoded_bytes().contains(&b'/') {
        return path.canonicalize().ok();
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|file| file.is_file())?.canonicalize().ok()
}

/// The value of a variable with something before it.
fn before(variable: &str, first: &Path, separator: &str) -> OsString {
    let mut value = OsString::from(first);
    if let Some(rest) = std::env::var_os(variable).filter(|rest| !rest.is_empty()) {
        value.push(separator);
        value.push(rest);
    }
    value
}
