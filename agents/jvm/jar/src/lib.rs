//! Jars, rewritten with hooks in their classes ([`weave::Program`]), and otherwise as they were.
//!
//! * `zip`: archives. What is not changed is copied as it is, byte for byte: its header, its packed data, whatever lies between. No crate for them keeps so much: they
//!   look entries up by their names, and write headers of their own.
//! * `rewrite`: which entries are changed, and how.
//! * `manifest`: a manifest without the digests of signatures.

mod error;
mod manifest;
mod rewrite;
mod zip;

pub use error::{Error, Result};
pub use rewrite::{Summary, rewrite, rewrite_within};
