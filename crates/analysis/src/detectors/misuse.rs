//! `misuse`: claims of locks and memory used as they must not be.

use super::whole::Whole;
use super::{Entry, Found, Pass, SoFar, TraceEnd};
use crate::claim::{About, Basis, Claim, Part};
use crate::detectors::DetectorId;
use detect::Place;
use detect::misuse::{Misuse, Misuses, What};
use detect::prefilter::Filtered;
use event::{Batch, LockId, Names, Op, SiteId, Space, VarId};
use report::{AnalysisStats, Kind};
use std::collections::HashSet;

pub(super) const ENTRY: Entry = Entry {
    name: "misuse",
    help: "locks given back that are not held, or asked for by their holder; memory used after free. Observed",
    needs_trace: false,
    live: true,
    start: |_| Box::new(Finder { misuses: Misuses::new(), drained: 0 }),
    yields: Some(without_races),
};

struct Finder {
    misuses: Misuses,
    /// How many of them were given out.
    drained: usize,
}

impl Pass for Finder {
    fn feed(&mut self, names: &Names, batch: &Batch) {
        self.misuses.batch(names, batch);
    }

    fn feed_whole(&mut self, names: &Names, whole: &Whole<'_>, filtered: &Filtered) {
        if filtered.misuses {
            whole.each_with_arguments(|part| self.feed(names, part));
        }
    }

    fn drain(&mut self, so_far: &SoFar<'_>) -> Vec<Claim> {
        let misuses = self.misuses.misuses();
        let new = &misuses[self.drained..];
        self.drained = misuses.len();
        new.iter().map(|misuse| claim(misuse, so_far.names, so_far.detector, Basis::Observed)).collect()
    }

    fn finish(self: Box<Self>, end: &TraceEnd<'_>) -> Found {
        let found = self.misuses.finish();
        let left_out = Some(found.left_out).filter(|&left| left > 0);
        Found {
            claims: found.misuses.iter().map(|misuse| at_end(misuse, end)).collect(),
            stats: AnalysisStats { left_out, ..AnalysisStats::default() },
            explained: found.unlocks,
            ..Found::default()
        }
    }
}

/// The claim of a misuse in a trace that has ended.
fn at_end(misuse: &Misuse, end: &TraceEnd<'_>) -> Claim {
    // What is missing from the trace may be what would make it right.
    let certain = match misuse.what {
        What::Noted(..) => true,
        // The thread can have got the lock later.
        What::WaitsForItself(..) => end.complete,
        What::Unlock(..) | What::AfterFree(..) => end.gapless,
    };
    let basis = if certain { Basis::Observed } else { Basis::Warning };
    claim(misuse, end.names, end.detector, basis)
}

fn claim(misuse: &Misuse, names: &Names, detector: DetectorId, basis: Basis) -> Claim {
    let t = names.thread(misuse.at.thread);
    let (about, other, why) = match misuse.what {
        What::Unlock(lock, None) => (
            of_lock(lock),
            None,
            format!("{t} unlocks {}, which it does not hold, nor does another thread", names.lock(lock)),
        ),
        What::Unlock(lock, Some(holder)) => {
            let why = format!("{t} unlocks {}, which {} holds", names.lock(lock), names.thread(holder.thread));
            (of_lock(lock), Some(holder), why)
        }
        What::WaitsForItself(lock, since) => {
            let why = format!(
                "{t} asks for {}, which it holds already: it waits for itself, and the run ended so",
                names.lock(lock)
            );
            (of_lock(lock), Some(since), why)
        }
        What::AfterFree(var, free) => {
            let (x, by) = (names.var(var), names.thread(free.thread));
            let why = match misuse.op {
                Op::Free => format!("{t} frees {x}, which {by} freed before"),
                _ => format!("{t} uses {x} after {by} freed it, and before it is allocated again"),
            };
            (About::Variable(var), Some(free), why)
        }
        What::Noted(what, name) => {
            let name = names.str(name);
            let about = match names.space(Space::Lock).find(name.as_bytes()) {
                Some(lock) => of_lock(LockId(lock)),
                None => About::Named(name.to_owned()),
            };
            (about, None, format!("{t}: {} (seen by the recorder)", names.str(what)))
        }
    };
    let part = |place: Place| Part::at((place.event, place.thread, place.site), "");
    Claim {
        kind: Kind::Misuse,
        detector,
        basis,
        about,
        parts: other.into_iter().chain([misuse.at]).map(part).collect(),
        why,
        more: misuse.more,
        apart: false,
        behind: Vec::new(),
    }
}

fn of_lock(lock: LockId) -> About {
    About::Objects(vec![(Space::Lock, lock.0)])
}

/// Leaves out the uses of freed memory that race with the free: the race says it, and more.
fn without_races(claims: &mut Vec<Claim>) {
    let places = |claim: &Claim| -> Option<(VarId, Vec<SiteId>)> {
        let About::Variable(var) = claim.about else { return None };
        let mut sites: Vec<SiteId> = claim.parts.iter().map(|part| part.site).collect();
        sites.sort_unstable();
        Some((var, sites))
    };
    let observed = |claim: &&Claim| claim.kind == Kind::Race && claim.is_observed();
    let races: HashSet<_> = claims.iter().filter(observed).filter_map(places).collect();
    claims.retain(|claim| claim.kind != Kind::Misuse || places(claim).is_none_or(|places| !races.contains(&places)));
}
