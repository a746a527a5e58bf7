//! `hb`: claims of the races of the recorded run.

use super::whole::Whole;
use super::{Entry, Found, Pass, SoFar, TraceEnd, races, verify};
use crate::claim::{Basis, Claim};
use detect::hb::Hb;
use detect::prefilter::Filtered;
use detect::{Behind, Race};
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

    fn feed_whole(&mut self, names: &Names, whole: &Whole<'_>, filtered: &Filtered) {
        if filtered.any_unordered() {
            whole.each_of(|var| filtered.orders_or_races(var), |part| self.hb.batch(names, part));
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
        let mut races = self.hb.finish();
        let behind = std::mem::take(&mut races.behind);
        let wanted = behind.iter().filter(|pair| end.restriction.admits_variable(pair.race.variable));
        let behind = wanted.map(|pair| (pair.by, claim_behind(pair, &races.races[pair.by], end)));
        let mut behind: Vec<(usize, Claim)> = behind.collect();
        let claims = races.races.iter().enumerate().filter(|(_, race)| end.restriction.admits_variable(race.variable));
        let places: Vec<usize> = claims.map(|(place, _)| place).collect();
        let mut found = races::found(races, end, |race| {
            (Basis::ObservedReordered(verify::race), why(race, end.names, end.problems))
        });
        for (place, claim) in places.into_iter().zip(&mut found.claims) {
            claim.behind = behind.extract_if(.., |(by, _)| *by == place).map(|(_, pair)| pair).collect();
        }
        found
    }
}

/// The claim of a pair that only a race orders.
fn claim_behind(pair: &Behind, by: &Race, end: &TraceEnd<'_>) -> Claim {
    let names = end.names;
    let sites = [by.earlier.site, by.later.site].map(|site| names.site(site));
    let places = match sites {
        ["", ""] => format!("events {} and {}", by.earlier.event, by.later.event),
        [one, other] => format!("{one} and {other}"),
    };
    let held = races::held_by_both(&pair.race, names, end.problems);
    let variable = names.var(by.variable);
    let why = format!(
        "{held}; happens-before does not order them: in the recorded run only the race on {variable} ({places}) does"
    );
    races::claim(end.detector, &pair.race, Basis::Observed, why)
}

fn why(race: &Race, names: &Names, problems: u64) -> String {
    let orders = races::held_by_both(race, names, problems);
    format!("{orders}; no fork, join or other synchronisation orders them in the recorded run")
}
