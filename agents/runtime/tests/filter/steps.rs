//! Single steps of the filter.

use crate::memory::{Owned, Records, cells};
use runtime::filter::{Access, Limits, Outcome, Recorder, Shape, Sink};
use runtime::hand_off::HandOff;
use runtime::record::{Kind, head, is_deferred_write};
use std::sync::atomic::AtomicU64;

const SHAPE: Shape = Shape { slots: 4, nodes: 16 };
const WRITE: Access = Access { word: 8, mask: 0xff, write: true };
const READ: Access = Access { write: false, ..WRITE };

#[test]
fn with_everything_recorded_every_access_is_written() {
    let filter = Owned::new(SHAPE, Limits::default());
    let (clock, cells) = (AtomicU64::new(0), cells(1));
    let mut sink = Records::new(&clock);
    let mut recorder = Recorder::begin(&filter, 0, true);
    for access in [WRITE, WRITE, READ, READ, WRITE] {
        assert!(!recorder.is_covered(cells.cell(0), access.mask, access.write));
        assert_eq!(recorder.record_access(&filter, &mut sink, cells.cell(0), || false, access, 1), Outcome::Written);
    }
    assert_eq!((recorder.sync_index(), sink.words.len()), (5, 10));
}

#[test]
fn a_slot_is_used_again_by_who_has_waited_for_it() {
    let filter = Owned::new(SHAPE, Limits::default());
    let (clock, cells) = (AtomicU64::new(0), cells(1));
    let mut sinks = [0; 3].map(|_| Records::new(&clock));
    let mut main = Recorder::begin(&filter, 0, false);
    let other = Recorder::begin(&filter, 2, false);
    main.timed(&mut sinks[0], head(Kind::Fork, 0, 0), 0, Some(1));
    main.fork(&filter, 1);
    let mut child = Recorder::begin(&filter, 1, false);
    child.timed(&mut sinks[1], head(Kind::ThreadStart, 0, 0), 0, Some(0));
    assert_eq!(child.record_access(&filter, &mut sinks[1], cells.cell(0), || false, WRITE, 1), Outcome::Deferred);
    assert!(!filter.may_use_again(1, &main), "it has not ended");
    child.end(&filter);
    assert!(!filter.may_use_again(1, &main), "no thread has waited for it");
    main.timed(&mut sinks[0], head(Kind::Join, 0, 0), 0, Some(1));
    main.join(&filter, 1);
    assert!(filter.may_use_again(1, &main) && !filter.may_use_again(1, &other));
    let sync_index = child.sync_index();
    main.timed(&mut sinks[0], head(Kind::Fork, 0, 0), 0, Some(1));
    main.fork(&filter, 1);
    let mut next = Recorder::begin(&filter, 1, false);
    assert_eq!(next.sync_index(), sync_index);
    next.timed(&mut sinks[1], head(Kind::ThreadStart, 0, 0), 0, Some(0));
    assert!(!next.is_covered(cells.cell(0), 0xff, true), "that was at another position");
    assert_eq!(next.record_access(&filter, &mut sinks[1], cells.cell(0), || false, WRITE, 2), Outcome::Deferred);
    // The access of a thread that has waited only for the first one conflicts, and both accesses are recorded.
    assert_eq!(main.record_access(&filter, &mut sinks[0], cells.cell(0), || false, READ, 3), Outcome::Written);
    let deferred = sinks[0].words.iter().filter(|&&word| word == head(Kind::Deferred, 0xff, 8)).count();
    assert_eq!(deferred, 2);
}

#[test]
fn what_was_written_last_may_be_anothers_by_now() {
    let filter = Owned::new(SHAPE, Limits::default());
    let (clock, cells) = (AtomicU64::new(0), cells(1));
    let mut sinks = [0; 3].map(|_| Records::new(&clock));
    let mut main = Recorder::begin(&filter, 0, false);
    let mut old = Recorder::begin(&filter, 1, false);
    old.timed(&mut sinks[1], head(Kind::ThreadStart, 0, 0), 0, Some(0));
    main.timed(&mut sinks[0], head(Kind::ThreadStart, 0, 0), 0, Some(0));
    assert_eq!(old.record_access(&filter, &mut sinks[1], cells.cell(0), || false, WRITE, 1), Outcome::Deferred);
    assert_eq!(main.record_access(&filter, &mut sinks[0], cells.cell(0), || false, WRITE, 2), Outcome::Written);
    main.timed(&mut sinks[0], head(Kind::Fork, 0, 0), 0, Some(2));
    main.fork(&filter, 2);
    let mut child = Recorder::begin(&filter, 2, false);
    child.timed(&mut sinks[2], head(Kind::ThreadStart, 0, 0), 0, Some(0));
    assert_eq!(child.record_access(&filter, &mut sinks[2], cells.cell(0), || false, READ, 3), Outcome::Deferred);
    // Both race: the read must be recorded, and known to be followed by a write.
    assert!(!main.is_covered(cells.cell(0), 0xff, true) && !main.repeat_locked(cells.cell(0), 0xff, true, 2));
    assert_eq!(main.record_access(&filter, &mut sinks[0], cells.cell(0), || false, WRITE, 2), Outcome::Written);
    assert!(!child.is_covered(cells.cell(0), 0xff, false));
}

#[test]
fn dropped_reads_hold_back_writes_only() {
    let filter = Owned::new(SHAPE, Limits { per_context: 0, ..Limits::default() });
    let (clock, cells) = (AtomicU64::new(0), cells(1));
    let mut sinks = [0; 3].map(|_| Records::new(&clock));
    let mut threads = [0, 1, 2].map(|slot| Recorder::begin(&filter, slot, false));
    let mut access = |t: usize, access: Access| {
        threads[t].timed(&mut sinks[t], head(Kind::Internal, 0, 0), 0, Some(0));
        let outcome = threads[t].record_access(&filter, &mut sinks[t], cells.cell(0), || false, access, 1);
        let barriers = sinks[t].words.iter().filter(|&&word| word == head(Kind::DropBarrier, 0xff, 8)).count();
        (outcome, barriers)
    };
    for what in [WRITE, READ, READ, READ] {
        assert_eq!(access(0, what), (Outcome::Deferred, 0));
    }
    // Two reads of the first thread were dropped. That does not concern readers.
    assert_eq!(access(1, READ), (Outcome::Written, 0));
    assert_eq!(access(2, WRITE), (Outcome::Written, 1));
    let barrier =
        sinks[2].words.iter().position(|&word| word == head(Kind::DropBarrier, 0xff, 8)).expect("a drop barrier");
    assert!(!is_deferred_write(sinks[2].words[barrier + 2]), "it is of reads");
}

#[test]
fn freed_and_watched_words() {
    let filter = Owned::new(SHAPE, Limits::default());
    let (clock, cells) = (AtomicU64::new(0), cells(2));
    let mut sink = Records::new(&clock);
    let mut recorder = Recorder::begin(&filter, 0, false);
    recorder.record_access(&filter, &mut sink, cells.cell(0), || false, WRITE, 1);
    recorder.timed(&mut sink, head(Kind::Free, 0, 8), 0, Some(8));
    recorder.free(&filter, &mut sink, cells.cell(0), || false, 8);
    for _ in 0..2 {
        assert_eq!(recorder.record_access(&filter, &mut sink, cells.cell(0), || false, READ, 1), Outcome::Written);
    }
    recorder.allocated(&mut sink, 8, 8, 0);
    recorder.alloc(&filter, &mut sink, cells.cell(0), || false, 8);
    assert_eq!(recorder.record_access(&filter, &mut sink, cells.cell(0), || false, READ, 1), Outcome::Deferred);
    recorder.forget(&filter, &sink, cells.cell(0), || false);
    assert!(cells.cell(0).is_empty());
    cells.cell(1).watch();
    assert_eq!(recorder.record_access(&filter, &mut sink, cells.cell(1), || false, WRITE, 1), Outcome::Watched);
    assert!(cells.cell(1).is_watched() && !recorder.is_covered(cells.cell(1), 0xff, true));
}

/// A producer and a consumer: what they read under the lock orders the elements, which need no record any more.
#[test]
fn elements_of_a_queue_are_ordered_by_its_count() {
    const ACQUIRE: u64 = head(Kind::Acquire, 0, 0x40);
    const RELEASE: u64 = head(Kind::Release, 0, 0x40);
    // The head and the count of the queue share a word.
    const HEAD: (usize, u8) = (0, 0x0f);
    const COUNT: (usize, u8) = (0, 0xf0);
    for slots in [[0, 1], [0, 2], [1, 3], [3, 2], [1, 0], [2, 0]] {
        for per_pair in [0, 1, 2] {
            let filter = Owned::new(SHAPE, Limits { per_pair, ..Limits::default() });
            let (clock, cells, lock, condition) = (AtomicU64::new(0), cells(3), HandOff::default(), HandOff::default());
            let mut sinks = [0; 2].map(|_| Records::new(&clock));
            let [mut producer, mut consumer] = slots.map(|slot| Recorder::begin(&filter, slot, false));
            let [sink, other] = &mut sinks;
            producer.timed(sink, head(Kind::ThreadStart, 0, 0), 0, Some(0));
            consumer.timed(other, head(Kind::ThreadStart, 0, 0), 0, Some(0));
            let access = |recorder: &mut Recorder, sink: &mut Records, (cell, mask): (usize, u8), write: bool| {
                let context = 1 + cell as u32 + 2 * u32::from(write);
                let access = Access { word: 8 * cell as u64, mask, write };
                recorder.record_access(&filter, sink, cells.cell(cell), || false, access, context)
            };
            let acquired = |recorder: &mut Recorder, sink: &mut Records| {
                sink.reserve(3);
                recorder.acquired(sink, ACQUIRE, 0, &lock);
            };
            let released = |recorder: &mut Recorder, sink: &mut Records| {
                sink.reserve(3);
                recorder.released(sink, RELEASE, 0, &lock);
            };
            for round in 0..40 {
                let element = (1 + round % 2, if round % 4 < 2 { 0x0f } else { 0xf0 });
                // The consumer waits for an element.
                acquired(&mut consumer, other);
                access(&mut consumer, other, COUNT, false);
                other.reserve(3);
                consumer.waits(other, head(Kind::Wait, 0, 0x80), 0, 0x40, Some([&condition, &lock]));
                // The producer looks whether there is room.
                acquired(&mut producer, sink);
                access(&mut producer, sink, COUNT, false);
                access(&mut producer, sink, HEAD, false);
                released(&mut producer, sink);
                let outcome = access(&mut producer, sink, element, true);
                assert!(round < 24 || outcome == Outcome::Deferred, "{slots:?} {per_pair} {round}");
                acquired(&mut producer, sink);
                access(&mut producer, sink, COUNT, false);
                access(&mut producer, sink, COUNT, true);
                released(&mut producer, sink);
                other.reserve(3);
                consumer.woken(other, head(Kind::Woken, 0, 0x80), 0, 0, Some(&lock));
                access(&mut consumer, other, COUNT, false);
                access(&mut consumer, other, HEAD, false);
                released(&mut consumer, other);
                let outcome = access(&mut consumer, other, element, false);
                assert!(round < 24 || outcome == Outcome::Deferred, "{slots:?} {per_pair} {round}");
                acquired(&mut consumer, other);
                for variable in [HEAD, COUNT] {
                    access(&mut consumer, other, variable, false);
                    access(&mut consumer, other, variable, true);
                }
                released(&mut consumer, other);
            }
        }
    }
}
