//! What backs each claim: predictions pass the checker or are not told, what was observed gets a witness where there is one.
//! What rests on an inexact event is a warning. What was refused, and what there was no time for, is told with its reason.

use super::claim::{Claim, Shown, Witness};
use super::verify::verify;
use super::{Whole, budget, name};
use crate::args::Detector;
use report::{AnalysisStats, Evidence, Kind, Side, Unshown};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What came of checking.
#[derive(Default)]
pub(super) struct Checks {
    /// By detector: predictions that the checker refused, and why the first.
    refused: BTreeMap<Detector, (u64, String)>,
    /// By detector: predictions that there was no time for.
    late: BTreeMap<Detector, u64>,
    /// By detector: predictions without an order that shows them, and why the first.
    bare: BTreeMap<Detector, (u64, String)>,
    /// Indexes in witnesses so far.
    indexes: u64,
    /// Time spent on checking predictions, and on witnesses of what was observed.
    checking: Duration,
    making: Duration,
}

/// What backs a claim, and the order that shows it.
pub(super) struct Backed {
    pub(super) evidence: Evidence,
    pub(super) witness: Option<Vec<u64>>,
    /// The inexact event because of which it is a warning only.
    pub(super) inexact: Option<u64>,
}

impl Backed {
    fn by(evidence: Evidence, witness: Option<Vec<u64>>) -> Backed {
        Backed { evidence, witness, inexact: None }
    }

    fn doubtful(event: u64) -> Backed {
        Backed { evidence: Evidence::warning(), witness: None, inexact: Some(event) }
    }
}

impl Checks {
    /// What backs a claim about these sides, if it stands.
    pub(super) fn evidence(&mut self, claim: &Claim, sides: &[Side], whole: &Whole<'_>) -> Option<Backed> {
        let hurry = whole.stop.load(Ordering::Relaxed);
        let started = Instant::now();
        let own = sides.iter().find(|side| side.is_inexact()).map(|side| side.event);
        match &claim.shown {
            Shown::Warning => Some(Backed::by(Evidence::warning(), None)),
            Shown::Observed if own.is_some() => own.map(Backed::doubtful),
            // The recorded run shows anything but a race as it stands.
            Shown::Observed if claim.kind != Kind::Race => Some(Backed::by(Evidence::observed(None), None)),
            Shown::Observed => {
                let made =
                    if self.making < whole.budget.making(hurry) { make(claim, whole) } else { Err(Unshown::NoTime) };
                self.making += started.elapsed();
                Some(match made {
                    Ok(witness) if self.room(witness.len()) => {
                        Backed::by(Evidence::observed(Some(witness.clone())), Some(witness))
                    }
                    Ok(witness) => Backed::by(Evidence::observed_without_room(witness.len() as u64), Some(witness)),
                    Err(why) => Backed::by(Evidence::observed_without(why), None),
                })
            }
            Shown::Predicted(how) => {
                if self.checking >= whole.budget.checking(hurry) {
                    *self.late.entry(claim.detector).or_default() += 1;
                    return None;
                }
                let witness = match whole.witness(claim, how) {
                    Ok(witness) => witness,
                    Err(why) => {
                        self.checking += started.elapsed();
                        self.bare.entry(claim.detector).or_insert((0, why.to_string())).0 += 1;
                        return None;
                    }
                };
                let checked = verify(claim, &witness, whole);
                self.checking += started.elapsed();
                match checked.map(|()| inexact(&witness, whole)) {
                    Ok(Some(event)) => Some(Backed::doubtful(event)),
                    Ok(None) if self.room(witness.len()) => {
                        Some(Backed::by(Evidence::predicted(witness.clone()), Some(witness)))
                    }
                    Ok(None) => Some(Backed::by(Evidence::predicted_without_room(witness.len() as u64), Some(witness))),
                    Err(why) => {
                        self.refused.entry(claim.detector).or_insert((0, why)).0 += 1;
                        None
                    }
                }
            }
        }
    }

    /// Whether there is room for so many indexes more; then it is taken.
    fn room(&mut self, indexes: usize) -> bool {
        let all = self.indexes + indexes as u64;
        if all <= budget::WITNESSES {
            self.indexes = all;
        }
        all <= budget::WITNESSES
    }

    /// Notes what is not reported in the figures of its detector. `problems`: those that the trace has.
    pub(super) fn tell(self, problems: u64, stats: &mut BTreeMap<String, AnalysisStats>) {
        let mut note = |detector, what: String| {
            let stats = stats.entry(name(detector)).or_default();
            stats.truncated = Some(match stats.truncated.take() {
                Some(before) => format!("{before}; {what}"),
                None => what,
            });
        };
        for (detector, late) in self.late {
            note(detector, format!("{late} predictions were not checked for lack of time, and are not reported"));
        }
        for (detector, (bare, why)) in self.bare {
            note(detector, format!("{bare} predictions have no order that shows them ({why}), and are not reported"));
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
fn make(claim: &Claim, whole: &Whole<'_>) -> Result<Vec<u64>, Unshown> {
    let witness = whole.witness(claim, &Witness::SyncPreserving).map_err(|none| match none {
        NoWitness::Unknown => Unshown::NotFound,
        NoWitness::NoTrace(_) => Unshown::NoTrace,
    })?;
    verify(claim, &witness, whole).map_err(|_| Unshown::Refused)?;
    if inexact(&witness, whole).is_some() { Err(Unshown::Inexact) } else { Ok(witness) }
}

/// The first event of a witness whose value or place the recorder was not sure of.
fn inexact(witness: &[u64], whole: &Whole<'_>) -> Option<u64> {
    let trace = whole.trace?;
    witness.iter().copied().find(|&event| trace.extra(trace.events[event as usize]).inexact)
}

/// Why a claim has no order that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoWitness {
    /// Those who looked for one found none.
    Unknown,
    /// There is nothing to look in, and why.
    NoTrace(String),
}

impl std::fmt::Display for NoWitness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoWitness::Unknown => f.write_str("none was found"),
            NoWitness::NoTrace(why) => f.write_str(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(checks: Checks, problems: u64) -> String {
        let mut stats = BTreeMap::new();
        stats.insert("hb".to_owned(), AnalysisStats { truncated: Some("before".to_owned()), ..Default::default() });
        checks.tell(problems, &mut stats);
        stats["hb"].truncated.clone().unwrap()
    }

    #[test]
    fn everything_that_is_not_reported_is_told_with_its_own_reason() {
        let checks = Checks {
            refused: [(Detector::Hb, (3, "a read sees another write".to_owned()))].into(),
            late: [(Detector::Hb, 5)].into(),
            bare: [(Detector::Hb, (7, NoWitness::Unknown.to_string()))].into(),
            ..Checks::default()
        };
        let text = told(checks, 0);
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
        let refused: BTreeMap<_, _> = [(Detector::Hb, (1, "x".to_owned()))].into();
        let text = told(Checks { refused, ..Checks::default() }, 2);
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
