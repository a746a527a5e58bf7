//! What a row knows only because somebody read what it raced with.
//!
//! The times of a row follow the order of SHB, in which a plain write comes before the reads that see it.
//! Happens-before does not have these edges. The two orders are one up to the first race that brings a thread news;
//! from then on a row has, beside its times, an entry for each slot of which happens-before alone knows less. There are
//! few as a rule, and none as long as nothing races.

use super::{Clocks, Given, RowId, Slot, Thread, Time};
use event::{Id, ThreadId};

/// A slot of which a row knows more than happens-before alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::hb) struct ByRace {
    slot: Slot,
    /// Up to which time happens-before knows the slot.
    known: Time,
    /// The race by which the rest is known.
    race: u32,
}

impl ByRace {
    /// Whether this is why an access is known.
    #[inline]
    pub(in crate::hb) fn brings(&self, slot: Slot, time: Time) -> bool {
        self.slot == slot && self.known < time
    }

    pub(in crate::hb) fn race(&self) -> u32 {
        self.race
    }
}

/// Clocks gathered from many threads; what is beyond the end is 0.
#[derive(Clone, Default, Debug)]
pub(in crate::hb) struct Gathered {
    pub(super) times: Vec<Time>,
    pub(super) by_race: Vec<ByRace>,
}

impl Gathered {
    pub(in crate::hb) fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    pub(in crate::hb) fn clear(&mut self) {
        self.times.clear();
        self.by_race.clear();
    }

    /// Some word of it, so that it is in the cache.
    #[inline]
    pub(in crate::hb) fn fetch(&self) -> usize {
        self.times.first().map_or(0, |&time| time as usize)
    }

    /// Adds all of another.
    pub(in crate::hb) fn add(&mut self, other: &Gathered) {
        self.times.resize(self.times.len().max(other.times.len()), 0);
        if !(self.by_race.is_empty() && other.by_race.is_empty()) {
            self.by_race = merged((&self.times, &self.by_race), (&other.times, &other.by_race), None, super::NO_SLOT);
        }
        self.times.iter_mut().zip(&other.times).for_each(|(a, b)| *a = (*a).max(*b));
    }
}

/// What comes from races in the union of two clocks, by the times before they are united. The first one's `own` slot
/// is left as it is; `given` says what the second one's own time is.
pub(super) fn merged(
    (mine, my_entries): (&[Time], &[ByRace]),
    (theirs, their_entries): (&[Time], &[ByRace]),
    given: Option<Given>,
    own: Slot,
) -> Vec<ByRace> {
    let find = |entries: &[ByRace], slot| entries.iter().find(|entry| entry.slot == slot).copied();
    let time = |times: &[Time], slot: Slot| times.get(slot as usize).copied().unwrap_or_default();
    let only_theirs = their_entries.iter().filter(|entry| find(my_entries, entry.slot).is_none());
    let slots = my_entries.iter().chain(only_theirs).map(|entry| entry.slot).filter(|&slot| slot != own);
    slots
        .filter_map(|slot| {
            let (my_entry, their_entry) = (find(my_entries, slot), find(their_entries, slot));
            let my_time = time(mine, slot);
            let their_time = given.filter(|given| given.slot == slot).map_or(time(theirs, slot), |given| given.time);
            let known = |entry: Option<ByRace>, time| entry.map_or(time, |entry: ByRace| entry.known.min(time));
            let known = known(my_entry, my_time).max(known(their_entry, their_time));
            let entry = if their_time > my_time { their_entry } else { my_entry };
            entry.filter(|_| known < my_time.max(their_time)).map(|entry| ByRace { known, ..entry })
        })
        .collect()
}

impl Clocks {
    /// What a row knows only by races.
    #[inline]
    pub(in crate::hb) fn by_race(&self, row: RowId) -> &[ByRace] {
        self.by_race.get(row as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn set_by_race(&mut self, row: RowId, entries: Vec<ByRace>) {
        if entries.is_empty() && self.by_race(row).is_empty() {
            return;
        }
        if self.by_race.len() <= row as usize {
            self.by_race.resize_with(row as usize + 1, Vec::new);
        }
        let old = std::mem::replace(&mut self.by_race[row as usize], entries);
        self.entries_by_race += self.by_race[row as usize].len();
        self.entries_by_race -= old.len();
    }

    /// Whether a row knows, without any race, what happened in a slot at a time.
    pub(super) fn knows_without_races(&self, row: RowId, slot: Slot, time: Time) -> bool {
        self.knows(row, slot, time) && !self.by_race(row).iter().any(|entry| entry.brings(slot, time))
    }

    /// Notes whether the thread's row knows something by races only.
    pub(super) fn look_at_row(&mut self, thread: ThreadId) {
        let row = self.threads[thread.index()].row;
        let is_plain = row != 0 && self.by_race(row).is_empty();
        self.threads[thread.index()].is_plain = is_plain;
    }

    /// What the thread, whose row no other thread sees change, knows by races once it has learned what was given.
    pub(super) fn synchronise(&mut self, thread: ThreadId, given: Given) {
        let Thread { row, slot, .. } = self.threads[thread.index()];
        let (mine, theirs) = (self.by_race(row), self.by_race(given.row));
        if (mine.is_empty() && theirs.is_empty()) || row == given.row {
            return;
        }
        let entries = merged((self.row(row), mine), (self.row(given.row), theirs), Some(given), slot);
        self.set_by_race(row, entries);
        self.look_at_row(thread);
    }

    /// Likewise for what was gathered.
    pub(super) fn synchronise_all(&mut self, thread: ThreadId, gathered: &Gathered) {
        let Thread { row, slot, .. } = self.threads[thread.index()];
        let mine = self.by_race(row);
        if mine.is_empty() && gathered.by_race.is_empty() {
            return;
        }
        let entries = merged((self.row(row), mine), (&gathered.times, &gathered.by_race), None, slot);
        self.set_by_race(row, entries);
        self.look_at_row(thread);
    }

    /// The thread learns by a race what was given: all that is news is known by this race from now on.
    #[cold]
    pub(in crate::hb) fn learn_by_race(&mut self, thread: ThreadId, given: Given, race: u32) {
        let Thread { row, slot: own, .. } = self.threads[thread.index()];
        if given.row == 0 || self.knows(row, given.slot, given.time) {
            return;
        }
        let row = self.own_row(thread);
        let mut entries = self.by_race(row).to_vec();
        for (slot, (&mine, &theirs)) in (0..).zip(self.row(row).iter().zip(self.row(given.row))) {
            let theirs = if slot == given.slot { given.time } else { theirs };
            if slot == own || theirs <= mine {
                continue;
            }
            match entries.iter_mut().find(|entry| entry.slot == slot) {
                Some(entry) => entry.race = race,
                None => entries.push(ByRace { slot, known: mine, race }),
            }
        }
        self.set_by_race(row, entries);
        self.learn_times(thread, row, given);
        self.look_at_row(thread);
    }
}
