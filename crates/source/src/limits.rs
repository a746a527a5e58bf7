//! How much time and memory a program file may make its reader take.

use crate::error::Flaw;

/// The largest file that is read.
pub const MAX_FILE_BYTES: u64 = 4 << 30;

/// The most bytes that the compressed sections of one file may grow to, together.
pub const MAX_UNPACKED_BYTES: u64 = 2 << 30;

/// The longest name that is kept; the rest is cut off.
pub const MAX_NAME_BYTES: usize = 4096;

/// How deep types may lie in each other on the way to one byte.
pub const MAX_TYPE_DEPTH: usize = 64;

/// How many references lead from an entry of the debug information to its name.
pub const MAX_LINKS: usize = 16;

/// The most program headers of a file.
pub const MAX_PROGRAM_HEADERS: u16 = 512;

/// The most mappings that are read from one `/proc/PID/maps`.
pub const MAX_MAPPINGS: usize = 1 << 20;

/// What reading one file's debug information may still cost. An honest file stays far below; one whose tables refer to
/// each other over and over would otherwise take the square of its size.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    entries: u64,
    work: u64,
}

impl Budget {
    /// The budget of a file with so many bytes of debug information.
    pub(crate) fn for_bytes(bytes: u64) -> Budget {
        Budget { entries: bytes + (1 << 20), work: bytes.saturating_mul(16) + (1 << 24) }
    }

    /// Something that is kept in memory.
    pub(crate) fn keep(&mut self, entries: u64) -> Result<(), Flaw> {
        self.entries = self.entries.checked_sub(entries).ok_or(Flaw::TooMuch)?;
        Ok(())
    }

    /// Something that only takes time.
    pub(crate) fn work(&mut self, steps: u64) -> Result<(), Flaw> {
        self.work = self.work.checked_sub(steps).ok_or(Flaw::TooMuch)?;
        Ok(())
    }
}
