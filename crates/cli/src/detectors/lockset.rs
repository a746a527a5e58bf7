//! `lockset` on the command line: variables without a common lock, as warnings.

use super::claim::Shown;
use super::{Analysis, Found, Whole, races};
use crate::args::Detector;
use detect::lockset::Lockset;
use detect::suspects::{Suspicions, each_masked};
use event::{Batch, Names};

impl Analysis for Lockset {
    fn batch(&mut self, names: &Names, batch: &Batch) {
        Lockset::batch(self, names, batch);
    }

    fn whole(&mut self, names: &Names, trace: &Batch, suspicions: &Suspicions) {
        if suspicions.any_unprotected() {
            each_masked(trace, |var| suspicions.is_unprotected(var), |masked| Lockset::batch(self, names, masked));
        }
    }

    fn finish(self: Box<Self>, whole: &Whole<'_>) -> Found {
        races::found(Detector::Lockset, Lockset::finish(*self), whole, |_| {
            let why = "no lock is held at all accesses by several threads; something else may keep them apart (forks and joins, \
                       conditions, barriers)";
            (Shown::Warning, why.to_owned())
        })
    }
}
