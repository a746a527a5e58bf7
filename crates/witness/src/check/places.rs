//! Where the events stand in a schedule, and the first of them that stands wrong.

use super::refused::{Broken, Refused, Rule};
use crate::sections::NONE;

/// The place of an event that is not in the schedule: behind all others.
pub(super) const ABSENT: u32 = u32::MAX;

/// The place of each event, from 1, and what was found wrong so far.
///
/// "Event b needs event a" is `place(a) < place(b)`, unless b is absent. As absent events stand behind all others,
/// "b needs all of these" compares b with the latest place among them.
pub(super) struct Places {
    first: u64,
    at: Vec<u32>,
    /// Broken rules are looked for below this place only.
    limit: u32,
    found: Option<Refused>,
}

/// The event with the latest place of a set that only grows; of several that are absent, the last recorded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Latest {
    place: u32,
    event: u32,
}

impl Default for Latest {
    fn default() -> Self {
        Latest { place: 0, event: NONE }
    }
}

impl Latest {
    /// Whether it stands after the other.
    pub(super) fn is_after(self, other: Latest) -> bool {
        self.place > other.place
    }

    /// Adds to the set.
    #[inline]
    pub(super) fn add(&mut self, other: Latest) {
        *self = (*self).max(other);
    }
}

impl Places {
    /// The places of a schedule over a trace of `events` events, the first of which has this index.
    pub(super) fn new(first: u64, events: usize, schedule: &[u64]) -> Result<Places, Refused> {
        let mut at = vec![ABSENT; events];
        for (position, &event) in schedule.iter().enumerate() {
            let slot = event.checked_sub(first).and_then(|offset| at.get_mut(usize::try_from(offset).ok()?));
            match slot {
                None => return Err(Refused { position, event, broken: Broken::NotInTrace }),
                Some(place) if *place != ABSENT => {
                    let broken = Broken::Twice { position: *place as usize - 1 };
                    return Err(Refused { position, event, broken });
                }
                Some(place) => *place = position as u32 + 1,
            }
        }
        Ok(Places { first, at, limit: ABSENT, found: None })
    }

    /// Whether an event is in the schedule.
    #[inline]
    pub(super) fn has(&self, event: u32) -> bool {
        self.at[event as usize] != ABSENT
    }

    /// Puts an event behind the schedule, beside others that may be put there.
    pub(super) fn put(&mut self, event: u32, position: usize) {
        self.at[event as usize] = position as u32 + 1;
    }

    /// Takes an event out of the schedule.
    pub(super) fn remove(&mut self, event: u32) {
        self.at[event as usize] = ABSENT;
    }

    /// The index of an event in the run.
    pub(super) fn index(&self, event: u32) -> u64 {
        self.first + u64::from(event)
    }

    /// The offset in the trace of an event of the schedule.
    #[inline]
    pub(super) fn offset(&self, index: u64) -> u32 {
        (index - self.first) as u32
    }

    /// An event with its place.
    #[inline]
    pub(super) fn of(&self, event: u32) -> Latest {
        Latest { place: self.at[event as usize], event }
    }

    /// The event needs all of these before it.
    #[inline]
    pub(super) fn need(&mut self, event: u32, all: Latest, rule: Rule) {
        let place = self.at[event as usize];
        if all.place >= place && place < self.limit {
            self.out_of_order(event, all, rule);
        }
    }

    #[cold]
    fn out_of_order(&mut self, event: u32, needed: Latest, rule: Rule) {
        let other = self.index(needed.event);
        let broken = match needed.place {
            ABSENT => Broken::Without { other, rule },
            _ => Broken::Before { other, rule },
        };
        self.refuse(event, broken);
    }

    /// The event is wrong where it stands.
    #[cold]
    pub(super) fn refuse(&mut self, event: u32, broken: Broken) {
        let place = self.at[event as usize];
        if place < self.limit {
            self.limit = place;
            self.found = Some(Refused { position: place as usize - 1, event: self.index(event), broken });
        }
    }

    /// How many events of the schedule stand before the first wrong one, as far as known.
    pub(super) fn sound(&self, schedule: usize) -> usize {
        schedule.min(self.limit as usize - 1)
    }

    /// Everything that stands is right, or the first that is not.
    pub(super) fn verdict(self) -> Result<(), Refused> {
        self.found.map_or(Ok(()), Err)
    }
}
