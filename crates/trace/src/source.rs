//! Where events come from, batch by batch, whatever the format.

use crate::{Error, InputPosition, Loss};
use event::{Batch, Meta, Names};

/// A trace being read. Batches come in recorded order; after each, the names and the meta-information know
/// everything that the events so far refer to.
pub trait Source: Send {
    /// Replaces `batch` by the next stretch of events, of any length; it may hold nothing but initial values, or
    /// nothing at all where much of the input says nothing, so that the caller can stop. Waits only while there is
    /// nothing to read. `false`: there are no more, and `batch` is empty.
    ///
    /// After an error the events delivered so far stand, and the source has ended.
    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool, Error>;

    /// The names known so far.
    fn names(&self) -> &Names;

    /// What was recorded so far beside the events.
    fn meta(&self) -> &Meta;

    /// What is known to be missing, so far. Empty at the end: the trace is complete.
    fn losses(&self) -> &[Loss];

    /// Where the event with this index *within the last batch* stands in the input, for messages.
    fn place(&self, index: usize) -> Option<InputPosition>;

    /// Bytes of input consumed, for progress.
    fn consumed(&self) -> u64;

    /// Where the next batch begins, for a text that can be read on from there ([`resume`](crate::resume)).
    fn resume_point(&self) -> Option<ResumePoint> {
        None
    }

    /// Passes over events before the one with this index, as far as that is cheap: the next batch begins at or before
    /// it. To be called before the first batch.
    fn skip_to(&mut self, _event: u64) -> Result<(), Error> {
        Ok(())
    }
}

/// A place between two lines of a text trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResumePoint {
    /// Bytes before it.
    pub byte: u64,
    /// Lines before it.
    pub line: u64,
    /// Events before it.
    pub event: u64,
}

/// A whole trace in memory.
#[derive(Clone, Default, Debug)]
pub struct Trace {
    /// All names.
    pub names: Names,
    /// Everything recorded beside the events.
    pub meta: Meta,
    /// All events.
    pub batch: Batch,
    /// What is missing.
    pub losses: Vec<Loss>,
}

impl Trace {
    /// Reads a source to its end.
    pub fn read(source: &mut dyn Source) -> Result<Trace, Error> {
        let mut trace = Trace::default();
        let mut batch = Batch::default();
        while source.next_batch(&mut batch)? {
            trace.batch.append(&batch);
        }
        trace.names = source.names().clone();
        trace.meta = source.meta().clone();
        trace.losses = source.losses().to_vec();
        Ok(trace)
    }
}
