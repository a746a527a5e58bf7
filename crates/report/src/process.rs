//! The processes of a watched program.

use serde::{Deserialize, Serialize};

/// The names of signals that end programs, on Linux.
const SIGNALS: [(i32, &str, &str); 18] = [
    (1, "SIGHUP", "hangup"),
    (2, "SIGINT", "interrupted"),
    (3, "SIGQUIT", "quit"),
    (4, "SIGILL", "illegal instruction"),
    (5, "SIGTRAP", "trap"),
    (6, "SIGABRT", "aborted"),
    (7, "SIGBUS", "bus error"),
    (8, "SIGFPE", "arithmetic error"),
    (9, "SIGKILL", "killed"),
    (10, "SIGUSR1", "user signal 1"),
    (11, "SIGSEGV", "segmentation fault"),
    (12, "SIGUSR2", "user signal 2"),
    (13, "SIGPIPE", "broken pipe"),
    (14, "SIGALRM", "alarm"),
    (15, "SIGTERM", "terminated"),
    (24, "SIGXCPU", "out of processor time"),
    (25, "SIGXFSZ", "file too large"),
    (31, "SIGSYS", "bad system call"),
];

/// What a signal is called.
pub fn signal_text(signal: i32) -> String {
    match SIGNALS.iter().find(|(number, ..)| *number == signal) {
        Some((_, name, meaning)) => format!("{name} ({meaning})"),
        None => format!("signal {signal}"),
    }
}

/// The process that a finding is about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ProcessOf {
    /// Its number.
    pub pid: u32,
    /// The program that it ran.
    pub program: String,
    /// The file with its trace, whose events the finding speaks of, if it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

impl ProcessOf {
    /// In words.
    pub(crate) fn words(&self) -> String {
        let trace =
            self.trace.as_ref().map_or("; -o FILE keeps its trace".to_owned(), |file| format!("; trace {file}"));
        format!("{} ({}){trace}", self.program, self.pid)
    }
}

/// A process that was watched, or could not be.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its command line.
    pub argv: Vec<String>,
    /// Its exit code, if it is known and had one.
    pub exit: Option<i32>,
    /// The signal that killed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// What watched it.
    pub agent: String,
    /// Events recorded of it.
    pub events: u64,
    /// Records that were lost.
    pub lost: u64,
    /// Threads that were not watched.
    pub unwatched: u64,
    /// Entries of shadow cells that its agent dropped, with older accesses: no other order is predicted before these.
    #[serde(default)]
    pub pinned: u64,
    /// Files with code that it had loaded, not the system's, that has no hooks: what they access was not seen.
    #[serde(default)]
    pub without_hooks: Vec<String>,
    /// Libraries of the system that it had loaded: these have no hooks.
    #[serde(default)]
    pub system_libraries: u64,
}
