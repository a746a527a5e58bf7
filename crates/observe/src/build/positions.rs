//! Where the records of a slot stand among the events of its threads, so that late accesses find their place.
//!
//! A record gives one event as a rule. Only those that give none or several are kept, in a few bytes each: late accesses can reach back to
//! the beginning.

use event::ThreadId;

/// Deviations between two entries of the index.
const STRIDE: usize = 8;

/// Positions of a block, for which is known where its marks begin.
const BLOCK_BITS: u32 = 10;

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

/// A point from which the deviations can be read.
struct Mark {
    /// The position of the deviation before, or 0.
    position: u64,
    /// Deviations up to there: events less positions.
    surplus: i64,
    byte: usize,
}

/// The positions of a slot.
#[derive(Default)]
pub(crate) struct Positions {
    /// Ordered records so far.
    count: u64,
    /// Events less records so far.
    surplus: i64,
    spans: Vec<Span>,
    /// For each record with not one event: positions since the one before, events; as varints.
    bytes: Vec<u8>,
    deviations: usize,
    last: u64,
    marks: Vec<Mark>,
    /// By block of positions: how many marks are before it.
    blocks: Vec<u32>,
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
        if self.deviations.is_multiple_of(STRIDE) {
            let before = (self.last >> BLOCK_BITS) as usize + 1;
            if self.blocks.len() < before {
                self.blocks.resize(before, self.marks.len() as u32);
            }
            self.marks.push(Mark { position: self.last, surplus: self.surplus, byte: self.bytes.len() });
        }
        put(&mut self.bytes, self.count - self.last);
        put(&mut self.bytes, events);
        self.deviations += 1;
        self.last = self.count;
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
    pub(crate) fn find(&self, position: u64) -> Option<(ThreadId, u64)> {
        let position = position.min(self.count);
        let after = self.spans.partition_point(|span| span.position <= position);
        let span = &self.spans[after.checked_sub(1)?];
        let since = self.events_before(position).saturating_sub(span.events);
        Some((span.thread, since.saturating_add(span.made)))
    }

    /// Events of the records before a position.
    fn events_before(&self, position: u64) -> u64 {
        let block = (position >> BLOCK_BITS) as usize;
        let marks = |block: usize| self.blocks.get(block).map_or(self.marks.len(), |&marks| marks as usize);
        let (from, to) = (marks(block), marks(block + 1));
        let mark = from + self.marks[from..to].partition_point(|mark| mark.position < position);
        let Some(mark) = mark.checked_sub(1).map(|index| &self.marks[index]) else { return position };
        let (mut at, mut surplus, mut byte) = (mark.position, mark.surplus, mark.byte);
        while byte < self.bytes.len() {
            at += get(&self.bytes, &mut byte);
            if at >= position {
                break;
            }
            surplus += get(&self.bytes, &mut byte) as i64 - 1;
        }
        position.saturating_add_signed(surplus)
    }
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn get(bytes: &[u8], at: &mut usize) -> u64 {
    let mut number = 0;
    let mut shift = 0;
    while let Some(&byte) = bytes.get(*at) {
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 || shift > 63 {
            break;
        }
    }
    number
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
