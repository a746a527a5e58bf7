//! What threads have written of late, and so what a notify can announce.

use crate::place::Place;
use event::{Event, Id, ThreadId, VarId};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// Writes of a thread that are remembered: a notify may announce something that was written before a large copy.
const WRITES: usize = 4096;
/// Notifies of a condition by a thread whose times are remembered.
const TIMES: usize = 4;

/// A notify, and what its thread had written by then.
#[derive(Debug)]
pub(super) struct Notify {
    pub(super) place: Place,
    /// Its writes since the oldest of `notified`, the last at the end.
    wrote: Vec<(VarId, u64)>,
    /// When the thread had notified the condition before, the last time first.
    notified: Vec<u64>,
    /// What was written up to here may not be remembered.
    since: Option<u64>,
}

impl Notify {
    /// Of what a thread knows, each variable with the time of its read: the last read of something that this notify
    /// announces, if that was written since. If that is not `all` that it knows, the rest was read before.
    /// `may_write` says whether the thread of the notify may have written a variable at all.
    pub(super) fn test(&self, known: &[(VarId, u64)], all: bool, may_write: impl Fn(VarId) -> bool) -> Option<u64> {
        let last = |variable: VarId| self.wrote.iter().rfind(|wrote| wrote.0 == variable).map(|wrote| wrote.1);
        let newest = known.iter().filter_map(|&(variable, _)| last(variable)).max()?;
        let notified = self.notified.iter().copied().find(|&notified| notified < newest);
        // What it knows beside this may have been written later, and after another notify: then that is the news. If no
        // notify came since, it is announced together with this, and this was read later.
        if !all && notified != self.notified.first().copied() {
            return None;
        }
        // What is not remembered may have been written meanwhile.
        let is_unsure = |&(variable, _): &(VarId, u64)| last(variable).is_none() && may_write(variable);
        if self.since > notified && known.iter().any(is_unsure) {
            return None;
        }
        let is_announced = |&&(variable, _): &&(VarId, u64)| last(variable).is_some_and(|at| Some(at) > notified);
        let &(variable, read) = known.iter().filter(is_announced).max_by_key(|known| known.1)?;
        last(variable).filter(|&at| at > read).map(|_| read)
    }
}

/// The last writes of a thread.
#[derive(Default, Debug)]
struct LastWrites {
    last: VecDeque<(VarId, u64)>,
    /// The last of those that are not remembered.
    out: Option<u64>,
}

/// The writes of all threads, as far as they are remembered.
#[derive(Default, Debug)]
pub(super) struct Writes {
    by_thread: Vec<LastWrites>,
}

impl Writes {
    pub(super) fn grow(&mut self, threads: usize) {
        self.by_thread.resize_with(threads, LastWrites::default);
    }

    pub(super) fn write(&mut self, event: Event, index: u64) {
        let LastWrites { last, out } = &mut self.by_thread[event.thread().index()];
        match last.back_mut() {
            Some((variable, at)) if *variable == event.var() => *at = index,
            _ => {
                if last.len() == WRITES {
                    *out = last.pop_front().map(|(_, at)| at);
                }
                last.push_back((event.var(), index));
            }
        }
    }

    /// A notify of a condition.
    pub(super) fn notify(&self, place: Place, notified: &mut NotifyTimes) -> Arc<Notify> {
        let times = notified.entry(place.thread).or_default();
        let oldest = if times.len() == TIMES { times.last().copied() } else { None };
        let LastWrites { last, out } = &self.by_thread[place.thread.index()];
        let since = last.partition_point(|&(_, at)| Some(at) <= oldest);
        let wrote = last.range(since..).copied().collect();
        let notify = Arc::new(Notify { place, wrote, notified: times.clone(), since: (*out).max(oldest) });
        times.truncate(TIMES - 1);
        times.insert(0, place.event);
        notify
    }
}

/// Who has notified a condition, and when, the last time first.
pub(super) type NotifyTimes = FxHashMap<ThreadId, Vec<u64>>;
