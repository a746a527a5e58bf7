//! The lifetimes of variables in a window: their accesses between two lifetime boundaries (`alloc`, `free`, the ends of
//! the window).
//!
//! Lifetime boundaries keep their order with all accesses, so no rule of `weak-hb` or `maximal` relates accesses of
//! different lifetimes. A lifetime within one thread, or without a conflict, needs no rules at all.

use crate::builder::{is_access, is_read};
use crate::window::Window;
use event::{ThreadId, VarId};
use rustc_hash::FxHashMap;

/// The accesses of a variable between two lifetime boundaries, summed up.
#[derive(Clone, Default, Debug)]
pub(crate) struct Lifetime {
    pub(crate) variable: VarId,
    first_thread: Option<ThreadId>,
    /// Whether more than one thread accesses it.
    pub(crate) shared: bool,
    /// How many accesses read, `armw` included.
    pub(crate) reads: u32,
    /// How many accesses write, `armw` included.
    pub(crate) writes: u32,
    /// Whether it begins with the window, not with an `alloc` or `free`.
    pub(crate) from_start: bool,
}

/// The lifetimes of a window.
pub(crate) struct Lifetimes {
    pub(crate) all: Vec<Lifetime>,
    /// By event of the window: its lifetime. Lifetime boundaries have none.
    of_event: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Lifetimes {
    pub(crate) fn new(window: &Window<'_>) -> Lifetimes {
        let mut all: Vec<Lifetime> = Vec::new();
        let mut current: FxHashMap<VarId, u32> = FxHashMap::default();
        let mut of_event = Vec::with_capacity((window.range.end - window.range.start) as usize);
        for (_, event) in window.events() {
            let (op, thread) = (event.op(), event.thread());
            if !is_access(op) {
                of_event.push(NONE);
                continue;
            }
            let fresh = |from_start| Lifetime { variable: event.var(), from_start, ..Lifetime::default() };
            if op.bounds_lifetime() {
                of_event.push(NONE);
                all.push(fresh(false));
                current.insert(event.var(), all.len() as u32 - 1);
                continue;
            }
            let lifetime = *current.entry(event.var()).or_insert_with(|| {
                all.push(fresh(true));
                all.len() as u32 - 1
            });
            of_event.push(lifetime);
            let lifetime = &mut all[lifetime as usize];
            lifetime.shared |= *lifetime.first_thread.get_or_insert(thread) != thread;
            lifetime.reads += u32::from(op.reads());
            lifetime.writes += u32::from(!is_read(op));
        }
        Lifetimes { all, of_event }
    }

    /// The lifetime of an event of the window.
    pub(crate) fn of_event(&self, offset: u64) -> Option<u32> {
        Some(self.of_event[offset as usize]).filter(|&lifetime| lifetime != NONE)
    }
}
