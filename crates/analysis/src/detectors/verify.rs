//! The checks that claims carry: each asks the independent checker, which knows only the definitions.

use crate::claim::Claim;
use crate::recorded::Recorded;
use event::{Batch, Causality, Op};

fn trace<'a>(recorded: &Recorded<'a>) -> Result<&'a Batch, String> {
    recorded.retained().ok_or_else(|| "there is no trace to check it with".to_owned())
}

/// A witness without its last events, and these, which must be the parts of the claim.
fn split<'w>(claim: &Claim, witness: &'w [u64], what: &str) -> Result<(&'w [u64], &'w [u64]), String> {
    let (prefix, last) = witness.split_at(witness.len().saturating_sub(claim.parts.len()));
    if claim.parts.iter().all(|part| last.contains(&part.event)) {
        Ok((prefix, last))
    } else {
        Err(format!("it does not end with {what}"))
    }
}

/// The witness is a feasible prefix, then the two accesses.
pub(super) fn race(claim: &Claim, witness: &[u64], recorded: &Recorded<'_>) -> Result<(), String> {
    let (prefix, last) = split(claim, witness, "the two accesses")?;
    let race = <[u64; 2]>::try_from(last).map_err(|_| "it does not end with the two accesses".to_owned())?;
    let (names, initial, trace) = (recorded.names, recorded.initial, trace(recorded)?);
    witness::check_race(Causality::Maximal, names, trace, initial, prefix, race).map_err(|refused| refused.to_string())
}

/// The witness is a feasible prefix, then the requests around the cycle.
pub(super) fn deadlock(claim: &Claim, witness: &[u64], recorded: &Recorded<'_>) -> Result<(), String> {
    let (prefix, last) = split(claim, witness, "the requests")?;
    let (names, initial, trace) = (recorded.names, recorded.initial, trace(recorded)?);
    witness::check_deadlock(Causality::Maximal, names, trace, initial, prefix, last)
        .map_err(|refused| refused.to_string())
}

/// The witness is a feasible prefix, then the requests that are not in it: a `wait` is.
pub(super) fn wide_deadlock(claim: &Claim, witness: &[u64], recorded: &Recorded<'_>) -> Result<(), String> {
    let (names, initial, trace) = (recorded.names, recorded.initial, trace(recorded)?);
    let requests: Vec<u64> = claim.parts.iter().map(|part| part.event).collect();
    let is_next = |event: &&u64| trace.events.get(**event as usize).is_none_or(|event| event.op() != Op::Wait);
    let (prefix, last) = witness.split_at(witness.len().saturating_sub(requests.iter().filter(is_next).count()));
    if !requests.iter().filter(is_next).all(|request| last.contains(request)) {
        return Err("it does not end with the requests".to_owned());
    }
    witness::check_wide_deadlock(Causality::Maximal, names, trace, initial, prefix, &requests)
        .map_err(|refused| refused.to_string())
}

/// The witness is a feasible prefix that is not serialisable; the first part is the beginning of the block.
pub(super) fn atomicity(claim: &Claim, witness: &[u64], recorded: &Recorded<'_>) -> Result<(), String> {
    let begin = claim.parts.first().ok_or("it names no block")?.event;
    let (names, initial, trace) = (recorded.names, recorded.initial, trace(recorded)?);
    witness::check_atomicity(Causality::Maximal, names, trace, initial, witness, begin)
        .map_err(|refused| refused.to_string())
}

/// The witness is a feasible prefix with the test before the notify before the wait; these are the parts.
pub(super) fn lost_wakeup(claim: &Claim, witness: &[u64], recorded: &Recorded<'_>) -> Result<(), String> {
    let [test, notify, wait] = claim.parts.as_slice() else {
        return Err("it does not name test, notify and wait".to_owned());
    };
    let (wait, notify, test) = (wait.event, notify.event, test.event);
    let (names, initial, trace) = (recorded.names, recorded.initial, trace(recorded)?);
    witness::check_lost_wakeup(Causality::Maximal, names, trace, initial, witness, wait, notify, test)
        .map_err(|refused| refused.to_string())
}
