//! `lockset`: warnings of variables without a common lock.
//!
//! A trace that can be read again is read twice: the first time only to see of which variables there may be something
//! to say. A trace in memory was looked through by the prefilter instead.

use super::whole::Whole;
use super::{Entry, Found, Pass, TraceEnd, races};
use crate::claim::Basis;
use detect::lockset::{Lockset, Screen};
use detect::prefilter::Filtered;
use event::{Batch, Names};

pub(super) const ENTRY: Entry = Entry {
    name: "lockset",
    help: "accesses of a variable that no common lock keeps apart. Warnings: other synchronisation may",
    needs_trace: false,
    live: false,
    start: |options| {
        let screen = options.rereadable.then(Screen::new);
        Box::new(Finder { screen, events: 0, is_whole: false, lockset: Lockset::new() })
    },
    yields: None,
};

struct Finder {
    /// Sees the events first, if they come a second time.
    screen: Option<Screen>,
    /// How many it saw.
    events: u64,
    /// It looks at a whole trace, and knows what the prefilter left of it.
    is_whole: bool,
    lockset: Lockset,
}

impl Pass for Finder {
    fn feed(&mut self, names: &Names, batch: &Batch) {
        self.events += batch.events.len() as u64;
        match &mut self.screen {
            Some(screen) => screen.batch(names, batch),
            None => self.lockset.batch(names, batch),
        }
    }

    fn feed_whole(&mut self, names: &Names, whole: &Whole<'_>, filtered: &Filtered) {
        if !std::mem::replace(&mut self.is_whole, true) {
            self.screen = None;
            if !filtered.misuses {
                self.lockset.forget_freed();
            }
            if let Some(candidates) = filtered.candidates() {
                self.lockset = std::mem::take(&mut self.lockset).of(candidates.clone());
            }
        }
        match filtered.candidates() {
            Some(candidates) if candidates.count() == 0 => {}
            Some(candidates) => whole.each_of(|var| candidates.has(var), |part| self.lockset.batch(names, part)),
            None if filtered.any_races() => {
                whole.each_of(|var| filtered.may_race(var), |part| self.lockset.batch(names, part));
            }
            None => {}
        }
    }

    fn finish(mut self: Box<Self>, end: &TraceEnd<'_>) -> Found {
        let mut missing = None;
        if let Some(screen) = self.screen.take() {
            let candidates = screen.finish();
            let count = candidates.count();
            let lockset = &mut self.lockset;
            *lockset = Lockset::new().of(candidates);
            if count > 0
                && !end
                    .again
                    .is_some_and(|again| again.each_batch(self.events, |names, batch| lockset.batch(names, batch)))
            {
                let why = match end.again {
                    _ if end.is_cancelled() => "interrupted",
                    Some(_) => "the trace cannot be read again",
                    None => end.missing,
                };
                missing = Some(format!("{count} variables were not looked at to the end: {why}"));
            }
        }
        let mut found = races::found(self.lockset.finish(), end, |_| {
            let why = "no lock is held at both accesses, and no fork or join orders them; something else may keep them \
                       apart (conditions, semaphores, atomics, a queue)";
            (Basis::Warning, why.to_owned())
        });
        if let Some(missing) = missing {
            let more = found.stats.truncated.map_or(String::new(), |more| format!("; {more}"));
            found.stats.truncated = Some(missing + &more);
        }
        found
    }
}
