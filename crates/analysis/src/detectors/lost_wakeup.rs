//! `lost-wakeup`: claims of notifies that come after the test and before the wait.

use super::whole::Whole;
use super::{Entry, Found, Pass, TraceEnd, verify};
use crate::claim::{About, Basis, Claim, Part, Witness};
use detect::lost_wakeup::{LostWakeups, Place, Predicted, Waits, Wakeup, predict};
use detect::prefilter::Filtered;
use event::{Batch, Names};
use report::{AnalysisStats, Kind};
use std::time::Instant;

pub(super) const ENTRY: Entry = Entry {
    name: "lost-wakeup",
    help: "a notify between the test of a thread and its wait. Predicted and observed",
    needs_trace: true,
    live: false,
    start: |_| Box::new(LostWakeups::new()),
    yields: None,
};

impl Pass for LostWakeups {
    fn feed(&mut self, names: &Names, batch: &Batch) {
        self.batch(names, batch);
    }

    fn feed_whole(&mut self, names: &Names, whole: &Whole<'_>, filtered: &Filtered) {
        if filtered.waits {
            whole.each(|part| self.batch(names, part));
        }
    }

    fn finish(self: Box<Self>, end: &TraceEnd<'_>) -> Found {
        let waits = LostWakeups::finish(*self);
        let mut claims = Vec::new();
        // In a trace with something missing, the thread may have gone on.
        if end.complete {
            claims.extend(waits.observed.iter().map(|wakeup| claim(wakeup, Basis::Observed, end)));
        }
        let mut stats = stats(&waits);
        match end.trace {
            Some(trace) => {
                let began = Instant::now();
                let found = predict(end.names, trace, end.initial, &waits, &end.search());
                stats.truncated = unsearched(&found, &waits, &end.spent(began));
                for lost in &found.lost {
                    let basis = Basis::Predicted(Witness::Window(lost.schedule.clone()), verify::lost_wakeup);
                    claims.push(claim(&lost.wakeup, basis, end));
                }
            }
            None if waits.candidates.is_empty() => {}
            None => stats.truncated = Some(end.missing.to_owned()),
        }
        let wanted = |claim: &Claim| match claim.about {
            About::Condition(cond, lock) => end.restriction.admits_condition(cond, lock),
            _ => true,
        };
        claims.retain(wanted);
        Found { claims, stats, ..Found::default() }
    }
}

fn stats(waits: &Waits) -> AnalysisStats {
    let untested = match waits.untested {
        0 => None,
        1 => Some("a wait has no read before it that is its test: nothing is claimed of it".to_owned()),
        some => Some(format!("{some} waits have no read before them that is their test: nothing is claimed of these")),
    };
    AnalysisStats { note: untested, ..AnalysisStats::default() }
}

fn unsearched(found: &Predicted, waits: &Waits, spent: &str) -> Option<String> {
    let mut left = Vec::new();
    let candidates = waits.candidates.len();
    if found.undecided > 0 {
        left.push(format!("{} of {candidates} waits were not decided", found.undecided));
    }
    if found.unasked > 0 {
        left.push(format!("{} of {candidates} waits were not looked at {spent}", found.unasked));
    }
    if waits.left_out > 0 {
        left.push(format!("{} more waits, most at the same places as others, were not looked at", waits.left_out));
    }
    if found.apart > 0 {
        left.push(format!("{} waits are further from their notify than a window", found.apart));
    }
    (!left.is_empty()).then(|| left.join("; "))
}

fn claim(wakeup: &Wakeup, basis: Basis, end: &TraceEnd<'_>) -> Claim {
    let names = end.names;
    let part = |place: &Place, role| Part::at((place.event, place.thread, place.site), role);
    let (waiter, notifier) = (names.thread(wakeup.wait.thread), names.thread(wakeup.notify.thread));
    let when = if matches!(basis, Basis::Observed) { "" } else { " can come" };
    let comes = if when.is_empty() { " came" } else { when };
    let later = match (wakeup.later, &basis) {
        (Some(event), _) => format!("; a later notify (event {event}) may still wake it"),
        (None, Basis::Observed) => "; nobody notifies after that, and it never goes on".to_owned(),
        (None, _) => "; no other notify is recorded that would wake it".to_owned(),
    };
    let about = About::Condition(wakeup.cond, Some(wakeup.lock));
    let parts = vec![part(&wakeup.test, "test"), part(&wakeup.notify, "nobody waits yet"), part(&wakeup.wait, "waits")];
    let why = format!(
        "the notify of {notifier}{comes} after {waiter} has tested whether to wait, and before it waits{later}"
    );
    end.claim(Kind::LostWakeup, basis, about, parts, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_of_what_is_missing_reaches_the_figures() {
        assert_eq!(
            (stats(&Waits::default()).note, unsearched(&Predicted::default(), &Waits::default(), "")),
            (None, None)
        );
        let waits = Waits { left_out: 3, untested: 5, ..Waits::default() };
        assert!(stats(&waits).note.unwrap().starts_with("5 waits have no read before them"));
        let text = unsearched(&Predicted { undecided: 7, unasked: 11, apart: 13, ..Predicted::default() }, &waits, "")
            .unwrap();
        for part in ["3 more waits", "7 of 0 waits were not decided", "11 of 0 waits", "13 waits are further"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
