//! Two conflicting events: what must be there for both to be next.

use super::NONE;
use super::closure::Closure;
use super::index::Index;
use event::Op;

/// Whether accesses of one variable with these operations conflict.
#[inline]
pub(super) fn conflict(a: Op, b: Op) -> bool {
    let reads = |op: Op| op.only_reads();
    let peaceful = reads(a) && reads(b) || a.is_atomic() && b.is_atomic();
    !peaceful && a != Op::Alloc && b != Op::Alloc
}

/// Whether two events conflict.
pub(super) fn events_conflict(index: &Index<'_>, a: u32, b: u32) -> bool {
    let [first, second] = [a, b].map(|at| index.events[at as usize]);
    super::index::is_access(first)
        && super::index::is_access(second)
        && first.object() == second.object()
        && first.thread() != second.thread()
        && conflict(first.op(), second.op())
}

/// Adds what two events, the first recorded before the second, need to be next. Between the two themselves there is
/// no order, even if one of them is `free`.
pub(super) fn add_before_both(index: &Index<'_>, closure: &mut Closure, earlier: u32, later: u32) {
    let [first, second] = [earlier, later].map(|at| index.events[at as usize].op());
    closure.add_before(index, earlier);
    match (first, second) {
        (Op::Free, _) | (_, Op::Free) => add_before_except(index, closure, later, earlier),
        _ => closure.add_before(index, later),
    }
}

/// Adds what an event needs to be next, but for another access of its variable, recorded before it.
///
/// The event's row has that other access in it, so what else is in it is put together again.
fn add_before_except(index: &Index<'_>, closure: &mut Closure, event: u32, except: u32) {
    let at = event as usize;
    let chain = index.chain[at];
    let position = index.position[at];
    match index.last(chain, position) {
        NONE => {}
        last => closure.add_event(index, last),
    }
    for &extra in index.apart.get(&event).into_iter().flatten() {
        closure.add_event(index, extra);
    }
    let accesses = index.accesses(index.events[at].object());
    let behind = accesses.partition_point(|&access| access < event);
    let frees = index.events[at].op() == Op::Free;
    for &access in accesses[..behind].iter().rev() {
        let is_boundary = index.events[access as usize].op().bounds_lifetime();
        if access != except && (frees || is_boundary) {
            closure.add_event(index, access);
        }
        // The boundary needs all accesses before it; if it is the exception, its own needs are those of the other
        // event.
        if is_boundary {
            break;
        }
    }
}
