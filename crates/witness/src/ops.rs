//! Kinds of operations, as the causality models divide them.

use event::Op;

/// An access of a variable.
#[inline]
pub(crate) fn is_access(op: Op) -> bool {
    op.is_plain_access() || op.is_atomic() || is_barrier(op)
}

/// From here on the variable is another one.
#[inline]
pub(crate) fn is_barrier(op: Op) -> bool {
    matches!(op, Op::Alloc | Op::Free)
}

/// An access that changes nothing.
#[inline]
pub(crate) fn is_read(op: Op) -> bool {
    matches!(op, Op::Read | Op::AtomicLoad)
}

/// What keeps its order in full-hb with what else on the same lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// Keeps its order with everything.
    Exclusive,
    /// Keeps its order with everything that is not shared.
    Shared,
    /// A failed try-lock: keeps its order with everything but its like.
    Failed,
}

/// The side of an event on its lock.
pub(crate) fn side(op: Op) -> Side {
    match op {
        Op::ReadAcquire | Op::ReadRelease => Side::Shared,
        Op::TryFail => Side::Failed,
        _ => Side::Exclusive,
    }
}
