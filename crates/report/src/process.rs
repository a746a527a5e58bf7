//! The processes of a watched program.

use serde::{Deserialize, Serialize};

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
    /// Accesses of memory that its agent saw, most of which need no event; 0 if they were not counted.
    #[serde(default)]
    pub accesses: u64,
    /// Records that were lost.
    pub lost: u64,
    /// Threads that were not watched.
    pub unwatched: u64,
    /// Words of memory of which early accesses were forgotten: no other order is predicted before these.
    #[serde(default)]
    pub pinned: u64,
    /// Files with code that it had loaded, not the system's, that has no hooks: what they access was not seen.
    #[serde(default)]
    pub without_hooks: Vec<String>,
    /// Libraries of the system that it had loaded: these have no hooks.
    #[serde(default)]
    pub system_libraries: u64,
}
