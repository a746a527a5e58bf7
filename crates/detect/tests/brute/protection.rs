//! What `lockset` warns of, as docs/detectors.md defines it: every pair of accesses, with the locks held and the order
//! that every run keeps found again for each.

use event::{Batch, Event, LockId, Op, ThreadId};
use std::collections::BTreeSet;

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

/// Whether one event comes before another in every run: by threads, forks, joins, posts and awaits.
fn comes_before(batch: &Batch, earlier: usize, later: usize) -> bool {
    let mut after = vec![false; batch.events.len()];
    after[earlier] = true;
    for to in earlier + 1..=later {
        let event = batch.events[to];
        after[to] = (earlier..to).any(|from| after[from] && is_edge(batch.events[from], event));
    }
    after[later]
}

fn is_edge(from: Event, to: Event) -> bool {
    from.thread() == to.thread()
        || from.op() == Op::Fork && from.child() == to.thread()
        || to.op() == Op::Join && to.child() == from.thread()
        || from.op() == Op::Fork && to.op() == Op::Join && from.child() == to.child()
        || from.op() == Op::Post && to.op() == Op::Await && from.object() == to.object()
}

fn is_access(op: Op) -> bool {
    op.is_plain_access() || op.is_atomic()
}

fn only_reads(op: Op) -> bool {
    matches!(op, Op::Read | Op::AtomicLoad)
}

/// The pairs of accesses that are not kept apart.
pub(crate) fn pairs(batch: &Batch) -> BTreeSet<(usize, usize)> {
    let mut found = BTreeSet::new();
    for (later, &b) in batch.events.iter().enumerate().filter(|(_, event)| is_access(event.op())) {
        let of_var = |event: &Event| event.op().space() == b.op().space() && event.object() == b.object();
        let born = batch.events[..later].iter().rposition(|event| event.op() == Op::Alloc && of_var(event));
        let life: Vec<usize> = (born.unwrap_or(0)..later)
            .filter(|&at| is_access(batch.events[at].op()) && of_var(&batch.events[at]))
            .collect();
        for (place, &earlier) in life.iter().enumerate() {
            let a = batch.events[earlier];
            let alike = only_reads(a.op()) && only_reads(b.op()) || a.op().is_atomic() && b.op().is_atomic();
            let protecting = held(batch, later, b.thread(), !only_reads(b.op()));
            let is_first = life[..place].iter().all(|&other| batch.events[other].thread() == a.thread());
            let handed_over = is_first && (only_reads(b.op()) || !protecting.is_empty());
            if a.thread() != b.thread()
                && !alike
                && !handed_over
                && protecting.is_disjoint(&held(batch, earlier, a.thread(), !only_reads(a.op())))
                && !comes_before(batch, earlier, later)
            {
                found.insert((earlier, later));
            }
        }
    }
    found
}
