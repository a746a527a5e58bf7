//! A thread's side of the filter: its slot, position and ranks, what it covers, and the records it orders.

use super::Sink;
use super::cell::{
    BYTES_SHIFT, Cell, Entry, MOST_POSITIONS, MOST_RANKS, MOST_SLOTS, NEXT_RANK, moment, rank_of, same_slot, tag,
};
use super::hand::Known;
use super::memory::Filter;
use crate::handover::When;
use crate::record::{Kind, head, timed, when};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// What became of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is kept in its cell.
    Kept,
    /// It was written.
    Written,
    /// The variable is watched: this is the caller's work.
    Watched,
}

/// Up to this rank at a position, a write makes reads before it not the last. Long loops would use up their ranks by that, and
/// tell every read again.
const EXACT: u32 = 256;
/// Nodes that a thread has at hand.
const SPARE: usize = 16;
/// Places that are told apart when what was kept of each is counted.
const PLACES: usize = 1 << 10;

/// What a thread needs to know of itself. Zeroed memory is a recorder that must not be asked anything. What covered accesses
/// look at comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Recorder {
    /// Entries from here on, up to `extent` further, are this thread's in this segment, and reads among them the last: it is
    /// where the segment began, or the last write that counts ([`EXACT`]).
    pub(super) floor: u64,
    pub(super) extent: u64,
    /// Granules below this may be noted in lines; 0: none is that was read in this segment ([`Recorder::note_read`]).
    pub(super) noted: u64,
    /// As `here`, with the rank of the last access that the trace will have.
    pub(super) now: u64,
    /// Entries of this thread at its position begin so.
    here: u64,
    /// How much further they do at the next one: 0 for a thread that records everything.
    next: u64,
    /// Where its segment began.
    segment: u64,
    slot: u32,
    everything: bool,
    position: u64,
    spare_count: u32,
    spare: [u32; SPARE],
    /// Entries dropped so far, and how many of them the filter knows of.
    pinned: u64,
    pinned_told: u64,
    /// Entries that were kept or written so far, of places that are counted.
    spent: u64,
    /// How many older accesses of each place were kept or written ([`Limits::each_place`](super::Limits::each_place)), and may be.
    each_place: u8,
    /// Ranks that make a position a long one.
    long: u64,
    /// Up to here, a write makes reads before it not the last ([`EXACT`]).
    exact: u64,
    /// Accesses of others were written that go with the next record, which must be later than they are.
    owes: bool,
    pub(super) known: Known,
    of_place: [u8; PLACES],
}

impl Recorder {
    /// The recorder of the thread that begins in a slot; its first record is its `ThreadStart`. With `everything`, nothing is
    /// filtered.
    ///
    /// A fresh slot, or one that [`Filter::may_use_again`] allowed.
    pub fn begin(filter: &Filter, slot: u32, everything: bool) -> Recorder {
        filter.use_slot(slot);
        let of = filter.slot(slot);
        let mut recorder = Recorder {
            floor: 0,
            extent: 0,
            noted: 0,
            now: 0,
            here: 0,
            next: tag(0, 1),
            segment: 0,
            slot,
            everything,
            position: of.ended.swap(0, Acquire).max(1) - 1,
            spare_count: 0,
            spare: [0; SPARE],
            pinned: 0,
            pinned_told: 0,
            spent: 0,
            each_place: filter.limits.each_place,
            long: moment(0, filter.limits.long.min(MOST_RANKS)),
            exact: 0,
            owes: false,
            known: Known::default(),
            of_place: [0; PLACES],
        };
        recorder.here = tag(slot, recorder.position);
        if everything || recorder.position >= MOST_POSITIONS {
            recorder.record_everything();
        }
        recorder.begin_segment();
        // Nothing is at this moment yet.
        recorder.extent = 0;
        recorder
    }

    /// The thread has ended, and written its last record.
    pub fn end(&mut self, filter: &Filter) {
        self.give_spare(filter, 0);
        self.tell_pinned(filter);
        // Nothing is at this moment: nothing is covered.
        self.floor = u64::MAX;
        self.extent = 0;
        self.noted = 0;
        filter.slot(self.slot).ended.store(self.position + 1, Release);
    }

    /// Its slot.
    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// Whether the time of its next record may be handed over. (Who records everything leaves nothing in cells by which others could know what is earlier.)
    #[inline(always)]
    pub(super) fn may_be_handed(&self) -> bool {
        !self.owes && !self.everything
    }

    /// Late accesses of others were written that are no arrival's: they go with its next record, which must be later.
    pub(super) fn owe(&mut self) {
        self.owes = true;
    }

    /// How many ordered records its slot has.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// As if it had done as many accesses that the trace will have, all reads, as leave this many before a `Mark`: small tests
    /// have few.
    #[doc(hidden)]
    pub fn use_ranks(&mut self, left: u32) {
        self.now = moment(self.here, self.rank().max(MOST_RANKS.saturating_sub(3 + left)));
    }

    /// The rank of what this thread did last at its position that the trace will have.
    #[inline(always)]
    pub fn rank(&self) -> u32 {
        rank_of(self.now)
    }

    /// The same with slot and position, as it stands in first words.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// It has read something at this later moment of its position.
    pub(super) fn set_now(&mut self, now: u64) {
        self.now = now;
    }

    /// Whether an access is covered: nothing more is to be done.
    #[inline(always)]
    pub fn covered(&self, cell: Cell, mask: u8, write: bool) -> bool {
        if write {
            let second = cell.second.entry();
            return second.mask() == mask && second.is_write_at(self.now) && same_slot(cell.state(), self.here);
        }
        if same_slot(cell.state(), self.here) {
            return self.covered_as_first(cell, mask);
        }
        self.covered_as_second(cell, mask)
    }

    /// Whether a read is covered by the first entry of its cell.
    #[inline(always)]
    pub fn covered_as_first(&self, cell: Cell, mask: u8) -> bool {
        // In this order: if the entry is this thread's afterwards, it was before.
        let read = (cell.first.what_first() >> BYTES_SHIFT) as u8;
        self.is_newest(cell.state()) && mask & !read == 0
    }

    /// Whether a read is covered, for a thread that most often is the second entry. (No thread is both entries: the half that it is
    /// not is left alone.)
    #[inline(always)]
    fn covered_as_second(&self, cell: Cell, mask: u8) -> bool {
        // In this order: if the entry is this thread's afterwards, it was before.
        let what = cell.second.what_first();
        let second = Entry { at: cell.second.at(), what };
        if second.is_write() || !same_slot(second.at, self.here) {
            return self.covered_as_first(cell, mask);
        }
        self.is_newest(second.at) && mask & !second.mask() == 0
    }

    /// Whether this thread is the second entry of a Shared cell, if it can choose.
    #[inline(always)]
    pub fn is_second(&self) -> bool {
        self.slot & 1 != 0
    }

    /// Whether an entry that begins so is of this thread's segment, and this thread has written nothing since that counts.
    #[inline(always)]
    pub(super) fn is_newest(&self, at: u64) -> bool {
        at.wrapping_sub(self.floor) <= self.extent
    }

    /// Writes a timed record ([`head`], place, third word) that is not an access of a cell. The caller holds still what it
    /// tells.
    #[inline]
    pub fn timed(&mut self, sink: &mut impl Sink, head: u64, place: u32, word: Option<u64>) {
        sink.reserve(3);
        self.timed_in_room(sink, head, place, word);
    }

    /// The same where there is room for it.
    #[inline(always)]
    pub fn timed_in_room(&mut self, sink: &mut impl Sink, head: u64, place: u32, word: Option<u64>) {
        let when = if self.owes { When::Now } else { when(head) };
        put_timed_by(sink, head, place, word, |sink| sink.time(when));
        self.synchronised();
    }

    /// Writes an `Alloc`. Its cells are for [`Recorder::alloc`] or [`Recorder::forget`].
    pub fn allocated(&mut self, sink: &mut impl Sink, address: u64, size: u64, place: u32) {
        self.timed(sink, head(Kind::Alloc, 0, address), place, Some(size));
    }

    /// After each record that is ordered, also those that the caller writes himself: a new position, and a new segment.
    #[inline]
    pub fn synchronised(&mut self) {
        self.owes = false;
        self.new_position();
        self.begin_segment();
    }

    #[inline(always)]
    fn new_position(&mut self) {
        self.position += 1;
        self.here += self.next;
        if self.position == MOST_POSITIONS {
            self.record_everything();
        }
    }

    #[cold]
    fn record_everything(&mut self) {
        self.everything = true;
        // No entry is of the slot that does not exist.
        self.here = tag(MOST_SLOTS, 0);
        self.next = 0;
    }

    #[inline(always)]
    fn begin_segment(&mut self) {
        self.now = self.here;
        self.segment = self.here;
        self.floor = self.here;
        self.extent = moment(0, MOST_RANKS);
        self.exact = self.here + moment(0, EXACT);
        self.noted = 0;
    }

    /// This thread's slot is about to begin (the `Fork` is written): all that this one did so far comes before all that the
    /// other will do.
    pub fn fork(&mut self, filter: &Filter, child: u32) {
        filter.use_slot(child);
        filter.join_must(child, self.slot);
        // What is done at this position is done after the `Fork`.
        filter.must(child, self.slot).store(self.position, Relaxed);
        let before = filter.slot(child).ended.load(Acquire);
        filter.must(child, child).store(before, Relaxed);
    }

    /// Has waited for the thread of a slot, which has ended (the `Join` is written).
    pub fn join(&mut self, filter: &Filter, child: u32) {
        let ended = filter.slot(child).ended.load(Acquire);
        if ended == 0 {
            return;
        }
        filter.join_must(self.slot, child);
        filter.must(self.slot, child).fetch_max(ended, Relaxed);
    }

    /// Whether an access (if it is one), and all that its slot did before, is before this thread in every run.
    #[inline]
    pub(super) fn is_after(&self, filter: &Filter, entry: &Entry) -> bool {
        entry.at == 0
            || entry.slot() == self.slot
            || filter.must(self.slot, entry.slot()).load(Relaxed) > entry.position()
    }

    /// Whether something of this slot was before its segment.
    pub(super) fn is_before_segment(&self, at: u64) -> bool {
        at < self.segment
    }

    #[inline(always)]
    pub(super) fn here(&self) -> u64 {
        self.here
    }

    #[inline(always)]
    pub(super) fn records_everything(&self) -> bool {
        self.everything
    }

    /// The rank of the next access that the trace will have. There is one: see [`Recorder::make_ranks`].
    #[inline(always)]
    pub(super) fn next_rank(&mut self, write: bool) -> u32 {
        self.now += NEXT_RANK;
        if write && self.now <= self.exact {
            self.floor = self.now;
            self.extent = moment(self.here, MOST_RANKS) - self.now;
        }
        self.rank()
    }

    /// What was to be done since this moment, a read, is not.
    #[inline(always)]
    pub(super) fn take_back(&mut self, now: u64) {
        self.now = now;
    }

    /// Makes sure that an access has ranks enough: else a new position begins, within the same segment.
    #[inline(always)]
    pub(super) fn make_ranks(&mut self, sink: &mut impl Sink) {
        if !self.has_ranks() {
            self.mark(sink);
        }
    }

    #[inline(always)]
    pub(super) fn has_ranks(&self) -> bool {
        self.has_ranks_for(0)
    }

    /// The same after so many more.
    #[inline(always)]
    pub(super) fn has_ranks_for(&self, more: u32) -> bool {
        self.rank() + more + 4 <= MOST_RANKS
    }

    #[cold]
    fn mark(&mut self, sink: &mut impl Sink) {
        sink.reserve(2);
        put_timed(sink, head(Kind::Mark, 0, 0), 0, None);
        self.new_position();
        self.now = self.here;
        if self.everything {
            self.segment = self.here;
            self.floor = self.here;
        }
        self.extent = moment(self.here, MOST_RANKS) - self.floor;
        // That is far behind.
        self.exact = 0;
    }

    #[inline]
    pub(super) fn has_pinned(&mut self, filter: &Filter, entries: u64) {
        // All threads at one counter would wait for each other.
        self.pinned += entries;
        if self.pinned - self.pinned_told >= 1 << 10 {
            self.tell_pinned(filter);
        }
    }

    /// How many entries it has dropped, and kept or written.
    pub(super) fn drops_and_keeps(&self) -> [u64; 2] {
        [self.pinned, self.spent]
    }

    /// Tells how many granules it has pinned.
    pub fn tell_pinned(&mut self, filter: &Filter) {
        filter.pinned.0.fetch_add(self.pinned - self.pinned_told, Relaxed);
        self.pinned_told = self.pinned;
    }

    /// Whether so many older accesses of this one's place were kept that of each granule the newest will do.
    #[inline(always)]
    pub(super) fn is_hot(&self, entry: &Entry) -> bool {
        self.of_place[of_place(entry.place(), entry.slot())] >= self.each_place
    }

    /// The same of an access of this slot.
    #[inline(always)]
    pub(super) fn is_hot_place(&self, place: u32) -> bool {
        self.of_place[of_place(place, self.slot)] >= self.each_place
    }

    /// Whether so much was done at this position that more of the same is to be expected.
    #[inline(always)]
    pub(super) fn is_long(&self) -> bool {
        self.now - self.here >= self.long
    }

    /// One more of them is kept, or written.
    #[inline]
    pub(super) fn spend(&mut self, entry: &Entry) {
        let of = &mut self.of_place[of_place(entry.place(), entry.slot())];
        *of = of.saturating_add(1);
        self.spent += 1;
    }

    pub(super) fn take_node(&mut self, filter: &Filter) -> Option<u32> {
        match self.spare_count {
            0 => filter.take_node(),
            n => {
                self.spare_count = n - 1;
                Some(self.spare[n as usize - 1])
            }
        }
    }

    pub(super) fn give_node(&mut self, filter: &Filter, node: u32) {
        if self.spare_count as usize == SPARE {
            self.give_spare(filter, SPARE as u32 / 2);
        }
        self.spare[self.spare_count as usize] = node;
        self.spare_count += 1;
    }

    fn give_spare(&mut self, filter: &Filter, keep: u32) {
        while self.spare_count > keep {
            self.spare_count -= 1;
            filter.give_node(self.spare[self.spare_count as usize]);
        }
    }
}

/// Places are numbered one after the other, by each slot.
#[inline(always)]
fn of_place(place: u32, slot: u32) -> usize {
    (place as usize ^ (slot as usize) << 4) % PLACES
}

#[inline]
pub(super) fn put_timed(sink: &mut impl Sink, head: u64, place: u32, word: Option<u64>) {
    put_timed_by(sink, head, place, word, |sink| sink.time(when(head)));
}

/// The same, where `time` finds the time.
#[inline(always)]
pub(super) fn put_timed_by<S: Sink>(
    sink: &mut S,
    head: u64,
    place: u32,
    word: Option<u64>,
    time: impl FnOnce(&mut S) -> u64,
) {
    sink.begin();
    let second = timed(time(sink), place);
    match word {
        Some(word) => sink.put([head, second, word]),
        None => sink.put([head, second]),
    }
    sink.written();
}
