//! How to record, and where traces go.

use crate::Watched;
use crate::halt::HaltWhen;
use crate::naming::Naming;
use crate::symbols::Symbols;
use std::path::PathBuf;
use std::time::Duration;

/// Makes the names of one process.
pub type MakeNaming = Box<dyn Fn() -> Box<dyn Naming>>;

/// Where traces go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// The program's own under this name, those of other processes with `.PID` before the extension.
    Path(PathBuf),
    /// Files without a name.
    Temporary,
}

/// How to record.
pub struct Options {
    /// Record every access.
    pub record_all: bool,
    /// Drop records rather than make the program wait.
    pub lossy: bool,
    /// Record no accesses.
    pub no_accesses: bool,
    /// Variables whose values are recorded, and functions that are regions or events.
    pub watched: Vec<Watched>,
    /// Where traces go.
    pub output: Output,
    /// How long processes may live on when the program has ended.
    pub linger: Duration,
    /// Makes the names of a process.
    pub naming: MakeNaming,
    /// The settings of the agent for Java: the file that it reads in the session's directory.
    pub java: String,
    /// Ends the program as soon as a look at a trace shows an error.
    pub halt: Option<HaltWhen>,
    /// Ends the program when it has run for so long.
    pub timeout: Option<Duration>,
    /// Places at which the program's threads are held: the file of `runtime::gates`; empty: none.
    pub gates: Vec<u8>,
    /// When the program ends, threads that were created so short a time before may still run.
    pub exit_wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            record_all: false,
            lossy: false,
            no_accesses: false,
            watched: Vec::new(),
            output: Output::Temporary,
            linger: Duration::from_secs(2),
            naming: Box::new(|| Box::new(Symbols::default())),
            java: String::new(),
            halt: None,
            timeout: None,
            gates: Vec::new(),
            exit_wait: Duration::from_secs(1),
        }
    }
}
