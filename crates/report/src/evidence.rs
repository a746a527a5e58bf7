//! How a finding is known: its status, and the witness and confirmation that must agree with it.

use crate::EventOrder;
use serde::{Deserialize, Serialize};

/// How a finding is known. The order is that of reports: what is surest comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// A real run, driven by us, showed it.
    Confirmed,
    /// It happened in the recorded run.
    Observed,
    /// A witness exists that the checker accepted.
    Predicted,
    /// A pattern without a witness.
    Warning,
}

impl Status {
    /// Every status, surest first.
    pub const ALL: [Status; 4] = [Status::Confirmed, Status::Observed, Status::Predicted, Status::Warning];

    /// The status as the JSON spells it.
    pub const fn text(self) -> &'static str {
        match self {
            Status::Confirmed => "confirmed",
            Status::Observed => "observed",
            Status::Predicted => "predicted",
            Status::Warning => "warning",
        }
    }
}

/// What came of driving the real program towards a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confirm {
    /// It happened in a real run.
    Confirmed,
    /// It happened in a real run, and the program failed.
    ConfirmedFailing,
    /// It happened in no try.
    NotReproduced,
    /// In no try did threads come to all of its events.
    Diverged,
    /// Every schedule of its window was tried, and none shows it. (No command finds this out yet.)
    Refuted,
}

impl Confirm {
    /// The outcome as the JSON spells it.
    pub const fn text(self) -> &'static str {
        match self {
            Confirm::Confirmed => "confirmed",
            Confirm::ConfirmedFailing => "confirmed-failing",
            Confirm::NotReproduced => "not-reproduced",
            Confirm::Diverged => "diverged",
            Confirm::Refuted => "refuted",
        }
    }

    const fn showed_it(self) -> bool {
        matches!(self, Confirm::Confirmed | Confirm::ConfirmedFailing)
    }
}

/// Why something that was observed has no witness, although it could have one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unshown {
    /// The search for an order that shows it found none. What only a memory model leaves unordered has none.
    NotFound,
    /// The checker did not accept the order that was found.
    Refused,
    /// The order that was found holds an event that the recorder was not sure of.
    Inexact,
    /// There was no time to look for one.
    NoTime,
    /// The trace was not kept, and there is nothing to look in.
    NoTrace,
    /// It is behind a race: happens-before does not order it, but every order of the recorded events needs what the
    /// race read.
    BehindRace,
}

impl Unshown {
    /// The reason as text has it, after `none: `.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Unshown::NotFound => "the recorded run leaves it unordered, but no order was found that brings it about",
            Unshown::Refused => {
                "the recorded run leaves it unordered, but the checker refused the order that was found"
            }
            Unshown::Inexact => {
                "observed in the recorded run; the order that was found \
                 holds an event that the recorder was not sure of"
            }
            Unshown::NoTime => "observed in the recorded run; there was no time to look for an order that shows it",
            Unshown::NoTrace => {
                "observed in the recorded run; the trace was not kept, to look for an order that shows it"
            }
            Unshown::BehindRace => {
                "the recorded run leaves it unordered by happens-before; another order needs another value of the race"
            }
        }
    }
}

/// A status with what backs it. The constructors admit only what makes sense: a prediction has a witness, a warning
/// has none, and a finding is confirmed exactly when a run showed it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evidence {
    status: Status,
    witness: Option<EventOrder>,
    /// Events of a witness that the report had no room for.
    omitted: Option<u64>,
    /// Why there is none, if there could be one.
    unshown: Option<Unshown>,
    confirm: Option<Confirm>,
}

/// A status, witness and outcome that contradict each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EvidenceError {
    /// `predicted` without a witness.
    #[error("a predicted finding must have a witness")]
    PredictedWithoutWitness,
    /// `warning` with a witness.
    #[error("a warning cannot have a witness")]
    WarningWithWitness,
    /// `confirmed` without a run that showed it.
    #[error("a confirmed finding must have `confirm` as `confirmed` or `confirmed-failing`")]
    ConfirmedWithoutRun,
    /// A run showed it, and the status says otherwise.
    #[error("a finding that a run showed must have the status `confirmed`, not `{}`", .0.text())]
    ShownButNotConfirmed(Status),
    /// A witness, and a reason why there is none.
    #[error("a finding with a witness cannot have `witness_missing`")]
    ShownAndUnshown,
}

impl Evidence {
    /// It happened in the recorded run, which shows it as it stands where there is no witness.
    pub fn observed(witness: Option<EventOrder>) -> Evidence {
        Evidence { witness, ..Evidence::of(Status::Observed) }
    }

    /// It happened in the recorded run; the report has no room for its witness of so many events.
    pub fn observed_without_room(events: u64) -> Evidence {
        Evidence { omitted: Some(events), ..Evidence::of(Status::Observed) }
    }

    /// It happened in the recorded run; there should be a witness and is none, and why.
    pub fn observed_without(why: Unshown) -> Evidence {
        Evidence { unshown: Some(why), ..Evidence::of(Status::Observed) }
    }

    const fn of(status: Status) -> Evidence {
        Evidence { status, witness: None, omitted: None, unshown: None, confirm: None }
    }

    /// It can happen: the witness, as event indexes in the predicted order, was accepted by the checker.
    pub fn predicted(witness: Vec<u64>) -> Evidence {
        Evidence { witness: Some(witness.into()), ..Evidence::of(Status::Predicted) }
    }

    /// It can happen; the checker accepted the witness of so many events, which the report has no room for.
    pub fn predicted_without_room(events: u64) -> Evidence {
        Evidence { omitted: Some(events), ..Evidence::of(Status::Predicted) }
    }

    /// A pattern that may or may not be able to happen.
    pub fn warning() -> Evidence {
        Evidence::of(Status::Warning)
    }

    /// The evidence after a real run was driven towards it. What a run once showed stays confirmed.
    #[must_use]
    pub fn tried(mut self, outcome: Confirm) -> Evidence {
        if outcome.showed_it() {
            self.status = Status::Confirmed;
        }
        let downgrade = self.confirm == Some(Confirm::ConfirmedFailing) || !outcome.showed_it();
        if self.status != Status::Confirmed || self.confirm.is_none() || !downgrade {
            self.confirm = Some(outcome);
        }
        self
    }

    /// Puts together what was read from outside, if it is consistent.
    pub fn from_parts(
        status: Status,
        witness: Option<EventOrder>,
        omitted: Option<u64>,
        unshown: Option<Unshown>,
        confirm: Option<Confirm>,
    ) -> Result<Evidence, EvidenceError> {
        let shown = confirm.is_some_and(Confirm::showed_it);
        if unshown.is_some() && (witness.is_some() || omitted.is_some()) {
            return Err(EvidenceError::ShownAndUnshown);
        }
        match status {
            Status::Predicted if witness.is_none() && omitted.is_none() => Err(EvidenceError::PredictedWithoutWitness),
            Status::Warning if witness.is_some() || omitted.is_some() => Err(EvidenceError::WarningWithWitness),
            Status::Confirmed if !shown => Err(EvidenceError::ConfirmedWithoutRun),
            other if other != Status::Confirmed && shown => Err(EvidenceError::ShownButNotConfirmed(other)),
            _ => Ok(Evidence { status, witness, omitted, unshown, confirm }),
        }
    }

    /// How it is known.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The witness, as event indexes in its order.
    pub fn witness(&self) -> Option<&EventOrder> {
        self.witness.as_ref()
    }

    /// How many events a witness has that the report had no room for.
    pub fn omitted(&self) -> Option<u64> {
        self.omitted
    }

    /// Why it has no witness; `None` if it has one, or none is needed to show it.
    pub fn unshown(&self) -> Option<Unshown> {
        self.unshown
    }

    /// What came of driving the real program towards it, if that was tried.
    pub fn confirm(&self) -> Option<Confirm> {
        self.confirm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_are_errors() {
        use EvidenceError::*;
        let check = |status, witness, confirm| Evidence::from_parts(status, witness, None, None, confirm).unwrap_err();
        assert_eq!(check(Status::Predicted, None, None), PredictedWithoutWitness);
        assert_eq!(check(Status::Warning, Some(vec![].into()), None), WarningWithWitness);
        assert!(
            Evidence::from_parts(Status::Predicted, None, Some(7), None, None).is_ok_and(|e| e.omitted() == Some(7))
        );
        assert_eq!(check(Status::Confirmed, Some(vec![1].into()), None), ConfirmedWithoutRun);
        assert_eq!(check(Status::Confirmed, Some(vec![1].into()), Some(Confirm::Diverged)), ConfirmedWithoutRun);
        assert_eq!(check(Status::Observed, None, Some(Confirm::Confirmed)), ShownButNotConfirmed(Status::Observed));
    }

    #[test]
    fn a_witness_is_there_or_missing() {
        let parts = |witness| Evidence::from_parts(Status::Observed, witness, None, Some(Unshown::NoTime), None);
        assert_eq!(parts(Some(vec![0].into())).unwrap_err(), EvidenceError::ShownAndUnshown);
        assert_eq!(parts(None).unwrap(), Evidence::observed_without(Unshown::NoTime));
    }

    #[test]
    fn a_run_that_shows_it_confirms_it_for_good() {
        let shown = Evidence::predicted(vec![1, 0]).tried(Confirm::Diverged);
        assert_eq!((shown.status(), shown.confirm()), (Status::Predicted, Some(Confirm::Diverged)));
        let shown = shown.tried(Confirm::Confirmed).tried(Confirm::NotReproduced);
        assert_eq!((shown.status(), shown.confirm()), (Status::Confirmed, Some(Confirm::Confirmed)));
        assert_eq!(shown.witness(), Some(&vec![1, 0].into()));
        let shown = shown.tried(Confirm::ConfirmedFailing).tried(Confirm::Confirmed);
        assert_eq!((shown.status(), shown.confirm()), (Status::Confirmed, Some(Confirm::ConfirmedFailing)));
    }
}
