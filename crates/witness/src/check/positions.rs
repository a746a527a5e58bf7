//! The positions of events in a schedule, and the first event that breaks a rule there.

use super::refusal::{Reason, Refusal, Rule};
use crate::sections::NONE;

/// The position of an event that is not in the schedule: after all others.
pub(super) const ABSENT: u32 = u32::MAX;

/// By event: its position in the schedule, from 1; and the first refusal so far.
///
/// "Event b comes after event a" means that the position of a is less than that of b, unless b is absent. Absent events
/// have the greatest position, so "b comes after all of these" compares b with the [`Latest`] of them.
pub(super) struct Positions {
    /// The index of the first event of the trace.
    first: u64,
    positions: Vec<u32>,
    /// The position of the refused event. Only earlier events are of interest.
    limit: u32,
    refusal: Option<Refusal>,
}

/// Of a set of events that only grows, the one with the latest position; of several absent ones the last recorded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Latest {
    position: u32,
    event: u32,
}

impl Default for Latest {
    fn default() -> Self {
        Latest { position: 0, event: NONE }
    }
}

impl Latest {
    /// Whether it has a later position than the other.
    pub(super) fn is_after(self, other: Latest) -> bool {
        self.position > other.position
    }

    /// Adds to the set.
    #[inline]
    pub(super) fn add(&mut self, other: Latest) {
        *self = (*self).max(other);
    }
}

impl Positions {
    /// The positions of a schedule over a trace of `events` events, the first of which has the index `first`.
    pub(super) fn new(first: u64, events: usize, schedule: &[u64]) -> Result<Positions, Refusal> {
        let mut positions = vec![ABSENT; events];
        for (position, &event) in schedule.iter().enumerate() {
            let slot = event.checked_sub(first).and_then(|offset| positions.get_mut(usize::try_from(offset).ok()?));
            match slot {
                None => return Err(Refusal { position, event, reason: Reason::NotInTrace }),
                Some(slot) if *slot != ABSENT => {
                    let reason = Reason::Twice { position: *slot as usize - 1 };
                    return Err(Refusal { position, event, reason });
                }
                Some(slot) => *slot = position as u32 + 1,
            }
        }
        Ok(Positions { first, positions, limit: ABSENT, refusal: None })
    }

    /// Whether an event is in the schedule.
    #[inline]
    pub(super) fn contains(&self, event: u32) -> bool {
        self.positions[event as usize] != ABSENT
    }

    /// Puts an event at a position of the schedule, where others may be, too.
    pub(super) fn insert(&mut self, event: u32, position: usize) {
        self.positions[event as usize] = position as u32 + 1;
    }

    /// Takes an event out of the schedule.
    pub(super) fn remove(&mut self, event: u32) {
        self.positions[event as usize] = ABSENT;
    }

    /// The index of an event, from its offset in the trace.
    pub(super) fn index(&self, event: u32) -> u64 {
        self.first + u64::from(event)
    }

    /// The offset in the trace of an event of the schedule.
    #[inline]
    pub(super) fn offset(&self, index: u64) -> u32 {
        (index - self.first) as u32
    }

    /// An event with its position.
    #[inline]
    pub(super) fn get(&self, event: u32) -> Latest {
        Latest { position: self.positions[event as usize], event }
    }

    /// Refuses an event that does not come after all of a set.
    #[inline]
    pub(super) fn require(&mut self, event: u32, before: Latest, rule: Rule) {
        let position = self.positions[event as usize];
        if before.position >= position && position < self.limit {
            self.out_of_order(event, before, rule);
        }
    }

    #[cold]
    fn out_of_order(&mut self, event: u32, before: Latest, rule: Rule) {
        let other = self.index(before.event);
        let reason = match before.position {
            ABSENT => Reason::Without { other, rule },
            _ => Reason::Before { other, rule },
        };
        self.refuse(event, reason);
    }

    /// Refuses an event at its position. Only the refusal with the earliest position counts.
    #[cold]
    pub(super) fn refuse(&mut self, event: u32, reason: Reason) {
        let position = self.positions[event as usize];
        if position < self.limit {
            self.limit = position;
            self.refusal = Some(Refusal { position: position as usize - 1, event: self.index(event), reason });
        }
    }

    /// The number of events of a schedule of this length before the first refused one.
    pub(super) fn valid_prefix(&self, schedule: usize) -> usize {
        schedule.min(self.limit as usize - 1)
    }

    /// The refusal, if there is one.
    pub(super) fn into_result(self) -> Result<(), Refusal> {
        self.refusal.map_or(Ok(()), Err)
    }
}
