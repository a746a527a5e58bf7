//! The accesses of a window by variable: spans between barriers, and which of them can go wrong.

use crate::threads::{is_access, is_read};
use crate::window::Window;
use event::{Op, ThreadId, VarId};
use rustc_hash::FxHashMap;

/// The accesses of a variable between two barriers (`alloc`, `free`).
#[derive(Clone, Default, Debug)]
pub(crate) struct Span {
    pub(crate) variable: VarId,
    first: Option<ThreadId>,
    /// More than one thread accesses it.
    pub(crate) shared: bool,
    /// Reads, those of `armw` included.
    pub(crate) reads: u32,
    pub(crate) writes: u32,
    /// It begins with the window, not with a barrier.
    pub(crate) from_start: bool,
}

/// The spans of a window.
pub(crate) struct Spans {
    pub(crate) spans: Vec<Span>,
    /// By event of the window: its span. Barriers have none.
    of_event: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Spans {
    pub(crate) fn new(window: &Window<'_>) -> Spans {
        let mut spans: Vec<Span> = Vec::new();
        let mut current: FxHashMap<VarId, u32> = FxHashMap::default();
        let mut of_event = Vec::with_capacity((window.range.end - window.range.start) as usize);
        for (_, event) in window.events() {
            let (op, thread) = (event.op(), event.thread());
            if !is_access(op) {
                of_event.push(NONE);
                continue;
            }
            let fresh = |from_start| Span { variable: event.var(), from_start, ..Span::default() };
            if matches!(op, Op::Alloc | Op::Free) {
                of_event.push(NONE);
                spans.push(fresh(false));
                current.insert(event.var(), spans.len() as u32 - 1);
                continue;
            }
            let span = *current.entry(event.var()).or_insert_with(|| {
                spans.push(fresh(true));
                spans.len() as u32 - 1
            });
            of_event.push(span);
            let span = &mut spans[span as usize];
            span.shared |= *span.first.get_or_insert(thread) != thread;
            span.reads += u32::from(is_read(op) || op == Op::AtomicRmw);
            span.writes += u32::from(!is_read(op));
        }
        Spans { spans, of_event }
    }

    /// The span of an event of the window.
    pub(crate) fn of(&self, offset: u64) -> Option<u32> {
        Some(self.of_event[offset as usize]).filter(|&span| span != NONE)
    }
}
