//! What can be wrong with a trace's bytes, and where.

use std::fmt;

/// A position in the input that a trace is read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputPosition {
    /// A line of a text trace, counted from 1.
    Line(u64),
    /// A byte of a binary trace, counted from 0.
    Byte(u64),
}

impl fmt::Display for InputPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputPosition::Line(n) => write!(f, "line {n}"),
            InputPosition::Byte(n) => write!(f, "byte {n}"),
        }
    }
}

/// Why a trace could not be read on. The events read before it stand.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bytes are not what the format allows.
    #[error("{place}: {message}")]
    Malformed {
        /// Where.
        place: InputPosition,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// The trace asks for more than this program is willing to hold.
    #[error("{place}: {message}")]
    TooLarge {
        /// Where.
        place: InputPosition,
        /// Which bound was passed.
        message: String,
    },
    /// The operating system said no.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Error {
    pub(crate) fn malformed(place: InputPosition, message: impl Into<String>) -> Error {
        Error::Malformed { place, message: message.into() }
    }

    pub(crate) fn too_large(place: InputPosition, message: impl Into<String>) -> Error {
        Error::TooLarge { place, message: message.into() }
    }
}

/// A part of the run that is missing from the trace: the recorder dropped it, or the file was cut off.
/// What was read is a true prefix (or says itself what it left out), but the trace is not complete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loss {
    /// Where the loss shows, if at one place.
    pub place: Option<InputPosition>,
    /// What was lost, in words.
    pub message: String,
}

/// What is said of hooks that failed, after their number.
const HOOKS_FAILED: &str = "hooks failed, and told nothing";

/// What is said of a process that was killed.
const KILLED: &str = "the process was killed: what it was about to record then is missing";

impl Loss {
    /// The process was killed, but everything up to then is there.
    pub fn killed() -> Loss {
        Loss { place: None, message: KILLED.to_owned() }
    }

    /// Whether these are the words of [`Loss::killed`].
    pub fn says_killed(message: &str) -> bool {
        message == KILLED
    }

    /// Hooks failed: what they would have recorded is missing.
    pub fn hooks_failed(count: u64) -> Loss {
        Loss { place: None, message: format!("{count} {HOOKS_FAILED}") }
    }

    /// Whether something may be missing that orders what is there.
    pub fn casts_doubt(&self) -> bool {
        self.message.ends_with(HOOKS_FAILED)
    }

    /// Whether only the end of the run is missing, because the process was killed.
    pub fn is_the_end(&self) -> bool {
        self.place.is_none() && self.message == KILLED
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(place) => write!(f, "{place}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}
