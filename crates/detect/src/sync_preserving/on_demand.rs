//! The index of a trace, made when it is first needed, and then shared.

use super::{NoIndex, SyncPreserving};
use event::{Batch, Names};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A trace whose index may be asked for.
#[derive(Debug)]
pub struct OnDemand<'a> {
    names: &'a Names,
    trace: &'a Batch,
    stop: Option<&'a AtomicBool>,
    time: Option<Duration>,
    made: Option<Result<SyncPreserving<'a>, NoIndex>>,
}

impl<'a> OnDemand<'a> {
    /// A whole trace (its first event is number 0).
    pub fn new(names: &'a Names, trace: &'a Batch) -> Self {
        OnDemand { names, trace, stop: None, time: None, made: None }
    }

    /// Its index is not made, or not to the end, once this is set.
    pub fn stopping(self, stop: &'a AtomicBool) -> Self {
        OnDemand { stop: Some(stop), ..self }
    }

    /// Its index must be made in this time, from when it is asked for.
    pub fn taking(self, time: Duration) -> Self {
        OnDemand { time: Some(time), ..self }
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
    pub fn index(&mut self) -> Result<&mut SyncPreserving<'a>, NoIndex> {
        let made = self.made.get_or_insert_with(|| {
            let deadline = self.time.map(|time| Instant::now() + time);
            SyncPreserving::within(self.names, self.trace, self.stop, deadline)
        });
        made.as_mut().map_err(|why| *why)
    }
}
