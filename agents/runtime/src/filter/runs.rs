//! Merges the deferred records of a bulk access: accesses that go on from word to word become one record.

use super::Sink;
use crate::hand_off::Timing;
use crate::record::{Kind, SEQ_BITS, head, is_deferred_write};

/// The distance between consecutive sequence numbers in a third word.
const NEXT_SEQ: u64 = 1 << (64 - SEQ_BITS);

/// Accesses of words, each with the sequence number behind the one before it.
#[derive(Clone, Copy, Default)]
struct Run {
    words: u8,
    second: u64,
    /// The third words of the first access, and of the next.
    third: u64,
    next: u64,
}

/// A sink for the deferred records of one block. What it still holds goes to the inner sink with [`Runs::flush`],
/// before the record that they are written for.
pub(super) struct Runs<'s, S> {
    sink: &'s mut S,
    block: u64,
    /// Whole blocks behind it for which all records count, too.
    behind: u64,
    /// Drop barriers and accesses, of reads and of writes.
    runs: [Run; 4],
    /// Whether something has gone to the inner sink.
    has_put: bool,
}

impl<'s, S: Sink> Runs<'s, S> {
    pub(super) fn new(sink: &'s mut S, block: u64) -> Self {
        Runs { sink, block, behind: 0, runs: Default::default(), has_put: false }
    }

    pub(super) fn flush(&mut self) {
        for index in 0..self.runs.len() {
            self.end(index);
        }
    }

    /// The inner sink.
    pub(super) fn sink(&mut self) -> &mut S {
        self.sink
    }

    /// How many whole blocks behind this one are included.
    pub(super) fn behind(&self) -> u64 {
        self.behind
    }

    /// Whether nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_put && self.runs.iter().all(|run| run.words == 0)
    }

    /// Extends what was written of one word to all of these, each with the sequence number behind the one before it;
    /// and to this many blocks. Returns false, and changes nothing, if that is not one record for each kind.
    pub(super) fn widen(&mut self, words: u8, blocks: usize) -> bool {
        if !self.has_put {
            self.behind = blocks.max(1) as u64 - 1;
            for run in self.runs.iter_mut().filter(|run| run.words != 0) {
                run.words = words;
            }
        }
        !self.has_put
    }

    fn end(&mut self, index: usize) {
        let Run { words, second, third, .. } = core::mem::take(&mut self.runs[index]);
        self.has_put |= words != 0;
        let is_pin = index < 2;
        if words.is_power_of_two() {
            let word = self.block + 8 * u64::from(words.trailing_zeros());
            self.sink.put([head(if is_pin { Kind::DropBarrier } else { Kind::Deferred }, 0xff, word), second, third]);
        } else if words != 0 {
            self.sink.put([
                head(if is_pin { Kind::DropBarrierBulk } else { Kind::DeferredBulk }, words, self.block | self.behind),
                second,
                third,
            ]);
        }
    }
}

impl<S: Sink> Sink for Runs<'_, S> {
    fn begin(&self) {
        self.sink.begin();
    }

    fn time(&mut self, timing: Timing) -> u64 {
        self.sink.time(timing)
    }

    fn written(&self) {
        self.sink.written();
    }

    fn reserve(&mut self, words: usize) {
        self.sink.reserve(words);
    }

    fn put<const WORDS: usize>(&mut self, words: [u64; WORDS]) {
        let (Some(&[first, second, third]), Some(word)) =
            (words.first_chunk(), words.first().and_then(|first| (first >> 16).checked_sub(self.block)))
        else {
            return self.sink.put(words);
        };
        if (first >> 8) as u8 != 0xff {
            self.has_put = true;
            return self.sink.put(words);
        }
        let index = usize::from(is_deferred_write(third)) + if first as u8 == Kind::DropBarrier as u8 { 0 } else { 2 };
        let number = word / 8;
        let run = &mut self.runs[index];
        if run.words == 0 || run.second != second || run.next != third || run.words >> number != 0 {
            self.end(index);
            self.runs[index] = Run { words: 0, second, third, next: third };
        }
        let run = &mut self.runs[index];
        run.words |= 1 << number;
        run.next = run.next.wrapping_add(NEXT_SEQ);
    }

    fn yield_now(&self) {
        self.sink.yield_now();
    }
}
