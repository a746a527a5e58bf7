//! The clock that is obviously right: a map from threads to times.

use crate::{Clock, Time};
use event::{Id, ThreadId};
use std::collections::BTreeMap;

/// Never holds a time 0.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Naive(BTreeMap<ThreadId, Time>);

impl Naive {
    pub(super) fn get(&self, thread: ThreadId) -> Time {
        self.0.get(&thread).copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, thread: ThreadId, time: Time) {
        if time == 0 {
            self.0.remove(&thread)
        } else {
            self.0.insert(thread, time)
        };
    }

    pub(super) fn join(&mut self, other: &Naive) {
        for (&thread, &time) in &other.0 {
            let entry = self.0.entry(thread).or_default();
            *entry = time.max(*entry);
        }
    }

    pub(super) fn le(&self, other: &Naive) -> bool {
        self.0.iter().all(|(&thread, &time)| time <= other.get(thread))
    }

    pub(super) fn of<C: Clock>(clock: &C) -> Naive {
        let mut naive = Naive::default();
        for (index, &time) in clock.times().iter().enumerate() {
            naive.set(ThreadId::from_index(index), time);
        }
        naive
    }

    /// Whether the clock has exactly these times.
    pub(super) fn is<C: Clock>(&self, clock: &C) -> bool {
        let mut entries = self.0.iter().map(|(&thread, &time)| (thread.index(), time));
        let times = clock.times().iter().copied().enumerate().filter(|&(_, time)| time != 0);
        times.into_iter().all(|entry| entries.next() == Some(entry)) && entries.next().is_none()
    }
}
