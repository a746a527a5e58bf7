//! Resolves claims to findings: one for each fingerprint, the most certain first; predictions only with an accepted
//! witness.

pub(crate) mod apart;
pub(crate) mod behind;
mod evidence;
pub(crate) mod missing;
pub(crate) mod runtimes;

use crate::budget;
use crate::claim::{About, Basis, Claim, Part};
use crate::context::Contexts;
use crate::detectors::DetectorId;
use crate::origins::Origins;
use crate::recorded::Recorded;
use crate::schedule_view::{ScheduleView, looked_at};
use crate::thread_names::ThreadNames;
use event::{Batch, Event, LockId, Names, Space, ThreadId, VarId};
use evidence::{Backed, Checks};
use report::{
    AnalysisStats, EventOrder, Evidence, Finding, Kind, Side, Status, fingerprint, object_identity, side_identity,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A claim with names.
struct Draft {
    claim: Claim,
    sides: Vec<Side>,
    objects: Vec<String>,
}

/// Makes findings of claims. What was left out is noted in the figures of its detector.
pub(crate) fn resolve(
    claims: Vec<Claim>,
    recorded: &Recorded<'_>,
    contexts: &Contexts,
    origins: &Origins<'_>,
    stats: &mut BTreeMap<String, AnalysisStats>,
) -> Vec<Finding> {
    let names = recorded.names;
    let groups = in_turns(group(claims, names, contexts, origins));
    let threads = ThreadNames::new(names, origins.meta());
    let mut checks = Checks::default();
    let mut findings: Vec<Finding> = Vec::new();
    let mut known = SureFindings::default();
    let mut views: BTreeMap<Kind, usize> = BTreeMap::new();
    for (print, drafts) in groups {
        let drawn = views.entry(drafts[0].claim.kind).or_default();
        let mut doubtful = None;
        let sure = drafts.iter().find_map(|draft| {
            if known.covers(&draft.claim, &mut findings) {
                return None;
            }
            let backed = checks.evidence(&draft.claim, &draft.sides, recorded)?;
            match backed.inexact {
                // Another of the same may rest on nothing inexact.
                Some(event) => {
                    doubtful.get_or_insert((draft, backed, event));
                    None
                }
                None => Some((draft, backed)),
            }
        });
        let (best, Backed { evidence, witness, .. }, why) = match (sure, doubtful) {
            (Some((draft, backed)), _) => (draft, backed, draft.claim.why.clone()),
            (None, Some((draft, backed, event))) => {
                let why = format!("{}; {}", draft.claim.why, inexact_event(event));
                (draft, backed, why)
            }
            (None, None) => continue,
        };
        let mut behind = Vec::new();
        if evidence.status() != Status::Warning {
            known.add(&best.claim, findings.len());
            behind = behind::findings(&print, drafts.iter().map(|draft| &draft.claim), names, contexts, origins);
            known.behind.extend(drafts.iter().flat_map(|draft| behind::variables(&draft.claim)));
        }
        let mut finding = Finding::new(best.claim.kind, best.claim.detector.name(), evidence, print, why);
        finding.objects.clone_from(&best.objects);
        finding.sides.clone_from(&best.sides);
        finding.origins = origins.origins(&best.claim.about.ids(), &best.sides);
        finding.kept_apart = best.claim.apart;
        finding.behind = behind;
        let same = drafts.iter().filter(|draft| draft.claim.detector == best.claim.detector);
        finding.merged = same.map(|draft| draft.claim.more + 1).sum::<u64>() - 1;
        let others = drafts.iter().map(|draft| &draft.claim).filter(|other| is_as_sure(other, &best.claim));
        let mut others: Vec<DetectorId> = others.map(|other| other.detector).collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|&other| other != best.claim.detector);
        others.into_iter().for_each(|other| also(&mut finding, other));
        *drawn += 1;
        if let (Some(witness), true) = (witness, *drawn <= budget::PICTURES) {
            draw(&mut finding, &best.claim, &witness, recorded);
        }
        name_threads(&mut finding, &threads);
        findings.push(finding);
    }
    checks.note(recorded.problems, stats);
    behind::only_news(&mut findings);
    findings
}

/// Says what the program calls the threads that are shown.
pub(crate) fn name_threads(finding: &mut Finding, names: &ThreadNames<'_>) {
    let steps = finding.exhibit.schedules.iter().flat_map(|schedule| &schedule.steps);
    let shown = finding.sides.iter().map(|side| side.thread.as_str()).chain(steps.map(|step| step.thread.as_str()));
    finding.exhibit.threads = names.of(&shown.collect());
}

/// Why what would be observed or predicted is a warning only.
pub(crate) fn inexact_event(event: u64) -> String {
    format!("only a warning, for it rests on event {event}, of whose value or place the recorder was not sure")
}

/// The order in which claims are checked: the most certain first; then kind after kind in turns, the rarest first, so
/// that many of one kind do not take the time of the others.
fn in_turns(mut groups: Vec<(String, Vec<Draft>)>) -> Vec<(String, Vec<Draft>)> {
    let kind = |drafts: &[Draft]| (drafts[0].claim.rank(), drafts[0].claim.kind);
    groups.sort_by_cached_key(|(print, drafts)| (kind(drafts), first(&drafts[0].claim), print.clone()));
    let mut count: HashMap<_, usize> = HashMap::new();
    groups.iter().for_each(|(_, drafts)| *count.entry(kind(drafts)).or_default() += 1);
    let mut turns: HashMap<_, usize> = HashMap::new();
    groups.sort_by_cached_key(|(_, drafts)| {
        let kind = kind(drafts);
        let turn = turns.entry(kind).or_default();
        *turn += 1;
        (kind.0, *turn, count[&kind], kind.1)
    });
    groups
}

/// Whether a claim needs no check once another one was accepted: only what has no order, or speaks of the same events.
fn is_as_sure(other: &Claim, accepted: &Claim) -> bool {
    let events = |claim: &Claim| claim.parts.iter().map(|part| part.event).collect::<BTreeSet<u64>>();
    !matches!(other.basis, Basis::Predicted(..)) || events(other) == events(accepted)
}

fn first(claim: &Claim) -> Option<u64> {
    claim.parts.iter().map(|part| part.event).min()
}

/// Claims with names, those with the same fingerprint together, the surest first.
fn group(claims: Vec<Claim>, names: &Names, contexts: &Contexts, origins: &Origins<'_>) -> Vec<(String, Vec<Draft>)> {
    let mut groups: HashMap<String, Vec<Draft>> = HashMap::new();
    for claim in claims {
        let sides: Vec<Side> = claim.parts.iter().map(|part| side(part, names, contexts)).collect();
        let objects = claim.about.objects(names);
        let print = print(&claim, &sides, origins);
        groups.entry(print).or_default().push(Draft { claim, sides, objects });
    }
    for drafts in groups.values_mut() {
        drafts.sort_by_key(|draft| (draft.claim.rank(), draft.claim.apart, first(&draft.claim), draft.claim.detector));
    }
    groups.into_iter().collect()
}

/// The fingerprint of a claim with these sides.
fn print(claim: &Claim, sides: &[Side], origins: &Origins<'_>) -> String {
    let places: Vec<String> = sides.iter().map(side_identity).collect();
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    let mut identities: Vec<String> = match &claim.about {
        About::Named(name) => vec![object_identity(name)],
        about => about.ids().into_iter().map(|id| origins.identity(id)).collect(),
    };
    // Where a cycle begins does not matter.
    if matches!(claim.about, About::Locks(_)) {
        identities.sort_unstable();
    }
    fingerprint(claim.kind, &places, &identities.join(" "))
}

/// A finding of what the recorded run shows by now, without a witness.
pub(crate) fn observed(claim: &Claim, names: &Names, contexts: &Contexts, origins: &Origins<'_>) -> Finding {
    with_evidence(claim, Evidence::observed(None), names, contexts, origins)
}

/// A finding of a claim that is known in this way.
fn with_evidence(
    claim: &Claim,
    evidence: Evidence,
    names: &Names,
    contexts: &Contexts,
    origins: &Origins<'_>,
) -> Finding {
    let sides: Vec<Side> = claim.parts.iter().map(|part| side(part, names, contexts)).collect();
    let (print, by) = (print(claim, &sides, origins), claim.detector.name());
    let mut finding = Finding::new(claim.kind, by, evidence, print, claim.why.clone());
    finding.objects = claim.about.objects(names);
    finding.origins = origins.origins(&claim.about.ids(), &sides);
    finding.sides = sides;
    finding
}

/// What happened at an event. Without its context: what the detector knows of it.
fn side(part: &Part, names: &Names, contexts: &Contexts) -> Side {
    contexts.get(&part.event).cloned().unwrap_or_else(|| Side {
        event: part.event,
        thread: names.thread(part.thread).to_owned(),
        site: names.site(part.site).to_owned(),
        locks_held: part.locks.iter().map(|&lock| names.lock(lock).to_owned()).collect(),
        ..Side::default()
    })
}

/// Notes that another detector found the same.
fn also(finding: &mut Finding, detector: DetectorId) {
    let by = detector.name();
    match finding.exhibit.entries.iter_mut().find(|(word, _)| word == "also") {
        Some((_, text)) if text.split([' ', ',']).any(|known| known == by) => {}
        Some((_, text)) => *text += &format!(", {by}"),
        None => finding.exhibit.entries.push(("also".to_owned(), format!("found by {by}"))),
    }
}

/// What is known for sure, so that warnings of the same say nothing new.
#[derive(Default)]
struct SureFindings {
    /// Variables with accesses that only a race orders: they are listed there.
    behind: HashSet<VarId>,
    /// Where the finding of a race on it stands.
    races: HashMap<VarId, usize>,
    deadlocks: HashMap<Vec<LockId>, usize>,
}

impl SureFindings {
    /// Takes a claim that is more than a warning.
    fn add(&mut self, claim: &Claim, place: usize) {
        match &claim.about {
            About::Variable(var) if claim.kind == Kind::Race => drop(self.races.entry(*var).or_insert(place)),
            About::Locks(locks) if claim.kind == Kind::Deadlock => {
                self.deadlocks.entry(sorted(locks)).or_insert(place);
            }
            _ => {}
        }
    }

    /// Whether a claim is a warning of something that is known for sure; that is then noted there.
    fn covers(&self, claim: &Claim, findings: &mut [Finding]) -> bool {
        if !claim.is_warning() || claim.kind == Kind::Misuse {
            return false;
        }
        let place = match &claim.about {
            About::Variable(var) if self.behind.contains(var) => return true,
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

/// Draws the recorded order and the witness.
fn draw(finding: &mut Finding, claim: &Claim, witness: &EventOrder, recorded: &Recorded<'_>) {
    let marks: Vec<(u64, &str)> = claim.parts.iter().map(|part| (part.event, part.role)).collect();
    if let Some(trace) = recorded.retained() {
        return draw_from(finding, claim, witness, &marks, (recorded.names, trace, &|event| event as usize));
    }
    let wanted = looked_at(witness, &marks);
    if let Some(stretch) = recorded.again.and_then(|again| again.some(&wanted)) {
        let place = |event| wanted.binary_search(&event).unwrap_or_default();
        draw_from(finding, claim, witness, &marks, (recorded.names, &stretch, &place));
    }
}

/// Draws them from a trace, or from those events of it that are looked at; `place` says where an event stands.
fn draw_from(
    finding: &mut Finding,
    claim: &Claim,
    witness: &EventOrder,
    marks: &[(u64, &str)],
    (names, trace, place): (&Names, &Batch, &dyn Fn(u64) -> usize),
) {
    let event = |index: u64| trace.events[place(index)];
    let is_access = |event: &Event| event.op().space() == Some(Space::Var);
    let variables = claim.parts.iter().map(|part| event(part.event)).filter(is_access);
    let variables: HashSet<u32> = variables.map(Event::object).collect();
    let threads: HashSet<ThreadId> = claim.parts.iter().map(|part| part.thread).collect();
    let concerns = |index: u64| {
        let event = event(index);
        let is_of_thread = threads.contains(&event.thread());
        match claim.about {
            // What its test looks at, and who wakes it.
            About::Condition(cond, _) if is_of_thread => match event.op().space() {
                Some(Space::Cond) => event.object() == cond.0,
                Some(Space::Var) => event.op().writes() && variables.contains(&event.object()),
                _ => false,
            },
            _ => false,
        }
    };
    let view = ScheduleView { names, trace, place, concerns: &concerns, marks };
    let mut orders = view.orders(witness);
    if let (true, Some(order)) = (claim.is_observed(), orders.last_mut()) {
        order.title = "reordered".to_owned();
    }
    finding.exhibit.schedules = orders;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Witness;
    use event::SiteId;

    fn draft(kind: Kind, basis: Basis, events: &[u64]) -> Draft {
        let part = |&event| Part::at((event, ThreadId(0), SiteId(0)), "");
        let parts = events.iter().map(part).collect();
        let about = About::Variable(VarId(0));
        let detector = DetectorId::named("hb").unwrap();
        let claim = Claim {
            kind,
            detector,
            basis,
            about,
            parts,
            why: String::new(),
            more: 0,
            apart: false,
            behind: Vec::new(),
        };
        Draft { claim, sides: Vec::new(), objects: Vec::new() }
    }

    fn predicted() -> Basis {
        Basis::Predicted(Witness::SyncPreserving, |_, _, _| Ok(()))
    }

    #[test]
    fn many_of_a_kind_leave_the_others_their_turn() {
        let one = |kind, basis, event| (format!("{event}"), vec![draft(kind, basis, &[event])]);
        let mut groups: Vec<_> = (0..3000).map(|event| one(Kind::Race, predicted(), event)).collect();
        groups.extend((4000..4002).map(|event| one(Kind::Atomicity, predicted(), event)));
        groups.push(one(Kind::Deadlock, predicted(), 5000));
        groups.push(one(Kind::LockOrder, Basis::Warning, 1));
        groups.push(one(Kind::Race, Basis::Observed, 6000));
        let order: Vec<u64> = in_turns(groups).iter().filter_map(|(_, drafts)| first(&drafts[0].claim)).collect();
        assert_eq!(order[..8], [6000, 5000, 4000, 0, 4001, 1, 2, 3]);
        assert_eq!((order.len(), order.last()), (3005, Some(&1)), "warnings come last");
    }

    #[test]
    fn only_what_was_accepted_is_also_found() {
        let race = |basis, events: &[u64]| draft(Kind::Race, basis, events).claim;
        let accepted = race(predicted(), &[1, 2]);
        assert!(is_as_sure(&race(predicted(), &[2, 1]), &accepted), "the same events");
        assert!(is_as_sure(&race(Basis::Warning, &[3, 4]), &accepted), "a pattern is what it is");
        assert!(!is_as_sure(&race(predicted(), &[1, 3]), &accepted), "another pair, which was not checked");
    }
}
