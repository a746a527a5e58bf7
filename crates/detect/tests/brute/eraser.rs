//! Eraser's rules on sets of locks, with the locks held found again for each access.

use event::{Batch, LockId, Op, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, PartialEq)]
enum State {
    Virgin,
    Exclusive(ThreadId),
    Shared,
    Modified,
}

/// The locks that a thread holds before an event: in either way, or exclusively.
fn held(batch: &Batch, until: usize, thread: ThreadId, exclusively: bool) -> BTreeSet<LockId> {
    let mut exclusive: Vec<LockId> = Vec::new();
    let mut shared: Vec<LockId> = Vec::new();
    let mut given_up = (Vec::new(), Vec::new());
    let take_out = |from: &mut Vec<LockId>, lock| {
        let at = from.iter().position(|&l| l == lock).expect("it holds the lock");
        from.remove(at);
    };
    for &event in batch.events[..until].iter().filter(|event| event.thread() == thread) {
        match event.op() {
            Op::Acquire | Op::TryAcquire => exclusive.push(event.lock()),
            Op::ReadAcquire => shared.push(event.lock()),
            Op::Release => take_out(&mut exclusive, event.lock()),
            Op::ReadRelease => take_out(&mut shared, event.lock()),
            Op::Wait => {
                given_up = (exclusive.clone(), shared.clone());
                let lock = batch.extra(event).lock;
                exclusive.retain(|&l| l != lock);
                shared.retain(|&l| l != lock);
            }
            Op::Woken => (exclusive, shared) = std::mem::take(&mut given_up),
            _ => {}
        }
    }
    if !exclusively {
        exclusive.extend(shared);
    }
    exclusive.into_iter().collect()
}

/// The events that are warnings.
pub(crate) fn warnings(batch: &Batch) -> BTreeSet<usize> {
    let mut vars: BTreeMap<u32, (State, Option<BTreeSet<LockId>>, bool)> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (index, &event) in batch.events.iter().enumerate() {
        let (op, thread) = (event.op(), event.thread());
        if op == Op::Alloc {
            vars.remove(&event.object());
        }
        if !(op.is_plain_access() || op.is_atomic() || op == Op::Free) {
            continue;
        }
        let write = !matches!(op, Op::Read | Op::AtomicLoad);
        let (state, candidates, plain) = vars.entry(event.object()).or_insert((State::Virgin, None, false));
        *state = match *state {
            State::Virgin => State::Exclusive(thread),
            State::Exclusive(owner) if owner == thread => State::Exclusive(thread),
            State::Modified => State::Modified,
            _ if write => State::Modified,
            _ => State::Shared,
        };
        if matches!(state, State::Exclusive(_)) {
            continue;
        }
        let held = held(batch, index, thread, write);
        let left = candidates.take().map_or(held.clone(), |known| &known & &held);
        *plain |= !op.is_atomic();
        if *state == State::Modified && left.is_empty() && *plain {
            found.insert(index);
        }
        *candidates = Some(left);
    }
    found
}
