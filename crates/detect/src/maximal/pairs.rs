//! The conflicting pairs of a window.

use event::{Batch, Event, Op, Value, VarId};
use reach::Excerpt;
use rustc_hash::{FxHashMap, FxHashSet};

/// Two conflicting accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pair {
    /// As offsets in the excerpt, in recorded order.
    pub(super) events: [u32; 2],
    pub(super) variable: VarId,
    /// A pin says that the second comes after the first.
    pub(super) pinned: bool,
}

fn is_access(op: Op) -> bool {
    op.has_value() || op == Op::Free
}

/// Whether two accesses of a variable conflict.
fn conflict(a: Event, b: Event) -> bool {
    let only_reads = |op: Op| matches!(op, Op::Read | Op::AtomicLoad);
    a.thread() != b.thread()
        && !(only_reads(a.op()) && only_reads(b.op()))
        && !(a.op().is_atomic() && b.op().is_atomic())
}

/// Every conflicting pair, by its later event; of one event, first the pair with the nearest earlier one.
pub(super) fn conflicting(excerpt: &Excerpt, visit: &mut dyn FnMut(Pair)) {
    let pinned = pinned(&excerpt.batch);
    let mut accesses: FxHashMap<VarId, Vec<u32>> = FxHashMap::default();
    for (b, &event) in (0u32..).zip(&excerpt.batch.events).skip(excerpt.fixed) {
        if !is_access(event.op()) {
            continue;
        }
        let variable = event.var();
        let before = accesses.entry(variable).or_default();
        for &a in before.iter().rev() {
            if conflict(excerpt.batch.events[a as usize], event) {
                visit(Pair { events: [a, b], variable, pinned: pinned.contains(&(a, variable)) });
            }
        }
        before.push(b);
    }
}

/// Events that pins speak of, with the variables.
fn pinned(batch: &Batch) -> FxHashSet<(u32, VarId)> {
    let mut wanted: FxHashMap<(u32, i64), Vec<VarId>> = FxHashMap::default();
    for &pin in batch.events.iter().filter(|event| event.op() == Op::Pin) {
        if let Value::Int(n) = batch.extra(pin).value {
            wanted.entry((pin.thread().0, n)).or_default().push(pin.var());
        }
    }
    let mut found = FxHashSet::default();
    if wanted.is_empty() {
        return found;
    }
    let mut counts: FxHashMap<u32, i64> = FxHashMap::default();
    for (at, event) in (0u32..).zip(&batch.events) {
        let count = counts.entry(event.thread().0).or_default();
        found.extend(wanted.get(&(event.thread().0, *count)).into_iter().flatten().map(|&variable| (at, variable)));
        *count += 1;
    }
    found
}
