//! The checker: decides whether a schedule is a feasible prefix, by the definitions of docs/causality.md alone.
//!
//! Most rules say "this event comes only after those", where "those" were recorded earlier. One pass along the recorded
//! run checks them all, by the positions that its events have in the schedule. What depends on the schedule as a whole
//! (exclusion, atomic sets, what a read sees, counts) is checked along the schedule, up to the first refused event.
//! There is one module for each section of docs/causality.md, and one for each claim of docs/detectors.md.

mod atomic_sets;
mod atomicity;
mod claims;
mod common;
mod conditions;
mod full_hb;
mod held_back;
mod lifetime_boundaries;
mod locks;
mod lost_wakeup;
mod positions;
mod reads;
mod refusal;
mod semaphores;
mod unordered;
mod wide_deadlock;

use crate::ops::is_read;
use atomic_sets::AtomicSetCheck;
use event::{Batch, Causality, Names, Op, Value, VarId};
use locks::LockCheck;
use positions::Positions;
use reads::ReadCheck;
use semaphores::SemaphoreCheck;

pub use atomicity::check_atomicity;
pub use claims::{check_deadlock, check_race};
pub use held_back::{HeldBackCheck, RecordedRun};
pub use lost_wakeup::check_lost_wakeup;
pub use refusal::{Reason, Refusal, Rule, Written, WrongClaim};
pub use unordered::{NotUnordered, UnorderedCheck};
pub use wide_deadlock::check_wide_deadlock;

/// A schedule that its model admits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checked {
    /// Its last event is a read that sees something else than it saw when recorded.
    pub terminal_read: bool,
}

/// Checks that a schedule (indexes of events of a whole trace, in the predicted order) is a feasible prefix in a model.
///
/// `initial` gives the initial values of variables, as far as they are known. With `last_may_be_terminal_read` the last
/// event may be a terminal read, if the model is `maximal`.
pub fn check(
    model: Causality,
    names: &Names,
    trace: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    schedule: &[u64],
    last_may_be_terminal_read: bool,
) -> Result<Checked, Refusal> {
    let mut positions = Positions::new(trace.first, trace.events.len(), schedule)?;
    let terminal_read = check_rules(model, names, trace, initial, schedule, last_may_be_terminal_read, &mut positions);
    positions.into_result().map(|()| Checked { terminal_read })
}

/// Checks all rules, and adds refusals to `positions`. Returns whether the last event is a terminal read.
fn check_rules(
    model: Causality,
    names: &Names,
    trace: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    schedule: &[u64],
    last_may_be_terminal_read: bool,
    positions: &mut Positions,
) -> bool {
    common::check(names, trace, positions);
    match model {
        Causality::Observed => {
            for (expected, &index) in (trace.first..).zip(schedule) {
                if index != expected {
                    positions.refuse(positions.offset(index), Reason::NotRecorded { expected });
                    break;
                }
            }
        }
        Causality::SyncOnly => full_hb::check(false, names, trace, positions),
        Causality::FullHb => full_hb::check(true, names, trace, positions),
        Causality::WeakHb => {
            let has = present(trace);
            check_memory_and_conditions(&has, names, trace, positions);
            if has(Op::Up) || has(Op::Down) {
                semaphores::check_order(names, trace, positions);
            }
            let mut sets = AtomicSetCheck::new(names, trace, positions);
            let mut locks = LockCheck::new(names, trace, positions);
            for (position, &index) in schedule[..positions.valid_prefix(schedule.len())].iter().enumerate() {
                let at = positions.offset(index);
                let event = trace.events[at as usize];
                sets.step(at, event, positions);
                locks.step(trace, at, event, &schedule[..position], positions);
                if positions.valid_prefix(schedule.len()) <= position {
                    break;
                }
            }
        }
        Causality::Maximal => {
            check_memory_and_conditions(&present(trace), names, trace, positions);
            let mut reads = ReadCheck::new(names, trace, initial);
            let mut counts = SemaphoreCheck::new(names, trace);
            let mut locks = LockCheck::new(names, trace, positions);
            for (position, &index) in schedule[..positions.valid_prefix(schedule.len())].iter().enumerate() {
                let at = positions.offset(index);
                let event = trace.events[at as usize];
                if let Err(reason) = reads.step(trace, at, event, positions) {
                    let last = position + 1 == schedule.len();
                    if last && last_may_be_terminal_read && is_read(event.op()) {
                        return true;
                    }
                    positions.refuse(at, reason);
                }
                counts.step(at, event, positions);
                locks.step(trace, at, event, &schedule[..position], positions);
                if positions.valid_prefix(schedule.len()) <= position {
                    break;
                }
            }
        }
    }
    false
}

/// Checks the rules of lifetimes and conditions that `weak-hb` and `maximal` share.
fn check_memory_and_conditions(has: &impl Fn(Op) -> bool, names: &Names, trace: &Batch, positions: &mut Positions) {
    if has(Op::Alloc) || has(Op::Free) {
        lifetime_boundaries::check(names, trace, positions);
    }
    if has(Op::Woken) {
        conditions::check(names, trace, positions);
    }
}

/// Whether a trace has an operation.
fn present(trace: &Batch) -> impl Fn(Op) -> bool + use<> {
    let all = trace.events.iter().fold(0u64, |all, event| all | 1 << event.op() as u8);
    move |op| all >> op as u8 & 1 == 1
}
