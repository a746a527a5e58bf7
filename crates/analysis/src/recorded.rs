//! The recorded run as detectors see it at its end, with what they share: limits, budgets, the sync-preserving index.

use crate::budget::Budget;
use crate::claim::{Claim, Witness};
use detect::Search;
use detect::prefilter::Filtered;
use detect::sync_preserving::{OnDemand, SyncPreserving};
use event::{Batch, Names, Value, VarId};
use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

/// The recorded run at its end.
pub(crate) struct Recorded<'a> {
    pub(crate) names: &'a Names,
    /// The trace, if it was retained and other runs are to be searched.
    pub(crate) trace: Option<&'a Batch>,
    /// Why it is not there.
    pub(crate) missing: &'a str,
    /// What variables hold at first.
    pub(crate) initial: &'a dyn Fn(VarId) -> Value,
    /// What the prefilter could not rule out.
    pub(crate) filtered: &'a Filtered,
    /// Nothing is missing from the trace.
    pub(crate) complete: bool,
    /// Nothing is missing before the end of the trace.
    pub(crate) gapless: bool,
    /// How many problems the validator found in the trace.
    pub(crate) problems: u64,
    /// Events that are searched together.
    pub(crate) window: usize,
    /// How long searches may take.
    pub(crate) budget: Budget,
    /// Set once the caller wants the work to stop.
    pub(crate) cancel: &'a AtomicBool,
    /// Made when it is needed first.
    pub(crate) preserving: RefCell<Option<OnDemand<'a>>>,
}

impl<'a> Recorded<'a> {
    /// Asks the sync-preserving index of the trace; or says why there is none.
    pub(crate) fn preserving<T>(&self, ask: impl FnOnce(&mut SyncPreserving<'a>) -> T) -> Result<T, String> {
        let trace = self.trace.ok_or(self.missing)?;
        let mut index = self.preserving.borrow_mut();
        let index = index.get_or_insert_with(|| OnDemand::new(self.names, trace)).index();
        index.map(ask).map_err(|too_large| too_large.to_string())
    }

    /// How far a search in windows may go, from now on.
    pub(crate) fn search(&self) -> Search<'a> {
        Search {
            window: self.window,
            deadline: Some(self.budget.deadline()),
            stop: Some(self.cancel),
            ..Search::default()
        }
    }

    /// The whole order that shows a claim, or why there is none.
    pub(crate) fn witness(&self, claim: &Claim, how: &Witness) -> Result<Vec<u64>, NoWitness> {
        match (how, claim.parts.as_slice()) {
            (Witness::Window(schedule), _) => Ok(schedule.whole()),
            (Witness::SyncPreserving, [one, other]) => {
                let race = [one.event, other.event];
                let prefix = self.preserving(|index| index.race_witness(race)).map_err(NoWitness::NoTrace)?;
                Ok([prefix.ok_or(NoWitness::NotFound)?, race.to_vec()].concat())
            }
            (Witness::SyncPreserving, _) => Err(NoWitness::NotFound),
        }
    }
}

/// Why a claim has no order that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NoWitness {
    /// The search found none.
    NotFound,
    /// There is nothing to search in, and why.
    NoTrace(String),
}

impl std::fmt::Display for NoWitness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoWitness::NotFound => f.write_str("none was found"),
            NoWitness::NoTrace(why) => f.write_str(why),
        }
    }
}
