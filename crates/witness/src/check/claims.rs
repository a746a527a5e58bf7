//! Races and deadlocks: after a feasible prefix two conflicting accesses are next, or a cycle of lock requests.

use super::locks::LockCheck;
use super::positions::Positions;
use super::refusal::{Reason, Refusal, WrongClaim, can_race};
use super::{check_rules, common, lifetime_boundaries};
use crate::sections::effect;
use event::{Batch, Causality, Names, Op, Value, VarId};

/// Checks a race: `prefix` is feasible, the two events of `race` are the next ones of their threads, and they conflict.
/// They need not see their recorded values, and may come in either order.
///
/// Two atomic accesses do not race. An `alloc` races with nothing: its variable is another one from then on.
pub fn check_race(
    model: Causality,
    names: &Names,
    trace: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    prefix: &[u64],
    race: [u64; 2],
) -> Result<(), Refusal> {
    let mut positions = Positions::new(trace.first, trace.events.len(), &[prefix, &race].concat())?;
    let [a, b] = race.map(|index| positions.offset(index));
    check_prefix(model, names, trace, initial, prefix, &mut positions, &[a, b]);
    let [first, second] = [a, b].map(|at| trace.events[at as usize]);
    if first.thread() == second.thread() {
        positions.refuse(b, Reason::WrongClaim(WrongClaim::SameThread));
    } else if !can_race(first.op(), second.op()) || first.object() != second.object() {
        positions.refuse(b, Reason::WrongClaim(WrongClaim::NoConflict));
    }
    common::check(names, trace, &mut positions);
    lifetime_boundaries::check_race(trace, &mut positions, [a, b]);
    positions.into_result()
}

/// Checks a deadlock: `prefix` is feasible, each of `requests` is the next event of its thread, and each asks for a
/// lock that the thread of the next request holds (for the last request: the thread of the first), so that none can go
/// on.
///
/// A request is an `acq`, `racq` or `req`, but not a try-lock.
pub fn check_deadlock(
    model: Causality,
    names: &Names,
    trace: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    prefix: &[u64],
    requests: &[u64],
) -> Result<(), Refusal> {
    let mut positions = Positions::new(trace.first, trace.events.len(), &[prefix, requests].concat())?;
    let asked: Vec<u32> = requests.iter().map(|&index| positions.offset(index)).collect();
    check_prefix(model, names, trace, initial, prefix, &mut positions, &asked);
    common::check(names, trace, &mut positions);
    // Only the sections are of interest here: with an empty schedule nothing is refused.
    let mut unused = Positions::new(trace.first, trace.events.len(), &[])?;
    let locks = LockCheck::new(names, trace, &mut unused);
    let open = locks.open_sections(trace, prefix, &positions);
    for (k, &at) in asked.iter().enumerate() {
        let event = trace.events[at as usize];
        let holder = trace.events[asked[(k + 1) % asked.len()] as usize].thread();
        let has = |thread: u32, shared: bool| open.contains_key(&(thread, event.object(), shared));
        let (own, others) = (event.thread().0, holder.0);
        let free = match event.op() {
            Op::Acquire if locks.effect(at) & effect::OPENS != 0 => !has(others, false) && !has(others, true),
            Op::ReadAcquire if locks.effect(at) & effect::OPENS_SHARED != 0 => !has(others, false),
            Op::Request if !has(own, false) => !has(others, false) && !has(others, true),
            _ => {
                positions.refuse(at, Reason::WrongClaim(WrongClaim::NotARequest));
                continue;
            }
        };
        let twice = asked[..k].iter().any(|&before| trace.events[before as usize].thread() == event.thread());
        let wrong =
            [(asked.len() < 2, WrongClaim::NoCycle), (twice, WrongClaim::SameThread), (free, WrongClaim::NotBlocked)];
        if let Some((_, claim)) = wrong.into_iter().find(|(wrong, _)| *wrong) {
            positions.refuse(at, Reason::WrongClaim(claim));
        }
    }
    positions.into_result()
}

/// Checks the prefix without the events `behind` it, then gives all of these the position after it.
pub(super) fn check_prefix(
    model: Causality,
    names: &Names,
    trace: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    prefix: &[u64],
    positions: &mut Positions,
    behind: &[u32],
) {
    for &at in behind {
        positions.remove(at);
    }
    check_rules(model, names, trace, initial, prefix, false, positions);
    for &at in behind {
        positions.insert(at, prefix.len());
    }
}
