//! "Which notify woke whom" of docs/causality.md.

use crate::{cases, random, runs};
use event::{Batch, Op, Wake};
use std::collections::BTreeSet;
use sync::{Fate, Wakeups};

/// Each wait, its notify and its `woken`.
fn pairs(batch: &Batch) -> Vec<(u64, u64, u64)> {
    let mut pairs: Vec<(u64, u64, u64)> = Vec::new();
    for (woken, &event) in (0u64..).zip(&batch.events).filter(|(_, event)| event.op() == Op::Woken) {
        // Its wait is the last one of its thread, if no other `woken` ended that and it is of this condition and lock.
        let of_thread = |&at: &usize| {
            let other = batch.events[at];
            other.thread() == event.thread() && matches!(other.op(), Op::Wait | Op::Woken)
        };
        let Some(wait) = (0..woken as usize).rfind(of_thread) else { continue };
        let waits = batch.events[wait];
        if waits.op() != Op::Wait
            || waits.cond() != event.cond()
            || batch.extra(waits).lock != batch.extra(event).lock
            || batch.extra(event).wake != Wake::Notified
        {
            continue;
        }
        let wakes = |at: &u64| {
            let notify = batch.events[*at as usize];
            match notify.op() {
                Op::NotifyAll => notify.cond() == event.cond(),
                Op::Notify => notify.cond() == event.cond() && pairs.iter().all(|pair| pair.1 != *at),
                _ => false,
            }
        };
        if let Some(notify) = (wait as u64 + 1..woken).find(wakes) {
            pairs.push((wait as u64, notify, woken));
        }
    }
    pairs
}

fn compare(batch: &Batch) {
    let mut wakeups: Wakeups<u64> = Wakeups::new();
    let mut found = Vec::new();
    let (mut kept, mut forgotten) = (BTreeSet::new(), BTreeSet::new());
    for (at, &event) in (0u64..).zip(&batch.events) {
        let mut paired = None;
        let fate = |fate, &notify: &u64| match fate {
            Fate::Kept => assert!(kept.insert(notify), "kept twice"),
            Fate::Paired => {
                assert!(!forgotten.contains(&notify));
                paired = Some(notify);
            }
            Fate::Forgotten => assert!(kept.contains(&notify) && forgotten.insert(notify), "forgotten twice"),
        };
        let pair = wakeups.step_with(batch, at, event, || at, fate);
        assert_eq!(pair.map(|pair| pair.data), paired);
        found.extend(pair.map(|pair| (pair.wait, pair.notify, at)));
        assert!(wakeups.notifies_mut().all(|notify| !forgotten.contains(notify)));
    }
    assert_eq!(found, pairs(batch), "{:?}", batch.events);
}

#[test]
fn wakeups_of_traces_with_problems() {
    (0..cases()).for_each(|seed| compare(&random::events(seed)));
}

#[test]
fn wakeups_of_generated_runs() {
    runs().for_each(|trace| compare(&trace.batch));
}
