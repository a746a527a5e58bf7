//! Lost wake-ups, by docs/detectors.md: a notify comes after the test and before the wait that it should have ended.

use super::check;
use super::conditions::{Pair, pairs};
use super::refusal::{Reason, Refusal, WrongClaim};
use crate::ops::is_read;
use event::{Batch, Causality, Event, Names, Op, Value, VarId};
use std::collections::{HashMap, HashSet};

/// Checks a lost wake-up: the schedule is feasible and ends with the wait, and the notify that should have ended the
/// wait comes before it, but after the test.
///
/// The test is the last read by the waiting thread of a variable that the notify announces. The notifying thread wrote
/// that variable after the test and before the notify.
#[allow(clippy::too_many_arguments, reason = "what is claimed has three events")]
pub fn check_lost_wakeup(
    model: Causality,
    names: &Names,
    trace: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    schedule: &[u64],
    wait: u64,
    notify: u64,
    test: u64,
) -> Result<(), Refusal> {
    check(model, names, trace, initial, schedule, false)?;
    let place = |event: u64| schedule.iter().position(|&other| other == event);
    let refuse = |event: u64, claim| Refusal {
        position: place(event).unwrap_or(schedule.len()),
        event,
        reason: Reason::WrongClaim(claim),
    };
    let find = |event: u64| place(event).ok_or_else(|| refuse(event, WrongClaim::Missing));
    let (w, n, t) = (find(wait)?, find(notify)?, find(test)?);
    let offset = |event: u64| (event - trace.first) as usize;
    let waits = trace.events[offset(wait)];
    if waits.op() != Op::Wait || w + 1 != schedule.len() {
        return Err(refuse(wait, WrongClaim::NotTheWait));
    }
    let own = |at: &usize| trace.events[*at].thread() == waits.thread();
    // Reads before the end of an earlier wait belong to the test of that wait.
    let is_over = |at: &usize| own(at) && trace.events[*at].op() == Op::Woken;
    let since = (0..offset(wait)).rfind(is_over).unwrap_or(0);
    let mut accessed = HashSet::new();
    let mut candidates = HashMap::new();
    for at in (since..offset(wait)).rev().filter(own) {
        let event = trace.events[at];
        if (is_read(event.op()) || is_write(event.op())) && accessed.insert(event.object()) && is_read(event.op()) {
            candidates.insert(event.object(), at);
        }
    }
    // Of the reads of variables that notifying threads write, those since the last release of the lock are the test.
    // Only if there are none do earlier ones count.
    let is_notify = |event: &Event| event.op().notifies() && event.object() == waits.object();
    let notifiers: HashSet<_> =
        trace.events.iter().filter(|event| is_notify(event)).map(|event| event.thread()).collect();
    let announced: HashSet<u32> = trace
        .events
        .iter()
        .filter(|event| event.thread() != waits.thread() && notifiers.contains(&event.thread()) && is_write(event.op()))
        .map(|event| event.object())
        .collect();
    let lock = trace.extra(waits).lock.0;
    let is_given = |at: &usize| own(at) && trace.events[*at].op() == Op::Release && trace.events[*at].object() == lock;
    let given = (0..offset(wait)).rfind(is_given);
    if candidates.iter().any(|(object, &at)| Some(at) > given && announced.contains(object)) {
        candidates.retain(|_, at| Some(*at) > given);
    }
    // What the notify announces: by variable, the last write of its thread since the notify before. Several notifies
    // without such a write between them announce the same writes.
    let mut written: HashMap<u32, usize> = HashMap::new();
    let mut is_announced = false;
    let notifies = trace.events[offset(notify)];
    for (at, event) in trace.events.iter().enumerate().take(offset(notify)) {
        if event.thread() != notifies.thread() {
            continue;
        }
        if is_write(event.op()) && candidates.contains_key(&event.object()) {
            if std::mem::take(&mut is_announced) {
                written.clear();
            }
            written.insert(event.object(), at);
        } else if event.op().notifies() && event.object() == notifies.object() {
            is_announced = true;
        }
    }
    let tested = written.iter().map(|(object, &write)| (candidates[object], write)).max();
    if tested.filter(|&(read, write)| write > read).map(|(read, _)| read) != Some(offset(test)) {
        return Err(refuse(test, WrongClaim::NotItsTest));
    }
    let goes_on = (offset(wait) + 1..trace.events.len()).find(own);
    if !should_end(names, trace, offset(wait), goes_on, offset(notify)) {
        return Err(refuse(notify, WrongClaim::NotItsNotify));
    }
    if !(t < n && n < w) {
        return Err(refuse(notify, WrongClaim::NotBetween));
    }
    Ok(())
}

/// Whether the notify, recorded after the wait and before its thread goes on, is the one that ends the wait. If the
/// thread never goes on, that is the first one that is not paired with another wait.
fn should_end(names: &Names, trace: &Batch, wait: usize, goes_on: Option<usize>, notify: usize) -> bool {
    let cond = trace.events[wait].object();
    let notifies = |at: usize| {
        let event = trace.events[at];
        event.op().notifies() && event.object() == cond
    };
    let end = goes_on.unwrap_or(trace.events.len());
    if !notifies(notify) || notify <= wait || notify >= end {
        return false;
    }
    let pairs = pairs(names, trace);
    if goes_on.is_some() {
        let own = pairs.iter().find(|pair| pair.wait as usize == wait);
        return own.is_some_and(|pair| pair.notify as usize == notify);
    }
    let mut used = vec![false; trace.events.len()];
    for Pair { notify, .. } in pairs {
        used[notify as usize] = true;
    }
    let unused = |at: &usize| notifies(*at) && (trace.events[*at].op() == Op::NotifyAll || !used[*at]);
    (wait + 1..end).find(unused) == Some(notify)
}

fn is_write(op: Op) -> bool {
    op.writes()
}
