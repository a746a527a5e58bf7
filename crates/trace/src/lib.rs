//! Events on disk and on the wire.

pub mod binary;
mod error;
pub mod limits;
pub mod merge;
mod source;
pub mod validate;

pub use error::{Error, Loss, Place};
pub use source::{Source, Trace};
