//! The one copy of the trace that is retained for every analysis that needs all of it.

use event::Batch;

/// Events that are retained at most.
pub(crate) const MOST: usize = 64_000_000;

/// Events that are retained at most where only witnesses need them, which can be found by reading again.
const FEW: usize = 1 << 18;

/// How much of the trace is wanted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Wanted {
    /// Nothing.
    No,
    /// All of it, unless it is long.
    IfShort,
    /// All of it.
    Yes,
}

/// The trace so far, if an analysis needs it. By default nothing is retained.
#[derive(Default)]
pub(crate) struct Retained {
    trace: Option<Batch>,
    most: usize,
    too_long: bool,
}

impl Retained {
    /// Retains events from now on, if they are `wanted`.
    pub(crate) fn new(wanted: Wanted) -> Retained {
        let most = if wanted == Wanted::IfShort { FEW } else { MOST };
        Retained { trace: (wanted != Wanted::No).then(Batch::default), most, too_long: false }
    }

    /// Appends the next events. If these are too many, gives back what was retained, and retains nothing any more.
    pub(crate) fn add(&mut self, batch: &Batch) -> Option<Batch> {
        match &mut self.trace {
            Some(retained) if retained.events.len() + batch.events.len() > self.most => {
                self.too_long = self.most == MOST;
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
