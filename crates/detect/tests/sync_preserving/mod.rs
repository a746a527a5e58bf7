//! Sync-preserving races: the definition by brute force, the counts of RAPID, and every witness past the checker.

mod brute;
mod corpus;
mod deadlocks;
mod definition;
mod generated;
mod naive;
mod sections;

use detect::sync_preserving::SyncPreserving;
use event::{Causality, Value};
use trace::Trace;
use trace::text::TextReader;
use witness::check_race;

pub(crate) fn parse(text: &str) -> Trace {
    Trace::read(&mut TextReader::new(text.as_bytes())).expect("it is a trace")
}

/// The witness of a race, which must pass the checker.
pub(crate) fn checked(trace: &Trace, predictor: &mut SyncPreserving<'_>, race: [u64; 2]) -> Option<Vec<u64>> {
    let witness = predictor.race_witness(race)?;
    let result = check_race(Causality::Maximal, &trace.names, &trace.batch, &|_| Value::Unknown, &witness, race);
    assert_eq!(result, Ok(()), "{race:?} after {witness:?}");
    Some(witness)
}
