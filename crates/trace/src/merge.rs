//! Merges the streams of single threads into one recorded order, by sequence numbers.
//!
//! Recorders number what matters to the order (synchronisation, property variables) from one global counter; plain
//! accesses between carry no number. An event without a number comes right behind the event before it in its stream,
//! those before a stream's first number right before it. (So a thread's stream begins with a numbered event, its
//! start, if it is to come after its fork.)

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The sequence numbers of the streams contradict each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MergeError {
    /// Numbers must grow within a stream.
    #[error("stream {stream}: sequence number {number} comes after {previous}")]
    NotIncreasing {
        /// Which stream.
        stream: usize,
        /// The number before.
        previous: u64,
        /// The number that is not greater.
        number: u64,
    },
    /// Numbers are given once.
    #[error("streams {first} and {second} both have sequence number {number}")]
    Twice {
        /// One stream.
        first: usize,
        /// The other.
        second: usize,
        /// The number.
        number: u64,
    },
}

/// The merged order, as an iterator over (stream, item). It holds one item of each stream, and the unnumbered items
/// before a stream's first number.
pub struct Merge<T, I: Iterator<Item = (Option<u64>, T)>> {
    streams: Vec<Stream<T, I>>,
    /// The next number of each stream that has one.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    /// The stream whose items are being handed out, and the number they follow.
    current: Option<(usize, u64)>,
    last: Option<(u64, usize)>,
    failed: Option<MergeError>,
    /// Once all numbers are used up: the first stream that may have items left.
    rest: usize,
}

struct Stream<T, I> {
    items: I,
    /// Items taken from the stream and not handed out yet.
    ready: VecDeque<T>,
}

impl<T, I: Iterator<Item = (Option<u64>, T)>> Merge<T, I> {
    /// Begins to merge.
    pub fn new(streams: impl IntoIterator<Item = I>) -> Self {
        let streams = streams.into_iter();
        let streams: Vec<_> = streams.map(|items| Stream { items, ready: VecDeque::new() }).collect();
        let mut merge = Merge { streams, next: BinaryHeap::new(), current: None, last: None, failed: None, rest: 0 };
        for stream in 0..merge.streams.len() {
            merge.read_to_number(stream);
        }
        merge
    }

    /// Reads a stream up to its first number.
    fn read_to_number(&mut self, at: usize) {
        let stream = &mut self.streams[at];
        for (number, item) in stream.items.by_ref() {
            stream.ready.push_back(item);
            if let Some(number) = number {
                self.next.push(Reverse((number, at)));
                return;
            }
        }
    }

    /// The next item of the stream being handed out, up to its next number.
    fn continue_current(&mut self) -> Option<(usize, T)> {
        let (at, number) = self.current?;
        let stream = &mut self.streams[at];
        if let Some(item) = stream.ready.pop_front() {
            return Some((at, item));
        }
        match stream.items.next() {
            Some((None, item)) => return Some((at, item)),
            Some((Some(next), item)) => {
                stream.ready.push_back(item);
                self.next.push(Reverse((next, at)));
                if next <= number {
                    self.failed = Some(MergeError::NotIncreasing { stream: at, previous: number, number: next });
                }
            }
            None => {}
        }
        self.current = None;
        None
    }
}

impl<T, I: Iterator<Item = (Option<u64>, T)>> Iterator for Merge<T, I> {
    type Item = Result<(usize, T), MergeError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.continue_current() {
                return Some(Ok(item));
            }
            if let Some(error) = self.failed.take() {
                self.next.clear();
                self.streams.clear();
                return Some(Err(error));
            }
            let Some(Reverse((number, at))) = self.next.pop() else {
                // Streams without any number come last, one after the other.
                while let Some(stream) = self.streams.get_mut(self.rest) {
                    if let Some(item) = stream.ready.pop_front() {
                        return Some(Ok((self.rest, item)));
                    }
                    self.rest += 1;
                }
                return None;
            };
            if let Some((last, first)) = self.last
                && last == number
            {
                self.failed = Some(MergeError::Twice { first, second: at, number });
                continue;
            }
            self.last = Some((number, at));
            self.current = Some((at, number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Item = (Option<u64>, u32);

    fn merged(streams: &[Vec<Item>]) -> Result<Vec<(usize, u32)>, MergeError> {
        Merge::new(streams.iter().map(|s| s.iter().copied())).collect()
    }

    /// The definition: each item's key is the last number at or before it in its stream (the first one for those
    /// before it, none at all last); sort by key, keeping each stream's order.
    fn sorted(streams: &[Vec<Item>]) -> Vec<(usize, u32)> {
        let mut all = Vec::new();
        for (at, stream) in streams.iter().enumerate() {
            let mut key = stream.iter().find_map(|item| item.0).unwrap_or(u64::MAX);
            for item in stream {
                key = item.0.unwrap_or(key);
                all.push((key, at, item.1));
            }
        }
        all.sort_by_key(|item| item.0);
        all.into_iter().map(|(_, at, item)| (at, item)).collect()
    }

    proptest! {
        #[test]
        fn merging_is_sorting(order in prop::collection::vec((0usize..5, prop::bool::weighted(0.4)), 0..60)) {
            let mut streams = vec![Vec::new(); 5];
            for (number, (at, numbered)) in order.into_iter().enumerate() {
                streams[at].push((numbered.then_some(number as u64), number as u32));
            }
            prop_assert_eq!(merged(&streams), Ok(sorted(&streams)));
        }
    }

    #[test]
    fn contradictions_are_told() {
        let twice = [vec![(Some(1), 0)], vec![(Some(1), 1)]];
        assert_eq!(merged(&twice), Err(MergeError::Twice { first: 0, second: 1, number: 1 }));
        let back = [vec![(Some(5), 0), (None, 1), (Some(4), 2)]];
        assert_eq!(merged(&back), Err(MergeError::NotIncreasing { stream: 0, previous: 5, number: 4 }));
    }
}
