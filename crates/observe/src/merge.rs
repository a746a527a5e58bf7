//! The records of all threads in one order: by key (ticket t: 2t + 1, stamp s: 2s), tickets without gaps.
//!
//! A heap over the slots holds the key of each one's next ordered record. Records of one slot are taken in a run up to the next key of
//! another. What has no place of its own (late accesses, texts) goes with the ordered record behind it; definitions of places go ahead of
//! it: a late access that another slot has written needs them, and may come first.

use crate::decode::{STAMP, TICKET, length, order, ticket};
use runtime::layout::CHUNK_WORDS;
use runtime::record::Kind;
use std::collections::VecDeque;

/// Who takes the merged records. The words are one whole record.
pub(crate) trait Take {
    fn take(&mut self, slot: u32, words: &[u64]);

    /// Whole records that come soon: asks for the memory that they will need, until it has seen `enough` words. How many it saw.
    fn fetch(&mut self, words: &[u64], enough: usize) -> usize {
        words.len().min(enough)
    }
}

/// Whole records that were copied out of a chunk.
pub(crate) struct Segment {
    words: Box<[u64]>,
    end: usize,
}

/// What a slot has written and nobody has taken yet.
#[derive(Default)]
struct Lane {
    segments: VecDeque<Segment>,
    /// In the first segment: the next record.
    at: usize,
    /// In the first segment: the next ordered record, if `key` is one.
    next: usize,
    /// In the first segment: up to where the sink is ready.
    fetched: usize,
    stamp: u64,
    key: Option<u64>,
    /// Records without a place that stood at the end of a segment: they go with the next ordered record.
    carried: Vec<u64>,
    /// There is more to be read than was read: who is ahead must wait.
    more: bool,
}

/// Merges the slots of a process.
#[derive(Default)]
pub(crate) struct Merger {
    lanes: Vec<Lane>,
    /// A binary heap of (key, slot), least first.
    heap: Vec<(u64, u32)>,
    /// The next ticket.
    expected: u64,
    /// Tickets that were given up.
    pub(crate) missing: u64,
    /// Records that came after their place was passed.
    pub(crate) out_of_order: u64,
    /// Words that wait here.
    held: usize,
    spare: Vec<Box<[u64]>>,
    early: Vec<Early>,
}

/// A definition of a place that was found and not taken yet.
struct Early {
    slot: u32,
    words: [u64; PLACE_WORDS],
}

/// So many words before its turn the memory that a record will need is asked for.
const AHEAD: usize = 96;

const PLACE_WORDS: usize = Kind::Place.words();

/// How a merge ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stopped {
    /// Nothing is left, or what is left lies beyond the limit.
    Limit,
    /// A ticket is missing.
    Missing,
    /// A slot has more to be read.
    More,
}

impl Merger {
    /// The next ticket.
    pub(crate) fn expected(&self) -> u64 {
        self.expected
    }

    /// Words that were added and not taken yet.
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Whether nothing of a slot waits here.
    pub(crate) fn is_idle(&self, slot: u32) -> bool {
        self.lanes.get(slot as usize).is_none_or(|lane| lane.segments.is_empty())
    }

    /// Says whether there is more of a slot to be read.
    pub(crate) fn set_more(&mut self, slot: u32, more: bool) {
        self.lane(slot).more = more;
    }

    fn lane(&mut self, slot: u32) -> &mut Lane {
        let slot = slot as usize;
        if self.lanes.len() <= slot {
            self.lanes.resize_with(slot + 1, Lane::default);
        }
        &mut self.lanes[slot]
    }

    /// Adds records of a slot: `fill` is given room for `room` words, and says how many of them it has made whole records.
    pub(crate) fn add<R>(&mut self, slot: u32, room: usize, fill: impl FnOnce(&mut [u64]) -> (usize, R)) -> R {
        debug_assert!(room <= CHUNK_WORDS);
        let fits = |segment: &Segment| segment.words.len() - segment.end >= room;
        if !self.lane(slot).segments.back().is_some_and(fits) {
            let words = self.spare.pop().unwrap_or_else(|| vec![0; CHUNK_WORDS].into_boxed_slice());
            self.lane(slot).segments.push_back(Segment { words, end: 0 });
        }
        let lane = &mut self.lanes[slot as usize];
        let last = lane.segments.len() - 1;
        let segment = &mut lane.segments[last];
        let (count, result) = fill(&mut segment.words[segment.end..segment.end + room]);
        segment.end += count.min(room);
        self.held += count.min(room);
        if segment.end == 0 {
            let segment = lane.segments.pop_back().expect("it was just looked at");
            self.spare.push(segment.words);
        }
        if lane.key.is_none() {
            lane.find_next(slot, &mut self.spare, &mut self.early);
            if let Some(key) = lane.key {
                self.push(key, slot);
            }
        }
        result
    }

    /// Takes what is in order, up to a key. With `give_up`, tickets that are missing are passed over.
    pub(crate) fn advance(&mut self, limit: u64, give_up: bool, sink: &mut impl Take) -> Stopped {
        take_early(&mut self.early, sink);
        while let Some(&(key, slot)) = self.heap.first() {
            if key > limit {
                return Stopped::Limit;
            }
            // A ticket must be the next one; before a stamp all tickets below it must have been.
            let number = key >> 1;
            if number > self.expected {
                if !give_up {
                    return Stopped::Missing;
                }
                self.missing = self.missing.saturating_add(number - self.expected);
                self.expected = number;
            }
            let second = self.heap[1..self.heap.len().min(3)].iter().min().map_or(u64::MAX, |next| next.0);
            self.run(slot, limit.min(second), sink);
            let lane = &self.lanes[slot as usize];
            match lane.key {
                Some(key) => self.replace_top(key),
                None => {
                    let more = lane.more;
                    self.pop_top();
                    if more {
                        return Stopped::More;
                    }
                }
            }
        }
        Stopped::Limit
    }

    /// Takes records of one slot up to a key.
    fn run(&mut self, slot: u32, limit: u64, sink: &mut impl Take) {
        let lane = &mut self.lanes[slot as usize];
        while let Some(key) = lane.key
            && let Some(segment) = lane.segments.front()
        {
            let number = key >> 1;
            if key > limit || number > self.expected {
                return;
            }
            if key & 1 == 1 {
                self.out_of_order += u64::from(number < self.expected);
                self.expected = self.expected.max(number + 1);
            }
            if !lane.carried.is_empty() {
                take_all(slot, &lane.carried, false, sink);
                self.held -= lane.carried.len();
                lane.carried.clear();
            }
            let words = &segment.words[..segment.end];
            let begin = lane.at;
            if lane.fetched < words.len().min(begin + AHEAD) {
                let from = begin.max(lane.fetched);
                lane.fetched = from + sink.fetch(&words[from..], AHEAD);
            }
            take_all(slot, &words[begin..lane.next], false, sink);
            let end = lane.next + length(words[lane.next]);
            sink.take(slot, &words[lane.next..end]);
            lane.at = end;
            lane.next = end;
            self.held -= end - begin;
            // The common case: an ordered record stands right behind.
            match words.get(end).map(|&head| order(head)) {
                Some(TICKET) => lane.key = Some(2 * ticket(words[end + 1]) + 1),
                Some(STAMP) => lane.key = Some(2 * lane.stamp),
                _ => lane.find_next(slot, &mut self.spare, &mut self.early),
            }
            if !self.early.is_empty() {
                take_early(&mut self.early, sink);
            }
        }
    }

    /// Takes what stands behind the last ordered record of each slot: at the end, when nothing more comes.
    pub(crate) fn take_rest(&mut self, sink: &mut impl Take) {
        take_early(&mut self.early, sink);
        for (slot, lane) in self.lanes.iter_mut().enumerate() {
            take_all(slot as u32, &std::mem::take(&mut lane.carried), true, sink);
            for segment in lane.segments.drain(..) {
                take_all(slot as u32, &segment.words[lane.at..segment.end], true, sink);
                lane.at = 0;
            }
            lane.key = None;
        }
        self.heap.clear();
        self.held = 0;
    }

    fn push(&mut self, key: u64, slot: u32) {
        let mut at = self.heap.len();
        self.heap.push((key, slot));
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.heap[parent] <= self.heap[at] {
                break;
            }
            self.heap.swap(parent, at);
            at = parent;
        }
    }

    fn replace_top(&mut self, key: u64) {
        self.heap[0].0 = key;
        self.sift_down();
    }

    fn pop_top(&mut self) {
        self.heap.swap_remove(0);
        self.sift_down();
    }

    fn sift_down(&mut self) {
        let heap = &mut self.heap[..];
        let mut at = 0;
        loop {
            let mut least = 2 * at + 1;
            if least >= heap.len() {
                return;
            }
            if least + 1 < heap.len() && heap[least + 1] < heap[least] {
                least += 1;
            }
            if heap[at] <= heap[least] {
                return;
            }
            heap.swap(at, least);
            at = least;
        }
    }
}

/// Takes whole records, one behind the other; definitions of places only if they were not taken early.
fn take_all(slot: u32, mut words: &[u64], with_places: bool, sink: &mut impl Take) {
    while let Some(&head) = words.first() {
        let (record, rest) = words.split_at(length(head));
        if with_places || !is_place(head) {
            sink.take(slot, record);
        }
        words = rest;
    }
}

fn take_early(early: &mut Vec<Early>, sink: &mut impl Take) {
    for Early { slot, words } in early.drain(..) {
        sink.take(slot, &words);
    }
}

fn is_place(head: u64) -> bool {
    head as u8 == Kind::Place as u8
}

impl Lane {
    /// Finds the next ordered record and its key.
    fn find_next(&mut self, slot: u32, spare: &mut Vec<Box<[u64]>>, early: &mut Vec<Early>) {
        self.key = None;
        while let Some(segment) = self.segments.front() {
            let words = &segment.words[..segment.end];
            while let Some(&head) = words.get(self.next) {
                match order(head) {
                    TICKET => {
                        self.key = Some(2 * ticket(words[self.next + 1]) + 1);
                        return;
                    }
                    STAMP => {
                        self.key = Some(2 * self.stamp);
                        return;
                    }
                    _ => {
                        if head as u8 == Kind::Stamp as u8 {
                            self.stamp = head >> 8;
                        } else if let Some(words) = words[self.next..].first_chunk()
                            && is_place(head)
                        {
                            early.push(Early { slot, words: *words });
                        }
                        self.next += length(head);
                    }
                }
            }
            self.carried.extend_from_slice(&words[self.at..]);
            (self.at, self.next, self.fetched) = (0, 0, 0);
            if let Some(segment) = self.segments.pop_front() {
                spare.push(segment.words);
            }
        }
    }
}
