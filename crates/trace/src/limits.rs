//! How much memory a trace from outside may make its reader take. Past these bounds reading ends with an error.
//!
//! Beside them a reader holds one batch and one frame (or line) at a time.

use crate::Loss;
use event::Names;

/// The most memory that all names of a trace may take together, in bytes.
pub const MAX_NAME_BYTES: usize = 4 << 30;

/// The most deferred events, and the most arguments of all of them together (about 60 and 16 bytes each); and no more
/// than [`DEFERRED_IN_BYTE`] for each byte of the file, if that is more than [`MIN_DEFERRED`].
pub const MAX_DEFERRED: usize = 1 << 26;

/// Deferred events that any file may have.
pub const MIN_DEFERRED: usize = 1 << 22;

/// Deferred events that a byte of a compressed file can hold: loops repeat themselves.
pub const DEFERRED_IN_BYTE: usize = 16;

/// The most call stacks (8 bytes each).
pub const MAX_STACKS: usize = 1 << 26;

/// The most actions: operations at a site by certain calls (12 bytes each).
pub const MAX_ACTIONS: usize = 1 << 24;

/// The most modules, and the most threads with a name or a creation site.
pub const MAX_DESCRIBED: usize = 1 << 20;

/// The most origins of objects kept (32 bytes each): a report that lacks one says less, but nothing wrong.
pub const MAX_ORIGINS: usize = 1 << 23;

/// The most losses kept in words: one is enough to make a trace incomplete.
pub const MAX_LOSSES: usize = 1000;

/// The longest text of a loss that is kept.
pub const MAX_LOSS_BYTES: usize = 1 << 10;

/// The bytes of a line of a text trace, without its line feed.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// The arguments of one internal event.
pub const MAX_ARGS: usize = u16::MAX as usize;

/// Whether the names take more than they may.
pub(crate) fn too_many_names(names: &Names) -> bool {
    names.memory() > MAX_NAME_BYTES
}

/// Keeps what a trace says of its losses, within bounds.
pub(crate) fn keep_loss(losses: &mut Vec<Loss>, message: &str) {
    if losses.len() < MAX_LOSSES {
        let mut end = message.len().min(MAX_LOSS_BYTES);
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        losses.push(Loss { place: None, message: message[..end].to_owned() });
    }
}
