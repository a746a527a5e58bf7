//! When locks were released back. Whoever takes one then has a time that is later, without a look at the clock, which costs more than all the rest of the record.
//!
//! Times order the records of all threads. Only those need be ordered of which one lets the other happen: of a lock, that it is released back, and that it is acquired
//! next. So the one who gives it leaves its time in the lock's [`HandOff`], and the one who takes it has the next; both only see to it that their times are not
//! before [`Process::coarse`](crate::layout::Process::coarse), so that the observer knows when no earlier ones come any more. Every such time is in the past:
//! times by the clock, of everything else, are later than those that they must be later than.
//!
//! The chain is of those links only that were seen to be made: a lock that was acquired or released in any other way is [`HandOff`]'s nobody, and then the clock tells the time.
//!
//! That a lock could not be acquired is told of one moment, which must be while it was held. Such a lock ([`HandOff::set_clock_only`]) has all its times by the clock.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

/// How the time of a record is found. It is always later than the one of its thread before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// By the clock, when what the record tells of is done: later than what others had acquired when they let this one do it.
    Now,
    /// By the clock, before it is done.
    Before,
    /// Later than this time. The clock need not be asked.
    After(u64),
}

/// With the slot of who has it: nobody else gives it back.
const HELD: u64 = 1 << 63;
/// For good.
const CLOCK_ONLY: u64 = 1 << 62;
/// With the address of a mutex: it is a condition's, and all who wait on it have that mutex.
const WAITED: u64 = 1 << 61;
/// Nobody knows: it may have been released back by one who did not say so.
const UNKNOWN: u64 = 0;

/// When a lock was released back last, as long as it is free. Zeroed memory knows nothing. Only who has the lock changes it, but for [`HandOff::set_clock_only`] and
/// [`HandOff::forget`].
#[derive(Default, Debug)]
#[repr(C)]
pub struct HandOff {
    time: AtomicU64,
    /// By whom, and at which position ([`Recorder::now`](crate::filter::Recorder::now)): all that it did until then has earlier times.
    until: AtomicU64,
}

/// What is known of a lock that was acquired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Acquired {
    /// How the time of it is found.
    pub timing: Timing,
    /// If it was handed over: until when all that another did is earlier.
    pub until: Option<u64>,
}

impl HandOff {
    /// The lock was acquired by the thread of a slot.
    #[inline(always)]
    pub fn acquired(&self, slot: u32) -> Acquired {
        let now = self.time.load(Relaxed);
        if now == CLOCK_ONLY {
            return Acquired { timing: Timing::Now, until: None };
        }
        self.time.store(held(slot), Relaxed);
        if now == UNKNOWN || now & (HELD | WAITED) != 0 {
            return Acquired { timing: Timing::Now, until: None };
        }
        Acquired { timing: Timing::After(now), until: Some(self.until.load(Relaxed)) }
    }

    /// The thread of a slot, which has come until here, is about to give it back. `time` finds the time of that.
    #[inline(always)]
    pub fn released(&self, slot: u32, until: u64, time: impl FnOnce(Timing) -> u64) -> u64 {
        let now = self.time.load(Relaxed);
        if now == held(slot) {
            let time = time(Timing::After(0));
            self.until.store(until, Relaxed);
            self.time.store(time, Relaxed);
            return time;
        }
        if now != CLOCK_ONLY {
            self.time.store(UNKNOWN, Relaxed);
        }
        time(Timing::Before)
    }

    /// Whether all its times are by the clock.
    pub fn is_clock_only(&self) -> bool {
        self.time.load(SeqCst) == CLOCK_ONLY
    }

    /// Makes them so. One who was about to change it may still do so. So who calls this makes all threads see it (a barrier in each), waits until those that had begun a record
    /// ([`Sink::begin`](crate::filter::Sink::begin)) have put it, and looks again.
    pub fn set_clock_only(&self) {
        self.time.store(CLOCK_ONLY, SeqCst);
    }

    /// Whether the thread of a slot has it, and all about that was seen.
    #[inline(always)]
    pub fn is_held_by(&self, slot: u32) -> bool {
        self.time.load(Relaxed) == held(slot)
    }

    /// Of a condition: somebody waits on it who has the mutex of this address.
    pub fn waited(&self, mutex: u64) {
        match self.time.load(Relaxed) {
            UNKNOWN => self.time.store(WAITED | mutex, Relaxed),
            now if now == WAITED | mutex => {}
            _ => self.set_clock_only(),
        }
    }

    /// Of a condition: the mutex of all who have waited on it, if there were any, and nobody has notified it without that mutex.
    #[inline(always)]
    pub fn mutex(&self) -> Option<u64> {
        let now = self.time.load(Relaxed);
        (now & (HELD | CLOCK_ONLY | WAITED) == WAITED).then_some(now & !WAITED)
    }

    /// There is another lock from now on, or none: who takes it must be later than its beginning, too.
    #[inline(always)]
    pub fn forget(&self) {
        // Most memory never had a lock.
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

    const NOW: Acquired = Acquired { timing: Timing::Now, until: None };

    fn by_clock(timing: Timing) -> u64 {
        if timing == Timing::Before { 7 } else { 0 }
    }

    #[test]
    fn who_takes_it_is_later_than_who_gave_it() {
        let lock = HandOff::default();
        assert_eq!(lock.acquired(1), NOW);
        assert_eq!(lock.released(1, 55, |timing| if timing == Timing::After(0) { 100 } else { 0 }), 100);
        assert_eq!(lock.acquired(2), Acquired { timing: Timing::After(100), until: Some(55) });
    }

    #[test]
    fn a_link_that_was_not_seen_asks_the_clock() {
        let lock = HandOff::default();
        lock.acquired(1);
        // Given by another, or by nobody.
        assert_eq!(lock.released(2, 0, by_clock), 7);
        assert_eq!(lock.acquired(3), NOW);
        assert_eq!(lock.acquired(1), NOW);
        assert_eq!(lock.acquired(1), NOW);
        lock.released(1, 0, |_| 9);
        // Given twice: a lock that was acquired twice.
        assert_eq!(lock.released(1, 0, by_clock), 7);
        assert_eq!(lock.acquired(1), NOW);
    }

    #[test]
    fn an_exact_one_stays_so() {
        let lock = HandOff::default();
        lock.acquired(1);
        lock.set_clock_only();
        assert_eq!(lock.released(1, 0, by_clock), 7);
        assert_eq!(lock.acquired(1), NOW);
        assert!(lock.is_clock_only());
    }

    #[test]
    fn conditions_know_the_mutex_of_all_who_wait() {
        let condition = HandOff::default();
        assert_eq!(condition.mutex(), None);
        condition.waited(0x40);
        condition.waited(0x40);
        assert_eq!(condition.mutex(), Some(0x40));
        // What is a mutex there now knows nothing.
        assert_eq!(condition.acquired(1), NOW);
        condition.forget();
        condition.waited(0x40);
        condition.waited(0x80);
        assert_eq!((condition.mutex(), condition.is_clock_only()), (None, true));
    }

    #[test]
    fn another_lock_knows_nothing() {
        let lock = HandOff::default();
        lock.acquired(1);
        lock.released(1, 0, |_| 9);
        lock.forget();
        assert_eq!(lock.acquired(2), NOW);
        lock.set_clock_only();
        lock.forget();
        assert!(!lock.is_clock_only());
    }
}
