//! Epochs: a thread and its time in one word, for what a whole clock would be too much (FastTrack, PLDI'09).

use crate::{Clock, Time};
use event::ThreadId;
use std::fmt;

/// One entry of a clock: a time of a thread. Two epochs are equal if they are the same word.
///
/// The default is [`Epoch::NONE`], and is all zero bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Epoch(u64);

impl Epoch {
    /// Before everything: no access yet.
    pub const NONE: Epoch = Epoch(0);

    /// A time of a thread. Time 0 of any thread is [`Epoch::NONE`].
    #[inline]
    pub const fn new(thread: ThreadId, time: Time) -> Epoch {
        if time == 0 { Epoch::NONE } else { Epoch((time as u64) << 32 | thread.0 as u64) }
    }

    /// The thread; thread 0 for [`Epoch::NONE`].
    #[inline]
    pub const fn thread(self) -> ThreadId {
        ThreadId(self.0 as u32)
    }

    /// The time; 0 for [`Epoch::NONE`].
    #[inline]
    pub const fn time(self) -> Time {
        (self.0 >> 32) as Time
    }

    /// Whether it is [`Epoch::NONE`].
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether the clock knows its thread at this time or later.
    #[inline]
    pub fn le<C: Clock>(self, clock: &C) -> bool {
        self.time() <= clock.get(self.thread())
    }
}

/// `time@thread`, as in the paper.
impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() { f.write_str("⊥") } else { write!(f, "{}@T{}", self.time(), self.thread().0) }
    }
}
