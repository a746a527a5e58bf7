//! Events on disk and on the wire.

pub mod binary;
mod error;
pub mod limits;
mod source;

pub use error::{Error, Loss, Place};
pub use source::{Source, Trace};
