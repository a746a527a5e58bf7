//! What flat and tree clocks share, and the discipline under which they are interchangeable.

use crate::{Epoch, VectorClock};
use event::{Id, ThreadId};
use std::fmt;

/// Local time of one thread: 0 is "nothing known", a thread's own time begins at 1.
///
/// 32 bits, because joins, copies and comparisons are bound by memory: twice as many entries in a cache line and in a
/// register as with 64. A thread's time advances when it hands its clock out (or, for position clocks, once per event),
/// so only a thread with more than four billion such events outgrows it; [`Clock::increment`] reports that instead of
/// wrapping around, since every later comparison would be wrong.
pub type Time = u32;

/// A thread's time has no successor. What was computed so far stands; the analysis cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeOverflow(
    /// The thread that has reached the last time.
    pub ThreadId,
);

impl fmt::Display for TimeOverflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the logical time of thread number {} exceeds 32 bits", self.0.0)
    }
}

impl std::error::Error for TimeOverflow {}

/// A logical clock: a time for every thread.
///
/// There are two kinds of clocks. A *thread clock* is made by [`of_thread`](Clock::of_thread), has that thread as its
/// owner, and is the only kind that is incremented and joined into. All others (of a lock, of a variable's last write)
/// begin empty and are *copies* of thread clocks. Where many clocks must be united without an owner (readers of a lock,
/// posts of a latch), a plain [`VectorClock`] takes them: [`gather_into`](Clock::gather_into), then
/// [`join_flat`](Clock::join_flat).
///
/// **Discipline.** After a thread clock was handed out (copied, gathered, or joined into another), its owner increments
/// it before it joins anything more. So a pair of thread and time stands for one state of knowledge, and whoever knows
/// thread t at time c knows all that t knew then. [`TreeClock`](crate::TreeClock) rests on this to skip what is already
/// known, in [`join`](Clock::join), the monotone copies and [`le`](Clock::le); without it, its answers are wrong.
/// [`VectorClock`] does not need it: used as itself, it may join into any clock and compare any two.
/// The discipline binds the analysis, not the trace: no order of events in the trace can break it. It also allows an
/// analysis over flat clocks to skip most joins: keep the owner's [`Epoch`] beside each copy, and join only if not
/// [`Epoch::le`].
pub trait Clock: Clone + Default + fmt::Debug {
    /// The clock of a thread at its beginning: time 1 for itself, nothing known of others.
    fn of_thread(thread: ThreadId) -> Self;

    /// All times, by thread index. What is beyond the end is 0; zeros at the end mean nothing.
    fn times(&self) -> &[Time];

    /// The time of one thread, 0 if nothing is known of it.
    #[inline]
    fn get(&self, thread: ThreadId) -> Time {
        self.times().get(thread.index()).copied().unwrap_or(0)
    }

    /// One entry with its thread.
    #[inline]
    fn epoch(&self, thread: ThreadId) -> Epoch {
        Epoch::new(thread, self.get(thread))
    }

    /// Advances the owner's own time. At the last time the clock stays as it is.
    ///
    /// `owner` must be the thread of [`of_thread`](Clock::of_thread): a flat clock does not remember it.
    fn increment(&mut self, owner: ThreadId) -> Result<(), TimeOverflow>;

    /// Learns all that `other` knows: every entry becomes the later of the two. `self` is a thread clock.
    fn join(&mut self, other: &Self);

    /// Learns all that was gathered in a flat clock. `self` is a thread clock.
    fn join_flat(&mut self, gathered: &VectorClock);

    /// Adds all that this clock knows to a flat clock (in which nothing but clocks was gathered).
    fn gather_into(&self, gathered: &mut VectorClock);

    /// Becomes a copy of `other`, whatever it was before, reusing its memory. `self` is not a thread clock.
    fn copy_from(&mut self, other: &Self);

    /// Becomes a copy of `other`, which must know all that `self` knows, as at the release of a lock whose acquire
    /// was joined. `self` is not a thread clock.
    fn monotone_copy(&mut self, other: &Self);

    /// Becomes a copy of `other`, the fast way if `self` happens to be below it: CopyCheckMonotone of the tree-clock
    /// paper, for last-write clocks, which SHB overwrites without joining them. `self` is not a thread clock.
    fn copy_check_monotone(&mut self, other: &Self);

    /// Whether `other` knows all that `self` knows.
    fn le(&self, other: &Self) -> bool;

    /// Forgets everything but the memory. `self` is not a thread clock.
    fn clear(&mut self);
}
