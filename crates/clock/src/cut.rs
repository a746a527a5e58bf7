//! Cuts: how many events of each thread are taken.

use crate::{Clock, Time, TimeOverflow, entries};
use event::{Id, ThreadId};
use std::cmp::Ordering;

/// A set of events that with an event has all earlier ones of its thread: the first so many of each thread.
///
/// It is a point of the computation lattice, or a closure under construction. Whether it is *consistent* (closed under
/// the causality model at hand too) is its maker's business: it is if it was made from clocks by
/// [`include`](Cut::include) and [`join`](Cut::join), where a clock's entry counts the events of a thread.
///
/// The order (`<=`) is inclusion, the lattice's partial order.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Cut {
    /// Never ends in a zero, so that equal cuts have equal counts and equal hashes.
    counts: Vec<Time>,
}

impl Cut {
    /// The events that a clock knows.
    pub fn from_clock<C: Clock>(clock: &C) -> Cut {
        Cut { counts: entries::trim(clock.times()).to_vec() }
    }

    /// How many events of a thread are taken.
    #[inline]
    pub fn count(&self, thread: ThreadId) -> Time {
        self.counts.get(thread.index()).copied().unwrap_or(0)
    }

    /// How many events of each thread are taken, by thread index, up to the last thread with any.
    #[inline]
    pub fn counts(&self) -> &[Time] {
        &self.counts
    }

    /// How many events are taken in all: the level of the lattice on which the cut stands.
    pub fn size(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }

    /// Whether a thread's event with this position is taken. Positions count from 0.
    #[inline]
    pub fn contains(&self, thread: ThreadId, position: Time) -> bool {
        position < self.count(thread)
    }

    /// Whether all that the clock knows is taken.
    #[inline]
    pub fn covers<C: Clock>(&self, clock: &C) -> bool {
        entries::le(clock.times(), &self.counts)
    }

    /// Takes the next event of a thread.
    #[inline]
    pub fn advance(&mut self, thread: ThreadId) -> Result<(), TimeOverflow> {
        let count = self.count(thread).checked_add(1).ok_or(TimeOverflow(thread))?;
        self.raise(thread, count);
        Ok(())
    }

    /// Takes at least the first `count` events of a thread.
    #[inline]
    pub fn raise(&mut self, thread: ThreadId, count: Time) {
        let index = thread.index();
        if index >= self.counts.len() {
            if count == 0 {
                return;
            }
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] = self.counts[index].max(count);
    }

    /// Takes all that the clock knows.
    #[inline]
    pub fn include<C: Clock>(&mut self, clock: &C) {
        entries::join(&mut self.counts, entries::trim(clock.times()));
    }

    /// Takes all that the other cut has: the union.
    #[inline]
    pub fn join(&mut self, other: &Cut) {
        entries::join(&mut self.counts, &other.counts);
    }

    /// Becomes the same as the other, reusing its memory.
    #[inline]
    pub fn copy_from(&mut self, other: &Cut) {
        self.counts.clone_from(&other.counts);
    }
}

impl PartialOrd for Cut {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self <= other, other <= self) {
            (true, true) => Some(Ordering::Equal),
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            (false, false) => None,
        }
    }

    #[inline]
    fn le(&self, other: &Self) -> bool {
        entries::le(&self.counts, &other.counts)
    }

    #[inline]
    fn ge(&self, other: &Self) -> bool {
        other <= self
    }
}
