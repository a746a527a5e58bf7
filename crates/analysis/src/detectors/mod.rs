//! The registry of detectors, and what each of them is: a pass along the trace that makes claims.
//!
//! A detector is a file here with an `Entry`, and a line in `DETECTORS`: flags, help, documentation tests and plans
//! derive from that table. Its algorithm is in `crates/detect`; the file here turns what that found into claims. No
//! prediction becomes a finding that its own check (see `verify.rs`) did not accept.

mod atomicity;
mod deadlock;
mod hang;
mod hb;
pub(crate) mod lock_order;
mod lockset;
mod lost_wakeup;
mod maximal;
mod misuse;
mod races;
mod sync_preserving;
mod verify;
mod wait_without_loop;
pub(crate) mod whole;
mod wide_deadlock;

use crate::claim::{About, Basis, Claim, Part};
use crate::recorded::Recorded;
use crate::retained::Wanted;
use crate::tasks::{Restriction, StartOptions};
use detect::prefilter::Filtered;
use event::{Batch, Names};
use report::{AnalysisStats, Kind};
use std::ops::{Deref, Range};
use whole::Whole;

/// Every detector there is. The order is that of reports: of two that find one thing, the earlier reports it.
const DETECTORS: &[Entry] = &[
    hb::ENTRY,
    sync_preserving::ENTRY,
    maximal::ENTRY,
    lockset::ENTRY,
    deadlock::ENTRY,
    lock_order::ENTRY,
    atomicity::ENTRY,
    lost_wakeup::ENTRY,
    wait_without_loop::ENTRY,
    misuse::ENTRY,
    hang::ENTRY,
];

/// What the registry knows of a detector.
pub(crate) struct Entry {
    /// Its name on the command line and in the JSON.
    name: &'static str,
    /// What it claims, and how sure that is, on one line.
    help: &'static str,
    /// Whether it, or the witnesses of what it finds, need the whole trace. A live detector needs it for these only.
    needs_trace: bool,
    /// Whether it needs only one pass and reports while the program runs.
    live: bool,
    start: fn(&StartOptions) -> Box<dyn Pass>,
    /// Removes its claims that those of other detectors make needless.
    yields: Option<fn(&mut Vec<Claim>)>,
}

/// A detector of the registry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DetectorId(u8);

impl DetectorId {
    fn entry(self) -> &'static Entry {
        &DETECTORS[usize::from(self.0)]
    }

    /// The detector of this name; underscores and hyphens are interchangeable.
    pub fn named(name: &str) -> Option<DetectorId> {
        all().find(|detector| detector.name() == name.replace('_', "-"))
    }

    /// Its name, as the command line has it.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// What it claims, and how sure that is, on one line.
    pub fn help(self) -> &'static str {
        self.entry().help
    }

    /// Whether it reports what the recorded run shows while the program runs.
    pub fn is_live(self) -> bool {
        self.entry().live
    }

    /// Whether what it finds in the beginning of a run stays true: live detectors, and deadlocks that struck.
    pub fn judges_so_far(self) -> bool {
        self.is_live() || self.name() == hang::ENTRY.name
    }

    /// How much of the trace must be retained for it. `rereadable`: what witnesses need can be read again.
    pub(crate) fn needs_trace(self, rereadable: bool) -> Wanted {
        match self.entry() {
            Entry { needs_trace: false, .. } => Wanted::No,
            Entry { live: true, .. } if rereadable => Wanted::IfShort,
            _ if rereadable && self.rereads() => Wanted::IfShort,
            _ => Wanted::Yes,
        }
    }

    /// Whether it looks for races in other runs.
    pub(crate) fn searches_races(self) -> bool {
        [sync_preserving::ENTRY.name, maximal::ENTRY.name].contains(&self.name())
    }

    /// Whether it looks for races in the recorded run, each variable for itself.
    pub(crate) fn observes_races(self) -> bool {
        [hb::ENTRY.name, lockset::ENTRY.name].contains(&self.name())
    }

    /// Whether it warns of variables without a common lock.
    pub(crate) fn warns_of_races(self) -> bool {
        self.name() == lockset::ENTRY.name
    }

    /// Whether it searches other runs for something else than races.
    pub(crate) fn searches_more(self) -> bool {
        self.entry().needs_trace && !self.is_live() && !self.searches_races()
    }

    /// Whether it reads a long trace again at its end, and only if there is something to search.
    fn rereads(self) -> bool {
        self.name() == atomicity::ENTRY.name
    }

    /// Removes the claims of this detector that those of others make needless.
    pub(crate) fn yield_to_others(self, claims: &mut Vec<Claim>) {
        if let Some(yields) = self.entry().yields {
            yields(claims);
        }
    }

    pub(crate) fn start(self, options: &StartOptions) -> Box<dyn Pass> {
        (self.entry().start)(options)
    }
}

/// Every detector there is, in the order of reports.
pub fn all() -> impl Iterator<Item = DetectorId> {
    (0..DETECTORS.len() as u8).map(DetectorId)
}

/// The detectors that run if the user says nothing: all of them.
pub fn default() -> impl Iterator<Item = DetectorId> {
    all()
}

/// A detector on its way along one trace.
pub(crate) trait Pass {
    /// Looks at the next events.
    fn feed(&mut self, _: &Names, _: &Batch) {}

    /// Looks at a whole trace, or at part after part of it, and may skip what the prefilter ruled out.
    fn feed_whole(&mut self, names: &Names, whole: &Whole<'_>, _: &Filtered) {
        whole.each(|part| self.feed(names, part));
    }

    /// What the recorded run shows by now and was not given out before. Only live detectors have something.
    fn drain(&mut self, _: &SoFar<'_>) -> Vec<Claim> {
        Vec::new()
    }

    /// The trace has ended.
    fn finish(self: Box<Self>, end: &TraceEnd<'_>) -> Found;
}

/// What a live detector knows while the trace goes on.
pub(crate) struct SoFar<'a> {
    pub(crate) names: &'a Names,
    pub(crate) detector: DetectorId,
    /// How many problems the validator found in the trace so far.
    pub(crate) problems: u64,
}

/// What a detector knows at the end of the trace.
pub(crate) struct TraceEnd<'a> {
    pub(crate) recorded: &'a Recorded<'a>,
    pub(crate) detector: DetectorId,
    pub(crate) restriction: &'a Restriction,
}

impl<'a> Deref for TraceEnd<'a> {
    type Target = Recorded<'a>;

    fn deref(&self) -> &Recorded<'a> {
        self.recorded
    }
}

impl TraceEnd<'_> {
    /// A claim of this detector.
    fn claim(&self, kind: Kind, basis: Basis, about: About, parts: Vec<Part>, why: String) -> Claim {
        Claim { kind, detector: self.detector, basis, about, parts, why, more: 0, apart: false, behind: Vec::new() }
    }
}

/// What a detector found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) claims: Vec<Claim>,
    /// Its figures; the engine adds the time.
    pub(crate) stats: AnalysisStats,
    /// Events that the validator complains of, too, and whose claims say it better.
    pub(crate) explained: Vec<u64>,
    /// Windows of the trace, ascending, of which it knows every race.
    pub(crate) decided: Vec<Range<u64>>,
}

impl Found {
    /// Nothing, because the trace is not there.
    fn nothing(recorded: &Recorded<'_>) -> Found {
        Found::without(recorded.missing.to_owned())
    }

    /// Nothing, and why.
    fn without(why: String) -> Found {
        let truncated = Some(why);
        Found { stats: AnalysisStats { truncated, ..AnalysisStats::default() }, ..Found::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_found_with_either_hyphen() {
        for detector in all() {
            assert_eq!(DetectorId::named(detector.name()), Some(detector));
            assert_eq!(DetectorId::named(&detector.name().replace('-', "_")), Some(detector));
            assert!(!detector.help().is_empty());
        }
        assert_eq!(DetectorId::named("none"), None);
    }

    #[test]
    fn every_detector_is_defined_in_the_documentation() {
        let page = include_str!("../../../../docs/detectors.md");
        for detector in all() {
            assert!(page.contains(&format!("| `{}` |", detector.name())), "{} has no row", detector.name());
        }
    }
}
