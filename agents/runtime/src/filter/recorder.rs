//! A thread's side of the filter: its slot, sync index and sequence numbers, which accesses are covered, and the
//! records that it orders.

mod room;

use super::Sink;
use super::bits::{BYTES_SHIFT, MAX_SEQ, MAX_SYNC_INDEX, MOST_SLOTS, NEXT_SEQ, epoch_of, point, same_slot, seq_of};
use super::cell::Cell;
use super::entry::Entry;
use super::memory::Filter;
use super::reads_from::{HeldSections, Points};
use super::waiting::RecentLooks;
use crate::hand_off::Timing;
use crate::record::{Kind, default_timing, head, timed};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// What became of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is deferred in its cell.
    Deferred,
    /// It was recorded.
    Written,
    /// The variable is watched: the caller records the access.
    Watched,
}

/// Up to this sequence number in a segment, a write makes the reads before it not the last. Long loops would use up
/// their sequence numbers by that, and record every read again.
const PRECISE_SEQS: u32 = 256;
/// Free nodes that a thread keeps for itself.
const SPARE: usize = 16;
/// Buckets in which the kept accesses of call contexts are counted.
const CONTEXTS: usize = 1 << 10;

/// The filter's state of one thread. Zeroed memory is a recorder that must not be used. The fields that covered
/// accesses read come first.
#[derive(Debug)]
#[repr(C)]
pub struct Recorder {
    /// Entries from this point on, up to `extent` further, are this thread's in this segment, and reads among them are
    /// the last. It is where the segment began, or the last write that counts ([`PRECISE_SEQS`]).
    pub(super) floor: u64,
    pub(super) extent: u64,
    /// Words below this may be noted in read summaries; 0: none is that was read in this segment
    /// ([`Recorder::note_read`]).
    pub(super) noted: u64,
    /// The present point: `epoch` with the sequence number of the last access that the trace will have.
    pub(super) now: u64,
    /// Slot and sync index, as in the entries of this thread.
    epoch: u64,
    /// What a sync index adds to `epoch`: 0 for a thread that records everything.
    next: u64,
    /// The point where its segment began.
    segment: u64,
    slot: u32,
    everything: bool,
    sync_index: u64,
    spare_count: u32,
    spare: [u32; SPARE],
    /// Entries dropped so far, and how many of them were reported to the filter.
    dropped: u64,
    dropped_reported: u64,
    /// Older entries that were kept or recorded so far, of counted call contexts.
    spent: u64,
    /// How many older accesses of each call context may be kept or recorded
    /// ([`Limits::per_context`](super::Limits::per_context)).
    per_context: u8,
    /// Sequence numbers after which a segment is long.
    long: u64,
    /// Up to this point, a write makes reads before it not the last ([`PRECISE_SEQS`]).
    precise_until: u64,
    /// Deferred accesses of others were written that go with the next record: its time must come from the clock.
    needs_clock: bool,
    /// Up to where the accesses of others are earlier, by locks that this thread acquired from them.
    pub(super) earlier: Points,
    /// Up to where they are before this thread in every run in which its reads see what they saw.
    pub(super) reads_from: Points,
    pub(super) held: HeldSections,
    /// How many conflicts of two call contexts are recorded though all entries are before this thread
    /// ([`Limits::per_pair`](super::Limits::per_pair)), and how many were.
    pub(super) per_pair: u8,
    pub(super) conflicts_of: [u8; CONTEXTS],
    pub(super) recent_looks: RecentLooks,
    kept_of: [u8; CONTEXTS],
}

impl Recorder {
    /// The recorder of a thread that begins in a slot; its first record is its `ThreadStart`. With `everything`,
    /// nothing is filtered.
    ///
    /// The slot is fresh, or [`Filter::may_use_again`] allowed it.
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
            earlier: Points::default(),
            reads_from: Points::default(),
            held: HeldSections::default(),
            per_pair: filter.limits.per_pair,
            conflicts_of: [0; CONTEXTS],
            recent_looks: RecentLooks::default(),
            kept_of: [0; CONTEXTS],
        };
        recorder.epoch = epoch_of(slot, recorder.sync_index);
        if everything || recorder.sync_index >= MAX_SYNC_INDEX {
            recorder.record_everything();
        }
        recorder.begin_segment();
        // No access has been made at this point.
        recorder.extent = 0;
        recorder
    }

    /// Ends the thread, which has written its last record.
    pub fn end(&mut self, filter: &Filter) {
        self.give_spare(filter, 0);
        self.report_dropped(filter);
        // No entry is at this point: nothing is covered.
        self.floor = u64::MAX;
        self.extent = 0;
        self.noted = 0;
        filter.slot(self.slot).ended.store(self.sync_index + 1, Release);
    }

    /// The slot of the thread.
    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// Whether the time of its next record may be handed off. (A thread that records everything leaves nothing in cells
    /// by which others could know what is earlier.)
    #[inline(always)]
    pub(super) fn may_hand_off(&self) -> bool {
        !self.needs_clock && !self.everything
    }

    /// Notes that deferred accesses of others were written that are of no conflict: they go with the next record, whose
    /// time must come from the clock.
    pub(super) fn need_clock(&mut self) {
        self.needs_clock = true;
    }

    /// The sync index: how many timed records its slot has.
    pub fn sync_index(&self) -> u64 {
        self.sync_index
    }

    /// For tests: uses up sequence numbers, as if by reads, until this many are left before a `Mark`.
    #[doc(hidden)]
    pub fn use_up_seq(&mut self, left: u32) {
        self.now = point(self.epoch, self.seq().max(MAX_SEQ.saturating_sub(3 + left)));
    }

    /// The sequence number of the thread's last access that the trace will have.
    #[inline(always)]
    pub fn seq(&self) -> u32 {
        seq_of(self.now)
    }

    /// The present point, as in `at` of entries.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Advances the present point within the sync index, after reads of a scan.
    pub(super) fn set_now(&mut self, now: u64) {
        self.now = now;
    }

    /// Whether an access is covered: the cell already shows one that says the same, and nothing is to be done.
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
        // The order of the loads matters: if the entry is this thread's afterwards, it was before.
        let read = (cell.first.what_first() >> BYTES_SHIFT) as u8;
        self.is_newest(cell.state()) && mask & !read == 0
    }

    /// Whether a read is covered, for a thread that mostly is the second entry. (No thread is both entries, so the
    /// other one is not touched.)
    #[inline(always)]
    fn is_covered_by_second(&self, cell: Cell, mask: u8) -> bool {
        // The order of the loads matters: if the entry is this thread's afterwards, it was before.
        let what = cell.second.what_first();
        let second = Entry { at: cell.second.at(), what };
        if second.is_write() || !same_slot(second.at, self.epoch) {
            return self.is_covered_by_first(cell, mask);
        }
        self.is_newest(second.at) && mask & !second.mask() == 0
    }

    /// Whether this thread prefers the second entry of a Shared cell.
    #[inline(always)]
    pub fn is_second(&self) -> bool {
        self.slot & 1 != 0
    }

    /// Whether an entry with this `at` is of this thread's segment, and the thread has made no write since that counts.
    #[inline(always)]
    pub(super) fn is_newest(&self, at: u64) -> bool {
        at.wrapping_sub(self.floor) <= self.extent
    }

    /// Writes a timed record (head, call context, third word) that is no access of a cell. The caller holds still what
    /// it describes.
    #[inline]
    pub fn timed(&mut self, sink: &mut impl Sink, head: u64, context: u32, third: Option<u64>) {
        sink.reserve(3);
        self.timed_in_room(sink, head, context, third);
    }

    /// [`Recorder::timed`] where there already is room.
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

    /// Begins a new sync index, and a new segment. Called after each timed record, also those that the caller writes
    /// itself.
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
        // No entry belongs to this slot, which does not exist.
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

    /// Hands the fork–join clock to a child whose slot is about to begin (the `Fork` is written): all that this
    /// thread did so far is ordered before all that the child will do.
    pub fn fork(&mut self, filter: &Filter, child: u32) {
        filter.use_slot(child);
        filter.join_clock(child, self.slot);
        // What is done at this sync index is done after the `Fork`.
        filter.fork_join(child, self.slot).store(self.sync_index, Relaxed);
        let before = filter.slot(child).ended.load(Acquire);
        filter.fork_join(child, child).store(before, Relaxed);
    }

    /// Joins the fork–join clock of a thread that has ended (the `Join` is written).
    pub fn join(&mut self, filter: &Filter, child: u32) {
        let ended = filter.slot(child).ended.load(Acquire);
        if ended == 0 {
            return;
        }
        filter.join_clock(self.slot, child);
        filter.fork_join(self.slot, child).fetch_max(ended, Relaxed);
    }

    /// Whether an access (if it is one), and all that its slot did before, is ordered before this thread in every run.
    #[inline]
    pub(super) fn is_ordered_after(&self, filter: &Filter, entry: &Entry) -> bool {
        entry.at == 0 || entry.slot() == self.slot || filter.is_ordered(self.slot, entry.slot(), entry.sync_index())
    }

    /// Whether a point of this slot was before its segment.
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

    /// Takes the sequence number of the next access that the trace will have. There is one: see
    /// [`Recorder::ensure_seq_left`].
    #[inline(always)]
    pub(super) fn next_seq(&mut self, write: bool) -> u32 {
        self.now += NEXT_SEQ;
        if write && self.now <= self.precise_until {
            self.floor = self.now;
            self.extent = point(self.epoch, MAX_SEQ) - self.now;
        }
        self.seq()
    }

    /// Undoes a read that was to be made since this point.
    #[inline(always)]
    pub(super) fn take_back(&mut self, now: u64) {
        self.now = now;
    }

    /// Makes sure that an access has enough sequence numbers: else a new sync index begins, within the same segment.
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

    /// Whether an access has enough sequence numbers after this many more.
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
        // That point is far behind.
        self.precise_until = 0;
    }

    /// Whether the segment is long: more of the same is to be expected.
    #[inline(always)]
    pub(super) fn is_long(&self) -> bool {
        self.now - self.epoch >= self.long
    }
}

#[inline]
pub(super) fn put_timed(sink: &mut impl Sink, head: u64, context: u32, third: Option<u64>) {
    put_timed_by(sink, head, context, third, |sink| sink.time(default_timing(head)));
}

/// Writes a timed record; `time` takes the time.
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
