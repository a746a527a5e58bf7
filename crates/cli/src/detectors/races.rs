//! What the detectors of races have in common.

use super::claim::{About, Claim, Part, Shown};
use super::{Found, Whole};
use crate::args::Detector;
use detect::{Access, Race, Races};
use event::{LockId, Names};
use report::{AnalysisStats, Kind};

/// Claims and figures of what a detector of races found; `say` tells how a race is known, and why it is one.
pub(super) fn found(
    detector: Detector,
    races: Races,
    whole: &Whole<'_>,
    say: impl Fn(&Race) -> (Shown, String),
) -> Found {
    let claim = |race: &Race| {
        let (shown, why) = say(race);
        Claim {
            kind: Kind::Race,
            detector,
            shown,
            about: About::Variable(race.variable),
            parts: vec![part(&race.earlier), part(&race.later)],
            why,
            more: race.events - 1,
        }
    };
    let mut stats = AnalysisStats {
        racy_events: Some(races.racy_events),
        racy_sites: Some(races.racy_sites),
        left_out: Some(races.left_out).filter(|&events| events > 0),
        ..AnalysisStats::default()
    };
    if let Some(event) = races.forgot_before {
        stats.truncated = Some(format!(
            "pairs with one event before event {event} and one from there on were not looked at: the trace is too long"
        ));
    }
    let wanted = |race: &&Race| whole.wanted.variable(detector, race.variable);
    Found { claims: races.races.iter().filter(wanted).map(claim).collect(), stats }
}

pub(super) fn part(access: &Access) -> Part {
    Part { event: access.event, thread: access.thread, site: access.site, locks: access.locks.clone(), role: "race" }
}

/// The locks that both threads of a race hold.
pub(super) fn common(race: &Race) -> Vec<LockId> {
    race.earlier.locks.iter().copied().filter(|lock| race.later.locks.contains(lock)).collect()
}

/// Names of locks, as a list in a sentence.
pub(super) fn list(names: &Names, locks: &[LockId]) -> String {
    let texts: Vec<&str> = locks.iter().map(|&lock| names.lock(lock)).collect();
    match texts.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => texts.concat(),
    }
}
