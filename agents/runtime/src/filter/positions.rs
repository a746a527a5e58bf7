//! Where in a slot's records a stamp is: its position, and its rank among what was kept there.

use super::cell::STAMP_BITS;
use super::memory::Filter;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::fence;

/// A segment and a stamp in it, as one number that only grows.
#[inline]
pub(super) const fn moment(segment: u64, stamp: u32) -> u64 {
    segment << STAMP_BITS | stamp as u64
}

/// Where a moment is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// At this position, with this rank in it.
    At(u64, u32),
    /// Before this position, nobody knows where.
    Before(u64),
}

/// More moments at one position have the same rank: 2^30.
const MOST_RANK: u64 = (1 << crate::record::RANK_BITS) - 1;

impl Filter {
    /// A slot's thread begins a position at this moment.
    #[inline]
    pub(super) fn begin_position(&self, slot: u32, position: u64, moment: u64) {
        self.position(slot, position).store(moment, Relaxed);
        self.slot(slot).position.store(position, Release);
    }

    /// The position in which a moment of a slot was. Its thread may be at work meanwhile.
    pub(super) fn find(&self, slot: u32, moment: u64) -> Found {
        let position = &self.slot(slot).position;
        let begun = |p| self.position(slot, p).load(Relaxed);
        let newest = position.load(Acquire);
        let oldest = (newest + 1).saturating_sub(self.remembered());
        // What is begun at `above` is after the moment; what is begun at `at` is not, in the end. Most are near the newest.
        let (mut at, mut above) = (newest, newest + 1);
        let mut start = begun(at);
        let mut step = 1;
        while start > moment && at > oldest {
            above = at;
            at = at.saturating_sub(step).max(oldest);
            start = begun(at);
            step *= 2;
        }
        let known = start <= moment;
        while known && above - at > 1 {
            let middle = at + (above - at) / 2;
            let there = begun(middle);
            if there <= moment {
                (at, start) = (middle, there);
            } else {
                above = middle;
            }
        }
        // The thread may have gone on, and used again what was looked at.
        fence(Acquire);
        let now = (position.load(Relaxed) + 1).saturating_sub(self.remembered());
        if !known || oldest < now && at <= now {
            return Found::Before(oldest.max(now));
        }
        Found::At(at, (moment - start).min(MOST_RANK) as u32)
    }
}
