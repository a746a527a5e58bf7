//! Why a program cannot be started as it is to be watched.

use std::path::PathBuf;

/// Why a program cannot be started as it is to be watched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The agents could not be unpacked.
    #[error("nothing can be watched")]
    Agents(#[from] agents::Error),
    /// The command has no words.
    #[error("no program is named")]
    Nameless,
    /// The program is not there.
    #[error("{}: there is no such program", .0.display())]
    Missing(PathBuf),
    /// The program's file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] source::Error),
    /// Names of specifications that cannot be bound in it: a line each.
    #[error("{}", listed(.0))]
    Unbound(Vec<String>),
}

fn listed(failures: &[String]) -> String {
    match failures {
        [one] => one.clone(),
        all => format!("names that cannot be bound in the program:\n  {}", all.join("\n  ")),
    }
}
