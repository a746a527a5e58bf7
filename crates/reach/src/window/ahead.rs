//! What the past must know of what is still to come: who will be woken by which notify, what was open from the
//! beginning, and which events the pins speak of.

use crate::facts::{NONE, Section, wakeups};
use event::{Batch, Event, Id, ThreadId, Value};
use rustc_hash::FxHashMap;
use sync::{Change, LockMode};

/// A pin, and the event that it speaks of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pin {
    /// The event it speaks of.
    pub(super) target: u32,
    /// The `pin` itself.
    pub(super) pin: u32,
}

/// Found in one look at the whole trace.
pub(super) struct Ahead {
    /// By wait: the notify that will wake it, and the wake-up.
    pub(super) woken: FxHashMap<u32, (u32, u32)>,
    /// By lock: sections that are open from the beginning and close some time.
    pub(super) from_beginning: FxHashMap<u32, Vec<Section>>,
    /// By target.
    pub(super) pins: Vec<Pin>,
    /// By `pin`: its target.
    pub(super) targets: FxHashMap<u32, u32>,
}

impl Ahead {
    pub(super) fn new(batch: &Batch) -> Ahead {
        let woken = wakeups(batch).into_iter().map(|pair| (pair.wait, (pair.notify, pair.woken))).collect();
        // Only what was open from the beginning is remembered.
        let mut sections: sync::Sections<()> = sync::Sections::new();
        let mut from_beginning: FxHashMap<u32, Vec<Section>> = FxHashMap::default();
        for (close, &event) in (0u32..).zip(&batch.events) {
            let Some(effect) = sections.step(batch, event, |_| ()) else { continue };
            for (mode, _) in effect.changes().into_iter().filter(|(_, change)| *change == Change::ClosesInitial) {
                let (lock, thread, shared) = (effect.lock, event.thread(), mode == LockMode::Shared);
                let section = Section { lock, thread, shared, open: NONE, close };
                from_beginning.entry(lock.0).or_default().push(section);
            }
        }
        let targets = targets(batch);
        let mut pins: Vec<Pin> = targets.iter().map(|(&pin, &target)| Pin { target, pin }).collect();
        pins.sort_unstable_by_key(|pin| (pin.target, pin.pin));
        Ahead { woken, from_beginning, pins, targets }
    }
}

/// By `pin`: the event that it speaks of, if there is one.
fn targets(batch: &Batch) -> FxHashMap<u32, u32> {
    let mut targets = FxHashMap::default();
    let mut wanted: FxHashMap<(ThreadId, u64), Vec<u32>> = FxHashMap::default();
    let mut counts: Vec<u64> = Vec::new();
    for (at, &event) in (0u32..).zip(&batch.events) {
        let count = count(&mut counts, event);
        if event.op().is_drop_barrier()
            && let Value::Int(n) = batch.extra(event).value
            && let Ok(n) = u64::try_from(n)
        {
            // Recorders let a pin speak of itself.
            if n == *count {
                targets.insert(at, at);
            } else {
                wanted.entry((event.thread(), n)).or_default().push(at);
            }
        }
        *count += 1;
    }
    if wanted.is_empty() {
        return targets;
    }
    counts.fill(0);
    for (at, &event) in (0u32..).zip(&batch.events) {
        let count = count(&mut counts, event);
        for &pin in wanted.get(&(event.thread(), *count)).into_iter().flatten() {
            targets.insert(pin, at);
        }
        *count += 1;
    }
    targets
}

/// How many events the thread of this one has made so far.
fn count(counts: &mut Vec<u64>, event: Event) -> &mut u64 {
    let thread = event.thread().index();
    if counts.len() <= thread {
        counts.resize(thread + 1, 0);
    }
    &mut counts[thread]
}
