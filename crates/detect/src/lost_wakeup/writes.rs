//! What threads have written of late, and so what a notify tells of.

use crate::place::Place;
use event::{Event, Id, ThreadId, VarId};

/// Variables of which a thread's last write is remembered; one that shares its place with another drives it out.
const WRITES: usize = 32;

/// A notify, and what its thread wrote since the one of the same condition before; several without a write in between tell of the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notify {
    pub(super) place: Place,
    wrote: [Option<VarId>; WRITES],
    /// There may be more that is not remembered.
    pub(super) is_more: bool,
}

impl Notify {
    pub(super) fn tells(&self, variable: VarId) -> bool {
        self.wrote[variable.index() % WRITES] == Some(variable)
    }
}

#[derive(Clone, Debug)]
struct Thread {
    /// Variables, each with its last write.
    last: [Option<(VarId, u64)>; WRITES],
    newest: Option<u64>,
    /// The last write of those that were driven out.
    out: Option<u64>,
}

/// The writes of all threads, as far as they are remembered.
#[derive(Default, Debug)]
pub(super) struct Writes {
    by_thread: Vec<Option<Box<Thread>>>,
}

impl Writes {
    pub(super) fn grow(&mut self, threads: usize) {
        self.by_thread.resize_with(threads, || None);
    }

    pub(super) fn write(&mut self, event: Event, index: u64) {
        let thread = self.by_thread[event.thread().index()]
            .get_or_insert_with(|| Box::new(Thread { last: [None; WRITES], newest: None, out: None }));
        thread.newest = Some(index);
        let variable = event.var();
        let old = thread.last[variable.index() % WRITES].replace((variable, index));
        if let Some((other, at)) = old
            && other != variable
        {
            thread.out = thread.out.max(Some(at));
        }
    }

    /// A notify of a condition.
    pub(super) fn notify(&self, place: Place, told: &mut Told) -> Notify {
        let Some(thread) = &self.by_thread[place.thread.index()] else {
            return Notify { place, wrote: [None; WRITES], is_more: false };
        };
        let told = told.entry(place.thread).or_default();
        if thread.newest > told.last {
            told.before = told.last;
        }
        told.last = Some(place.event);
        let is_new = |&(_, at): &(VarId, u64)| Some(at) > told.before;
        let wrote = thread.last.map(|last| last.filter(is_new).map(|(variable, _)| variable));
        Notify { place, wrote, is_more: thread.out > told.before }
    }
}

/// When a thread has notified a condition.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Times {
    last: Option<u64>,
    /// The last time before its newest write.
    before: Option<u64>,
}

/// Who has notified a condition.
pub(super) type Told = rustc_hash::FxHashMap<ThreadId, Times>;
