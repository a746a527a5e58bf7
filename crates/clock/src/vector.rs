//! Flat vector clocks: one time per thread, side by side.

use event::{Id, ThreadId};

/// Local time of one thread; 0 is "nothing known".
///
/// 32 bits, because joins and copies are bound by memory: twice as many entries in a cache line and in a register as
/// with 64.
pub type Time = u32;

/// A time for every thread. It grows on demand: an entry that is not there is 0, so threads may appear at any time.
#[derive(Clone, Default, Debug)]
pub struct VectorClock {
    times: Vec<Time>,
}

impl VectorClock {
    /// All times, by thread index. What is beyond the end is 0; zeros at the end mean nothing.
    #[inline]
    pub fn times(&self) -> &[Time] {
        &self.times
    }

    /// The time of one thread, 0 if nothing is known of it.
    #[inline]
    pub fn get(&self, thread: ThreadId) -> Time {
        self.times.get(thread.index()).copied().unwrap_or(0)
    }

    /// Sets one entry to any time.
    #[inline]
    pub fn set(&mut self, thread: ThreadId, time: Time) {
        let index = thread.index();
        if index >= self.times.len() {
            self.times.resize(index + 1, 0);
        }
        self.times[index] = time;
    }

    /// Learns all that `other` knows: every entry becomes the later of the two.
    #[inline]
    pub fn join(&mut self, other: &VectorClock) {
        if self.times.len() < other.times.len() {
            self.times.resize(other.times.len(), 0);
        }
        for (own, &other) in self.times.iter_mut().zip(&other.times) {
            *own = (*own).max(other);
        }
    }

    /// Becomes a copy of `other`, whatever it was before, reusing its memory.
    #[inline]
    pub fn copy_from(&mut self, other: &VectorClock) {
        self.times.clone_from(&other.times);
    }

    /// Forgets everything but the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.times.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const CLOCKS: usize = 4;

    /// Which operation, on which clock, with which other clock, thread and time.
    type Step = (u8, usize, usize, u32, Time);

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        prop::collection::vec((0..8u8, 0..CLOCKS, 0..CLOCKS, 0..40u32, 0..4u32), 1..60)
    }

    fn check(steps: &[Step]) {
        let mut clocks = vec![VectorClock::default(); CLOCKS];
        // The clock that is obviously right: a map from threads to times that are not 0.
        let mut maps = vec![BTreeMap::<usize, Time>::new(); CLOCKS];
        for &(op, a, b, thread, time) in steps {
            let (other, other_map) = (clocks[b].clone(), maps[b].clone());
            match op {
                0 | 1 => {
                    clocks[a].set(ThreadId(thread), time);
                    maps[a].insert(thread as usize, time);
                }
                2 => {
                    clocks[a].clear();
                    maps[a].clear();
                }
                3 | 4 => {
                    clocks[a].copy_from(&other);
                    maps[a] = other_map;
                }
                _ => {
                    clocks[a].join(&other);
                    for (thread, time) in other_map {
                        let own = maps[a].entry(thread).or_default();
                        *own = time.max(*own);
                    }
                }
            }
            maps[a].retain(|_, time| *time != 0);
            let times = clocks[a].times().iter().copied().enumerate().filter(|&(_, time)| time != 0);
            assert_eq!(times.collect::<BTreeMap<_, _>>(), maps[a]);
            assert_eq!(clocks[a].get(ThreadId(thread)), maps[a].get(&(thread as usize)).copied().unwrap_or(0));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn clocks_agree_with_maps(steps in steps()) {
            check(&steps);
        }
    }
}
