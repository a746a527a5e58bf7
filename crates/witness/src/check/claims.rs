//! What findings claim beyond a feasible prefix: two racing accesses come next, or a cycle of requests.

use super::locks::Locks;
use super::places::Places;
use super::refused::{Broken, Refused, Unclaimed, can_race};
use super::{barriers, common, examine};
use crate::sections::effect;
use event::{Batch, Causality, Names, Op, Value, VarId};

/// Checks a race: `prefix` is feasible, then come the two events of `race`, each the next of its thread, in either
/// order. They conflict, and need not see their recorded values.
///
/// Two atomic accesses do not race, nor does an `alloc`, which makes its variable another one.
pub fn check_race(
    model: Causality,
    names: &Names,
    trace: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    prefix: &[u64],
    race: [u64; 2],
) -> Result<(), Refused> {
    let mut places = Places::new(trace.first, trace.events.len(), &[prefix, &race].concat())?;
    let [a, b] = race.map(|index| places.offset(index));
    examine_prefix(model, names, trace, initial, prefix, &mut places, &[a, b]);
    let [first, second] = [a, b].map(|at| trace.events[at as usize]);
    if first.thread() == second.thread() {
        places.refuse(b, Broken::NoSuchClaim(Unclaimed::SameThread));
    } else if !can_race(first.op(), second.op()) || first.object() != second.object() {
        places.refuse(b, Broken::NoSuchClaim(Unclaimed::NoConflict));
    }
    common::check(names, trace, &mut places);
    barriers::check_race(trace, &mut places, [a, b]);
    places.verdict()
}

/// Checks a deadlock: `prefix` is feasible, then each of `requests`, the next event of its thread, asks for a lock
/// that the thread of the request after it has (the first's, for the last), so that none of them can go on.
///
/// A request is an `acq`, `racq` or `req`, not a try-lock.
pub fn check_deadlock(
    model: Causality,
    names: &Names,
    trace: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    prefix: &[u64],
    requests: &[u64],
) -> Result<(), Refused> {
    let mut places = Places::new(trace.first, trace.events.len(), &[prefix, requests].concat())?;
    let asked: Vec<u32> = requests.iter().map(|&index| places.offset(index)).collect();
    examine_prefix(model, names, trace, initial, prefix, &mut places, &asked);
    common::check(names, trace, &mut places);
    let mut no_matter = Places::new(trace.first, trace.events.len(), &[])?;
    let locks = Locks::new(names, trace, &mut no_matter);
    let open = locks.open_sections(trace, prefix, &places);
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
                places.refuse(at, Broken::NoSuchClaim(Unclaimed::NotARequest));
                continue;
            }
        };
        let twice = asked[..k].iter().any(|&before| trace.events[before as usize].thread() == event.thread());
        let wrong =
            [(asked.len() < 2, Unclaimed::NoCycle), (twice, Unclaimed::SameThread), (free, Unclaimed::NotBlocked)];
        if let Some((_, claim)) = wrong.into_iter().find(|(wrong, _)| *wrong) {
            places.refuse(at, Broken::NoSuchClaim(claim));
        }
    }
    places.verdict()
}

/// Checks the prefix as if the other events were not there, then puts these side by side behind it.
fn examine_prefix(
    model: Causality,
    names: &Names,
    trace: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    prefix: &[u64],
    places: &mut Places,
    behind: &[u32],
) {
    for &at in behind {
        places.remove(at);
    }
    examine(model, names, trace, initial, prefix, false, places);
    for &at in behind {
        places.put(at, prefix.len());
    }
}
