//! Random interleavings, read in random portions, against a sort.

use super::{Merger, RecordSink};
use runtime::record::{Kind, MOST_BETWEEN, head, timed};
use std::collections::{BTreeSet, VecDeque};

#[derive(Default)]
struct Taken(Vec<(u32, u64)>);

impl RecordSink for Taken {
    fn record(&mut self, slot: u32, words: &[u64]) {
        if words[0] as u8 != Kind::FullTime as u8 {
            self.0.push((slot, words[0] >> 16));
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// A record with its time, and the words that its thread writes: full times and texts before it, a place behind it.
struct Written {
    time: u64,
    words: Vec<u64>,
}

/// What the threads of a process write: of each slot, in its order; and how it is to be taken.
fn written(random: &mut Random, slots: usize, records: u64) -> (Vec<VecDeque<Written>>, Vec<(u32, u64)>) {
    let mut inputs: Vec<VecDeque<Written>> = (0..slots).map(|_| VecDeque::new()).collect();
    let mut last_full_time = vec![0; slots];
    let mut time = if random.below(2) == 0 { 1 } else { u64::MAX / 3 };
    let mut keys = Vec::new();
    for number in 1..=records {
        // Some are at one time, some far apart.
        time += match random.below(40) {
            0 => random.below(3) << 38,
            1..30 => 1 + random.below(20),
            _ => 0,
        };
        let slot = random.below(slots as u64) as usize;
        // A thread has no two at one time.
        time = time.max(inputs[slot].back().map_or(0, |last| last.time + 1));
        let mut words = Vec::new();
        if time - last_full_time[slot] >= MOST_BETWEEN {
            last_full_time[slot] = time;
            words.extend([head(Kind::FullTime, 0, 0), time]);
        }
        let late = random.below(3) == 0;
        if late {
            words.extend([head(Kind::Deferred, 1, number), 0, 0]);
        }
        words.extend([head(Kind::ConflictWrite, 1, number), timed(time, 7)]);
        keys.push((time, slot as u32, number, late));
        inputs[slot].push_back(Written { time, words });
    }
    keys.sort_unstable();
    let each = keys.into_iter();
    (
        inputs,
        each.flat_map(|(_, slot, number, late)| std::iter::repeat_n((slot, number), 1 + usize::from(late))).collect(),
    )
}

fn add(merger: &mut Merger, slot: u32, words: &[u64]) {
    merger.add(slot, words.len(), |room| {
        room.copy_from_slice(words);
        (words.len(), ())
    });
}

#[test]
fn portions_of_lanes_become_one_sorted_trace() {
    for seed in 0..3_000 {
        let mut random = Random(seed);
        let slots = 1 + random.below(9) as usize;
        let (mut inputs, expected) = written(&mut random, slots, 120);
        let mut times: Vec<u64> = inputs.iter().flatten().map(|record| record.time).collect();
        times.sort_unstable();
        let mut visible = vec![0; slots];
        let mut passed = 0;
        let (mut merger, mut taken) = (Merger::default(), Taken::default());
        let mut clock = times[0];
        while inputs.iter().any(|input| !input.is_empty()) {
            clock += match random.below(6) {
                0 => 1 << 38,
                1..3 => 0,
                _ => random.below(60),
            };
            // Some threads stand still in the middle of a record, whose time they have.
            let mut limit = clock;
            let mut more = false;
            for (slot, input) in inputs.iter_mut().enumerate() {
                let is_there = input.iter().filter(|next| next.time <= clock).count() as u64;
                let seen = if random.below(3) == 0 { random.below(is_there + 1) } else { is_there };
                let seen = seen.max(visible[slot]);
                if seen < is_there {
                    limit = limit.min(input[seen as usize].time - 1);
                }
                // Of some, not all that is there is read.
                let read = if random.below(4) == 0 { random.below(seen + 1) } else { seen };
                for next in input.drain(..read as usize) {
                    add(&mut merger, slot as u32, &next.words);
                }
                visible[slot] = seen - read;
                merger.set_more(slot as u32, read < seen);
                more |= read < seen;
            }
            merger.advance(limit, &mut taken);
            // All that may be taken is, at once, and nothing else.
            passed = passed.max(limit);
            let due = times.partition_point(|&time| time <= passed);
            let numbers: BTreeSet<u64> = taken.0.iter().map(|&(_, number)| number).collect();
            assert!(numbers.len() <= due && (more || numbers.len() == due), "seed {seed}");
        }
        merger.advance(u64::MAX, &mut taken);
        assert_eq!(taken.0, expected, "seed {seed}");
        assert_eq!((merger.held(), merger.out_of_order), (0, 0), "seed {seed}");
    }
}

#[test]
fn what_comes_after_its_place_was_passed_is_reported() {
    let (mut merger, mut taken) = (Merger::default(), Taken::default());
    let record = |time: u64| [head(Kind::ConflictWrite, 1, time), timed(time, 0)];
    add(&mut merger, 0, &record(5));
    merger.advance(9, &mut taken);
    add(&mut merger, 1, &record(3));
    add(&mut merger, 0, &record(10));
    merger.advance(9, &mut taken);
    assert_eq!((taken.0.as_slice(), merger.out_of_order), ([(0, 5), (1, 3)].as_slice(), 1));
    merger.take_rest(&mut taken);
    assert_eq!(taken.0.last(), Some(&(0, 10)));
}

#[test]
fn nobody_waits_for_a_slot_that_has_nothing() {
    let (mut merger, mut taken) = (Merger::default(), Taken::default());
    let record = |time: u64| [head(Kind::ConflictWrite, 1, time), timed(time, 0)];
    add(&mut merger, 0, &record(1));
    merger.set_more(3, false);
    for time in 2..100 {
        add(&mut merger, 1, &record(time));
        merger.advance(time, &mut taken);
        assert_eq!(taken.0.len() as u64, time);
    }
    // But for one of which nothing was read yet, everybody.
    merger.set_more(3, true);
    add(&mut merger, 1, &record(200));
    merger.advance(300, &mut taken);
    assert_eq!(taken.0.len(), 99);
    add(&mut merger, 3, &record(150));
    merger.set_more(3, false);
    merger.advance(300, &mut taken);
    assert_eq!(taken.0[99..], [(3, 150), (1, 200)]);
}
