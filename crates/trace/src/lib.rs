//! Events on disk and on the wire.

mod error;
mod source;

pub use error::{Error, Loss, Place};
pub use source::{Source, Trace};
