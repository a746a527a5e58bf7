//! Rewrites jars with hooks in their classes ([`weave::Program`]). All else stays as it was.
//!
//! * `zip`: archives. What is not changed is copied byte for byte: its header, its packed data, and whatever lies
//!   between. No crate keeps so much: they look entries up by name, and write headers of their own.
//! * `rewrite`: which entries are changed, and how.
//! * `manifest`: a manifest without the digests of signatures.

mod error;
mod manifest;
mod rewrite;
mod zip;

pub use error::{Error, Result};
pub use rewrite::{Summary, rewrite, rewrite_within};
