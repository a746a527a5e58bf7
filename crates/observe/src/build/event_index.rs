//! Maps sync indexes to positions among the events of a thread, so that deferred accesses find theirs.
//!
//! A record gives one event as a rule. Only those that give none or several are stored, in two bits for each sync
//! index: deferred accesses can reach back to the beginning, and there are many of them.
//!
//! Sync indexes with only eventless records between them (records that give no event, such as allocations) have the
//! same events before them, and sequence numbers begin again with each. So a deferred access is also placed by how many
//! eventless records stand right before it.

use crate::prefetch::fetch;
use event::ThreadId;
use trace::binary::DeferredPosition;

/// The binary logarithm of the number of sync indexes of a block: one for each bit of a word.
const BLOCK_BITS: u32 = 6;

/// Bits of the sequence numbers that agents use at one sync index.
const SEQ_BITS: u32 = 14;

/// Bits that are left in the sequence number of a deferred event.
const EVENTLESS_BITS: u32 = u32::BITS - SEQ_BITS;

/// Eventless records in a row for which there is room.
pub(crate) const MOST_EVENTLESS: u32 = (1 << EVENTLESS_BITS) - 1;

/// In a block: one of its sync indexes has several events.
const SEVERAL: i64 = 1 << EVENTLESS_BITS;

/// A position among the events of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct TracePosition {
    pub(crate) thread: ThreadId,
    /// Events of the thread before it.
    pub(crate) after: u64,
    /// Eventless records of the thread right before it.
    pub(crate) eventless: u32,
}

impl TracePosition {
    /// The position of a deferred access with this sequence number, if agents use such numbers.
    #[inline]
    pub(crate) fn at(self, seq: u32) -> Option<DeferredPosition> {
        let seq = (seq >> SEQ_BITS == 0).then_some(self.eventless.min(MOST_EVENTLESS) << SEQ_BITS | seq)?;
        Some(DeferredPosition { after: self.after, sequence: seq })
    }

    /// The position behind all accesses here, and before those behind the next record.
    pub(crate) fn end(self) -> DeferredPosition {
        let seq = self.eventless.min(MOST_EVENTLESS) << SEQ_BITS | ((1 << SEQ_BITS) - 1);
        DeferredPosition { after: self.after, sequence: seq }
    }
}

/// A thread in a slot.
struct Span {
    /// The sync index of its first access.
    sync_index: u64,
    /// Events of the slot before its first record.
    events: u64,
    thread: ThreadId,
    /// Events that the thread had made before.
    made: u64,
}

/// Some consecutive sync indexes.
struct Block {
    /// Up to the first of them: events less sync indexes, and in the lower bits how many eventless records stand right
    /// before it; between them, whether one of these sync indexes has several events.
    before: i64,
    /// Those whose records gave no event.
    none: u64,
    /// Those whose records gave [`WHOLE`] events.
    whole: u64,
}

/// Events of a record that is an access of a whole strip of memory (512 bytes). There are many of them.
const WHOLE: u64 = 64;

impl Block {
    /// Events less sync indexes, up to the first of them.
    #[inline]
    fn surplus(&self) -> i64 {
        self.before >> (EVENTLESS_BITS + 1)
    }

    /// Whether one of them has several events.
    #[inline]
    fn has_several(&self) -> bool {
        self.before & SEVERAL != 0
    }

    /// How many eventless records stand right before one of them.
    #[inline]
    fn eventless(&self, within: u32) -> u32 {
        let run = match within {
            0 => 0,
            within => (self.none << (u64::BITS - within)).leading_ones(),
        };
        if run < within { run } else { self.eventless_before().saturating_add(run).min(MOST_EVENTLESS) }
    }

    fn eventless_before(&self) -> u32 {
        self.before as u32 & MOST_EVENTLESS
    }
}

/// The sync indexes of a slot.
#[derive(Default)]
pub(crate) struct EventIndex {
    /// Timed records so far.
    count: u64,
    /// Events less records so far.
    surplus: i64,
    /// The eventless records that were the last ones, up to [`MOST_EVENTLESS`].
    eventless: u32,
    spans: Vec<Span>,
    /// Up to the last record that gave not one event.
    blocks: Vec<Block>,
    /// Other records that gave several events: their sync indexes, and how many events these and those before them gave
    /// beyond one each.
    several: Vec<(u64, u64)>,
}

impl EventIndex {
    /// Timed records so far.
    pub(crate) fn records(&self) -> u64 {
        self.count
    }

    /// A record gave one event.
    #[inline]
    pub(crate) fn one(&mut self) {
        self.count += 1;
        self.eventless = 0;
    }

    /// This many records gave one event each.
    #[inline]
    pub(crate) fn ones(&mut self, records: u64) {
        self.count += records;
        if records > 0 {
            self.eventless = 0;
        }
    }

    /// A record gave this many events.
    #[inline]
    pub(crate) fn record(&mut self, events: u64) {
        if events != 1 {
            self.deviate(events);
        }
        self.count += 1;
        self.eventless = if events == 0 { (self.eventless + 1).min(MOST_EVENTLESS) } else { 0 };
    }

    /// Whether the eventless records at the end leave no room for another.
    #[inline]
    pub(crate) fn must_emit(&self) -> bool {
        self.eventless >= MOST_EVENTLESS - 1
    }

    fn deviate(&mut self, events: u64) {
        let block = (self.count >> BLOCK_BITS) as usize;
        while self.blocks.len() <= block {
            let eventless = self.blocks.last().map_or(0, |last| last.eventless(1 << BLOCK_BITS));
            self.blocks.push(Block {
                before: self.surplus << (EVENTLESS_BITS + 1) | i64::from(eventless),
                none: 0,
                whole: 0,
            });
        }
        let bit = 1 << (self.count % (1 << BLOCK_BITS));
        match events.checked_sub(1) {
            None => self.blocks[block].none |= bit,
            Some(_) if events == WHOLE => self.blocks[block].whole |= bit,
            Some(more) => {
                self.blocks[block].before |= SEVERAL;
                let before = self.several.last().map_or(0, |last| last.1);
                self.several.push((self.count, before + more));
            }
        }
        self.surplus += events as i64 - 1;
    }

    /// A thread begins with the next record, and with the accesses right before it.
    pub(crate) fn begin(&mut self, thread: ThreadId) {
        self.eventless = 0;
        self.spans.push(Span { sync_index: self.count, events: self.events_now(), thread, made: 0 });
    }

    /// A thread that made this many events before another had the slot goes on with the next record. The accesses
    /// right before it are the other's: this one was waiting.
    pub(crate) fn go_on(&mut self, thread: ThreadId, made: u64) {
        self.eventless = 0;
        self.spans.push(Span { sync_index: self.count + 1, events: self.events_now(), thread, made });
    }

    fn events_now(&self) -> u64 {
        self.count.saturating_add_signed(self.surplus)
    }

    /// The position of a sync index. Sync indexes that are still to come count as now.
    #[inline]
    pub(crate) fn find(&self, sync_index: u64) -> Option<TracePosition> {
        let sync_index = sync_index.min(self.count);
        let span = match self.spans.last()? {
            last if last.sync_index <= sync_index => last,
            _ => &self.spans[self.spans.partition_point(|span| span.sync_index <= sync_index).checked_sub(1)?],
        };
        let (events, eventless) = self.before(sync_index);
        let after = events.saturating_sub(span.events).saturating_add(span.made);
        Some(TracePosition {
            thread: span.thread,
            after,
            eventless: u64::from(eventless).min(sync_index - span.sync_index) as u32,
        })
    }

    /// Asks for the memory that `find` will look at.
    #[inline]
    pub(crate) fn fetch(&self, sync_index: u64) {
        fetch(self.blocks.as_ptr().wrapping_add((sync_index >> BLOCK_BITS) as usize));
    }

    /// Events of the records before a sync index, and how many eventless ones stand right before it, of whichever
    /// thread.
    #[inline]
    fn before(&self, sync_index: u64) -> (u64, u32) {
        let within = (sync_index % (1 << BLOCK_BITS)) as u32;
        let Some(block) = self.blocks.get((sync_index >> BLOCK_BITS) as usize) else {
            let is_next = within == 0 && sync_index >> BLOCK_BITS == self.blocks.len() as u64;
            let last = self.blocks.last().filter(|_| is_next);
            return (
                sync_index.saturating_add_signed(self.surplus),
                last.map_or(0, |last| last.eventless(1 << BLOCK_BITS)),
            );
        };
        let mut surplus = block.surplus();
        let none = block.none & ((1 << within) - 1);
        // Most records give one event.
        if none != 0 {
            surplus -= i64::from(none.count_ones());
        }
        if block.whole != 0 {
            let whole = block.whole & ((1 << within) - 1);
            surplus += (WHOLE as i64 - 1) * i64::from(whole.count_ones());
        }
        if block.has_several() {
            surplus += self.several_between(sync_index & !((1 << BLOCK_BITS) - 1), sync_index);
        }
        let eventless = if none == 0 && within > 0 { 0 } else { block.eventless(within) };
        (sync_index.saturating_add_signed(surplus), eventless)
    }

    /// What the records with several events gave beyond one each, from one sync index up to another.
    fn several_between(&self, from: u64, to: u64) -> i64 {
        let before = |sync_index: u64| {
            let index = self.several.partition_point(|several| several.0 < sync_index);
            index.checked_sub(1).map_or(0, |index| self.several[index].1)
        };
        (before(to) - before(from)) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_around_eventless_records_stand_in_order() {
        let mut event_index = EventIndex::default();
        event_index.begin(ThreadId(0));
        let mut before = None;
        for (sync_index, events) in [1, 0, 0, 1, 0].into_iter().enumerate() {
            let position = event_index.find(sync_index as u64).expect("a thread");
            for at in [position.at(0), position.at(7), Some(position.end())] {
                assert!(at > before, "{at:?} at {sync_index}");
                before = at;
            }
            event_index.record(events);
        }
        assert_eq!(event_index.find(0).and_then(|position| position.at(1 << SEQ_BITS)), None);
    }

    #[test]
    fn who_goes_on_has_waited_until_then() {
        let mut event_index = EventIndex::default();
        event_index.begin(ThreadId(0));
        // An event, and the wait; two of a handler; the end of the wait, with two events; and one more.
        event_index.record(1);
        event_index.record(1);
        event_index.begin(ThreadId(1));
        event_index.record(1);
        event_index.record(1);
        event_index.go_on(ThreadId(0), 2);
        event_index.record(2);
        event_index.record(1);
        let found = (0..=6).map(|sync_index| event_index.find(sync_index).expect("a thread"));
        let found: Vec<(u32, u64)> = found.map(|position| (position.thread.0, position.after)).collect();
        assert_eq!(found, [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (0, 4), (0, 5)]);
    }

    #[test]
    fn so_many_eventless_records_that_one_must_speak() {
        let mut event_index = EventIndex::default();
        event_index.begin(ThreadId(0));
        let mut count = 0;
        while !event_index.must_emit() {
            event_index.record(0);
            count += 1;
        }
        let position = event_index.find(count).expect("a thread");
        assert_eq!((position.after, u64::from(position.eventless)), (0, count));
        // Further eventless records count as the end, and everything before stays where it is.
        for _ in 0..100 {
            event_index.record(0);
        }
        assert_eq!(event_index.find(count), Some(position));
        assert_eq!(event_index.find(u64::MAX).map(|position| position.eventless), Some(MOST_EVENTLESS));
    }

    #[test]
    fn every_position_is_found_as_by_counting() {
        let mut seed = 7u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for _ in 0..50 {
            let mut event_index = EventIndex::default();
            let mut expected = Vec::new();
            let (mut thread, mut after, mut eventless) = (0, 0, 0);
            event_index.begin(ThreadId(0));
            let rare = 1 + random(40);
            for sync_index in 0..2_000 {
                if sync_index > 0 && random(300) == 0 {
                    thread += 1;
                    (after, eventless) = (0, 0);
                    event_index.begin(ThreadId(thread));
                }
                expected.push(TracePosition { thread: ThreadId(thread), after, eventless });
                let count = match random(rare) {
                    0 => [0, WHOLE, random(5) * random(100)][random(3) as usize],
                    // Long stretches without an event.
                    _ if rare < 6 && sync_index % 500 < 200 => 0,
                    _ => 1,
                };
                after += count;
                eventless = if count == 0 { eventless + 1 } else { 0 };
                event_index.record(count);
            }
            for (sync_index, &context) in expected.iter().enumerate() {
                assert_eq!(event_index.find(sync_index as u64), Some(context), "at {sync_index}");
            }
            assert_eq!(event_index.find(u64::MAX), Some(TracePosition { thread: ThreadId(thread), after, eventless }));
        }
    }
}
