//! Why a jar cannot be rewritten.

use std::io;
use thiserror::Error;

/// Why a jar cannot be rewritten.
#[derive(Error, Debug)]
pub enum Error {
    /// It cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It does not end as archives do.
    #[error("not a jar: it does not end with the directory of a zip archive (is it cut off?)")]
    NotAnArchive,
    /// Its directory is malformed.
    #[error("the jar's directory is damaged: {0}")]
    Directory(&'static str),
    /// Two entries share their bytes: only bombs do.
    #[error("{name}: overlaps with another entry, or with the directory")]
    Overlap {
        /// The name of one.
        name: String,
    },
    /// An entry is malformed.
    #[error("{name}: {what}")]
    Entry {
        /// Its name.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// It unpacks to more than any program has.
    #[error("its classes, and the jars in it, unpack to more than {} MiB", most >> 20)]
    Bomb {
        /// The limit in bytes.
        most: u64,
    },
    /// The caller wants the work to stop.
    #[error("interrupted")]
    Interrupted,
    /// The inert hooks could not be made, which never happens.
    #[error("hooks that do nothing cannot be made: {0}")]
    Weave(#[from] weave::Error),
}

/// The result of reading or writing a jar.
pub type Result<T> = std::result::Result<T, Error>;
