//! What specifications say of the findings of detectors: which are not to be reported, and what to do about the others.

use super::{Judged, Properties};
use property::check::Spec;
use property::syntax::ast::Outcome;
use report::{AnalysisStats, Finding, Kind, Status, split_site};
use std::collections::BTreeMap;

/// The `check` that looks for findings of a kind.
fn check(kind: Kind) -> &'static str {
    match kind {
        Kind::Race => "races",
        Kind::Deadlock | Kind::LockOrder => "deadlocks",
        Kind::Atomicity => "atomicity",
        Kind::LostWakeup => "lost_wakeup",
        Kind::Misuse => "misuse",
        Kind::WaitWithoutLoop => "wait_without_loop",
        Kind::Hang => "hang",
        Kind::Property => "",
    }
}

impl Properties {
    /// Marks the findings that a specification does not want to hear of.
    pub(crate) fn suppress(&self, findings: &mut [Finding]) {
        let silenced = |spec: &Spec, finding: &Finding| {
            let here = |file: &str, line: u32| {
                let wanted = format!("{file}:{line}");
                // A file in any folder.
                let is_there = |place: &str| {
                    place.strip_suffix(wanted.as_str()).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
                };
                finding.sides.iter().any(|side| is_there(split_site(&side.site).1))
            };
            spec.suppressions.iter().any(|s| s.name == check(finding.kind) && here(&s.file, s.line))
        };
        for finding in findings {
            finding.suppressed |= self.runs().any(|run| silenced(run.spec(), finding));
        }
    }

    /// Does what the handlers of specifications with `check` lines ask for.
    pub(crate) fn handle(&self, findings: &[Finding], stats: &BTreeMap<String, AnalysisStats>, judged: &mut Judged) {
        let found = |status| findings.iter().any(|finding| !finding.suppressed && finding.status() == status);
        let outcomes = [
            (found(Status::Observed), Outcome::Violation),
            (found(Status::Predicted), Outcome::Predicted),
            (stats.values().any(|stats| stats.truncated.is_some()), Outcome::Truncated),
        ];
        for run in self.runs().filter(|run| !run.spec().checks.is_empty()) {
            for (_, outcome) in outcomes.iter().filter(|(happened, _)| *happened) {
                judged.carry_out_checks(run.spec(), *outcome);
            }
        }
    }
}
