//! What each thread knows of the others: vector clocks whose rows are shared until one of their owners learns
//! something.
//!
//! A time is the place of an event in the trace (from 1), so a time alone names an event, and to know a thread at a
//! time is to know all that the thread knew then. A thread's own entry is never looked at by others; it is [`OWN`], so
//! that its own accesses are known to it without a case of their own.
//!
//! To hand a clock out (a write, a release) is to note thread, time and row, and to count the row once more: a copy is
//! made only when a thread learns something while its row is in use elsewhere. That, not a tree, is what makes many
//! threads cheap here: what costs as much as there are threads happens once for each join with news, not for each
//! write.
//!
//! Entries stand for *slots*, not threads. A new thread takes over the slot of one that was joined, if its parent knows
//! that end: all that was done in the slot before then happened before the new thread, too. Rows are as long as there
//! are slots, so there is a bound: threads beyond it share slots, each going on with the row of who was there before.
//! That orders more than happened, so it can hide a race, but makes none up.

mod by_race;
mod slots;

pub(in crate::hb) use by_race::{ByRace, Gathered};

use crate::hb::shadow::Mark;
use crate::hb::who::{Packing, Who};
use crate::locksets::SetId;
use event::{Id, ThreadId};
use rustc_hash::FxHashMap;

/// The place of an event in the trace, from 1; 0 is before everything.
pub(in crate::hb) type Time = u32;
/// A thread's place in the rows.
pub(in crate::hb) type Slot = u32;
/// The number of a row; 0 is none.
pub(in crate::hb) type RowId = u32;

const OWN: Time = Time::MAX;
const NO_SLOT: Slot = Slot::MAX;
/// Slots, at most.
const MOST_SLOTS: usize = 1 << 12;

/// What a thread knew at some time, its own past included. Row 0: nothing.
#[derive(Clone, Copy, Default, Debug)]
pub(in crate::hb) struct Given {
    pub(in crate::hb) slot: Slot,
    pub(in crate::hb) time: Time,
    pub(in crate::hb) row: RowId,
}

/// A thread as every access needs it.
#[derive(Clone, Copy, Debug)]
pub(in crate::hb) struct Thread {
    pub(in crate::hb) slot: Slot,
    /// 0 before it begins, when it was joined, and while another thread is in its slot.
    pub(in crate::hb) row: RowId,
    /// The slot with the set of locks it holds.
    pub(in crate::hb) who: Who,
    /// It has begun, and nothing in its row comes from a race.
    pub(in crate::hb) is_plain: bool,
}

impl Thread {
    /// Whether it has begun, and is in its slot.
    #[inline]
    pub(in crate::hb) fn has_begun(self) -> bool {
        self.row != 0
    }

    /// What it knows now, its own past included.
    pub(in crate::hb) fn given(self, now: Time) -> Given {
        Given { slot: self.slot, time: now, row: self.row }
    }
}

/// A row, to be asked about accesses.
#[derive(Clone, Copy, Debug)]
pub(in crate::hb) struct KnownTimes<'a> {
    pub(in crate::hb) times: &'a [Time],
    pub(in crate::hb) packing: Packing,
}

impl KnownTimes<'_> {
    /// Whether an access is known. (That of [`Who::NONE`] at the end of time never is.)
    #[inline]
    pub(in crate::hb) fn has(self, mark: Mark) -> bool {
        self.times.get(self.packing.slot(mark.who) as usize).is_some_and(|&known| known >= mark.time)
    }
}

#[derive(Debug)]
pub(in crate::hb) struct Clocks {
    /// Entries of a row; a power of two.
    stride: usize,
    times: Vec<Time>,
    /// How often each row is in use.
    uses: Vec<u32>,
    free: Vec<RowId>,
    threads: Vec<Thread>,
    /// Who had each slot, and since when.
    owners: Vec<Vec<(Time, ThreadId)>>,
    /// How many entries these have.
    changes: usize,
    /// Which slots several threads share, and how many threads came to one.
    shared: Vec<bool>,
    sharing: u64,
    /// Slots of threads that were joined, and when.
    ended: Vec<(Slot, Time)>,
    /// What they knew at their end: they may be joined once more.
    left: FxHashMap<ThreadId, Given>,
    /// Entries of all that was gathered.
    gathered: usize,
    most_slots: usize,
    packing: Packing,
    /// By row: what comes from races. Empty before the first race.
    by_race: Vec<Vec<ByRace>>,
    /// How many entries these have.
    entries_by_race: usize,
}

impl Default for Clocks {
    fn default() -> Self {
        let stride = 8;
        Clocks {
            stride,
            times: vec![0; stride],
            uses: vec![1],
            free: Vec::new(),
            threads: Vec::new(),
            owners: Vec::new(),
            changes: 0,
            shared: Vec::new(),
            sharing: 0,
            ended: Vec::new(),
            left: FxHashMap::default(),
            gathered: 0,
            most_slots: MOST_SLOTS,
            packing: Packing::default(),
            by_race: Vec::new(),
            entries_by_race: 0,
        }
    }
}

impl Clocks {
    /// With this bound for the slots.
    pub(in crate::hb) fn with_slots(most: usize) -> Self {
        Clocks { most_slots: most, ..Clocks::default() }
    }

    pub(in crate::hb) fn most_slots(&self) -> usize {
        self.most_slots
    }

    /// How many threads came to a slot that another was in.
    pub(in crate::hb) fn sharing(&self) -> u64 {
        self.sharing
    }

    /// About how many bytes it takes, with all that was gathered.
    pub(in crate::hb) fn memory(&self) -> usize {
        (self.times.len() + self.gathered) * size_of::<Time>()
            + self.changes * size_of::<(Time, ThreadId)>()
            + self.entries_by_race * size_of::<ByRace>()
    }

    /// Makes room for so many threads.
    pub(in crate::hb) fn grow(&mut self, threads: usize) {
        if threads > self.threads.len() {
            self.threads.resize(threads, Thread { slot: NO_SLOT, row: 0, who: Who::default(), is_plain: false });
        }
    }

    /// The thread, which begins now if this is its first event.
    #[inline]
    pub(in crate::hb) fn enter(&mut self, thread: ThreadId, now: Time) -> Thread {
        let me = self.thread(thread);
        if me.has_begun() { me } else { self.start(thread, None, now) }
    }

    #[inline]
    pub(in crate::hb) fn thread(&self, thread: ThreadId) -> Thread {
        self.threads[thread.index()]
    }

    #[cfg(test)]
    pub(in crate::hb) fn slots(&self) -> usize {
        self.owners.len()
    }

    /// Whether another thread can begin, or its slot needs a wider packing.
    #[inline]
    pub(in crate::hb) fn has_room(&self) -> bool {
        self.packing.fits(self.owners.len() + 1)
    }

    /// How accesses say who made them.
    #[inline]
    pub(in crate::hb) fn packing(&self) -> Packing {
        self.packing
    }

    pub(in crate::hb) fn set_packing(&mut self, new: Packing) {
        let old = std::mem::replace(&mut self.packing, new);
        self.threads.iter_mut().for_each(|thread| old.repack(&mut thread.who, new));
    }

    #[inline]
    pub(in crate::hb) fn set_locks(&mut self, thread: ThreadId, locks: SetId) {
        let thread = &mut self.threads[thread.index()];
        thread.who = self.packing.pack(thread.slot, locks);
    }

    /// What a row knows of accesses.
    #[inline]
    pub(in crate::hb) fn known(&self, row: RowId) -> KnownTimes<'_> {
        KnownTimes { times: self.row(row), packing: self.packing }
    }

    /// What a row knows.
    #[inline]
    pub(in crate::hb) fn row(&self, row: RowId) -> &[Time] {
        let at = row as usize * self.stride;
        &self.times[at..at + self.stride]
    }

    /// Whether a row knows what happened in a slot at a time.
    #[inline]
    pub(in crate::hb) fn knows(&self, row: RowId, slot: Slot, time: Time) -> bool {
        self.times[row as usize * self.stride + slot as usize] >= time
    }

    /// Row 0 is always there: its count says nothing.
    #[inline]
    pub(in crate::hb) fn hold(&mut self, row: RowId) {
        let uses = &mut self.uses[row as usize];
        *uses = uses.wrapping_add(1);
    }

    #[inline]
    pub(in crate::hb) fn drop(&mut self, row: RowId) {
        if row == 0 {
            return;
        }
        let uses = &mut self.uses[row as usize];
        *uses -= 1;
        if *uses == 0 {
            self.free.push(row);
        }
    }

    /// What the thread knows now, to be kept: replaces what was kept there before.
    #[inline]
    pub(in crate::hb) fn give(&mut self, into: &mut Given, thread: Thread, now: Time) {
        self.hold(thread.row);
        self.drop(into.row);
        *into = Given { slot: thread.slot, time: now, row: thread.row };
    }

    /// Forgets what was kept.
    pub(in crate::hb) fn forget(&mut self, given: &mut Given) {
        self.drop(given.row);
        *given = Given::default();
    }

    /// A row that knows nothing but its own slot.
    fn empty(&mut self, slot: Slot) -> RowId {
        let row = self.fresh();
        let at = row as usize * self.stride;
        self.times[at..at + self.stride].fill(0);
        self.times[at + slot as usize] = OWN;
        row
    }

    /// A row in use once, whatever is in it.
    fn fresh(&mut self) -> RowId {
        if let Some(row) = self.free.pop() {
            self.uses[row as usize] = 1;
            self.set_by_race(row, Vec::new());
            return row;
        }
        self.uses.push(1);
        self.times.resize(self.uses.len() * self.stride, 0);
        self.uses.len() as RowId - 1
    }

    #[cold]
    fn widen(&mut self) {
        let old = std::mem::take(&mut self.times);
        let stride = self.stride * 2;
        self.times = vec![0; self.uses.len() * stride];
        for (to, from) in self.times.chunks_exact_mut(stride).zip(old.chunks_exact(self.stride)) {
            to[..from.len()].copy_from_slice(from);
        }
        self.stride = stride;
    }

    /// The thread's row, where no other thread sees it change.
    fn own_row(&mut self, thread: ThreadId) -> RowId {
        let old = self.threads[thread.index()].row;
        if self.uses[old as usize] == 1 {
            return old;
        }
        let new = self.fresh();
        self.uses[old as usize] -= 1;
        let from = old as usize * self.stride;
        self.times.copy_within(from..from + self.stride, new as usize * self.stride);
        if !self.by_race(old).is_empty() {
            self.set_by_race(new, self.by_race(old).to_vec());
        }
        self.threads[thread.index()].row = new;
        new
    }

    /// The thread learns all that was given. It has begun.
    #[inline]
    pub(in crate::hb) fn learn(&mut self, thread: ThreadId, given: Given) {
        let me = self.threads[thread.index()];
        if given.row != 0 && !(me.is_plain && self.knows(me.row, given.slot, given.time)) {
            self.learn_news(thread, given);
        }
    }

    #[inline(never)]
    fn learn_news(&mut self, thread: ThreadId, given: Given) {
        let row = self.own_row(thread);
        self.synchronise(thread, given);
        self.learn_times(thread, row, given);
    }

    /// The times of what was given, whatever it is that orders them.
    fn learn_times(&mut self, thread: ThreadId, row: RowId, given: Given) {
        let to = row as usize * self.stride;
        let from = given.row as usize * self.stride;
        let ranges = [to..to + self.stride, from..from + self.stride];
        // A row brings no news to itself.
        let Ok([mine, theirs]) = self.times.get_disjoint_mut(ranges) else { return };
        let known = mine[given.slot as usize];
        mine.iter_mut().zip(theirs).for_each(|(a, b)| *a = (*a).max(*b));
        mine[given.slot as usize] = known.max(given.time);
        mine[self.threads[thread.index()].slot as usize] = OWN;
    }

    /// Whether a thread knows all that was gathered, and nothing only by races.
    pub(in crate::hb) fn knows_all(&self, me: Thread, gathered: &Gathered) -> bool {
        me.is_plain && gathered.times.iter().zip(self.row(me.row)).all(|(theirs, mine)| theirs <= mine)
    }

    /// The thread learns all that was gathered.
    pub(in crate::hb) fn learn_all(&mut self, thread: ThreadId, gathered: &Gathered) {
        let me = self.threads[thread.index()];
        if self.knows_all(me, gathered) {
            return;
        }
        let to = self.own_row(thread) as usize * self.stride;
        self.synchronise_all(thread, gathered);
        self.times[to..to + self.stride].iter_mut().zip(&gathered.times).for_each(|(a, b)| *a = (*a).max(*b));
        self.times[to + me.slot as usize] = OWN;
    }

    /// Adds what was given to what is gathered.
    pub(in crate::hb) fn gather(&mut self, into: &mut Gathered, given: Given) {
        if given.row == 0 {
            return;
        }
        self.gathered += self.stride.saturating_sub(into.times.capacity());
        let Gathered { times, by_race } = into;
        times.resize(times.len().max(self.stride), 0);
        let theirs = self.by_race(given.row);
        if !(by_race.is_empty() && theirs.is_empty()) {
            *by_race = by_race::merged((times, by_race), (self.row(given.row), theirs), Some(given), NO_SLOT);
        }
        let known = times[given.slot as usize];
        times.iter_mut().zip(self.row(given.row)).for_each(|(a, b)| *a = (*a).max(*b));
        times[given.slot as usize] = known.max(given.time);
    }
}
