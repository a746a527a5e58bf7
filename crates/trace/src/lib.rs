//! Events on disk and on the wire.

pub mod decompress;
mod error;
pub mod limits;
mod source;
pub mod text;

pub use error::{Error, Loss, Place};
pub use source::{Source, Trace};
