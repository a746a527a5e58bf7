//! Kinds of operations, as docs/causality.md distinguishes them.

use event::Op;

/// Whether it accesses a variable.
#[inline]
pub(crate) fn is_access(op: Op) -> bool {
    op.is_plain_access() || op.is_atomic() || op.bounds_lifetime()
}

/// Whether it only reads its variable.
#[inline]
pub(crate) fn is_read(op: Op) -> bool {
    op.only_reads()
}

/// How an event acts on its lock, which decides with which other events of the lock it keeps its order in `full-hb`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LockRole {
    /// It keeps its order with all events.
    Exclusive,
    /// It keeps its order with all but shared events.
    Shared,
    /// A failed try-lock: it keeps its order with all but failed try-locks.
    Failed,
}

/// How an operation acts on its lock.
pub(crate) fn lock_role(op: Op) -> LockRole {
    match op {
        Op::ReadAcquire | Op::ReadRelease => LockRole::Shared,
        Op::TryFail => LockRole::Failed,
        _ => LockRole::Exclusive,
    }
}
