//! `misuse` on the command line: locks and memory used as they must not be.

use super::claim::{About, Claim, Part, Shown};
use super::{Analysis, Found, Whole};
use crate::args::Detector;
use detect::Place;
use detect::misuse::{Misuse, Misuses, What};
use detect::suspects::Suspicions;
use event::{Batch, LockId, Names, Op, SiteId, Space, VarId};
use report::{AnalysisStats, Kind};
use std::collections::HashSet;

impl Analysis for Misuses {
    fn batch(&mut self, names: &Names, batch: &Batch) {
        Misuses::batch(self, names, batch);
    }

    fn whole(&mut self, names: &Names, trace: &Batch, suspicions: &Suspicions) {
        if suspicions.misuses {
            self.batch(names, trace);
        }
    }

    fn finish(self: Box<Self>, whole: &Whole<'_>) -> Found {
        let found = Misuses::finish(*self);
        let left_out = Some(found.left_out).filter(|&left| left > 0);
        Found {
            claims: found.misuses.iter().map(|misuse| claim(misuse, whole)).collect(),
            stats: AnalysisStats { left_out, ..AnalysisStats::default() },
            told: found.unlocks,
        }
    }
}

fn claim(misuse: &Misuse, whole: &Whole<'_>) -> Claim {
    let names = whole.names;
    let t = names.thread(misuse.at.thread);
    let (about, other, why) = match misuse.what {
        What::Unlock(lock, None) => (
            About::Locks(vec![lock]),
            None,
            format!("{t} unlocks {}, which it does not hold, nor does another thread", names.lock(lock)),
        ),
        What::Unlock(lock, Some(holder)) => {
            let why = format!("{t} unlocks {}, which {} holds", names.lock(lock), names.thread(holder.thread));
            (About::Locks(vec![lock]), Some(holder), why)
        }
        What::WaitsForItself(lock, since) => {
            let why = format!(
                "{t} asks for {}, which it holds already: it waits for itself, and the run ended so",
                names.lock(lock)
            );
            (About::Locks(vec![lock]), Some(since), why)
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
                Some(lock) => About::Locks(vec![LockId(lock)]),
                None => About::Named(name.to_owned()),
            };
            (about, None, format!("{t}: {} (seen by the recorder)", names.str(what)))
        }
    };
    // What is missing from the trace may be what would make it right.
    let sure = match misuse.what {
        What::Noted(..) => true,
        // It can have got the lock later.
        What::WaitsForItself(..) => whole.complete,
        What::Unlock(..) | What::AfterFree(..) => whole.gapless,
    };
    let part =
        |place: Place| Part { event: place.event, thread: place.thread, site: place.site, locks: Vec::new(), role: "" };
    Claim {
        kind: Kind::Misuse,
        detector: Detector::Misuse,
        shown: if sure { Shown::Observed } else { Shown::Warning },
        about,
        parts: other.into_iter().chain([misuse.at]).map(part).collect(),
        why,
        more: misuse.more,
    }
}

/// Leaves out the uses of freed memory that race with the free: the race says it, and more.
pub(super) fn without_races(claims: &mut Vec<Claim>) {
    let places = |claim: &Claim| -> Option<(VarId, Vec<SiteId>)> {
        let About::Variable(var) = claim.about else { return None };
        let mut sites: Vec<SiteId> = claim.parts.iter().map(|part| part.site).collect();
        sites.sort_unstable();
        Some((var, sites))
    };
    let observed = |claim: &&Claim| claim.kind == Kind::Race && matches!(claim.shown, Shown::Observed);
    let races: HashSet<_> = claims.iter().filter(observed).filter_map(places).collect();
    claims.retain(|claim| claim.kind != Kind::Misuse || places(claim).is_none_or(|places| !races.contains(&places)));
}
