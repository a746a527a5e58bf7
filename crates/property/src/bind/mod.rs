//! A specification bound to a trace: which recorded names its declarations mean, and what each event does to it.
//!
//! The recorded run ([`crate::run`]) and the search of other runs ([`crate::steps`]) read events by the same [`Reader`],
//! and the names that the run has bound are not bound again.

mod filter;
pub(crate) mod matching;
mod names;
pub(crate) mod reader;
pub(crate) mod subject;
pub(crate) mod values;

pub use names::Unbound;
pub(crate) use names::{Bindings, Meant};

use std::sync::Arc;
use subject::Objects;

/// The names of a trace as far as they were looked at: what they mean to a specification, and the numbers of objects.
/// Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct BoundNames {
    pub(crate) bindings: Arc<Bindings>,
    pub(crate) objects: Objects,
}
