//! `hb` on the command line: races of the recorded run.

use super::claim::Shown;
use super::{Analysis, Found, Whole, races};
use crate::args::Detector;
use detect::hb::Hb;
use detect::suspects::{Suspicions, each_masked};
use event::{Batch, Names};

impl Analysis for Hb {
    fn batch(&mut self, names: &Names, batch: &Batch) {
        Hb::batch(self, names, batch);
    }

    fn whole(&mut self, names: &Names, trace: &Batch, suspicions: &Suspicions) {
        if suspicions.any_races() {
            each_masked(trace, |var| suspicions.orders_or_races(var), |masked| Hb::batch(self, names, masked));
        }
    }

    fn finish(self: Box<Self>, whole: &Whole<'_>) -> Found {
        races::found(Detector::Hb, Hb::finish(*self), whole, |race| {
            let orders = races::held_by_both(race, whole);
            let why = format!("{orders}; no fork, join or other synchronisation orders them in the recorded run");
            (Shown::Observed, why)
        })
    }
}
