//! `atomicity`: claims of blocks that are not serialisable.

use super::whole::Whole;
use super::{Entry, Found, Pass, TraceEnd, verify};
use crate::budget;
use crate::claim::{About, Basis, Claim, Part, Witness};
use crate::tasks::StartOptions;
use detect::Place;
use detect::atomicity::{Atomicity, Predicted, Predictions, Violation, predict};
use detect::prefilter::Filtered;
use event::{Batch, Names};
use report::{AnalysisStats, Kind};
use rustc_hash::FxHashSet;
use std::time::Instant;

/// Violations that are kept.
const MOST: usize = 10_000;

/// Events of a cycle that are listed one by one.
const LISTED: usize = 12;

pub(super) const ENTRY: Entry = Entry {
    name: "atomicity",
    help: "marked blocks that no serial order explains. Observed and predicted",
    needs_trace: true,
    live: false,
    start: |options| Box::new(Finder::new(options)),
    yields: None,
};

/// Checks the recorded run as it comes; then the others.
struct Finder {
    recorded: Atomicity,
    /// The names of the blocks that count, if not all do.
    of: Option<FxHashSet<String>>,
}

impl Finder {
    fn new(options: &StartOptions) -> Finder {
        let of: Option<FxHashSet<String>> = options.regions.clone().map(|names| names.into_iter().collect());
        Finder { recorded: Atomicity::keeping(MOST, of.clone()), of }
    }
}

impl Pass for Finder {
    fn feed(&mut self, names: &Names, batch: &Batch) {
        self.recorded.batch(names, batch);
    }

    fn feed_whole(&mut self, names: &Names, whole: &Whole<'_>, filtered: &Filtered) {
        if filtered.blocks {
            whole.each(|part| self.feed(names, part));
        }
    }

    fn finish(self: Box<Self>, end: &TraceEnd<'_>) -> Found {
        let recorded = self.recorded.finish();
        let left_out = Some(recorded.left_out).filter(|&blocks| blocks > 0);
        let mut stats = AnalysisStats { left_out, ..AnalysisStats::default() };
        let mut claims: Vec<Claim> = recorded.found.iter().map(|violation| observed(violation, end)).collect();
        let mut left: Vec<String> = unfollowed(recorded.unfollowed).into_iter().collect();
        if recorded.blocks == 0 {
            return Found { claims, stats, ..Found::default() };
        }
        let began = Instant::now();
        match end.retained_or_read() {
            Some(trace) => {
                let found = predict(end.names, trace, end.initial, self.of.as_ref(), &recorded, &end.search());
                let windows = budget::windows(trace.events.len(), end.window);
                stats.windows = Some(windows);
                stats.undecided = Some(found.unasked);
                left.extend(unsearched(&found, windows, &end.spent(began)));
                claims.extend(found.found.iter().map(|violation| predicted(violation, end)));
            }
            None if end.is_cancelled() => left.push("interrupted before other runs were searched".to_owned()),
            None if end.again.is_some() => left.push("the trace is too long to search other runs".to_owned()),
            None => left.push(end.missing.to_owned()),
        }
        stats.truncated = (!left.is_empty()).then(|| left.join("; "));
        Found { claims, stats, ..Found::default() }
    }
}

/// Blocks of the recorded run that were not looked at.
fn unfollowed(blocks: u64) -> Option<String> {
    match blocks {
        0 => None,
        1 => Some("a block was not followed: too many ran at a time".to_owned()),
        some => Some(format!("{some} blocks were not followed: too many ran at a time")),
    }
}

fn unsearched(found: &Predictions, windows: u64, spent: &str) -> Option<String> {
    let mut left = Vec::new();
    if found.undecided > 0 {
        left.push(format!("{} possible violations were not decided", found.undecided));
    }
    if found.unasked > 0 {
        left.push(format!("{} of {windows} windows were not looked at {spent}", found.unasked));
    }
    (!left.is_empty()).then(|| left.join("; "))
}

fn part(place: &Place, role: &'static str) -> Part {
    Part::at((place.event, place.thread, place.site), role)
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

fn observed(violation: &Violation, end: &TraceEnd<'_>) -> Claim {
    let names = end.names;
    let own = violation.begin.thread;
    let events = violation.cycle.len() * 2;
    let parts = parts(&violation.begin, violation.cycle.iter().flatten().take(LISTED));
    let missing = match (violation.complete, events > LISTED) {
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
        "the block of {} cannot be put before or after what {} does meanwhile: each of the conflicts leads on to the \
         next, and the last one back into the block{missing}",
        names.thread(own),
        others.join(", ")
    );
    let about = About::Block(violation.block);
    Claim { more: violation.times - 1, ..end.claim(Kind::Atomicity, Basis::Observed, about, parts, why) }
}

fn predicted(violation: &Predicted, end: &TraceEnd<'_>) -> Claim {
    let names = end.names;
    let [leaves, enters] = [violation.leaves, violation.enters];
    let (own, other) = (names.thread(violation.begin.thread), names.thread(leaves[1].thread));
    let [first, second] = violation.variables.map(|var| names.var(var));
    let why = format!(
        "{other} can come in between: after the access of {first} in the block of {own}, and before that of {second}; \
         no order of the block and of what {other} does, one after the other, gives that"
    );
    let basis = Basis::Predicted(Witness::Window(violation.schedule.clone()), verify::atomicity);
    let parts = parts(&violation.begin, leaves.iter().chain(&enters));
    end.claim(Kind::Atomicity, basis, About::Block(violation.block), parts, why)
}
