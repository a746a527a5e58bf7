//! `atomicity` on the command line: blocks that are not serialisable.

use super::claim::{About, Claim, Part, Shown};
use super::{Analysis, Found, Plan, Whole};
use crate::args::Detector;
use detect::atomicity::{Atomicity, Place, Violation};
use event::{Batch, Names};
use report::{AnalysisStats, Kind};

/// Violations that are kept.
const MOST: usize = 10_000;

/// Events of a cycle that are told one by one.
const TOLD: usize = 12;

/// The recorded run, streaming.
pub(super) struct Observed {
    recorded: Atomicity,
}

impl Observed {
    pub(super) fn new(plan: &Plan) -> Observed {
        let of = plan.regions().map(|names| names.into_iter().collect());
        Observed { recorded: Atomicity::keeping(MOST, of) }
    }
}

impl Analysis for Observed {
    fn batch(&mut self, names: &Names, batch: &Batch) {
        self.recorded.batch(names, batch);
    }

    fn finish(self: Box<Self>, whole: &Whole<'_>) -> Found {
        let found = self.recorded.finish();
        let left_out = Some(found.left_out).filter(|&blocks| blocks > 0);
        let stats = AnalysisStats { left_out, ..AnalysisStats::default() };
        Found { claims: found.found.iter().map(|violation| observed(violation, whole.names)).collect(), stats }
    }
}

fn observed(violation: &Violation, names: &Names) -> Claim {
    let mut events: Vec<Place> = Vec::new();
    for &place in violation.cycle.iter().flatten().take(TOLD) {
        if place.event != violation.begin.event && !events.iter().any(|known| known.event == place.event) {
            events.push(place);
        }
    }
    let part = |place: &Place, role| Part {
        event: place.event,
        thread: place.thread,
        site: place.site,
        locks: Vec::new(),
        role,
    };
    let own = violation.begin.thread;
    let mut others: Vec<&str> =
        events.iter().filter(|place| place.thread != own).map(|place| names.thread(place.thread)).collect();
    others.sort_unstable();
    others.dedup();
    let begin = part(&violation.begin, "the block begins");
    let why = format!(
        "the block of {} cannot be put before or after what {} does meanwhile: each of the conflicts leads on to the next, and the \
         last one back into the block",
        names.thread(own),
        others.join(", ")
    );
    Claim {
        kind: Kind::Atomicity,
        detector: Detector::Atomicity,
        shown: Shown::Observed,
        about: About::Block(violation.block),
        parts: std::iter::once(begin).chain(events.iter().map(|place| part(place, "conflict"))).collect(),
        why,
        more: violation.times - 1,
    }
}
