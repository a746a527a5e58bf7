//! What is wrong with a jar.

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
    /// Its directory is not as it must be.
    #[error("the jar's directory is damaged: {0}")]
    Directory(&'static str),
    /// Two entries share their bytes: no tool makes such archives, but for bombs.
    #[error("{name}: overlaps with another entry, or with the directory")]
    Overlap {
        /// The name of one.
        name: String,
    },
    /// An entry is not as it must be.
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
        /// So many bytes are allowed.
        most: u64,
    },
    /// Somebody wants the work to stop.
    #[error("interrupted")]
    Interrupted,
    /// A hook could not be made: never.
    #[error("hooks that do nothing cannot be made: {0}")]
    Weave(#[from] weave::Error),
}

/// What comes of reading or writing a jar.
pub type Result<T> = std::result::Result<T, Error>;
