//! Trusts no detector: what it claims must pass the checker, which knows only the definitions.

use super::Whole;
use super::claim::Claim;
use event::Causality;
use report::Kind;

/// Whether a witness shows what is claimed; if not, why.
pub(super) fn verify(claim: &Claim, witness: &[u64], whole: &Whole<'_>) -> Result<(), String> {
    let trace = whole.trace.ok_or("there is no trace to check it with")?;
    let (names, initial) = (whole.names, whole.initial);
    let parts = claim.parts.len();
    let (prefix, last) = witness.split_at(witness.len().saturating_sub(parts));
    let checked = match claim.kind {
        Kind::Race => match <[u64; 2]>::try_from(last) {
            Ok(race) if claim.parts.iter().all(|part| race.contains(&part.event)) => {
                witness::check_race(Causality::Maximal, names, trace, initial, prefix, race)
            }
            _ => return Err("it does not end with the two accesses".to_owned()),
        },
        Kind::Deadlock if claim.parts.iter().all(|part| last.contains(&part.event)) => {
            witness::check_deadlock(Causality::Maximal, names, trace, initial, prefix, last)
        }
        Kind::Deadlock => return Err("it does not end with the requests".to_owned()),
        // The first part is the beginning of the block.
        Kind::Atomicity => match claim.parts.first() {
            Some(begin) => witness::check_atomicity(Causality::Maximal, names, trace, initial, witness, begin.event),
            None => return Err("it names no block".to_owned()),
        },
        Kind::LostWakeup => match claim.parts.as_slice() {
            [test, notify, wait] => {
                let (wait, notify, test) = (wait.event, notify.event, test.event);
                witness::check_lost_wakeup(Causality::Maximal, names, trace, initial, witness, wait, notify, test)
            }
            _ => return Err("it does not name test, notify and wait".to_owned()),
        },
        Kind::LockOrder | Kind::Misuse | Kind::Property => return Err("such a claim has no witness".to_owned()),
    };
    checked.map_err(|refused| refused.to_string())
}
