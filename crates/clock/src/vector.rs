//! Flat vector clocks: one time per thread, side by side.

use crate::{Clock, Time, TimeOverflow, entries};
use event::{Id, ThreadId};

/// A vector clock. Its joins, copies and comparisons are plain loops over all entries; and it is the one to take where
/// clocks without an owner are joined, as in multithreaded vector clocks.
#[derive(Clone, Default, Debug)]
pub struct VectorClock {
    times: Vec<Time>,
}

impl VectorClock {
    /// Sets one entry to any time.
    #[inline]
    pub fn set(&mut self, thread: ThreadId, time: Time) {
        *self.entry(thread) = time;
    }

    #[inline]
    pub(crate) fn join_times(&mut self, times: &[Time]) {
        entries::join(&mut self.times, times);
    }

    #[inline]
    fn entry(&mut self, thread: ThreadId) -> &mut Time {
        let index = thread.index();
        if index >= self.times.len() {
            self.times.resize(index + 1, 0);
        }
        &mut self.times[index]
    }
}

impl Clock for VectorClock {
    fn of_thread(thread: ThreadId) -> Self {
        let mut clock = VectorClock::default();
        clock.set(thread, 1);
        clock
    }

    #[inline]
    fn times(&self) -> &[Time] {
        &self.times
    }

    #[inline]
    fn increment(&mut self, owner: ThreadId) -> Result<(), TimeOverflow> {
        let time = self.entry(owner);
        *time = time.checked_add(1).ok_or(TimeOverflow(owner))?;
        Ok(())
    }

    #[inline]
    fn join(&mut self, other: &Self) {
        entries::join(&mut self.times, &other.times);
    }

    #[inline]
    fn join_flat(&mut self, gathered: &VectorClock) {
        self.join(gathered);
    }

    #[inline]
    fn gather_into(&self, gathered: &mut VectorClock) {
        gathered.join(self);
    }

    #[inline]
    fn copy_from(&mut self, other: &Self) {
        self.times.clone_from(&other.times);
    }

    #[inline]
    fn monotone_copy(&mut self, other: &Self) {
        self.copy_from(other);
    }

    #[inline]
    fn copy_check_monotone(&mut self, other: &Self) {
        self.copy_from(other);
    }

    #[inline]
    fn le(&self, other: &Self) -> bool {
        entries::le(&self.times, &other.times)
    }

    #[inline]
    fn clear(&mut self) {
        self.times.clear();
    }
}

/// Zeros at the end make no difference.
impl PartialEq for VectorClock {
    fn eq(&self, other: &Self) -> bool {
        entries::trim(&self.times) == entries::trim(&other.times)
    }
}

impl Eq for VectorClock {}
