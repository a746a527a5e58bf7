//! The one copy of the trace that is retained for every analysis that needs all of it.

use event::Batch;

/// Events that are retained at most.
const MOST: usize = 64_000_000;

/// The trace so far, if an analysis needs it.
#[derive(Default)]
pub(crate) struct Retained {
    trace: Option<Batch>,
    too_long: bool,
}

impl Retained {
    /// Retains events from now on, if they are `wanted`.
    pub(crate) fn new(wanted: bool) -> Retained {
        Retained { trace: wanted.then(Batch::default), too_long: false }
    }

    /// Appends the next events. If these are too many, gives back what was retained, and retains nothing any more.
    pub(crate) fn add(&mut self, batch: &Batch) -> Option<Batch> {
        match &mut self.trace {
            Some(retained) if retained.events.len() + batch.events.len() > MOST => {
                self.too_long = true;
                self.trace.take()
            }
            Some(retained) => {
                retained.append(batch);
                None
            }
            None => None,
        }
    }

    /// The trace, unless it was not wanted or is too long.
    pub(crate) fn trace(&self) -> Option<&Batch> {
        self.trace.as_ref()
    }

    /// Why the trace is not there although it is wanted.
    pub(crate) fn missing(&self) -> Option<String> {
        self.too_long.then(|| format!("the trace has more than {} million events", MOST / 1_000_000))
    }
}
