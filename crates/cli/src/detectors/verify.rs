//! Trusts no detector: what it claims must pass the checker, which knows only the definitions.

use super::Whole;
use super::claim::Claim;
use report::Kind;
use witness::Model;

/// Whether a witness shows what is claimed; if not, why.
pub(super) fn verify(claim: &Claim, witness: &[u64], whole: &Whole<'_>) -> Result<(), String> {
    let trace = whole.trace.ok_or("there is no trace to check it with")?;
    let (names, initial) = (whole.names, whole.initial);
    let parts = claim.parts.len();
    let (prefix, last) = witness.split_at(witness.len().saturating_sub(parts));
    let checked = match claim.kind {
        Kind::Race => match <[u64; 2]>::try_from(last) {
            Ok(race) if claim.parts.iter().all(|part| race.contains(&part.event)) => {
                witness::check_race(Model::Maximal, names, trace, initial, prefix, race)
            }
            _ => return Err("it does not end with the two accesses".to_owned()),
        },
        Kind::Deadlock if claim.parts.iter().all(|part| last.contains(&part.event)) => {
            witness::check_deadlock(Model::Maximal, names, trace, initial, prefix, last)
        }
        Kind::Deadlock => return Err("it does not end with the requests".to_owned()),
        Kind::Atomicity | Kind::LostWakeup => {
            witness::check(Model::Maximal, names, trace, initial, witness, claim.kind == Kind::Atomicity).map(drop)
        }
        Kind::LockOrder | Kind::Property => return Err("such a claim has no witness".to_owned()),
    };
    checked.map_err(|refused| refused.to_string())
}
