//! How much memory a trace from outside may make its reader take. Past these bounds reading ends with an error.
//!
//! Beside them a reader holds one batch and one frame (or line) at a time.

use event::Names;

/// The most memory that all names of a trace may take together, in bytes.
pub const MAX_NAME_BYTES: usize = 4 << 30;

/// The most late records (about 60 bytes each).
pub const MAX_LATE: usize = 1 << 25;

/// The most call stacks (8 bytes each).
pub const MAX_STACKS: usize = 1 << 26;

/// The most modules, threads told about, and losses told of.
pub const MAX_TOLD: usize = 1 << 20;

/// The bytes of a line of a text trace, without its line feed.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// The arguments of one internal event.
pub const MAX_ARGS: usize = u16::MAX as usize;

/// Whether the names take more than they may.
pub(crate) fn too_many_names(names: &Names) -> bool {
    names.memory() > MAX_NAME_BYTES
}
