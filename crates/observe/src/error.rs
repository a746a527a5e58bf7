//! What can go wrong while a program is recorded.

use std::io;

/// Why something could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No session could be made.
    #[error("cannot make a session: {0}")]
    Session(#[source] io::Error),
    /// There is no file for the trace.
    #[error("there is no place for the trace, so nothing can be watched: {0}")]
    Output(#[source] io::Error),
    /// The program could not be started.
    #[error("cannot start {program}: {error}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The trace could not be written.
    #[error("cannot write {path}: {error}")]
    Write {
        /// Where to.
        path: String,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// A file in the session's directory is not what it should be.
    #[error("a process cannot be watched: {0}")]
    Foreign(&'static str),
    /// Anything else the operating system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}
