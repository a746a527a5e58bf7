//! Flat clocks, epochs and cuts under any operations, without a discipline.

use super::naive::Naive;
use crate::{Clock, Cut, Epoch, Time, TimeOverflow, TreeClock, VectorClock};
use event::{Id, MAX_THREADS, ThreadId};
use proptest::prelude::*;
use std::cmp::Ordering;
use std::collections::HashSet;

const CLOCKS: usize = 4;

/// Which operation, on which clock, with which other clock, thread and time.
type Step = (u8, usize, usize, u32, Time);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((0..8u8, 0..CLOCKS, 0..CLOCKS, 0..40u32, 0..4u32), 1..60)
}

fn check(steps: &[Step]) {
    let mut flat = vec![VectorClock::default(); CLOCKS];
    let mut naive = vec![Naive::default(); CLOCKS];
    for &(op, a, b, thread, time) in steps {
        let thread = ThreadId(thread);
        let (flat_b, naive_b) = (flat[b].clone(), naive[b].clone());
        match op {
            0 => {
                flat[a].set(thread, time);
                naive[a].set(thread, time);
            }
            1 => {
                flat[a].increment(thread).unwrap();
                let time = naive[a].get(thread);
                naive[a].set(thread, time + 1);
            }
            2 => {
                flat[a].clear();
                naive[a] = Naive::default();
            }
            3 | 4 => {
                flat[a].copy_from(&flat_b);
                naive[a] = naive_b;
            }
            _ => {
                flat[a].join(&flat_b);
                naive[a].join(&naive_b);
            }
        }
        assert!(naive[a].is(&flat[a]), "{:?} is not {:?}", flat[a], naive[a]);
        assert_eq!(flat[a].get(thread), naive[a].get(thread));
        let epoch = Epoch::new(thread, time);
        assert_eq!(epoch.le(&flat[a]), time <= naive[a].get(thread));

        let (x, y) = (&flat[a], &flat[b]);
        let (le, ge) = (naive[a].le(&naive[b]), naive[b].le(&naive[a]));
        assert_eq!((x.le(y), y.le(x), x == y), (le, ge, le && ge));
        check_cuts(x, y, [le, ge], thread, time);
    }
}

fn check_cuts(x: &VectorClock, y: &VectorClock, [le, ge]: [bool; 2], thread: ThreadId, time: Time) {
    let (cut, other) = (Cut::from_clock(x), Cut::from_clock(y));
    let order = match (le, ge) {
        (true, true) => Some(Ordering::Equal),
        (true, false) => Some(Ordering::Less),
        (false, true) => Some(Ordering::Greater),
        (false, false) => None,
    };
    assert_eq!(cut.partial_cmp(&other), order);
    assert_eq!((cut <= other, cut >= other, cut < other, cut == other), (le, ge, le && !ge, le && ge));
    assert_eq!((other.covers(x), cut.covers(y)), (le, ge));
    assert_eq!(HashSet::from([cut.clone(), other.clone()]).len(), if le && ge { 1 } else { 2 });
    assert_eq!(cut.contains(thread, time), time < x.get(thread));
    assert_eq!(cut.size(), x.times().iter().map(|&time| u64::from(time)).sum::<u64>());

    let mut union = x.clone();
    union.join(y);
    let union = Cut::from_clock(&union);
    let mut joined = Cut::default();
    joined.copy_from(&cut);
    joined.join(&other);
    let mut included = cut.clone();
    included.include(y);
    assert_eq!((&joined, &included), (&union, &union));

    let (mut raised, mut advanced, mut expected) = (cut.clone(), cut.clone(), x.clone());
    raised.raise(thread, time);
    expected.set(thread, time.max(x.get(thread)));
    assert_eq!(raised, Cut::from_clock(&expected));
    advanced.advance(thread).unwrap();
    expected.set(thread, x.get(thread) + 1);
    assert_eq!(advanced, Cut::from_clock(&expected));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flat_clocks_and_cuts_agree_with_maps(steps in steps()) {
        check(&steps);
    }
}

#[test]
fn an_epoch_holds_every_thread_and_time() {
    assert_eq!(size_of::<Epoch>(), 8);
    for thread in [0, 1, MAX_THREADS - 1].map(ThreadId::from_index) {
        for time in [1, 2, Time::MAX] {
            let epoch = Epoch::new(thread, time);
            assert_eq!((epoch.thread(), epoch.time(), epoch.is_none()), (thread, time, false));
        }
        assert_eq!(Epoch::new(thread, 0), Epoch::NONE);
    }
    assert_eq!(Epoch::default(), Epoch::NONE);
    assert!(Epoch::NONE.is_none() && Epoch::NONE.le(&VectorClock::default()));
    let clock = VectorClock::of_thread(ThreadId(3));
    assert_eq!((clock.epoch(ThreadId(3)), clock.epoch(ThreadId(2))), (Epoch::new(ThreadId(3), 1), Epoch::NONE));
    assert_eq!(format!("{:?} {:?}", clock.epoch(ThreadId(3)), Epoch::NONE), "1@T3 ⊥");
}

#[test]
fn time_does_not_wrap_around() {
    let thread = ThreadId(1);
    let mut clock = VectorClock::default();
    clock.set(thread, Time::MAX - 1);
    let mut tree = TreeClock::of_thread(ThreadId(0));
    tree.join_flat(&clock);
    let mut cut = Cut::from_clock(&tree);
    assert_eq!((clock.increment(thread), cut.advance(thread)), (Ok(()), Ok(())));
    assert_eq!((clock.increment(thread), cut.advance(thread)), (Err(TimeOverflow(thread)), Err(TimeOverflow(thread))));
    assert_eq!((clock.get(thread), cut.count(thread)), (Time::MAX, Time::MAX));
}
