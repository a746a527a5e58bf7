//! `wait-without-loop`: warnings of threads that go on after a wait without looking again at what they had tested.

use super::whole::Whole;
use super::{Entry, Found, Pass, TraceEnd};
use crate::claim::{About, Basis, Claim, Part};
use detect::Place;
use detect::prefilter::Filtered;
use detect::wait_without_loop::{UnloopedWait, WaitWithoutLoop};
use event::{Batch, Names};
use report::{AnalysisStats, Kind};

pub(super) const ENTRY: Entry = Entry {
    name: "wait-without-loop",
    help: "a woken thread takes what it waited for without looking again: another may have come first. Warnings",
    needs_trace: false,
    live: false,
    start: |_| Box::new(WaitWithoutLoop::new()),
    yields: None,
};

impl Pass for WaitWithoutLoop {
    fn feed(&mut self, names: &Names, batch: &Batch) {
        self.batch(names, batch);
    }

    fn feed_whole(&mut self, names: &Names, whole: &Whole<'_>, filtered: &Filtered) {
        if filtered.waits {
            whole.each(|part| self.batch(names, part));
        }
    }

    fn finish(self: Box<Self>, end: &TraceEnd<'_>) -> Found {
        let found = WaitWithoutLoop::finish(*self);
        let claims = found.waits.iter().map(|wait| claim(wait, end)).collect();
        let left_out = Some(found.left_out).filter(|&waits| waits > 0);
        Found { claims, stats: AnalysisStats { left_out, ..AnalysisStats::default() }, ..Found::default() }
    }
}

fn claim(found: &UnloopedWait, end: &TraceEnd<'_>) -> Claim {
    let names = end.names;
    let part = |place: Place, role| Part::at((place.event, place.thread, place.site), role);
    let parts = vec![part(found.wait, "waits"), part(found.take, "takes"), part(found.other, "takes")];
    let (news, taken) = (names.var(found.news), names.var(found.taken));
    let why = format!(
        "{} tested {news} before it waited, and goes on without looking at it again when it is woken; {} writes \
         {taken} in the same way, and may have come first: the wait belongs in a loop that tests {news}",
        names.thread(found.wait.thread),
        names.thread(found.other.thread),
    );
    end.claim(Kind::WaitWithoutLoop, Basis::Warning, About::Condition(found.cond, Some(found.lock)), parts, why)
}
