//! How the reading of a trace ended.

use crate::retained::Retained;

/// How the reading of a trace ended.
pub(crate) struct Ending<'a> {
    /// The trace is complete, and was read to its end.
    pub(crate) at_end: bool,
    /// Nothing is missing before its end.
    pub(crate) gapless: bool,
    /// What is missing from it, if that may order what is there.
    pub(crate) doubt: Option<String>,
    /// How many problems the validator found in it.
    pub(crate) problems: u64,
    /// Why it was not read to its end; then other runs are not searched.
    pub(crate) unread: Option<&'a str>,
    pub(crate) retained: &'a Retained,
    /// How many events it has, or were read of it.
    pub(crate) events: u64,
}
