//! What a recording leaves: a record for each process, with its trace.

use crate::halt::Halt;
use crate::session::Refusal;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// How an agent came into a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Agent {
    /// Linked into the program.
    Static,
    /// In libtsan's place, or a library the program is linked with.
    Library,
    /// Preloaded into a program without hooks: no accesses.
    Preloaded,
    /// Loaded by a Java virtual machine.
    Java,
    /// One that this version does not know.
    Other,
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// By itself.
    Exited,
    /// It went on as another program.
    Executed,
    /// By a signal, or as if by one.
    Killed,
    /// Its agent gave up, or recording ended before it.
    Unwatched,
}

/// Where a trace is.
#[derive(Debug)]
pub enum StoredTrace {
    /// Under a name.
    Path(PathBuf),
    /// In a file without one; it stands at its beginning.
    File(File),
    /// It could not be written.
    Failed(io::Error),
}

/// What was recorded of a process.
#[derive(Debug)]
pub struct ProcessRecord {
    /// Its id.
    pub pid: u32,
    /// Its parent's.
    pub parent: u32,
    /// Which image of the process, from 0.
    pub image: u32,
    /// Whether this is the program itself, as it was last.
    pub main: bool,
    /// Its command line.
    pub argv: Vec<OsString>,
    /// The exit status, if it is the program.
    pub exit: Option<ExitStatus>,
    /// How it ended.
    pub ended: Ended,
    /// Its agent.
    pub agent: Agent,
    /// Events in its trace.
    pub events: u64,
    /// Records lost.
    pub lost: u64,
    /// Threads not watched.
    pub unwatched: u64,
    /// Entries of shadow cells that were dropped.
    pub dropped: u64,
    /// Notes of the agent for the report.
    pub notes: Vec<String>,
    /// Variables on which races are intended, and why, as the program says.
    pub benign: Vec<(String, String)>,
    /// Files of code that it had loaded, that are not the system's, and that have no hooks: their accesses were not
    /// seen.
    pub without_hooks: Vec<PathBuf>,
    /// Files of the system that it had loaded.
    pub system_modules: u64,
    /// What is missing from its trace.
    pub losses: Vec<String>,
    /// Its trace.
    pub trace: StoredTrace,
}

/// What was recorded.
#[derive(Debug)]
pub struct Recorded {
    /// How the program ended.
    pub exit: ExitStatus,
    /// The watched processes, the program first. Empty if nothing could be watched.
    pub processes: Vec<ProcessRecord>,
    /// What went wrong that belongs to no process.
    pub problems: Vec<String>,
    /// Processes that could not be watched.
    pub refused: Vec<Refusal>,
    /// What became of [`Options::gates`](crate::Options::gates).
    pub gates: Vec<u8>,
    /// Why the program was ended before its time, if it was.
    pub halted: Option<Halt>,
}
