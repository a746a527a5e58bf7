//! Says why a program could not be watched: then its run is no clean bill of health.

use crate::program::find;
use observe::{Ended, Recorded, StoredTrace};
use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Why nothing at all was watched; `None` if something was.
pub fn why_nothing(recorded: &Recorded, program: &OsStr) -> Option<String> {
    let mut kept = recorded.processes.iter().filter(|process| !matches!(process.trace, StoredTrace::Failed(_)));
    let doubtful = !recorded.refused.is_empty() || !recorded.problems.is_empty();
    // A program that does nothing that another thread could notice has no events, and was watched all the same.
    if kept.any(|process| process.events > 0 || process.ended != Ended::Unwatched && !doubtful) {
        return None;
    }
    let file = find(program);
    let of_file = file.as_deref().and_then(|file| by_file(file).or_else(|| by_rights(file)));
    let refused = recorded.refused.first().map(|refusal| refusal.why.to_string());
    let reasons = [of_file, refused, recorded.problems.first().cloned(), by_process(recorded)];
    let reason = reasons.into_iter().flatten().next();
    Some(reason.unwrap_or_else(|| "the agent did not start in it".to_owned()))
}

/// What the kind of the file says.
fn by_file(file: &Path) -> Option<String> {
    let text = match source::kind(file).ok()? {
        source::Watched::StaticTsan => {
            "ThreadSanitizer is linked into it: build it with `foretrace cc`, or without -static-libtsan"
        }
        source::Watched::StaticExecutable => "a fully static program cannot be watched",
        source::Watched::OtherArchitecture => "only x86-64 programs can be watched",
        _ => return None,
    };
    Some(text.to_owned())
}

/// A program that gets more rights than its user has loads no agent.
fn by_rights(file: &Path) -> Option<String> {
    const SET_USER: u32 = 0o4000;
    const SET_GROUP: u32 = 0o2010;
    let about = std::fs::metadata(file).ok()?;
    // It belongs to whom this process acts for.
    let own = std::fs::metadata("/proc/self").ok()?;
    let mode = about.permissions().mode();
    let user = mode & SET_USER != 0 && about.uid() != own.uid();
    let group = mode & SET_GROUP == SET_GROUP && about.gid() != own.gid();
    (user || group).then(|| observe::Refused::Secure.to_string())
}

/// What the processes say of which nothing was recorded.
fn by_process(recorded: &Recorded) -> Option<String> {
    recorded.processes.iter().find_map(|process| match &process.trace {
        StoredTrace::Failed(error) => Some(format!("its trace could not be written: {error}")),
        _ => process.losses.first().cloned(),
    })
}
