//! What the detectors of races have in common.

use super::{Found, TraceEnd};
use crate::claim::{About, Basis, Claim, Part};
use crate::detectors::DetectorId;
use detect::{Access, Race, Races};
use event::{LockId, Names};
use report::{AnalysisStats, Kind};

/// Claims and figures of what a detector of races found; `explain` says how a race is known, and why it is one.
pub(super) fn found(races: Races, end: &TraceEnd<'_>, explain: impl Fn(&Race) -> (Basis, String)) -> Found {
    let stats = stats(&races);
    let wanted = races.races.iter().filter(|race| end.restriction.admits_variable(race.variable));
    let claims = wanted.map(|race| {
        let (basis, why) = explain(race);
        claim(end.detector, race, basis, why)
    });
    Found { claims: claims.collect(), stats, ..Found::default() }
}

/// The claim of a race.
pub(super) fn claim(detector: DetectorId, race: &Race, basis: Basis, why: String) -> Claim {
    Claim {
        kind: Kind::Race,
        detector,
        basis,
        about: About::Variable(race.variable),
        parts: vec![part(&race.earlier), part(&race.later)],
        why,
        more: race.events - 1 + race.others,
        apart: false,
        behind: Vec::new(),
    }
}

fn stats(races: &Races) -> AnalysisStats {
    let mut left = Vec::new();
    if let Some(event) = races.forgot_before {
        left.push(format!(
            "pairs with one event before event {event} and one from there on were not looked at: the trace is too long"
        ));
    }
    if races.taken_for_one > 0 {
        let taken = races.taken_for_one;
        left.push(format!(
            "{taken} threads, releases or sets of locks were not told apart from others, for lack of room"
        ));
    }
    if races.behind_left_out > 0 {
        left.push(format!("{} more events that only races order are not listed", races.behind_left_out));
    }
    AnalysisStats {
        racy_events: Some(races.racy_events),
        racy_sites: Some(races.racy_sites),
        left_out: Some(races.left_out).filter(|&events| events > 0),
        truncated: (!left.is_empty()).then(|| left.join("; ")),
        ..AnalysisStats::default()
    }
}

pub(super) fn part(access: &Access) -> Part {
    Part { event: access.event, thread: access.thread, site: access.site, locks: access.locks.clone(), role: "race" }
}

/// The locks that both threads of a race hold.
fn common(race: &Race) -> Vec<LockId> {
    let mut later = race.later.locks.clone();
    later.sort_unstable();
    race.earlier.locks.iter().copied().filter(|lock| later.binary_search(lock).is_ok()).collect()
}

/// What the locks that both threads of a race hold have to say of it.
pub(super) fn held_by_both(race: &Race, names: &Names, problems: u64) -> String {
    let locks = common(race);
    let list = list(names, &locks);
    match problems {
        _ if locks.is_empty() => "no lock is held by both".to_owned(),
        // Nothing but two readers can hold a lock at once, in a run that can have been.
        0 => format!("both hold {list} only as readers"),
        _ => format!("both hold {list} as recorded, maybe not only as readers: the trace has problems"),
    }
}

/// Names of locks, as a list in a sentence.
pub(super) fn list(names: &Names, locks: &[LockId]) -> String {
    let texts: Vec<&str> = locks.iter().map(|&lock| names.lock(lock)).collect();
    match texts.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => texts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_of_what_is_missing_reaches_the_figures() {
        let none = stats(&Races::default());
        assert_eq!((none.left_out, none.truncated), (None, None));
        let some = Races { left_out: 3, forgot_before: Some(41), taken_for_one: 5, ..Races::default() };
        let some = stats(&some);
        let text = some.truncated.unwrap();
        assert_eq!(some.left_out, Some(3));
        assert!(text.contains("before event 41") && text.contains("5 threads, releases or sets of locks"), "{text}");
    }
}
