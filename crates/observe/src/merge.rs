//! Merges the records of all threads into one order: by their times, and by slots where these are equal.
//!
//! Records of one slot are taken in a run up to the next time of another. Records without a time (deferred accesses,
//! texts) go with the timed record behind them. Definitions of call contexts go ahead of it: a deferred access that
//! another slot has written needs them, and may come first.

use crate::decode::{TIMED, length, order};
use crate::least::{Least, NEVER, is_never, key, slot, time};
use runtime::layout::CHUNK_WORDS;
use runtime::record::{Kind, extended};
use std::collections::VecDeque;

/// Takes the merged records. The words are one whole record.
pub(crate) trait RecordSink {
    fn record(&mut self, slot: u32, words: &[u64]);

    /// Takes the records without a time that stand before the timed record with this head. Definitions of call contexts
    /// are among them, and were already taken.
    fn take_untimed(&mut self, slot: u32, words: &[u64], _head: u64)
    where
        Self: Sized,
    {
        take_records(slot, words, false, self);
    }

    /// Takes timed records from the first of these words on, as long as they are of the most common kinds, their times
    /// do not go back, and none is after `limit`. `time` is that of the first, and becomes that of the last that was
    /// taken. Returns how many words were taken; none, if the first record is of another kind.
    fn take_run(&mut self, _slot: u32, _words: &[u64], _time: &mut u64, _limit: u64) -> usize {
        0
    }

    /// Asks for the memory that a record will need soon.
    fn fetch(&mut self, _record: &[u64]) {}

    /// Follows up on memory that was asked for, and should be there by now.
    fn fetch_on(&mut self) {}
}

/// Whole records that were copied out of a chunk.
#[derive(Default)]
struct Segment {
    words: Box<[u64]>,
    end: usize,
}

/// The records of a slot that were read and not taken yet.
#[derive(Default)]
struct Input {
    /// Empty if there is nothing.
    first: Segment,
    later: VecDeque<Segment>,
    /// In the first segment: the next record.
    at: usize,
    /// In the first segment: the next timed record.
    next: usize,
    /// The time of the next timed record; of the last one, if there is none.
    time: u64,
    /// Records without a time at the end of a segment: they go with the next timed record.
    carried: Vec<u64>,
    /// There is more to be read: slots that are ahead must wait.
    more: bool,
}

/// Merges the slots of a process.
#[derive(Default)]
pub(crate) struct Merger {
    inputs: Vec<Input>,
    /// Of the slots that have a timed record.
    least: Least,
    /// Up to this time, everything was taken.
    passed: u64,
    /// The time of the last record that was taken.
    last: u64,
    /// Records that came after their time was passed.
    pub(crate) out_of_order: u64,
    /// Words that wait here.
    held: usize,
    spare: Vec<Box<[u64]>>,
    early: Vec<Early>,
}

/// A definition of a call context that was found and not taken yet.
struct Early {
    slot: u32,
    words: [u64; CONTEXT_WORDS],
}

const CONTEXT_WORDS: usize = Kind::Context.words();

impl Merger {
    /// Words that were added and not taken yet.
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Whether nothing of a slot waits here.
    pub(crate) fn is_idle(&self, slot: u32) -> bool {
        self.inputs.get(slot as usize).is_none_or(Input::is_empty)
    }

    /// Sets whether there is more of a slot to be read.
    pub(crate) fn set_more(&mut self, slot: u32, more: bool) {
        self.input(slot).more = more;
    }

    fn input(&mut self, slot: u32) -> &mut Input {
        let slot = slot as usize;
        if self.inputs.len() <= slot {
            self.inputs.resize_with(slot + 1, Input::default);
        }
        &mut self.inputs[slot]
    }

    /// Adds records of a slot: `fill` gets room for `room` words, and returns how many of them are whole records.
    pub(crate) fn add<R>(&mut self, slot: u32, room: usize, fill: impl FnOnce(&mut [u64]) -> (usize, R)) -> R {
        debug_assert!(room <= CHUNK_WORDS);
        self.input(slot);
        let Merger { inputs, spare, .. } = self;
        let input = &mut inputs[slot as usize];
        // The next record is known already, unless this is all there is.
        let is_new = input.is_empty();
        let mut new =
            || Segment { words: spare.pop().unwrap_or_else(|| vec![0; CHUNK_WORDS].into_boxed_slice()), end: 0 };
        let fits = |segment: &Segment| segment.words.len() - segment.end >= room;
        if is_new {
            input.first = new();
        } else if !fits(input.later.back().unwrap_or(&input.first)) {
            input.later.push_back(new());
        }
        let segment = input.later.back_mut().unwrap_or(&mut input.first);
        let (count, result) = fill(&mut segment.words[segment.end..segment.end + room]);
        segment.end += count.min(room);
        self.held += count.min(room);
        if segment.end == 0 {
            let segment = input.later.pop_back().unwrap_or_else(|| std::mem::take(&mut input.first));
            self.spare.push(segment.words);
        } else if is_new && input.find_next(slot, &mut self.spare, &mut self.early) {
            self.least.set(slot, key(input.time, slot));
        }
        result
    }

    /// Takes all up to a time, unless a slot runs out of which there is more to be read.
    pub(crate) fn advance(&mut self, limit: u64, sink: &mut impl RecordSink) {
        take_early(&mut self.early, sink);
        sink.fetch_on();
        let waiting = |input: &&Input| input.more && input.is_empty();
        let unread = self.inputs.iter().filter(waiting).map(|input| input.time).min().unwrap_or(u64::MAX);
        let limit = limit.min(unread).max(self.passed);
        // With no limit, nothing more comes, or nothing in order.
        let mut passed = if limit == u64::MAX { self.passed } else { limit };
        loop {
            let first = self.least.first();
            if is_never(first) || time(first) > limit {
                break;
            }
            let slot = slot(first);
            let second = self.least.without(slot);
            // Of equal times, the lower slot's is first.
            let before = time(second).saturating_sub(u64::from(slot > crate::least::slot(second)));
            let next = if self.run(slot, limit.min(before), sink) {
                key(self.inputs[slot as usize].time, slot)
            } else {
                NEVER
            };
            self.least.set(slot, next);
            if next == NEVER && self.inputs[slot as usize].more {
                passed = self.passed.max(self.inputs[slot as usize].time);
                break;
            }
        }
        self.passed = passed;
    }

    /// Takes records of one slot up to a time, the first in any case. Returns whether there is one behind them.
    fn run(&mut self, slot: u32, limit: u64, sink: &mut impl RecordSink) -> bool {
        let input = &mut self.inputs[slot as usize];
        loop {
            if input.is_empty() {
                return false;
            }
            if !input.carried.is_empty() {
                take_records(slot, &input.carried, false, sink);
                self.held -= input.carried.len();
                input.carried.clear();
            }
            let words = &input.first.words[..input.first.end];
            let begin = input.at;
            let (mut at, mut next) = (begin, input.next);
            let is_known = loop {
                if at < next {
                    sink.take_untimed(slot, &words[at..next], words[next]);
                }
                let mut end = next;
                if input.time >= self.last {
                    end += sink.take_run(slot, &words[next..], &mut input.time, limit);
                    self.last = input.time;
                } else {
                    self.out_of_order += 1;
                }
                if end == next {
                    end += length(words[next]);
                    sink.record(slot, &words[next..end]);
                }
                (at, next) = (end, end);
                // The common case: a timed record stands right behind.
                match words.get(end..end + 2) {
                    Some(&[head, second]) if order(head) == TIMED => input.time = extended(input.time, second),
                    _ => break false,
                }
                if input.time > limit {
                    break true;
                }
            };
            (input.at, input.next) = (at, next);
            self.held -= at - begin;
            if is_known {
                return true;
            }
            let found = input.find_next(slot, &mut self.spare, &mut self.early);
            if !self.early.is_empty() {
                take_early(&mut self.early, sink);
            }
            if !found || input.time > limit {
                return found;
            }
        }
    }

    /// Takes all that is left, and what stands behind the last timed record of each slot: at the end, when nothing more
    /// comes.
    pub(crate) fn take_rest(&mut self, sink: &mut impl RecordSink) {
        for input in &mut self.inputs {
            input.more = false;
        }
        self.advance(u64::MAX, sink);
        for (slot, input) in self.inputs.iter_mut().enumerate() {
            take_records(slot as u32, &std::mem::take(&mut input.carried), true, sink);
            for segment in std::iter::once(std::mem::take(&mut input.first)).chain(input.later.drain(..)) {
                take_records(slot as u32, &segment.words[input.at..segment.end], true, sink);
                input.at = 0;
            }
        }
        self.least = Least::default();
        self.held = 0;
    }
}

/// Takes whole records, one behind the other; definitions of call contexts only if they were not taken early.
pub(crate) fn take_records(slot: u32, mut words: &[u64], with_contexts: bool, sink: &mut impl RecordSink) {
    while let Some(&head) = words.first() {
        let (record, rest) = words.split_at(length(head));
        if with_contexts || !is_context(head) {
            sink.record(slot, record);
        }
        words = rest;
    }
}

fn take_early(early: &mut Vec<Early>, sink: &mut impl RecordSink) {
    for Early { slot, words } in early.drain(..) {
        sink.record(slot, &words);
    }
}

fn is_context(head: u64) -> bool {
    head as u8 == Kind::Context as u8
}

impl Input {
    /// Whether there is nothing.
    #[inline]
    fn is_empty(&self) -> bool {
        self.first.end == 0
    }

    /// Finds the next timed record and its time. Whether there is one.
    fn find_next(&mut self, slot: u32, spare: &mut Vec<Box<[u64]>>, early: &mut Vec<Early>) -> bool {
        while !self.is_empty() {
            let words = &self.first.words[..self.first.end];
            while let Some(&head) = words.get(self.next) {
                let rest = &words[self.next..];
                match rest.first_chunk() {
                    Some(&[_, second]) if order(head) == TIMED => {
                        self.time = extended(self.time, second);
                        return true;
                    }
                    Some(&[_, time]) if head as u8 == Kind::FullTime as u8 => self.time = time,
                    _ => {}
                }
                if let Some(words) = rest.first_chunk()
                    && is_context(head)
                {
                    early.push(Early { slot, words: *words });
                }
                self.next += length(head);
            }
            self.carried.extend_from_slice(&words[self.at..]);
            (self.at, self.next) = (0, 0);
            let taken = std::mem::replace(&mut self.first, self.later.pop_front().unwrap_or_default());
            spare.push(taken.words);
        }
        false
    }
}

#[cfg(test)]
mod tests;
