//! `lock-order` on the command line: cycles of the lock graph, as warnings.

use super::claim::{About, Claim, Part, Shown};
use super::{Analysis, Found, Whole, races};
use crate::args::Detector;
use detect::lock_order::{LockCycle, LockOrder, LockOrderReport};
use detect::suspects::Suspicions;
use event::{Batch, Names};
use report::{AnalysisStats, Kind};

impl Analysis for LockOrder {
    fn batch(&mut self, names: &Names, batch: &Batch) {
        LockOrder::batch(self, names, batch);
    }

    fn whole(&mut self, names: &Names, trace: &Batch, suspicions: &Suspicions) {
        if suspicions.nested {
            self.batch(names, trace);
        }
    }

    fn finish(mut self: Box<Self>, whole: &Whole<'_>) -> Found {
        let report = LockOrder::finish(&mut self);
        let left_out = Some(report.left_out).filter(|&cycles| cycles > 0);
        let stats = AnalysisStats { truncated: unsearched(&report), left_out, ..AnalysisStats::default() };
        let wanted = |cycle: &&LockCycle| whole.wanted.threads(Detector::LockOrder, cycle.requests.len());
        Found {
            claims: report.cycles.iter().filter(wanted).map(|cycle| claim(cycle, whole)).collect(),
            stats,
            ..Found::default()
        }
    }
}

/// What was not looked at, in words.
pub(crate) fn unsearched(report: &LockOrderReport) -> Option<String> {
    let mut left = Vec::new();
    if !report.complete {
        left.push(format!("only cycles of up to {} threads were all looked at", report.searched));
    }
    if report.unrecorded > 0 {
        left.push(format!("{} acquisitions found no room", report.unrecorded));
    }
    (!left.is_empty()).then(|| left.join("; "))
}

fn claim(cycle: &LockCycle, whole: &Whole<'_>) -> Claim {
    let locks = cycle.locks();
    let part = |request: &detect::lock_order::LockRequest| Part {
        event: request.event,
        thread: request.thread,
        site: request.site,
        locks: request.held.iter().map(|held| held.lock).collect(),
        role: "waits for ever",
    };
    // A cycle at the end of the recorded run is no pattern, but what happened; if that is the end.
    let happened = cycle.happened() && whole.complete;
    let (kind, shown) = if happened { (Kind::Deadlock, Shown::Observed) } else { (Kind::LockOrder, Shown::Warning) };
    Claim {
        kind,
        detector: Detector::LockOrder,
        shown,
        parts: cycle.requests.iter().map(part).collect(),
        why: why(cycle, whole),
        about: About::Locks(locks),
        more: 0,
    }
}

/// Who holds what, and asks for what.
fn why(cycle: &LockCycle, whole: &Whole<'_>) -> String {
    let names = whole.names;
    if cycle.happened() && whole.complete {
        return format!(
            "each waits for a lock that the next one holds ({}), and the run ended so",
            races::list(names, &cycle.locks())
        );
    }
    let each = cycle.requests.iter().map(|request| {
        let (holds, asks) = (names.lock(request.holder().lock), names.lock(request.lock));
        format!("{} holds {holds} and asks for {asks}", names.thread(request.thread))
    });
    let together = "no lock that two of them hold and no fork or join keeps them from waiting for each other; values or other \
                    synchronisation may";
    format!("{}: {together}", each.collect::<Vec<_>>().join(", "))
}
