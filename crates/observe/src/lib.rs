//! The observer's half of recording: makes sessions, drains what agents write into shared memory, merges the threads
//! into one order, names everything, and writes traces. `docs/recording/observer.md` explains it.

mod build;
mod decode;
mod drain;
mod error;
mod halt;
mod java;
mod least;
mod merge;
mod naming;
mod options;
mod prefetch;
mod process;
mod recorded;
mod recorder;
mod session;
mod shared;
mod symbols;
mod trace_file;

pub use build::values::{Encoding, Use, Watched};
pub use error::Error;
pub use halt::{Halt, HaltWhen, SoFar};
pub use naming::{Frame, Mapped, Naming, Object, Offsets};
pub use options::{MakeNaming, Options, Output};
pub use recorded::{Agent, Ended, ProcessRecord, Recorded, StoredTrace};
pub use recorder::Recording;
pub use runtime::layout::{PARAMETERS, Parameter, meaning, parameter};
pub use session::{Refusal, Refused};
pub use symbols::Symbols;
