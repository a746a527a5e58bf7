//! What the caller of an analysis decides while it works: when it stops, who hears of its progress, what is read again.

use event::Batch;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use trace::Source;

/// Hears which phase an analysis is in. `()` ignores it.
pub trait Progress {
    /// A phase begins whose length is not known.
    fn begin(&self, phase: &str);

    /// That phase has ended.
    fn end(&self);

    /// So many events were read, up to this byte of the input.
    fn read(&self, _consumed: u64, _events: u64) {}
}

impl Progress for () {
    fn begin(&self, _: &str) {}

    fn end(&self) {}
}

/// What is called for each batch of a trace.
pub type EachBatch<'a> = dyn FnMut(&dyn Source, &Batch) -> ControlFlow<()> + 'a;

/// Reads the trace once more, as far as that is possible: from the event with this index on, or from one before it.
pub type Reread<'a> = dyn Fn(u64, &mut EachBatch<'_>) + 'a;

/// What the caller decides from outside.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Once it is set, the analysis ends soon, and reports what it has.
    pub cancel: &'a AtomicBool,
    /// Hears of the progress.
    pub progress: &'a dyn Progress,
    /// Reads the trace again. The analysis asks for it only if the trace was not retained, for what its findings need:
    /// the context of their events, and witnesses. Without it such findings have no stacks.
    pub reread: Option<&'a Reread<'a>>,
}

impl Control<'_> {
    /// A control that never cancels, hears nothing and reads nothing again.
    pub fn none() -> Control<'static> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Control { cancel: &NEVER, progress: &(), reread: None }
    }

    /// Whether the caller wants the work to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Announces a phase, which ends when the guard is dropped.
    pub(crate) fn phase(&self, what: &str) -> Phase<'_> {
        self.progress.begin(what);
        Phase { progress: self.progress }
    }
}

/// A phase that is under way.
pub(crate) struct Phase<'a> {
    progress: &'a dyn Progress,
}

impl Drop for Phase<'_> {
    fn drop(&mut self) {
        self.progress.end();
    }
}
