//! A thread's side of the filter: its slot, position and ranks, what it covers, and the records it orders.

use super::Sink;
use super::cell::{
    BYTES_SHIFT, Cell, Entry, MAX_SEQ, MAX_SYNC_INDEX, MOST_SLOTS, NEXT_SEQ, epoch_of, point, same_slot, seq_of,
};
use super::memory::Filter;
use super::sync::Known;
use crate::hand_off::Timing;
use crate::record::{Kind, default_timing, head, timed};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// What became of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is kept in its cell.
    Deferred,
    /// It was written.
    Written,
    /// The variable is watched: this is the caller's work.
    Watched,
}

/// Up to this rank at a position, a write makes reads before it not the last. Long loops would use up their ranks by that, and
/// tell every read again.
const PRECISE_SEQS: u32 = 256;
/// Nodes that a thread has at hand.
const SPARE: usize = 16;
/// Places that are told apart when what was kept of each is counted.
const CONTEXTS: usize = 1 << 10;

/// What a thread needs to know of itself. Zeroed memory is a recorder that must not be asked anything. What covered accesses
/// look at comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Recorder {
    /// Entries from here on, up to `extent` further, are this thread's in this segment, and reads among them the last: it is
    /// where the segment began, or the last write that counts ([`PRECISE_SEQS`]).
    pub(super) floor: u64,
    pub(super) extent: u64,
    /// Granules below this may be noted in lines; 0: none is that was read in this segment ([`Recorder::note_read`]).
    pub(super) noted: u64,
    /// As `epoch`, with the rank of the last access that the trace will have.
    pub(super) now: u64,
    /// Entries of this thread at its position begin so.
    epoch: u64,
    /// How much further they do at the next one: 0 for a thread that records everything.
    next: u64,
    /// Where its segment began.
    segment: u64,
    slot: u32,
    everything: bool,
    sync_index: u64,
    spare_count: u32,
    spare: [u32; SPARE],
    /// Entries dropped so far, and how many of them the filter knows of.
    dropped: u64,
    dropped_reported: u64,
    /// Entries that were kept or written so far, of places that are counted.
    spent: u64,
    /// How many older accesses of each place were kept or written ([`Limits::per_context`](super::Limits::each_place)), and may be.
    per_context: u8,
    /// Ranks that make a position a long one.
    long: u64,
    /// Up to here, a write makes reads before it not the last ([`PRECISE_SEQS`]).
    precise_until: u64,
    /// Accesses of others were written that go with the next record, which must be later than they are.
    needs_clock: bool,
    pub(super) known: Known,
    kept_of: [u8; CONTEXTS],
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
            epoch: 0,
            next: epoch_of(0, 1),
            segment: 0,
            slot,
            everything,
            sync_index: of.ended.swap(0, Acquire).max(1) - 1,
            spare_count: 0,
            spare: [0; SPARE],
            dropped: 0,
            dropped_reported: 0,
            spent: 0,
            per_context: filter.limits.per_context,
            long: point(0, filter.limits.long.min(MAX_SEQ)),
            precise_until: 0,
            needs_clock: false,
            known: Known::default(),
            kept_of: [0; CONTEXTS],
        };
        recorder.epoch = epoch_of(slot, recorder.sync_index);
        if everything || recorder.sync_index >= MAX_SYNC_INDEX {
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
        self.report_dropped(filter);
        // Nothing is at this moment: nothing is covered.
        self.floor = u64::MAX;
        self.extent = 0;
        self.noted = 0;
        filter.slot(self.slot).ended.store(self.sync_index + 1, Release);
    }

    /// Its slot.
    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// Whether the time of its next record may be handed over. (Who records everything leaves nothing in cells by which others could know what is earlier.)
    #[inline(always)]
    pub(super) fn may_hand_off(&self) -> bool {
        !self.needs_clock && !self.everything
    }

    /// Late accesses of others were written that are no arrival's: they go with its next record, which must be later.
    pub(super) fn need_clock(&mut self) {
        self.needs_clock = true;
    }

    /// How many ordered records its slot has.
    pub fn sync_index(&self) -> u64 {
        self.sync_index
    }

    /// As if it had done as many accesses that the trace will have, all reads, as leave this many before a `Mark`: small tests
    /// have few.
    #[doc(hidden)]
    pub fn use_up_seq(&mut self, left: u32) {
        self.now = point(self.epoch, self.seq().max(MAX_SEQ.saturating_sub(3 + left)));
    }

    /// The rank of what this thread did last at its position that the trace will have.
    #[inline(always)]
    pub fn seq(&self) -> u32 {
        seq_of(self.now)
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
    pub fn is_covered(&self, cell: Cell, mask: u8, write: bool) -> bool {
        if write {
            let second = cell.second.entry();
            return second.mask() == mask && second.is_write_at(self.now) && same_slot(cell.state(), self.epoch);
        }
        if same_slot(cell.state(), self.epoch) {
            return self.is_covered_by_first(cell, mask);
        }
        self.is_covered_by_second(cell, mask)
    }

    /// Whether a read is covered by the first entry of its cell.
    #[inline(always)]
    pub fn is_covered_by_first(&self, cell: Cell, mask: u8) -> bool {
        // In this order: if the entry is this thread's afterwards, it was before.
        let read = (cell.first.what_first() >> BYTES_SHIFT) as u8;
        self.is_newest(cell.state()) && mask & !read == 0
    }

    /// Whether a read is covered, for a thread that most often is the second entry. (No thread is both entries: the half that it is
    /// not is left alone.)
    #[inline(always)]
    fn is_covered_by_second(&self, cell: Cell, mask: u8) -> bool {
        // In this order: if the entry is this thread's afterwards, it was before.
        let what = cell.second.what_first();
        let second = Entry { at: cell.second.at(), what };
        if second.is_write() || !same_slot(second.at, self.epoch) {
            return self.is_covered_by_first(cell, mask);
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
    pub fn timed(&mut self, sink: &mut impl Sink, head: u64, context: u32, third: Option<u64>) {
        sink.reserve(3);
        self.timed_in_room(sink, head, context, third);
    }

    /// The same where there is room for it.
    #[inline(always)]
    pub fn timed_in_room(&mut self, sink: &mut impl Sink, head: u64, context: u32, third: Option<u64>) {
        let timing = if self.needs_clock { Timing::Now } else { default_timing(head) };
        put_timed_by(sink, head, context, third, |sink| sink.time(timing));
        self.synchronised();
    }

    /// Writes an `Alloc`. Its cells are for [`Recorder::alloc`] or [`Recorder::forget`].
    pub fn allocated(&mut self, sink: &mut impl Sink, address: u64, size: u64, context: u32) {
        self.timed(sink, head(Kind::Alloc, 0, address), context, Some(size));
    }

    /// After each record that is ordered, also those that the caller writes himself: a new position, and a new segment.
    #[inline]
    pub fn synchronised(&mut self) {
        self.needs_clock = false;
        self.next_sync_index();
        self.begin_segment();
    }

    #[inline(always)]
    fn next_sync_index(&mut self) {
        self.sync_index += 1;
        self.epoch += self.next;
        if self.sync_index == MAX_SYNC_INDEX {
            self.record_everything();
        }
    }

    #[cold]
    fn record_everything(&mut self) {
        self.everything = true;
        // No entry is of the slot that does not exist.
        self.epoch = epoch_of(MOST_SLOTS, 0);
        self.next = 0;
    }

    #[inline(always)]
    fn begin_segment(&mut self) {
        self.now = self.epoch;
        self.segment = self.epoch;
        self.floor = self.epoch;
        self.extent = point(0, MAX_SEQ);
        self.precise_until = self.epoch + point(0, PRECISE_SEQS);
        self.noted = 0;
    }

    /// This thread's slot is about to begin (the `Fork` is written): all that this one did so far comes before all that the
    /// other will do.
    pub fn fork(&mut self, filter: &Filter, child: u32) {
        filter.use_slot(child);
        filter.join_clock(child, self.slot);
        // What is done at this position is done after the `Fork`.
        filter.fork_join(child, self.slot).store(self.sync_index, Relaxed);
        let before = filter.slot(child).ended.load(Acquire);
        filter.fork_join(child, child).store(before, Relaxed);
    }

    /// Has waited for the thread of a slot, which has ended (the `Join` is written).
    pub fn join(&mut self, filter: &Filter, child: u32) {
        let ended = filter.slot(child).ended.load(Acquire);
        if ended == 0 {
            return;
        }
        filter.join_clock(self.slot, child);
        filter.fork_join(self.slot, child).fetch_max(ended, Relaxed);
    }

    /// Whether an access (if it is one), and all that its slot did before, is before this thread in every run.
    #[inline]
    pub(super) fn is_ordered_after(&self, filter: &Filter, entry: &Entry) -> bool {
        entry.at == 0
            || entry.slot() == self.slot
            || filter.fork_join(self.slot, entry.slot()).load(Relaxed) > entry.sync_index()
    }

    /// Whether something of this slot was before its segment.
    pub(super) fn is_before_segment(&self, at: u64) -> bool {
        at < self.segment
    }

    #[inline(always)]
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    #[inline(always)]
    pub(super) fn records_everything(&self) -> bool {
        self.everything
    }

    /// The rank of the next access that the trace will have. There is one: see [`Recorder::ensure_seq_left`].
    #[inline(always)]
    pub(super) fn next_seq(&mut self, write: bool) -> u32 {
        self.now += NEXT_SEQ;
        if write && self.now <= self.precise_until {
            self.floor = self.now;
            self.extent = point(self.epoch, MAX_SEQ) - self.now;
        }
        self.seq()
    }

    /// What was to be done since this moment, a read, is not.
    #[inline(always)]
    pub(super) fn take_back(&mut self, now: u64) {
        self.now = now;
    }

    /// Makes sure that an access has ranks enough: else a new position begins, within the same segment.
    #[inline(always)]
    pub(super) fn ensure_seq_left(&mut self, sink: &mut impl Sink) {
        if !self.has_seq_left() {
            self.mark(sink);
        }
    }

    #[inline(always)]
    pub(super) fn has_seq_left(&self) -> bool {
        self.has_seq_left_for(0)
    }

    /// The same after so many more.
    #[inline(always)]
    pub(super) fn has_seq_left_for(&self, more: u32) -> bool {
        self.seq() + more + 4 <= MAX_SEQ
    }

    #[cold]
    fn mark(&mut self, sink: &mut impl Sink) {
        sink.reserve(2);
        put_timed(sink, head(Kind::Mark, 0, 0), 0, None);
        self.next_sync_index();
        self.now = self.epoch;
        if self.everything {
            self.segment = self.epoch;
            self.floor = self.epoch;
        }
        self.extent = point(self.epoch, MAX_SEQ) - self.floor;
        // That is far behind.
        self.precise_until = 0;
    }

    #[inline]
    pub(super) fn count_dropped(&mut self, filter: &Filter, entries: u64) {
        // All threads at one counter would wait for each other.
        self.dropped += entries;
        if self.dropped - self.dropped_reported >= 1 << 10 {
            self.report_dropped(filter);
        }
    }

    /// How many entries it has dropped, and kept or written.
    pub(super) fn dropped_and_kept(&self) -> [u64; 2] {
        [self.dropped, self.spent]
    }

    /// Tells how many granules it has pinned.
    pub fn report_dropped(&mut self, filter: &Filter) {
        filter.dropped.0.fetch_add(self.dropped - self.dropped_reported, Relaxed);
        self.dropped_reported = self.dropped;
    }

    /// Whether so many older accesses of this one's place were kept that of each granule the newest will do.
    #[inline(always)]
    pub(super) fn is_hot(&self, entry: &Entry) -> bool {
        self.kept_of[kept_of(entry.context(), entry.slot())] >= self.per_context
    }

    /// The same of an access of this slot.
    #[inline(always)]
    pub(super) fn is_hot_context(&self, context: u32) -> bool {
        self.kept_of[kept_of(context, self.slot)] >= self.per_context
    }

    /// Whether so much was done at this position that more of the same is to be expected.
    #[inline(always)]
    pub(super) fn is_long(&self) -> bool {
        self.now - self.epoch >= self.long
    }

    /// One more of them is kept, or written.
    #[inline]
    pub(super) fn count_kept(&mut self, entry: &Entry) {
        let of = &mut self.kept_of[kept_of(entry.context(), entry.slot())];
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

    fn give_spare(&mut self, filter: &Filter, defer: u32) {
        while self.spare_count > defer {
            self.spare_count -= 1;
            filter.give_node(self.spare[self.spare_count as usize]);
        }
    }
}

/// Places are numbered one after the other, by each slot.
#[inline(always)]
fn kept_of(context: u32, slot: u32) -> usize {
    (context as usize ^ (slot as usize) << 4) % CONTEXTS
}

#[inline]
pub(super) fn put_timed(sink: &mut impl Sink, head: u64, context: u32, third: Option<u64>) {
    put_timed_by(sink, head, context, third, |sink| sink.time(default_timing(head)));
}

/// The same, where `time` finds the time.
#[inline(always)]
pub(super) fn put_timed_by<S: Sink>(
    sink: &mut S,
    head: u64,
    context: u32,
    third: Option<u64>,
    time: impl FnOnce(&mut S) -> u64,
) {
    sink.begin();
    let second = timed(time(sink), context);
    match third {
        Some(third) => sink.put([head, second, third]),
        None => sink.put([head, second]),
    }
    sink.written();
}
