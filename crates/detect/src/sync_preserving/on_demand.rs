//! The index of a trace, made when it is first needed, and then shared.

use super::{SyncPreserving, TooLarge};
use event::{Batch, Names};

/// A trace whose index may be asked for.
#[derive(Debug)]
pub struct OnDemand<'a> {
    names: &'a Names,
    trace: &'a Batch,
    made: Option<Result<SyncPreserving<'a>, TooLarge>>,
}

impl<'a> OnDemand<'a> {
    /// A whole trace (its first event is number 0).
    pub fn new(names: &'a Names, trace: &'a Batch) -> Self {
        OnDemand { names, trace, made: None }
    }

    /// The names of the trace.
    pub fn names(&self) -> &'a Names {
        self.names
    }

    /// The trace.
    pub fn trace(&self) -> &'a Batch {
        self.trace
    }

    /// Its index.
    pub fn index(&mut self) -> Result<&mut SyncPreserving<'a>, TooLarge> {
        let made = self.made.get_or_insert_with(|| SyncPreserving::new(self.names, self.trace));
        made.as_mut().map_err(|too_large| *too_large)
    }
}
