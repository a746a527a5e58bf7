//! Lost wake-ups: a notify that comes after the test and before the wait that it should have ended, by docs/detectors.md.

use super::check;
use super::conditions::{Pair, pairs};
use super::refused::{Broken, Refused, Unclaimed};
use crate::ops::is_read;
use event::{Batch, Causality, Event, Names, Op, Value, VarId};
use std::collections::{HashMap, HashSet};

/// Checks a lost wake-up: the schedule is feasible and ends with the wait; the notify is the one that should have ended it, and
/// comes before it, but after the test, the waiting thread's last read of what the notify tells of, which the notifying one wrote between that and the notify.
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
) -> Result<(), Refused> {
    check(model, names, trace, initial, schedule, false)?;
    let place = |event: u64| schedule.iter().position(|&other| other == event);
    let refuse = |event: u64, claim| Refused {
        position: place(event).unwrap_or(schedule.len()),
        event,
        broken: Broken::NoSuchClaim(claim),
    };
    let find = |event: u64| place(event).ok_or_else(|| refuse(event, Unclaimed::Missing));
    let (w, n, t) = (find(wait)?, find(notify)?, find(test)?);
    let offset = |event: u64| (event - trace.first) as usize;
    let waits = trace.events[offset(wait)];
    if waits.op() != Op::Wait || w + 1 != schedule.len() {
        return Err(refuse(wait, Unclaimed::NotTheWait));
    }
    let own = |at: &usize| trace.events[*at].thread() == waits.thread();
    // What was read before an earlier wait was over was the test of that one.
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
    // If it has read something that who notifies writes since it last gave the lock back, it knew what it did.
    let is_notify =
        |event: &Event| matches!(event.op(), Op::Notify | Op::NotifyAll) && event.object() == waits.object();
    let notifiers: HashSet<_> =
        trace.events.iter().filter(|event| is_notify(event)).map(|event| event.thread()).collect();
    let news: HashSet<u32> = trace
        .events
        .iter()
        .filter(|event| event.thread() != waits.thread() && notifiers.contains(&event.thread()) && is_write(event.op()))
        .map(|event| event.object())
        .collect();
    let lock = trace.extra(waits).lock.0;
    let is_given = |at: &usize| own(at) && trace.events[*at].op() == Op::Release && trace.events[*at].object() == lock;
    let given = (0..offset(wait)).rfind(is_given);
    if candidates.iter().any(|(object, &at)| Some(at) > given && news.contains(object)) {
        candidates.retain(|_, at| Some(*at) > given);
    }
    // What the notify tells of: which of these its thread wrote since the one of the condition before, and when last; several without such a write in between tell of the same.
    let mut written: HashMap<u32, usize> = HashMap::new();
    let mut is_told = false;
    let notifies = trace.events[offset(notify)];
    for (at, event) in trace.events.iter().enumerate().take(offset(notify)) {
        if event.thread() != notifies.thread() {
            continue;
        }
        if is_write(event.op()) && candidates.contains_key(&event.object()) {
            if std::mem::take(&mut is_told) {
                written.clear();
            }
            written.insert(event.object(), at);
        } else if matches!(event.op(), Op::Notify | Op::NotifyAll) && event.object() == notifies.object() {
            is_told = true;
        }
    }
    let tested = written.iter().map(|(object, &write)| (candidates[object], write)).max();
    if tested.filter(|&(read, write)| write > read).map(|(read, _)| read) != Some(offset(test)) {
        return Err(refuse(test, Unclaimed::NotItsTest));
    }
    let goes_on = (offset(wait) + 1..trace.events.len()).find(own);
    if !should_end(names, trace, offset(wait), goes_on, offset(notify)) {
        return Err(refuse(notify, Unclaimed::NotItsNotify));
    }
    if !(t < n && n < w) {
        return Err(refuse(notify, Unclaimed::NotBetween));
    }
    Ok(())
}

/// Whether the notify, recorded after the wait and before its thread goes on, is the one that ends it, or should if that
/// never does. A wait that went on without a notify has none.
fn should_end(names: &Names, trace: &Batch, wait: usize, goes_on: Option<usize>, notify: usize) -> bool {
    let cond = trace.events[wait].object();
    let notifies = |at: usize| {
        let event = trace.events[at];
        matches!(event.op(), Op::Notify | Op::NotifyAll) && event.object() == cond
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
    matches!(op, Op::Write | Op::AtomicStore | Op::AtomicRmw)
}
