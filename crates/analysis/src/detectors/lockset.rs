//! `lockset`: warnings of variables without a common lock.

use super::whole::Whole;
use super::{Entry, Found, Pass, TraceEnd, races};
use crate::claim::Basis;
use detect::lockset::Lockset;
use detect::prefilter::Filtered;
use event::{Batch, Names};

pub(super) const ENTRY: Entry = Entry {
    name: "lockset",
    help: "accesses of a variable that no common lock keeps apart. Warnings: other synchronisation may",
    needs_trace: false,
    live: false,
    start: |_| Box::new(Lockset::new()),
    yields: None,
};

impl Pass for Lockset {
    fn feed(&mut self, names: &Names, batch: &Batch) {
        self.batch(names, batch);
    }

    fn feed_whole(&mut self, names: &Names, whole: &Whole<'_>, filtered: &Filtered) {
        if !filtered.misuses {
            self.forget_freed();
        }
        if filtered.any_races() {
            whole.each_of(|var| filtered.may_race(var), |part| self.batch(names, part));
        }
    }

    fn finish(self: Box<Self>, end: &TraceEnd<'_>) -> Found {
        races::found(Lockset::finish(*self), end, |_| {
            let why = "no lock is held at both accesses, and no fork or join orders them; something else may keep them \
                       apart (conditions, semaphores, atomics, a queue)";
            (Basis::Warning, why.to_owned())
        })
    }
}
