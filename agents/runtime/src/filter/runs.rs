//! What others have kept of the granules of a block, and of those behind it, on its way to the records: accesses that go on from granule to granule
//! are one record.

use super::Sink;
use crate::hand_off::Timing;
use crate::record::{Kind, SEQ_BITS, head, is_deferred_write};

/// What a rank is further than the one before it, in a third word.
const NEXT_SEQ: u64 = 1 << (64 - SEQ_BITS);

/// Accesses of granules, each at the rank behind the one before it.
#[derive(Clone, Copy, Default)]
struct Run {
    words: u8,
    second: u64,
    /// With the rank of the first, and of the next.
    third: u64,
    next: u64,
}

/// A sink for the late records of one block. What it still has goes to the other one with [`Runs::flush`], before the record that they are written for.
pub(super) struct Runs<'s, S> {
    sink: &'s mut S,
    block: u64,
    /// Whole blocks behind it of which all goes that is put.
    behind: u64,
    /// Pins and accesses, of reads and of writes.
    runs: [Run; 4],
    /// Whether something has gone to the other one.
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

    /// The other sink.
    pub(super) fn sink(&mut self) -> &mut S {
        self.sink
    }

    /// How many blocks behind this one are meant as a whole.
    pub(super) fn behind(&self) -> u64 {
        self.behind
    }

    /// Whether nothing was put.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_put && self.runs.iter().all(|run| run.words == 0)
    }

    /// What was put of one granule is so of all of these, each at the rank behind the one before it; if there are so many blocks, of all of theirs. False if that is not
    /// one record for each kind: nothing is changed.
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
