//! An event, as far as a report needs it.

use event::{Event, SiteId, ThreadId};

/// An event: its index in the trace, its thread, and where in the program it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Place {
    /// Its index in the trace.
    pub event: u64,
    /// Its thread.
    pub thread: ThreadId,
    /// Where in the program it is.
    pub site: SiteId,
}

impl Place {
    pub(crate) fn new(event: Event, index: u64) -> Place {
        Place { event: index, thread: event.thread(), site: event.site() }
    }
}
