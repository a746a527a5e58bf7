//! The one copy of the trace that is kept for whoever needs all of it.

use crate::interrupt::Interrupt;
use event::Batch;

/// Events that are kept at most.
const MOST: usize = 64_000_000;

/// The trace so far, if somebody needs it.
pub(crate) struct Kept {
    trace: Option<Batch>,
    too_long: bool,
}

impl Kept {
    /// `wanted`: somebody needs it.
    pub(crate) fn new(wanted: bool) -> Kept {
        Kept { trace: wanted.then(Batch::default), too_long: false }
    }

    /// Takes the next events. Gives back what was kept if these are too many.
    pub(crate) fn add(&mut self, batch: &Batch) -> Option<Batch> {
        match &mut self.trace {
            Some(kept) if kept.events.len() + batch.events.len() > MOST => {
                self.too_long = true;
                self.trace.take()
            }
            Some(kept) => {
                kept.append(batch);
                None
            }
            None => None,
        }
    }

    /// Whether events are kept now.
    pub(crate) fn keeps(&self) -> bool {
        self.trace.is_some()
    }

    /// The trace, unless nobody wants it or it is too long.
    pub(crate) fn trace(&self) -> Option<&Batch> {
        self.trace.as_ref()
    }

    /// Why it is not there although it is wanted.
    pub(crate) fn missing(&self) -> Option<String> {
        self.too_long.then(|| format!("the trace has more than {} million events", MOST / 1_000_000))
    }
}

/// How the reading of a trace ended.
pub(crate) struct Ending<'a> {
    /// The trace is complete, and was read to its end.
    pub(crate) at_end: bool,
    /// Nothing is missing from it, but maybe what came after its end.
    pub(crate) whole: bool,
    /// What is missing from it, if that may order what is there.
    pub(crate) doubt: Option<String>,
    /// What the validator found wrong with it, counted.
    pub(crate) problems: u64,
    /// Why it was not read to its end; then other runs are not searched.
    pub(crate) unread: Option<&'a str>,
    pub(crate) kept: &'a Kept,
    pub(crate) interrupt: &'a Interrupt,
}
