//! The evidence of each claim. A prediction passes its check or is not reported; an observed race gets a witness where
//! there is one; a claim that rests on an inexact event is a warning. What was refused, and what there was no time for,
//! is reported with its reason.

use crate::budget;
use crate::claim::{Basis, Check, Claim, Witness};
use crate::detectors::DetectorId;
use crate::recorded::{NoWitness, Recorded};
use report::{AnalysisStats, EventOrder, Evidence, Side, Unshown};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What came of checking.
#[derive(Default)]
pub(super) struct Checks {
    /// By detector: predictions that the checker refused, and why the first.
    refused: BTreeMap<DetectorId, (u64, String)>,
    /// By detector: predictions that there was no time for.
    late: BTreeMap<DetectorId, u64>,
    /// By detector: predictions without an order that shows them, and why the first.
    unshown: BTreeMap<DetectorId, (u64, String)>,
    /// Indexes in witnesses so far.
    indexes: u64,
    /// Time spent on checking predictions, and on witnesses of what was observed.
    checking: Duration,
    making: Duration,
}

/// What backs a claim, and the order that shows it.
pub(super) struct Backed {
    pub(super) evidence: Evidence,
    pub(super) witness: Option<EventOrder>,
    /// The inexact event because of which it is a warning only.
    pub(super) inexact: Option<u64>,
}

/// Events from which on even one check takes longer than the end of an analysis may.
const LONG: usize = 2_000_000;

/// Whether a check would go through a long trace.
fn is_long(recorded: &Recorded<'_>) -> bool {
    recorded.trace.is_none_or(|trace| trace.events.len() > LONG)
}

impl Backed {
    fn by(evidence: Evidence, witness: Option<EventOrder>) -> Backed {
        Backed { evidence, witness, inexact: None }
    }

    fn doubtful(event: u64) -> Backed {
        Backed { evidence: Evidence::warning(), witness: None, inexact: Some(event) }
    }
}

impl Checks {
    /// What backs a claim about these sides, if it stands.
    pub(super) fn evidence(&mut self, claim: &Claim, sides: &[Side], recorded: &Recorded<'_>) -> Option<Backed> {
        let hurry = recorded.cancel.load(Ordering::Relaxed);
        let started = Instant::now();
        let own = sides.iter().find(|side| side.is_inexact()).map(|side| side.event);
        match &claim.basis {
            Basis::Warning => Some(Backed::by(Evidence::warning(), None)),
            Basis::Observed | Basis::ObservedReordered(_) if own.is_some() => own.map(Backed::doubtful),
            Basis::Observed => Some(Backed::by(Evidence::observed(None), None)),
            Basis::ObservedReordered(check) => {
                let in_time = self.making < recorded.budget.making(hurry);
                let made = if in_time { make(claim, *check, recorded) } else { Err(Unshown::NoTime) };
                self.making += started.elapsed();
                Some(match made {
                    Ok(witness) if self.room(witness.len()) => {
                        Backed::by(Evidence::observed(Some(witness.clone())), Some(witness))
                    }
                    Ok(witness) => Backed::by(Evidence::observed_without_room(witness.len()), Some(witness)),
                    Err(why) => Backed::by(Evidence::observed_without(why), None),
                })
            }
            Basis::Predicted(how, check) => {
                if self.checking >= recorded.budget.checking(hurry) || (hurry && is_long(recorded)) {
                    *self.late.entry(claim.detector).or_default() += 1;
                    return None;
                }
                let witness = match recorded.witness(claim, how) {
                    Ok(witness) => witness,
                    Err(why) => {
                        self.checking += started.elapsed();
                        self.unshown.entry(claim.detector).or_insert((0, why.to_string())).0 += 1;
                        return None;
                    }
                };
                let checked = check(claim, &witness, recorded);
                self.checking += started.elapsed();
                match checked.map(|()| inexact(&witness, recorded)) {
                    Ok(Some(event)) => Some(Backed::doubtful(event)),
                    Ok(None) if self.room(witness.len() as u64) => {
                        Some(Backed::by(Evidence::predicted(witness.clone()), Some(witness.into())))
                    }
                    Ok(None) => {
                        let evidence = Evidence::predicted_without_room(witness.len() as u64);
                        Some(Backed::by(evidence, Some(witness.into())))
                    }
                    Err(why) => {
                        self.refused.entry(claim.detector).or_insert((0, why)).0 += 1;
                        None
                    }
                }
            }
        }
    }

    /// Whether there is room for so many indexes more; then it is taken.
    fn room(&mut self, indexes: u64) -> bool {
        let all = self.indexes + indexes;
        if all <= budget::WITNESSES {
            self.indexes = all;
        }
        all <= budget::WITNESSES
    }

    /// Notes what is not reported in the figures of its detector. `problems`: those that the trace has.
    pub(super) fn note(self, problems: u64, stats: &mut BTreeMap<String, AnalysisStats>) {
        let mut note = |detector: DetectorId, what: String| {
            let stats = stats.entry(detector.name().to_owned()).or_default();
            stats.truncated = Some(match stats.truncated.take() {
                Some(before) => format!("{before}; {what}"),
                None => what,
            });
        };
        for (detector, late) in self.late {
            note(detector, format!("{late} predictions were not checked for lack of time, and are not reported"));
        }
        for (detector, (unshown, why)) in self.unshown {
            note(
                detector,
                format!("{unshown} predictions have no order that shows them ({why}), and are not reported"),
            );
        }
        for (detector, (refused, why)) in self.refused {
            let whose = match problems {
                0 => "this is A FAULT OF THIS PROGRAM: please report it".to_owned(),
                1 => "the trace has a problem".to_owned(),
                some => format!("the trace has {some} problems"),
            };
            let what = format!("the checker refused {refused} predictions ({why}), and they are not reported; {whose}");
            note(detector, what);
        }
    }
}

/// A witness of what was observed, or why there is none.
fn make(claim: &Claim, check: Check, recorded: &Recorded<'_>) -> Result<EventOrder, Unshown> {
    if recorded.retained().is_none()
        && let Some(witness) = recorded.held_back(claim)
    {
        return Ok(witness);
    }
    let witness = recorded.witness(claim, &Witness::SyncPreserving).map_err(|none| match none {
        NoWitness::NotFound => Unshown::NotFound,
        NoWitness::NoTrace(_) => Unshown::NoTrace,
    })?;
    check(claim, &witness, recorded).map_err(|_| Unshown::Refused)?;
    if inexact(&witness, recorded).is_some() { Err(Unshown::Inexact) } else { Ok(witness.into()) }
}

/// The first event of a witness whose value or place the recorder was not sure of.
fn inexact(witness: &[u64], recorded: &Recorded<'_>) -> Option<u64> {
    let trace = recorded.retained()?;
    witness.iter().copied().find(|&event| trace.extra(trace.events[event as usize]).inexact)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hb() -> DetectorId {
        DetectorId::named("hb").unwrap()
    }

    fn noted(checks: Checks, problems: u64) -> String {
        let mut stats = BTreeMap::new();
        stats.insert("hb".to_owned(), AnalysisStats { truncated: Some("before".to_owned()), ..Default::default() });
        checks.note(problems, &mut stats);
        stats["hb"].truncated.clone().unwrap()
    }

    #[test]
    fn everything_that_is_not_reported_is_noted_with_its_own_reason() {
        let checks = Checks {
            refused: [(hb(), (3, "a read sees another write".to_owned()))].into(),
            late: [(hb(), 5)].into(),
            unshown: [(hb(), (7, NoWitness::NotFound.to_string()))].into(),
            ..Checks::default()
        };
        let text = noted(checks, 0);
        for part in [
            "before; ",
            "5 predictions were not checked for lack of time",
            "7 predictions have no order that shows them (none was found)",
            "refused 3 predictions (a read sees another write)",
            "A FAULT OF THIS PROGRAM",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_refusal_is_no_fault_of_ours_where_the_trace_has_problems() {
        let refused: BTreeMap<_, _> = [(hb(), (1, "x".to_owned()))].into();
        let text = noted(Checks { refused, ..Checks::default() }, 2);
        assert!(text.contains("the trace has 2 problems") && !text.contains("FAULT"), "{text}");
    }

    #[test]
    fn room_is_taken_only_where_there_is_some() {
        let mut checks = Checks { indexes: budget::WITNESSES - 10, ..Checks::default() };
        assert!(!checks.room(11));
        assert!(checks.room(10));
        assert!(!checks.room(1));
    }
}
