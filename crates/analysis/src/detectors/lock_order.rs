//! `lock-order`: warnings of cycles of the lock graph.

use super::whole::Whole;
use super::{Entry, Found, Pass, TraceEnd, races};
use crate::claim::{About, Basis, Claim, Part};
use detect::lock_order::{LockCycle, LockOrder, LockOrderOptions, LockOrderReport, LockRequest};
use detect::prefilter::Filtered;
use event::{Batch, Names};
use report::{AnalysisStats, Kind};

pub(super) const ENTRY: Entry = Entry {
    name: "lock-order",
    help: "locks taken in contradicting orders. Warnings: something may keep the threads apart",
    needs_trace: false,
    live: false,
    start: |options| {
        let options = LockOrderOptions { upto: options.most_threads, ..LockOrderOptions::default() };
        Box::new(LockOrder::new(options))
    },
    yields: None,
};

impl Pass for LockOrder {
    fn feed(&mut self, names: &Names, batch: &Batch) {
        self.batch(names, batch);
    }

    fn feed_whole(&mut self, names: &Names, whole: &Whole<'_>, filtered: &Filtered) {
        if filtered.nested {
            whole.each(|part| self.batch(names, part));
        }
    }

    fn finish(mut self: Box<Self>, end: &TraceEnd<'_>) -> Found {
        let report = LockOrder::finish(&mut self);
        let left_out = Some(report.left_out).filter(|&cycles| cycles > 0);
        let stats = AnalysisStats { truncated: unsearched(&report), left_out, ..AnalysisStats::default() };
        let wanted = |cycle: &&LockCycle| end.restriction.admits_threads(cycle.requests.len());
        Found {
            claims: report.cycles.iter().filter(wanted).map(|cycle| claim(cycle, end)).collect(),
            stats,
            ..Found::default()
        }
    }
}

/// What a search of the lock graph did not look at, in words.
pub fn unsearched(report: &LockOrderReport) -> Option<String> {
    let mut left = Vec::new();
    if !report.complete {
        left.push(format!("only cycles of up to {} threads were all looked at", report.searched));
    }
    if report.unrecorded > 0 {
        left.push(format!("{} acquisitions found no room", report.unrecorded));
    }
    (!left.is_empty()).then(|| left.join("; "))
}

fn claim(cycle: &LockCycle, end: &TraceEnd<'_>) -> Claim {
    let locks = cycle.locks();
    let part = |request: &LockRequest| Part {
        event: request.event,
        thread: request.thread,
        site: request.site,
        locks: request.held.iter().map(|held| held.lock).collect(),
        role: "waits for ever",
    };
    // A cycle at the end of the recorded run is no pattern, but what happened; if that is the end.
    let happened = cycle.happened() && end.complete;
    let (kind, basis) = if happened { (Kind::Deadlock, Basis::Observed) } else { (Kind::LockOrder, Basis::Warning) };
    let parts = cycle.requests.iter().map(part).collect();
    end.claim(kind, basis, About::Locks(locks), parts, why(cycle, end))
}

/// Says which lock each thread holds, and which it asks for.
fn why(cycle: &LockCycle, end: &TraceEnd<'_>) -> String {
    let names = end.names;
    if cycle.happened() && end.complete {
        return format!(
            "each waits for a lock that the next one holds ({}), and the run ended so",
            races::list(names, &cycle.locks())
        );
    }
    let each = cycle.requests.iter().map(|request| {
        let (holds, asks) = (names.lock(request.holder().lock), names.lock(request.lock));
        format!("{} holds {holds} and asks for {asks}", names.thread(request.thread))
    });
    let together = "no lock that two of them hold and no fork or join keeps them from waiting for each other; values \
                    or other synchronisation may";
    format!("{}: {together}", each.collect::<Vec<_>>().join(", "))
}
