//! `atomicity` on the command line: blocks that are not serialisable.

use super::budget::{self, Budget};
use super::claim::{About, Claim, Part, Shown, Witness};
use super::{Analysis, Found, Plan, Whole};
use crate::args::Detector;
use detect::Place;
use detect::atomicity::{Atomicity, Predicted, Predictions, Violation, predict};
use detect::suspects::Suspicions;
use event::{Batch, Names};
use report::{AnalysisStats, Kind};
use rustc_hash::FxHashSet;

/// Violations that are kept.
const MOST: usize = 10_000;

/// Events of a cycle that are told one by one.
const TOLD: usize = 12;

/// The recorded run, streaming; then the others.
pub(super) struct Finder {
    recorded: Atomicity,
    /// The names of the blocks that count, if not all do.
    of: Option<FxHashSet<String>>,
}

impl Finder {
    pub(super) fn new(plan: &Plan) -> Finder {
        let of: Option<FxHashSet<String>> = plan.regions().map(|names| names.into_iter().collect());
        Finder { recorded: Atomicity::keeping(MOST, of.clone()), of }
    }
}

impl Analysis for Finder {
    fn batch(&mut self, names: &Names, batch: &Batch) {
        self.recorded.batch(names, batch);
    }

    fn whole(&mut self, names: &Names, trace: &Batch, suspicions: &Suspicions) {
        if suspicions.blocks {
            self.batch(names, trace);
        }
    }

    fn finish(self: Box<Self>, whole: &Whole<'_>) -> Found {
        let recorded = self.recorded.finish();
        let left_out = Some(recorded.left_out).filter(|&blocks| blocks > 0);
        let mut stats = AnalysisStats { left_out, ..AnalysisStats::default() };
        let mut claims: Vec<Claim> = recorded.found.iter().map(|violation| observed(violation, whole.names)).collect();
        if recorded.blocks == 0 {
            return Found { claims, stats, ..Found::default() };
        }
        match whole.trace {
            Some(trace) => {
                let found = predict(whole.names, trace, whole.initial, self.of.as_ref(), &recorded, &whole.search());
                let windows = budget::windows(trace.events.len(), whole.window);
                stats.windows = Some(windows);
                stats.undecided = Some(found.unasked);
                stats.truncated = unsearched(&found, windows, whole.budget);
                claims.extend(found.found.iter().map(|violation| predicted(violation, whole.names)));
            }
            None => stats.truncated = Some(whole.missing.to_owned()),
        }
        Found { claims, stats, ..Found::default() }
    }
}

fn unsearched(found: &Predictions, windows: u64, budget: Budget) -> Option<String> {
    let mut left = Vec::new();
    if found.undecided > 0 {
        left.push(format!("{} possible violations were not decided", found.undecided));
    }
    if found.unasked > 0 {
        left.push(format!("{} of {windows} windows were not looked at in {}", found.unasked, budget));
    }
    (!left.is_empty()).then(|| left.join("; "))
}

fn part(place: &Place, role: &'static str) -> Part {
    Part { event: place.event, thread: place.thread, site: place.site, locks: Vec::new(), role }
}

/// The beginning of the block, then the events of the conflicts, each once.
fn parts<'a>(begin: &Place, conflicts: impl Iterator<Item = &'a Place>) -> Vec<Part> {
    let mut parts = vec![part(begin, "the block begins")];
    for place in conflicts {
        if !parts.iter().any(|known| known.event == place.event) {
            parts.push(part(place, "conflict"));
        }
    }
    parts
}

fn observed(violation: &Violation, names: &Names) -> Claim {
    let own = violation.begin.thread;
    let events = violation.cycle.len() * 2;
    let parts = parts(&violation.begin, violation.cycle.iter().flatten().take(TOLD));
    let missing = match (violation.complete, events > TOLD) {
        (true, false) => "",
        (true, true) => "; only the first conflicts of the cycle are listed",
        (false, false) => "; the first conflicts of the cycle are not known any more",
        (false, true) => {
            "; the first conflicts of the cycle are not known any more, and of the others only the first are listed"
        }
    };
    let mut others: Vec<&str> =
        parts.iter().filter(|part| part.thread != own).map(|part| names.thread(part.thread)).collect();
    others.sort_unstable();
    others.dedup();
    let why = format!(
        "the block of {} cannot be put before or after what {} does meanwhile: each of the conflicts leads on to the next, and the \
         last one back into the block{missing}",
        names.thread(own),
        others.join(", ")
    );
    Claim {
        kind: Kind::Atomicity,
        detector: Detector::Atomicity,
        shown: Shown::Observed,
        about: About::Block(violation.block),
        parts,
        why,
        more: violation.times - 1,
    }
}

fn predicted(violation: &Predicted, names: &Names) -> Claim {
    let [leaves, enters] = [violation.leaves, violation.enters];
    let (own, other) = (names.thread(violation.begin.thread), names.thread(leaves[1].thread));
    let [first, second] = violation.variables.map(|var| names.var(var));
    let why = format!(
        "{other} can come in between: after the access of {first} in the block of {own}, and before that of {second}; no order of \
         the block and of what {other} does, one after the other, gives that"
    );
    Claim {
        kind: Kind::Atomicity,
        detector: Detector::Atomicity,
        shown: Shown::Predicted(Witness::Window(violation.schedule.clone())),
        about: About::Block(violation.block),
        parts: parts(&violation.begin, leaves.iter().chain(&enters)),
        why,
        more: 0,
    }
}
