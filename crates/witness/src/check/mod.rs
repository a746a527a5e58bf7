//! The checker: whether a schedule is a feasible prefix, by the definitions of docs/causality.md alone.
//!
//! Most rules say "this event comes only after those", always in recorded order. They are checked in one look through
//! the recorded run, by the places that its events have in the schedule. What depends on the order itself (exclusion,
//! atomic sets, what a read sees, counts) is checked along the schedule, as far as the other rules hold.

mod atomicity;
mod barriers;
mod claims;
mod common;
mod conditions;
mod full;
mod locks;
mod lost_wakeup;
mod places;
mod reads;
mod refused;
mod semaphores;
mod sets;

use crate::ops::is_read;
use event::{Batch, Causality, Names, Op, Value, VarId};
use locks::Locks;
use places::Places;
use reads::Reads;
use semaphores::Counts;
use sets::Sets;

pub use atomicity::check_atomicity;
pub use claims::{check_deadlock, check_race};
pub use lost_wakeup::check_lost_wakeup;
pub use refused::{Broken, Refused, Rule, Unclaimed, Written};

/// A schedule that its model admits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checked {
    /// Its last event is a read that sees something else than it saw when recorded.
    pub terminal_read: bool,
}

/// Whether a schedule (event indexes, in the predicted order) of a whole trace is a feasible prefix in a model.
///
/// `initial` gives the values that variables have at first, unknown if nobody said. With `last_may_be_terminal_read`
/// the last event may be a terminal read, if the model is maximal.
pub fn check(
    model: Causality,
    names: &Names,
    trace: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    schedule: &[u64],
    last_may_be_terminal_read: bool,
) -> Result<Checked, Refused> {
    let mut places = Places::new(trace.first, trace.events.len(), schedule)?;
    let terminal_read = examine(model, names, trace, initial, schedule, last_may_be_terminal_read, &mut places);
    places.verdict().map(|()| Checked { terminal_read })
}

/// Notes in `places` what is wrong; whether the last event is a terminal read.
fn examine(
    model: Causality,
    names: &Names,
    trace: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    schedule: &[u64],
    last_may_be_terminal_read: bool,
    places: &mut Places,
) -> bool {
    common::check(names, trace, places);
    match model {
        Causality::Observed => {
            for (expected, &index) in (trace.first..).zip(schedule) {
                if index != expected {
                    places.refuse(places.offset(index), Broken::NotRecorded { expected });
                    break;
                }
            }
        }
        Causality::SyncOnly => full::check(false, names, trace, places),
        Causality::FullHb => full::check(true, names, trace, places),
        Causality::WeakHb => {
            let has = present(trace);
            if has(Op::Alloc) || has(Op::Free) {
                barriers::check(names, trace, places);
            }
            if has(Op::Woken) {
                conditions::check(names, trace, places);
            }
            if has(Op::Up) || has(Op::Down) {
                semaphores::check_order(names, trace, places);
            }
            let mut sets = Sets::new(names, trace, places);
            let mut locks = Locks::new(names, trace, places);
            for (position, &index) in schedule[..places.sound(schedule.len())].iter().enumerate() {
                let at = places.offset(index);
                let event = trace.events[at as usize];
                sets.step(at, event, places);
                locks.step(trace, at, event, &schedule[..position], places);
                if places.sound(schedule.len()) <= position {
                    break;
                }
            }
        }
        Causality::Maximal => {
            let has = present(trace);
            if has(Op::Alloc) || has(Op::Free) {
                barriers::check(names, trace, places);
            }
            if has(Op::Woken) {
                conditions::check(names, trace, places);
            }
            let mut reads = Reads::new(names, trace, initial);
            let mut counts = Counts::new(names, trace);
            let mut locks = Locks::new(names, trace, places);
            for (position, &index) in schedule[..places.sound(schedule.len())].iter().enumerate() {
                let at = places.offset(index);
                let event = trace.events[at as usize];
                if let Err(broken) = reads.step(trace, at, event, places) {
                    let last = position + 1 == schedule.len();
                    if last && last_may_be_terminal_read && is_read(event.op()) {
                        return true;
                    }
                    places.refuse(at, broken);
                }
                counts.step(at, event, places);
                locks.step(trace, at, event, &schedule[..position], places);
                if places.sound(schedule.len()) <= position {
                    break;
                }
            }
        }
    }
    false
}

/// Which operations a trace has.
fn present(trace: &Batch) -> impl Fn(Op) -> bool + use<> {
    let all = trace.events.iter().fold(0u64, |all, event| all | 1 << event.op() as u8);
    move |op| all >> op as u8 & 1 == 1
}
