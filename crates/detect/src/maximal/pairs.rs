//! The conflicting pairs of a window.

use event::{Batch, Event, Op, ThreadId, Value, VarId};
use reach::Window;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;

/// Two conflicting accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pair {
    /// As offsets in the window, in recorded order.
    pub(super) events: [u32; 2],
    pub(super) variable: VarId,
    /// A drop barrier says that the second comes after the first.
    pub(super) held_back: bool,
}

fn is_access(op: Op) -> bool {
    op.has_value() || op == Op::Free
}

fn only_reads(op: Op) -> bool {
    op.only_reads()
}

/// Whether two accesses of a variable conflict.
fn conflict(a: Event, b: Event) -> bool {
    a.thread() != b.thread()
        && !(only_reads(a.op()) && only_reads(b.op()))
        && !(a.op().is_atomic() && b.op().is_atomic())
}

/// Every conflicting pair, by its later event; of one event, first the pair with the nearest earlier one. Ends early if
/// the visitor breaks.
pub(super) fn conflicting(
    window: &Window,
    wanted: &impl Fn(VarId) -> bool,
    visit: &mut dyn FnMut(Pair) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let drop_barriers = DropBarriers::new(&window.batch);
    let mut accesses: FxHashMap<VarId, Vec<u32>> = FxHashMap::default();
    for (b, &event) in (0u32..).zip(&window.batch.events).skip(window.fixed) {
        if !is_access(event.op()) || !wanted(event.var()) {
            continue;
        }
        let variable = event.var();
        let before = accesses.entry(variable).or_default();
        for &a in before.iter().rev() {
            if conflict(window.batch.events[a as usize], event) {
                visit(Pair { events: [a, b], variable, held_back: drop_barriers.holds_back(a, event) })?;
            }
        }
        before.push(b);
    }
    ControlFlow::Continue(())
}

/// Whether there may be a conflicting pair.
pub(super) fn any(events: &[Event], wanted: impl Fn(VarId) -> bool) -> bool {
    #[derive(Clone, Copy)]
    struct Seen {
        first: ThreadId,
        several: bool,
        plain: bool,
        writes: bool,
    }
    let mut seen: FxHashMap<VarId, Seen> = FxHashMap::default();
    events.iter().filter(|event| is_access(event.op()) && wanted(event.var())).any(|&event| {
        let new = Seen { first: event.thread(), several: false, plain: false, writes: false };
        let seen = seen.entry(event.var()).or_insert(new);
        seen.several |= event.thread() != seen.first;
        seen.plain |= !event.op().is_atomic();
        seen.writes |= !only_reads(event.op());
        seen.several && seen.plain && seen.writes
    })
}

/// How many conflicting pairs there are, without visiting them: they may be quadratic in the events.
pub(super) fn count(window: &Window, wanted: &impl Fn(VarId) -> bool) -> u64 {
    /// Accesses so far: not atomic and atomic, of each those that only read and the others.
    type Kinds = [[u64; 2]; 2];
    let conflicting = |kinds: &Kinds, atomic: bool, reads: bool| {
        let alike = |others: &[u64; 2]| if reads { others[1] } else { others[0] + others[1] };
        alike(&kinds[0]) + if atomic { 0 } else { alike(&kinds[1]) }
    };
    let mut all: FxHashMap<VarId, Kinds> = FxHashMap::default();
    let mut own: FxHashMap<(VarId, ThreadId), Kinds> = FxHashMap::default();
    let mut count = 0;
    let mine = |event: &&Event| is_access(event.op()) && wanted(event.var());
    for event in window.batch.events[window.fixed..].iter().filter(mine) {
        let (atomic, reads) = (event.op().is_atomic(), only_reads(event.op()));
        let all = all.entry(event.var()).or_default();
        let own = own.entry((event.var(), event.thread())).or_default();
        count += conflicting(all, atomic, reads) - conflicting(own, atomic, reads);
        for kinds in [all, own] {
            kinds[usize::from(atomic)][usize::from(!reads)] += 1;
        }
    }
    count
}

/// Events that drop barriers speak of, with the kinds of these and their variables.
struct DropBarriers(FxHashSet<(u32, Op, VarId)>);

impl DropBarriers {
    fn new(batch: &Batch) -> DropBarriers {
        let mut wanted: FxHashMap<(u32, i64), Vec<(Op, VarId)>> = FxHashMap::default();
        for &barrier in batch.events.iter().filter(|event| event.op().is_drop_barrier()) {
            if let Value::Int(n) = batch.extra(barrier).value {
                wanted.entry((barrier.thread().0, n)).or_default().push((barrier.op(), barrier.var()));
            }
        }
        let mut found = FxHashSet::default();
        if wanted.is_empty() {
            return DropBarriers(found);
        }
        let mut counts: FxHashMap<u32, i64> = FxHashMap::default();
        for (at, event) in (0u32..).zip(&batch.events) {
            let count = counts.entry(event.thread().0).or_default();
            let barriers = wanted.get(&(event.thread().0, *count)).into_iter().flatten();
            found.extend(barriers.map(|&(kind, variable)| (at, kind, variable)));
            *count += 1;
        }
        DropBarriers(found)
    }

    /// Whether an access must come after this event.
    fn holds_back(&self, at: u32, access: Event) -> bool {
        let kinds = Op::DROP_BARRIERS.into_iter().filter(|kind| kind.holds_back(access.op()));
        !self.0.is_empty() && kinds.into_iter().any(|kind| self.0.contains(&(at, kind, access.var())))
    }
}
