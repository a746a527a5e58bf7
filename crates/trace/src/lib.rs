//! Events on disk and on the wire: text and binary traces, and their validation.
//!
//! Whatever the format, a trace is a [`Source`] of batches; [`open_file`] finds out which format a file has. What is
//! wrong with the bytes is an [`Error`] that names the line or byte, what is missing a [`Loss`], and what cannot have
//! happened as recorded a [`validate::Problem`].

pub mod binary;
pub mod compress;
pub mod decompress;
mod error;
pub mod limits;
mod named;
mod open;
mod source;
pub mod text;
pub mod validate;

pub use error::{Error, InputPosition, Loss};
pub use named::{Packed, TraceWriter};
pub use open::{Opened, open_file, open_stream, resume};
pub use source::{ResumePoint, Source, Trace};
