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
    /// All of it; if it is long, not before it is known that there is something to search.
    Later,
    /// All of it.
    Yes,
}

/// The trace so far, if an analysis needs it. By default nothing is retained.
#[derive(Default)]
pub(crate) struct Retained {
    trace: Option<Batch>,
    most: usize,
    too_long: bool,
    /// It may be given up, for it can be read again when it is needed.
    later: bool,
    postponed: bool,
}

impl Retained {
    /// Retains events from now on, if they are `wanted`.
    pub(crate) fn new(wanted: Wanted, few: Option<usize>) -> Retained {
        let most = match wanted {
            Wanted::IfShort | Wanted::Later => few.unwrap_or(FEW),
            Wanted::No | Wanted::Yes => MOST,
        };
        let trace = (wanted != Wanted::No).then(Batch::default);
        Retained { trace, most, later: wanted == Wanted::Later, ..Retained::default() }
    }

    /// Whether it has given up nothing yet, but may.
    pub(crate) fn may_be_postponed(&self) -> bool {
        self.later && self.most < MOST && self.trace.is_some()
    }

    /// All of it is needed.
    pub(crate) fn keep_all(&mut self) {
        self.most = MOST;
    }

    /// Whether nothing is retained, and what needs it is to read it again.
    pub(crate) fn is_postponed(&self) -> bool {
        self.postponed
    }

    /// Appends the next events. If these are too many, gives back what was retained, and retains nothing any more.
    pub(crate) fn add(&mut self, batch: &Batch) -> Option<Batch> {
        match &mut self.trace {
            Some(retained) if retained.events.len() + batch.events.len() > self.most => {
                self.too_long = self.most == MOST;
                self.postponed = self.later && !self.too_long;
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
        self.too_long.then(too_long)
    }
}

/// Why a trace with too many events is not retained.
pub(crate) fn too_long() -> String {
    format!("the trace has more than {} million events", MOST / 1_000_000)
}
