//! What a side of a finding does, and where that is in the program.

use crate::Undrivable;
use report::{Side, split_site};
use runtime::gates::operation;
use source::{Binder, ModuleCode};

/// An event of a finding: some code, and what threads do there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Event {
    /// Bits of [`operation`].
    pub(crate) operations: u32,
    pub(crate) code: Vec<ModuleCode>,
    /// Whether it is part of the meet.
    pub(crate) meets: bool,
    /// Events to which a thread must have come before, as bits.
    pub(crate) after: u32,
}

/// The event of a side.
pub(crate) fn of(side: &Side, binder: &mut Binder) -> Result<Event, Undrivable> {
    let operations = operations(&side.op).ok_or_else(|| Undrivable::Operation(side.op.clone()))?;
    let code = binder.code_of(split_site(&side.site).1);
    if code.is_empty() {
        return Err(Undrivable::Place(side.site.clone()));
    }
    Ok(Event { operations, code, meets: true, after: 0 })
}

/// That the thread of a side takes the first of the locks that it holds there. `None` if it holds none, or it is not
/// known where they are taken.
pub(crate) fn first_lock(side: &Side, binder: &mut Binder) -> Option<Event> {
    let code = binder.code_of(split_site(side.lock_sites.first()?).1);
    (!code.is_empty()).then_some(Event { operations: operation::LOCK, code, meets: false, after: 0 })
}

/// The operations before which a thread can be held.
fn operations(op: &str) -> Option<u32> {
    match op.split('(').next()? {
        "r" | "ald" => Some(operation::READ),
        "w" | "ast" | "free" => Some(operation::WRITE),
        "armw" => Some(operation::READ | operation::WRITE),
        "acq" | "racq" | "req" => Some(operation::LOCK),
        _ => None,
    }
}
