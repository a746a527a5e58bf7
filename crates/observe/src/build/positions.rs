//! Where the records of a slot stand among the events of its threads, so that late accesses find their place.
//!
//! A record gives one event as a rule. Only those that give none or several are kept, in two bits of each position: late accesses can reach back to
//! the beginning, and there are many of them.

use crate::near::fetch;
use event::ThreadId;

/// Positions of a block, a bit each.
const BLOCK_BITS: u32 = 6;

/// A thread in a slot.
struct Span {
    /// The position of its first record.
    position: u64,
    /// Events of the slot before it.
    events: u64,
    thread: ThreadId,
    /// Events that the thread had made before.
    made: u64,
}

/// Some positions that follow one another.
struct Block {
    /// Events less positions, up to the first of them.
    surplus: i64,
    /// Those whose records gave no event.
    none: u64,
}

/// The positions of a slot.
#[derive(Default)]
pub(crate) struct Positions {
    /// Ordered records so far.
    count: u64,
    /// Events less records so far.
    surplus: i64,
    spans: Vec<Span>,
    /// Up to the last record that gave not one event.
    blocks: Vec<Block>,
    /// Records that gave several events: their positions, and how many events these and those before them gave beyond one each.
    several: Vec<(u64, u64)>,
}

impl Positions {
    /// A record gave one event.
    #[inline]
    pub(crate) fn one(&mut self) {
        self.count += 1;
    }

    /// A record gave so many events.
    #[inline]
    pub(crate) fn record(&mut self, events: u64) {
        if events != 1 {
            self.deviate(events);
        }
        self.count += 1;
    }

    fn deviate(&mut self, events: u64) {
        let block = (self.count >> BLOCK_BITS) as usize;
        while self.blocks.len() <= block {
            self.blocks.push(Block { surplus: self.surplus, none: 0 });
        }
        match events.checked_sub(1) {
            None => self.blocks[block].none |= 1 << (self.count % (1 << BLOCK_BITS)),
            Some(more) => {
                let before = self.several.last().map_or(0, |last| last.1);
                self.several.push((self.count, before + more));
            }
        }
        self.surplus += events as i64 - 1;
    }

    /// A thread begins with the next record.
    pub(crate) fn begin(&mut self, thread: ThreadId) {
        self.go_on(thread, 0);
    }

    /// A thread that made so many events before others had the slot goes on with the next record.
    pub(crate) fn go_on(&mut self, thread: ThreadId, made: u64) {
        self.spans.push(Span { position: self.count, events: self.events_now(), thread, made });
    }

    fn events_now(&self) -> u64 {
        self.count.saturating_add_signed(self.surplus)
    }

    /// The thread that was at a position, and how many events it had made there. Positions that are still to come are now.
    #[inline]
    pub(crate) fn find(&self, position: u64) -> Option<(ThreadId, u64)> {
        let position = position.min(self.count);
        let span = match self.spans.last()? {
            last if last.position <= position => last,
            _ => &self.spans[self.spans.partition_point(|span| span.position <= position).checked_sub(1)?],
        };
        let since = self.events_before(position).saturating_sub(span.events);
        Some((span.thread, since.saturating_add(span.made)))
    }

    /// Asks for the memory that `find` will look at.
    #[inline]
    pub(crate) fn fetch(&self, position: u64) {
        if let Some(block) = self.blocks.get((position >> BLOCK_BITS) as usize) {
            fetch(block);
        }
    }

    /// Events of the records before a position.
    #[inline]
    fn events_before(&self, position: u64) -> u64 {
        let Some(block) = self.blocks.get((position >> BLOCK_BITS) as usize) else {
            return position.saturating_add_signed(self.surplus);
        };
        let before = (1 << (position % (1 << BLOCK_BITS))) - 1;
        let mut surplus = block.surplus - i64::from((block.none & before).count_ones());
        if !self.several.is_empty() {
            surplus += self.several_between(position & !((1 << BLOCK_BITS) - 1), position);
        }
        position.saturating_add_signed(surplus)
    }

    /// What the records with several events gave beyond one each, from a position up to another.
    fn several_between(&self, from: u64, to: u64) -> i64 {
        let before = |position: u64| {
            let index = self.several.partition_point(|several| several.0 < position);
            index.checked_sub(1).map_or(0, |index| self.several[index].1)
        };
        (before(to) - before(from)) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_is_found_as_by_counting() {
        let mut seed = 7u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for _ in 0..50 {
            let mut positions = Positions::default();
            let mut expected = Vec::new();
            let (mut thread, mut events) = (0, 0);
            positions.begin(ThreadId(0));
            let rare = 1 + random(40);
            for position in 0..2_000 {
                if position > 0 && random(300) == 0 {
                    thread += 1;
                    events = 0;
                    positions.begin(ThreadId(thread));
                }
                expected.push((ThreadId(thread), events));
                let count = if random(rare) == 0 { random(5) * random(100) } else { 1 };
                events += count;
                positions.record(count);
            }
            for (position, &place) in expected.iter().enumerate() {
                assert_eq!(positions.find(position as u64), Some(place), "at {position}");
            }
            assert_eq!(positions.find(u64::MAX), Some((ThreadId(thread), events)));
        }
    }
}
