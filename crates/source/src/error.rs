//! What can be wrong with a program's file. Every error names the file.

use std::path::{Path, PathBuf};

/// Why a program file could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", path.display())]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub message: String,
}

impl Error {
    pub(crate) fn new(path: &Path, message: impl ToString) -> Error {
        Error { path: path.to_owned(), message: message.to_string() }
    }
}

/// Why debug information could not be read on. What was read before it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flaw {
    /// The bytes are not DWARF.
    Dwarf(gimli::Error),
    /// Reading on would take more time or memory than any file of its size has a right to.
    TooMuch,
}

impl From<gimli::Error> for Flaw {
    fn from(error: gimli::Error) -> Flaw {
        Flaw::Dwarf(error)
    }
}
