//! A thread's side of the filter: its slot, segment and stamps, what it covers, and the records it orders.

use super::Sink;
use super::cell::{
    Cell, EXCLUSIVE, LAST_SHIFT, MOST_SEGMENTS, MOST_STAMPS, SHARED, TAG_SHIFT, last_read_of, last_tag, last_write_of,
    read_entry_of, read_of, tag, with_last_read, with_last_write, written_of,
};
use super::memory::Filter;
use super::positions::{Found, moment};
use crate::record::{Kind, head, ticketed};
use core::cell::Cell as Own;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// What became of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It says nothing new.
    Covered,
    /// It is kept in its cell.
    Kept,
    /// It was written.
    Written,
    /// The variable is watched: this is the caller's work.
    Watched,
}

/// Up to this stamp of a segment, a write makes reads before it not the last. Long loops would use up their stamps by that, and
/// tell every read again.
const EXACT: u32 = 256;
/// Nodes that a thread has at hand.
const SPARE: usize = 16;

/// What a thread needs to know of itself. Zeroed memory is a recorder that covers nothing and must not be used otherwise.
#[derive(Debug)]
pub struct Recorder {
    /// Exclusive cells of this thread in this segment begin so.
    exclusive: u64,
    /// Shared cells that it was the last to read, in this segment.
    shared: u64,
    /// The upper bits of l.
    last: u64,
    /// The stamp of the last access or position that the trace will have.
    stamp: Own<u32>,
    /// That of the last write that counts ([`EXACT`]): reads before it are not the last any more.
    published: Own<u32>,
    slot: u32,
    segment: u64,
    position: u64,
    /// The stamp (of tickets) that was written last.
    told: u64,
    everything: bool,
    spare_count: u32,
    spare: [u32; SPARE],
}

impl Recorder {
    /// The recorder of the thread that begins in a slot. With `everything`, nothing is filtered.
    ///
    /// A fresh slot, or one that [`Filter::may_use_again`] allowed.
    pub fn begin(filter: &Filter, slot: u32, everything: bool) -> Recorder {
        filter.use_slot(slot);
        let of = filter.slot(slot);
        let mut recorder = Recorder {
            exclusive: 0,
            shared: 0,
            last: 0,
            stamp: Own::new(0),
            published: Own::new(0),
            slot,
            segment: of.ended.load(Acquire).max(1) - 1,
            position: of.position.load(Relaxed),
            told: 0,
            everything,
            spare_count: 0,
            spare: [0; SPARE],
        };
        of.ended.store(0, Relaxed);
        recorder.new_segment();
        if of.begun.swap(1, Relaxed) == 0 {
            filter.begin_position(slot, 0, moment(recorder.segment, 0));
        }
        recorder
    }

    /// The thread has ended, and written its last record.
    pub fn end(&mut self, filter: &Filter) {
        self.give_spare(filter, 0);
        self.exclusive = 0;
        self.shared = 0;
        filter.slot(self.slot).ended.store(self.segment + 1, Release);
    }

    /// Its slot.
    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// How many ordered records its slot has.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Position and rank of what this thread did last that the trace will have, as its late record would tell them.
    pub fn here(&self, filter: &Filter) -> Option<(u64, u32)> {
        match filter.find(self.slot, moment(self.segment, self.stamp.get())) {
            Found::At(position, rank) => Some((position, rank)),
            Found::Before(_) => None,
        }
    }

    /// Whether it has used up its segments. From then on everything it does is written: slower, but sound. It could go
    /// on in another slot.
    pub fn is_exhausted(&self) -> bool {
        self.segment >= MOST_SEGMENTS
    }

    /// Whether an access is covered: nothing more is to be done. At most it is noted that it was the last of its kind.
    #[inline(always)]
    pub fn covered(&self, cell: &Cell, mask: u8, write: bool) -> bool {
        let a = cell.a.load(Relaxed);
        if (a ^ self.exclusive) >> TAG_SHIFT == 0 {
            let l = cell.l.load(Relaxed);
            let known = (l ^ self.last) >> LAST_SHIFT == 0;
            if write {
                return written_of(a) == mask
                    && known
                    && (last_write_of(l) == self.stamp.get() || self.writes_last(cell, l));
            }
            return mask & !read_of(a) == 0
                && known
                && (last_read_of(l) >= self.published.get() || self.reads_last(cell, mask, l));
        }
        !write && self.read_before(cell, a, mask)
    }

    /// Another access of this thread came in between: the trace will have the last write, too.
    #[inline(always)]
    fn writes_last(&self, cell: &Cell, l: u64) -> bool {
        let stamp = self.stamp.get() + 1;
        if stamp > MOST_STAMPS {
            return false;
        }
        self.stamp.set(stamp);
        if stamp <= EXACT {
            self.published.set(stamp);
        }
        cell.l.store(with_last_write(l, stamp), Relaxed);
        true
    }

    /// This thread has written elsewhere since: the same of a read.
    #[inline(always)]
    fn reads_last(&self, cell: &Cell, mask: u8, l: u64) -> bool {
        let stamp = self.stamp.get() + 1;
        if stamp > MOST_STAMPS || read_entry_of(cell.p.load(Relaxed)) != mask {
            return false;
        }
        self.stamp.set(stamp);
        cell.l.store(with_last_read(l, stamp), Relaxed);
        true
    }

    /// Whether this thread has read a shared cell in this segment, and has written nothing that counts since.
    #[inline(always)]
    fn read_before(&self, cell: &Cell, a: u64, mask: u8) -> bool {
        if (a ^ self.shared) >> TAG_SHIFT == 0 {
            return mask & !read_of(a) == 0 && last_read_of(cell.l.load(Relaxed)) >= self.published.get();
        }
        if !super::cell::is_shared(a) {
            return false;
        }
        let second = cell.p.load(Relaxed);
        (second ^ self.shared) >> TAG_SHIFT == 0
            && mask & !read_of(second) == 0
            && last_write_of(cell.l.load(Relaxed)) >= self.published.get()
    }

    /// Writes a ticketed record ([`head`], place, third word) that is not an access of a cell. The caller holds still what it
    /// tells.
    pub fn ticketed(&mut self, filter: &Filter, sink: &mut impl Sink, head: u64, place: u32, word: Option<u64>) {
        sink.reserve(3);
        put_ticketed(sink, head, place, word);
        self.synchronised(filter);
    }

    /// Writes an `Alloc`. Its cells are for [`Recorder::alloc`] or [`Recorder::forget`].
    pub fn allocated(&mut self, filter: &Filter, sink: &mut impl Sink, address: u64, size: u64, place: u32) {
        sink.reserve(4);
        sink.reading(sink.stamp() + 1);
        let stamp = sink.stamp();
        self.put_stamp(sink, stamp);
        sink.put(&[head(Kind::Alloc, 0, address), u64::from(place), size]);
        sink.reading(0);
        self.synchronised(filter);
    }

    #[inline]
    pub(super) fn put_stamp(&mut self, sink: &mut impl Sink, stamp: u64) {
        if self.told != stamp + 1 {
            self.told = stamp + 1;
            sink.put(&[head(Kind::Stamp, stamp as u8, stamp >> 8)]);
        }
    }

    /// After each record that orders this thread with others, also those that the caller writes himself: a new position and
    /// a new segment.
    #[inline]
    pub fn synchronised(&mut self, filter: &Filter) {
        self.position += 1;
        self.new_segment();
        filter.begin_position(self.slot, self.position, moment(self.segment, 0));
    }

    /// A record that orders nothing new: a new position.
    #[inline]
    pub(super) fn moved_on(&mut self, filter: &Filter) {
        self.position += 1;
        let stamp = self.next_stamp();
        filter.begin_position(self.slot, self.position, moment(self.segment, stamp));
    }

    pub(super) fn new_segment(&mut self) {
        if self.segment < MOST_SEGMENTS {
            self.segment += 1;
        }
        self.stamp.set(0);
        self.published.set(0);
        if self.is_exhausted() || self.everything {
            self.everything = true;
            self.exclusive = u64::MAX;
            self.shared = u64::MAX;
            self.last = u64::MAX;
        } else {
            self.exclusive = tag(EXCLUSIVE, self.slot, self.segment);
            self.shared = tag(SHARED, self.slot, self.segment);
            self.last = last_tag(self.slot);
        }
    }

    /// This thread's slot is about to begin (the `Fork` is written): all that this one did so far comes before all that the
    /// other will do.
    pub fn fork(&mut self, filter: &Filter, child: u32) {
        filter.use_slot(child);
        filter.join_must(child, self.slot);
        // What is done in this segment is done after the `Fork`.
        filter.must(child, self.slot).store(self.segment, Relaxed);
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

    /// Whether all that a slot did up to a segment is before this thread in every run.
    #[inline]
    pub(super) fn is_after(&self, filter: &Filter, slot: u32, segment: u64) -> bool {
        filter.must(self.slot, slot).load(Relaxed) > segment
    }

    pub(super) fn segment(&self) -> u64 {
        self.segment
    }

    pub(super) fn records_everything(&self) -> bool {
        self.everything
    }

    pub(super) fn exclusive_tag(&self) -> u64 {
        self.exclusive
    }

    pub(super) fn shared_tag(&self) -> u64 {
        self.shared
    }

    pub(super) fn stamp(&self) -> u32 {
        self.stamp.get()
    }

    /// The stamp of the next access that the trace will have. There is one: see [`Recorder::make_stamps`].
    #[inline]
    pub(super) fn next_stamp(&mut self) -> u32 {
        let stamp = self.stamp.get() + 1;
        self.stamp.set(stamp);
        stamp
    }

    /// The same of a write.
    #[inline]
    pub(super) fn write_stamp(&mut self) -> u32 {
        let stamp = self.next_stamp();
        if stamp <= EXACT {
            self.published.set(stamp);
        }
        stamp
    }

    /// Makes sure that an access has stamps enough.
    #[inline]
    pub(super) fn make_stamps(&mut self) {
        if self.stamp.get() + 4 > MOST_STAMPS {
            self.new_segment();
        }
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

#[inline]
pub(super) fn put_ticketed(sink: &mut impl Sink, head: u64, place: u32, word: Option<u64>) {
    let words = [head, ticketed(sink.ticket(), place), word.unwrap_or(0)];
    sink.put(&words[..2 + usize::from(word.is_some())]);
}
