//! From claims to findings: one for each fingerprint, the surest first; predictions only with a witness that was accepted.

use super::claim::{About, Claim, Shown, Witness};
use super::verify::verify;
use super::{Whole, budget, name};
use crate::args::Detector;
use crate::moments::Moments;
use crate::output::say;
use crate::picture::Scene;
use event::{Event, LockId, Names, Op, Space, VarId};
use report::{AnalysisStats, Evidence, Finding, Kind, Side, fingerprint, object_identity, side_identity};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A claim with names.
struct Draft {
    claim: Claim,
    sides: Vec<Side>,
    objects: Vec<String>,
}

/// What came of checking.
#[derive(Default)]
struct Checks {
    /// By detector: predictions that the checker refused, and why the first.
    refused: BTreeMap<Detector, (u64, String)>,
    /// By detector: predictions that there was no time for.
    left: BTreeMap<Detector, u64>,
    /// Indexes in witnesses so far.
    indexes: u64,
    /// Time spent on checking predictions, and on witnesses of what was observed.
    checking: Duration,
    making: Duration,
}

/// Makes findings of claims. What was left out is noted in the figures of its detector.
pub(super) fn settle(
    claims: Vec<Claim>,
    whole: &Whole<'_>,
    moments: &Moments,
    stats: &mut BTreeMap<String, AnalysisStats>,
) -> Vec<Finding> {
    let mut groups = group(claims, whole.names, moments);
    groups.sort_by_cached_key(|(print, drafts)| {
        let best = &drafts[0];
        (best.claim.rank(), best.claim.kind, first(&best.claim), print.clone())
    });
    let mut checks = Checks::default();
    let mut findings: Vec<Finding> = Vec::new();
    let mut known = Known::default();
    let mut pictures: BTreeMap<Kind, usize> = BTreeMap::new();
    for (print, drafts) in groups {
        let drawn = pictures.entry(drafts[0].claim.kind).or_default();
        let Some((best, (evidence, witness))) = drafts.iter().find_map(|draft| {
            if known.covers(&draft.claim, &mut findings) {
                return None;
            }
            checks.evidence(&draft.claim, whole, *drawn < budget::PICTURES).map(|evidence| (draft, evidence))
        }) else {
            continue;
        };
        known.add(&best.claim, findings.len());
        let mut finding =
            Finding::new(best.claim.kind, &name(best.claim.detector), evidence, print, best.claim.why.clone());
        finding.objects.clone_from(&best.objects);
        finding.sides.clone_from(&best.sides);
        let same = drafts.iter().filter(|draft| draft.claim.detector == best.claim.detector);
        finding.merged = same.map(|draft| draft.claim.more + 1).sum::<u64>() - 1;
        let mut others: Vec<Detector> = drafts.iter().map(|draft| draft.claim.detector).collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|&other| other != best.claim.detector);
        others.into_iter().for_each(|other| also(&mut finding, other));
        *drawn += 1;
        if let (Some(witness), true) = (witness, *drawn <= budget::PICTURES) {
            draw(&mut finding, &best.claim, &witness, whole);
        }
        findings.push(finding);
    }
    checks.tell(stats);
    findings
}

fn first(claim: &Claim) -> Option<u64> {
    claim.parts.iter().map(|part| part.event).min()
}

/// Claims with names, those with the same fingerprint together, the surest first.
fn group(claims: Vec<Claim>, names: &Names, moments: &Moments) -> Vec<(String, Vec<Draft>)> {
    let mut groups: HashMap<String, Vec<Draft>> = HashMap::new();
    for claim in claims {
        let sides: Vec<Side> = claim.parts.iter().map(|part| side(part, names, moments)).collect();
        let objects = claim.about.objects(names);
        let places: Vec<String> = sides.iter().map(side_identity).collect();
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        let mut identities: Vec<String> = objects.iter().map(|object| object_identity(object)).collect();
        // Where a cycle begins does not matter.
        if matches!(claim.about, About::Locks(_)) {
            identities.sort_unstable();
        }
        let print = fingerprint(claim.kind, &places, &identities.join(" "));
        groups.entry(print).or_default().push(Draft { claim, sides, objects });
    }
    for drafts in groups.values_mut() {
        drafts.sort_by_key(|draft| (draft.claim.rank(), first(&draft.claim), draft.claim.detector));
    }
    groups.into_iter().collect()
}

/// What happened at an event; what the detector says, where nobody else knows.
fn side(part: &super::claim::Part, names: &Names, moments: &Moments) -> Side {
    moments.get(&part.event).cloned().unwrap_or_else(|| Side {
        event: part.event,
        thread: names.thread(part.thread).to_owned(),
        site: names.site(part.site).to_owned(),
        locks_held: part.locks.iter().map(|&lock| names.lock(lock).to_owned()).collect(),
        ..Side::default()
    })
}

/// Notes that another detector found the same.
fn also(finding: &mut Finding, detector: Detector) {
    let by = name(detector);
    match finding.exhibit.entries.iter_mut().find(|(word, _)| word == "also") {
        Some((_, text)) if text.split([' ', ',']).any(|known| known == by) => {}
        Some((_, text)) => *text += &format!(", {by}"),
        None => finding.exhibit.entries.push(("also".to_owned(), format!("found by {by}"))),
    }
}

/// What is known for sure, so that warnings of the same say nothing new.
#[derive(Default)]
struct Known {
    /// Where the finding of a race on it stands.
    races: HashMap<VarId, usize>,
    deadlocks: HashMap<Vec<LockId>, usize>,
}

impl Known {
    fn add(&mut self, claim: &Claim, place: usize) {
        if matches!(claim.shown, Shown::Warning) {
            return;
        }
        match &claim.about {
            About::Variable(var) if claim.kind == Kind::Race => drop(self.races.entry(*var).or_insert(place)),
            About::Locks(locks) => drop(self.deadlocks.entry(sorted(locks)).or_insert(place)),
            _ => {}
        }
    }

    /// Whether a claim is a warning of something that is known for sure; that is then noted there.
    fn covers(&self, claim: &Claim, findings: &mut [Finding]) -> bool {
        if !matches!(claim.shown, Shown::Warning) {
            return false;
        }
        let place = match &claim.about {
            About::Variable(var) => self.races.get(var),
            About::Locks(locks) => self.deadlocks.get(&sorted(locks)),
            _ => None,
        };
        place.inspect(|&&place| also(&mut findings[place], claim.detector)).is_some()
    }
}

fn sorted(locks: &[LockId]) -> Vec<LockId> {
    let mut locks = locks.to_vec();
    locks.sort_unstable();
    locks
}

impl Checks {
    /// What backs a claim, if it stands, and the order that shows it. `shown`: readers are shown that order.
    fn evidence(&mut self, claim: &Claim, whole: &Whole<'_>, shown: bool) -> Option<(Evidence, Option<Vec<u64>>)> {
        let hurry = whole.stop.load(Ordering::Relaxed);
        let started = Instant::now();
        match &claim.shown {
            Shown::Warning => Some((Evidence::warning(), None)),
            Shown::Observed => {
                let making = shown && self.making < budget::making(hurry);
                let witness = if making { whole.witness(claim, &Witness::SyncPreserving) } else { None };
                // What the memory model alone leaves unordered is a race without a witness.
                let witness = witness.filter(|witness| verify(claim, witness, whole).is_ok());
                self.making += started.elapsed();
                let kept = witness.clone().filter(|witness| self.room(witness.len()));
                Some((Evidence::observed(kept), witness))
            }
            Shown::Predicted(how) => {
                let in_time = self.checking < budget::checking(hurry);
                let Some(witness) = in_time.then(|| whole.witness(claim, how)).flatten() else {
                    *self.left.entry(claim.detector).or_default() += 1;
                    return None;
                };
                let checked = verify(claim, &witness, whole);
                self.checking += started.elapsed();
                match checked {
                    Ok(()) if self.room(witness.len()) => Some((Evidence::predicted(witness.clone()), Some(witness))),
                    Ok(()) => Some((Evidence::predicted_without_room(witness.len() as u64), Some(witness))),
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

    /// Says what was refused, and notes what was left.
    fn tell(self, stats: &mut BTreeMap<String, AnalysisStats>) {
        for (detector, (refused, why)) in self.refused {
            say(&format!(
                "{}: the checker refused {refused} of its predictions ({why}), and they are not reported. Unless the trace has \
                 problems, this is A FAULT OF THIS PROGRAM: please report it",
                name(detector)
            ));
        }
        for (detector, left) in self.left {
            let what = format!("{left} predictions were not checked for lack of time, and are not reported");
            let stats = stats.entry(name(detector)).or_default();
            stats.truncated = Some(match stats.truncated.take() {
                Some(before) => format!("{before}; {what}"),
                None => what,
            });
        }
    }
}

/// Draws the recorded order and the witness.
fn draw(finding: &mut Finding, claim: &Claim, witness: &[u64], whole: &Whole<'_>) {
    let Some(trace) = whole.trace else { return };
    let on = |event: Event, space: Space, number: u32| event.op().space() == Some(space) && event.object() == number;
    let lock = |index: u64, event: Event, lock: LockId| match event.op() {
        Op::Wait | Op::Woken => trace.extra(trace.events[index as usize]).lock == lock,
        _ => on(event, Space::Lock, lock.0),
    };
    let concerns = |index: u64| {
        let event = trace.events[index as usize];
        match &claim.about {
            About::Variable(var) => on(event, Space::Var, var.0),
            About::Locks(locks) => locks.iter().any(|&l| lock(index, event, l)),
            About::Block(_) => matches!(event.op(), Op::Begin | Op::End),
            About::Condition(cond, l) => on(event, Space::Cond, cond.0) || l.is_some_and(|l| lock(index, event, l)),
        }
    };
    let marks: Vec<(u64, &str)> = claim.parts.iter().map(|part| (part.event, part.role)).collect();
    let scene = Scene { names: whole.names, trace, concerns: &concerns, marks: &marks };
    let mut orders = scene.orders(witness);
    if let (Shown::Observed, Some(order)) = (&claim.shown, orders.last_mut()) {
        order.title = "reordered".to_owned();
    }
    finding.exhibit.schedules = orders;
}
