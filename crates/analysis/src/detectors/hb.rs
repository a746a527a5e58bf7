//! `hb`: claims of the races of the recorded run.

use super::{Entry, Found, Pass, SoFar, TraceEnd, races, verify};
use crate::claim::{Basis, Claim};
use detect::Race;
use detect::hb::Hb;
use detect::prefilter::{Filtered, each_masked};
use event::{Batch, Names};

pub(super) const ENTRY: Entry = Entry {
    name: "hb",
    help: "races of the recorded run: nothing orders the two accesses. Observed; every report is real",
    needs_trace: true,
    live: true,
    start: |_| Box::new(Finder { hb: Hb::new(), drained: 0 }),
    yields: None,
};

struct Finder {
    hb: Hb,
    /// How many of its races were given out.
    drained: usize,
}

impl Pass for Finder {
    fn feed(&mut self, names: &Names, batch: &Batch) {
        self.hb.batch(names, batch);
    }

    fn feed_whole(&mut self, names: &Names, trace: &Batch, filtered: &Filtered) {
        if filtered.any_races() {
            each_masked(trace, |var| filtered.orders_or_races(var), |masked| self.hb.batch(names, masked));
        }
    }

    fn drain(&mut self, so_far: &SoFar<'_>) -> Vec<Claim> {
        let races = self.hb.races();
        let new = &races[self.drained..];
        self.drained = races.len();
        let why = |race: &Race| why(race, so_far.names, so_far.problems);
        new.iter().map(|race| races::claim(so_far.detector, race, Basis::Observed, why(race))).collect()
    }

    fn finish(self: Box<Self>, end: &TraceEnd<'_>) -> Found {
        races::found(self.hb.finish(), end, |race| {
            (Basis::ObservedReordered(verify::race), why(race, end.names, end.problems))
        })
    }
}

fn why(race: &Race, names: &Names, problems: u64) -> String {
    let orders = races::held_by_both(race, names, problems);
    format!("{orders}; no fork, join or other synchronisation orders them in the recorded run")
}
