//! How much a reader is willing to hold, whatever a trace asks for.

/// The bytes of all names of a trace together.
pub const MAX_NAME_BYTES: usize = 1 << 30;

/// The bytes of a line of a text trace, without its line feed.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// The arguments of one internal event.
pub const MAX_ARGS: usize = u16::MAX as usize;
