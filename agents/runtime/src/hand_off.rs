//! Timestamp hand-off: a lock passes the time of its release to the next acquire, which then needs no look at the
//! clock. (The clock costs more than the rest of the record.)
//!
//! Times order the records of all threads. Only causes and effects need to be ordered: the release of a lock before the
//! next acquire. So a release leaves its time in the lock's [`HandOff`], and the acquire takes the next one. Both take
//! no time before [`Process::coarse`](crate::layout::Process::coarse), so that the observer knows when no earlier ones
//! come any more. Every such time is in the past; times by the clock, of everything else, are therefore later than all
//! that they must be later than.
//!
//! Only links of the chain count that were observed. If a lock was acquired or released in any other way, its state is
//! unknown, and the clock decides.
//!
//! A failed try-lock must be recorded while the lock is held by another thread. Such a lock
//! ([`HandOff::set_clock_only`]) has all its times by the clock. `docs/recording/clock.md` has the whole protocol.

use crate::filter::bits::{EPOCH_SHIFT, MAX_SYNC_INDEX};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// How the time of a record is found. It is always later than the time of its thread's last record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// By the clock, after the action: later than the times that others had taken when they let it happen.
    Now,
    /// By the clock, before the action.
    Before,
    /// Later than this time. The clock need not be read.
    After(u64),
}

/// With the slot of the holder: only the holder releases it.
const HELD: u64 = 1 << 63;
/// All times of this lock come from the clock, for good.
const CLOCK_ONLY: u64 = 1 << 62;
/// With the address of a mutex: this is a condition, and all threads that waited on it held that mutex.
const WAITED: u64 = 1 << 61;
/// Unknown: it may have been released unseen.
const UNKNOWN: u64 = 0;

/// The state of a lock: its holder, or the time of its last release. Zeroed memory is unknown. Only the holder of the
/// lock changes it, except by [`HandOff::set_clock_only`] and [`HandOff::forget`].
#[derive(Default, Debug)]
#[repr(C)]
pub struct HandOff {
    time: AtomicU64,
    /// While it is held: the sync index at which its critical section began.
    ///
    /// After its release: who released it, and at which sync index, as the `at` of an entry; all accesses of that
    /// thread up to there have earlier times. Instead of a sequence number, it has how many sync indexes the critical
    /// section took ([`Section`]).
    ///
    /// If all times come from the clock: how often it was acquired and released since, if that was observed.
    until: AtomicU64,
}

/// The bits of a point that hold sequence number and flags: those below the sync index.
const BELOW_SYNC_INDEX: u64 = (1 << EPOCH_SHIFT) - 1;

/// A critical section of a lock that is over: whose it was, and its sync indexes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Section(u64);

impl Section {
    /// The section that a thread ends at a point, and that began at a sync index of it.
    #[inline(always)]
    fn new(until: u64, begun: u64) -> Section {
        let length = (until >> EPOCH_SHIFT).wrapping_sub(begun) & MAX_SYNC_INDEX;
        // A longer section has an unknown beginning.
        Section(until & !BELOW_SYNC_INDEX | length.min(BELOW_SYNC_INDEX))
    }

    /// Its end: the last point of the sync index at which the lock was released.
    #[inline(always)]
    pub fn until(self) -> u64 {
        self.0 | BELOW_SYNC_INDEX
    }

    /// Whether an entry with this `at`, of a thread's own, lies in the section.
    #[inline(always)]
    pub fn has(self, at: u64) -> bool {
        let length = self.0 & BELOW_SYNC_INDEX;
        let before = (self.0 >> EPOCH_SHIFT).wrapping_sub(at >> EPOCH_SHIFT);
        length != BELOW_SYNC_INDEX && before <= length
    }
}

/// What an acquire learns from the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Acquired {
    /// How the time of the acquire is found.
    pub timing: Timing,
    /// If the time was handed off: the critical section before. All accesses of its thread up to its end are earlier.
    pub section: Option<Section>,
}

impl HandOff {
    /// The thread of a slot has acquired the lock. Its critical section begins at this sync index.
    #[inline(always)]
    pub fn acquired(&self, slot: u32, begun: u64) -> Acquired {
        let now = self.time.load(Relaxed);
        if now == CLOCK_ONLY {
            self.count();
            return Acquired { timing: Timing::Now, section: None };
        }
        let before = self.until.load(Relaxed);
        self.until.store(begun, Relaxed);
        self.time.store(held(slot), Relaxed);
        if now == UNKNOWN || now & (HELD | WAITED) != 0 {
            return Acquired { timing: Timing::Now, section: None };
        }
        Acquired { timing: Timing::After(now), section: Some(Section(before)) }
    }

    /// The thread of a slot, now at the point `until`, is about to release the lock. `time` finds the time of the
    /// release.
    #[inline(always)]
    pub fn released(&self, slot: u32, until: u64, time: impl FnOnce(Timing) -> u64) -> u64 {
        let now = self.time.load(Relaxed);
        if now == held(slot) {
            let time = time(Timing::After(0));
            self.until.store(Section::new(until, self.until.load(Relaxed)).0, Relaxed);
            self.time.store(time, Relaxed);
            return time;
        }
        if now == CLOCK_ONLY {
            self.count();
        } else {
            self.time.store(UNKNOWN, Relaxed);
        }
        time(Timing::Before)
    }

    /// Another critical section begins, or one ends. Only the holder of the lock counts.
    fn count(&self) {
        self.until.store(self.until.load(Relaxed).wrapping_add(1), Release);
    }

    /// If all its times come from the clock: which critical section it is in. A try-lock that fails between two looks
    /// at the same one fails because of it.
    pub fn section(&self) -> Option<u64> {
        self.is_clock_only().then(|| self.until.load(Acquire))
    }

    /// Whether all its times come from the clock.
    pub fn is_clock_only(&self) -> bool {
        self.time.load(SeqCst) == CLOCK_ONLY
    }

    /// Makes all its times come from the clock. A thread that has already looked at the lock may still change it. So
    /// the caller makes all threads see this (a barrier in each), waits until those that had begun a record
    /// ([`Sink::begin`](crate::filter::Sink::begin)) have finished it, and checks again.
    pub fn set_clock_only(&self) {
        self.time.store(CLOCK_ONLY, SeqCst);
    }

    /// Whether the thread of a slot holds the lock, as far as was observed.
    #[inline(always)]
    pub fn is_held_by(&self, slot: u32) -> bool {
        self.time.load(Relaxed) == held(slot)
    }

    /// Of a condition: a thread that holds the mutex at this address waits on it.
    pub fn waited(&self, mutex: u64) {
        match self.time.load(Relaxed) {
            UNKNOWN => self.time.store(WAITED | mutex, Relaxed),
            now if now == WAITED | mutex => {}
            _ => self.set_clock_only(),
        }
    }

    /// Of a condition: the mutex that all waiters held, if there were any, and no notify came without it.
    #[inline(always)]
    pub fn mutex(&self) -> Option<u64> {
        let now = self.time.load(Relaxed);
        (now & (HELD | CLOCK_ONLY | WAITED) == WAITED).then_some(now & !WAITED)
    }

    /// The lock's lifetime ends: the next acquire must also be later than the beginning of the next lock.
    #[inline(always)]
    pub fn forget(&self) {
        // Most memory never held a lock.
        if self.time.load(Relaxed) != UNKNOWN {
            self.time.store(UNKNOWN, Relaxed);
        }
    }
}

#[inline(always)]
const fn held(slot: u32) -> u64 {
    HELD | slot as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::bits::{MAX_SEQ, epoch_of, point};

    const NOW: Acquired = Acquired { timing: Timing::Now, section: None };

    fn by_clock(timing: Timing) -> u64 {
        if timing == Timing::Before { 7 } else { 0 }
    }

    #[test]
    fn who_takes_it_is_later_than_who_gave_it() {
        let lock = HandOff::default();
        assert_eq!(lock.acquired(1, 1), NOW);
        let until = point(epoch_of(1, 5), MAX_SEQ) | 0xf;
        assert_eq!(lock.released(1, until, |timing| if timing == Timing::After(0) { 100 } else { 0 }), 100);
        let Acquired { timing, section } = lock.acquired(2, 1);
        let section = section.expect("it was handed off");
        assert_eq!((timing, section.until()), (Timing::After(100), until));
        let has = |slot, sync_index| section.has(point(epoch_of(slot, sync_index), 3));
        assert_eq!([0, 1, 5, 6].map(|sync_index| has(1, sync_index)), [false, true, true, false]);
        assert!(!has(2, 3) && !has(0, 3), "of another thread");
    }

    #[test]
    fn a_link_that_was_not_seen_asks_the_clock() {
        let lock = HandOff::default();
        lock.acquired(1, 1);
        // Another thread releases it.
        assert_eq!(lock.released(2, 0, by_clock), 7);
        assert_eq!(lock.acquired(3, 1), NOW);
        assert_eq!(lock.acquired(1, 1), NOW);
        assert_eq!(lock.acquired(1, 1), NOW);
        lock.released(1, 0, |_| 9);
        // Released twice, because it was acquired twice.
        assert_eq!(lock.released(1, 0, by_clock), 7);
        assert_eq!(lock.acquired(1, 1), NOW);
    }

    #[test]
    fn an_exact_one_stays_so() {
        let lock = HandOff::default();
        lock.acquired(1, 1);
        lock.set_clock_only();
        assert_eq!(lock.released(1, 0, by_clock), 7);
        assert_eq!(lock.acquired(1, 1), NOW);
        assert!(lock.is_clock_only());
    }

    #[test]
    fn an_exact_one_counts_its_sections() {
        let lock = HandOff::default();
        lock.acquired(1, 1);
        assert_eq!(lock.section(), None);
        lock.set_clock_only();
        let held = lock.section();
        assert!(held.is_some());
        assert_eq!(lock.section(), held);
        lock.released(1, 0, by_clock);
        let free = lock.section();
        assert_ne!(free, held);
        lock.acquired(2, 1);
        assert!(![held, free].contains(&lock.section()));
    }

    #[test]
    fn conditions_know_the_mutex_of_all_who_wait() {
        let condition = HandOff::default();
        assert_eq!(condition.mutex(), None);
        condition.waited(0x40);
        condition.waited(0x40);
        assert_eq!(condition.mutex(), Some(0x40));
        // A mutex at the same address begins as unknown.
        assert_eq!(condition.acquired(1, 1), NOW);
        condition.forget();
        condition.waited(0x40);
        condition.waited(0x80);
        assert_eq!((condition.mutex(), condition.is_clock_only()), (None, true));
    }

    #[test]
    fn another_lock_knows_nothing() {
        let lock = HandOff::default();
        lock.acquired(1, 1);
        lock.released(1, 0, |_| 9);
        lock.forget();
        assert_eq!(lock.acquired(2, 1), NOW);
        lock.set_clock_only();
        lock.forget();
        assert!(!lock.is_clock_only());
    }
}
