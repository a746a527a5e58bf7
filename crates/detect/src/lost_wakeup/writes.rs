//! What threads have written of late, and so what a notify can tell of.

use crate::place::Place;
use event::{Event, Id, ThreadId, VarId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Variables of which a thread's last write is remembered; one that shares its place with another drives it out.
const WRITES: usize = 32;
/// Notifies of a condition by a thread whose times are remembered.
const TIMES: usize = 8;

/// A notify, and what its thread had written by then.
#[derive(Debug)]
pub(super) struct Notify {
    pub(super) place: Place,
    /// Variables, each with the last write of it, since the oldest of `told`.
    wrote: Vec<(VarId, u64)>,
    /// When the thread had notified the condition before, the last time first.
    told: Vec<u64>,
    /// What was written up to here may not be remembered.
    since: Option<u64>,
}

impl Notify {
    /// Of what somebody knows, each variable with the time of its read: the last read of something that this tells of, if that was written since. `may_write` tells whether its thread may have
    /// written a variable at all.
    pub(super) fn test(
        &self,
        known: impl Iterator<Item = (VarId, u64)> + Clone,
        may_write: impl Fn(VarId) -> bool,
    ) -> Option<u64> {
        let last = |variable: VarId| self.wrote.iter().find(|wrote| wrote.0 == variable).map(|wrote| wrote.1);
        let newest = known.clone().filter_map(|(variable, _)| last(variable)).max()?;
        let told = self.told.iter().copied().find(|&told| told < newest);
        // What is not remembered may have been written meanwhile.
        let is_unsure = |(variable, _)| last(variable).is_none() && may_write(variable);
        if self.since > told && known.clone().any(is_unsure) {
            return None;
        }
        let is_told = |&(variable, _): &(VarId, u64)| last(variable).is_some_and(|at| Some(at) > told);
        let (variable, read) = known.filter(is_told).max_by_key(|&(_, read)| read)?;
        last(variable).filter(|&at| at > read).map(|_| read)
    }
}

#[derive(Clone, Debug)]
struct Thread {
    /// Variables, each with its last write.
    last: [Option<(VarId, u64)>; WRITES],
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
            .get_or_insert_with(|| Box::new(Thread { last: [None; WRITES], out: None }));
        let variable = event.var();
        let old = thread.last[variable.index() % WRITES].replace((variable, index));
        if let Some((other, at)) = old
            && other != variable
        {
            thread.out = thread.out.max(Some(at));
        }
    }

    /// A notify of a condition.
    pub(super) fn notify(&self, place: Place, told: &mut Told) -> Arc<Notify> {
        let times = told.entry(place.thread).or_default();
        let oldest = if times.len() == TIMES { times.last().copied() } else { None };
        let thread = self.by_thread[place.thread.index()].as_deref();
        let is_new = |&(_, at): &(VarId, u64)| Some(at) > oldest;
        let wrote = thread.iter().flat_map(|thread| thread.last).flatten().filter(is_new).collect();
        let out = thread.and_then(|thread| thread.out);
        let notify = Arc::new(Notify { place, wrote, told: times.clone(), since: out.max(oldest) });
        times.truncate(TIMES - 1);
        times.insert(0, place.event);
        notify
    }
}

/// Who has notified a condition, and when, the last time first.
pub(super) type Told = FxHashMap<ThreadId, Vec<u64>>;
