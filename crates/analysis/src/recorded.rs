//! The recorded run as detectors see it at its end, with what they share: limits, budgets, the sync-preserving index.

use crate::again::Again;
use crate::budget::Budget;
use crate::claim::{Claim, Part, Witness};
use crate::retained;
use detect::Search;
use detect::held_back::HeldBack;
use detect::prefilter::Filtered;
use detect::sync_preserving::{OnDemand, SyncPreserving};
use event::{Batch, Names, Value, VarId};
use report::EventOrder;
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use witness::{HeldBackCheck, RecordedRun};

/// The recorded run at its end.
pub(crate) struct Recorded<'a> {
    pub(crate) names: &'a Names,
    /// The trace, if it was retained and other runs are to be searched.
    pub(crate) trace: Option<&'a Batch>,
    /// Why it is not there.
    pub(crate) missing: &'a str,
    /// How many events it has.
    pub(crate) events: u64,
    /// What the prefilter left of the whole trace is known, so what it ruled out needs no search.
    pub(crate) is_known: bool,
    /// A trace that was not retained can be read again.
    pub(crate) again: Option<Again<'a>>,
    /// What is known of the whole run, for witnesses that are found by reading again.
    pub(crate) known: Known,
    /// What was read again because there was no other way, up to the last event that a witness is wanted for.
    pub(crate) reread: &'a OnceCell<Option<Batch>>,
    pub(crate) last_wanted: OnceCell<u64>,
    /// What variables hold at first.
    pub(crate) initial: &'a dyn Fn(VarId) -> Value,
    /// What the prefilter could not rule out.
    pub(crate) filtered: &'a Filtered,
    /// What is left of that for those that look for races in other runs: without what is handed over.
    pub(crate) searched: &'a Filtered,
    /// Nothing is missing from the trace.
    pub(crate) complete: bool,
    /// Nothing is missing before the end of the trace.
    pub(crate) gapless: bool,
    /// How many problems the validator found in the trace.
    pub(crate) problems: u64,
    /// Events that are searched together.
    pub(crate) window: usize,
    /// How long searches may take.
    pub(crate) budget: Budget,
    /// Set once the caller wants the work to stop.
    pub(crate) cancel: &'a AtomicBool,
    /// Made when it is needed first.
    pub(crate) preserving: RefCell<Option<OnDemand<'a>>>,
    /// Events that were looked at to say what hides a race.
    pub(crate) explained: Cell<u64>,
}

/// What is known of a run that was not retained.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) run: RecordedRun,
    /// No event is inexact.
    pub(crate) is_exact: bool,
}

impl<'a> Recorded<'a> {
    /// The trace as far as witnesses need it, if it was retained or has been read again.
    pub(crate) fn retained(&self) -> Option<&'a Batch> {
        self.trace.or_else(|| self.reread.get()?.as_ref())
    }

    /// The trace as far as witnesses need it; if it was not retained, it is read again.
    pub(crate) fn retained_or_read(&self) -> Option<&'a Batch> {
        self.trace.or_else(|| {
            let read = || {
                let RecordedRun { has_no_problem, has_no_drop_barrier } = self.known.run;
                // What is recorded behind the events of a witness says nothing of them, unless these are pins.
                let short = has_no_problem && has_no_drop_barrier;
                let end = self.last_wanted.get().filter(|_| short).map_or(u64::MAX, |last| last + 1);
                self.again?.beginning(end, retained::MOST)
            };
            self.reread.get_or_init(read).as_ref()
        })
    }

    /// The order that shows an observed race by holding its first access back, if the checker accepts it.
    pub(crate) fn held_back(&self, claim: &Claim) -> Option<EventOrder> {
        let [one, other] = claim.parts.as_slice() else { return None };
        let by_event = |part: &&Part| part.event;
        let (a, b) = ([one, other].into_iter().min_by_key(by_event)?, [one, other].into_iter().max_by_key(by_event)?);
        let again = self.again.filter(|_| self.known.is_exact)?;
        let mut check = HeldBackCheck::new([a.event, b.event], self.known.run)?;
        let mut held_back = HeldBack::new();
        let mut rest = Vec::new();
        again.read(a.event..b.event + 1, |_, batch, index, event| {
            let kept = index < b.event && held_back.step(batch, event);
            check.step(batch, event, kept);
            rest.extend(kept.then_some(index));
            if held_back.goes_on(b.thread) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        check.finish().ok()?;
        rest.extend([a.event, b.event]);
        Some(EventOrder::new(a.event, rest))
    }

    /// Asks the sync-preserving index of the trace; or says why there is none.
    pub(crate) fn preserving<T>(&self, ask: impl FnOnce(&mut SyncPreserving<'a>) -> T) -> Result<T, String> {
        let trace = self.retained_or_read().ok_or(self.missing)?;
        let mut index = self.preserving.borrow_mut();
        let index = index.get_or_insert_with(|| self.on_demand(trace)).index();
        index.map(ask).map_err(|too_large| too_large.to_string())
    }

    /// The sync-preserving index of the trace, made when it is needed first.
    pub(crate) fn on_demand(&self, trace: &'a Batch) -> OnDemand<'a> {
        OnDemand::new(self.names, trace).stopping(self.cancel).taking(self.budget.each())
    }

    /// Whether the caller wants the work to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// What was not enough for a search that began then, in words.
    pub(crate) fn spent(&self, began: Instant) -> String {
        if self.is_cancelled() { "before the interrupt".to_owned() } else { self.budget.spent(began.elapsed()) }
    }

    /// How far a search in windows may go, from now on.
    pub(crate) fn search(&self) -> Search<'a> {
        Search {
            window: self.window,
            deadline: Some(self.budget.deadline()),
            stop: Some(self.cancel),
            ..Search::default()
        }
    }

    /// The whole order that shows a claim, or why there is none.
    pub(crate) fn witness(&self, claim: &Claim, how: &Witness) -> Result<Vec<u64>, NoWitness> {
        match (how, claim.parts.as_slice()) {
            (Witness::Window(schedule), _) => Ok(schedule.whole()),
            (Witness::SyncPreserving, [one, other]) => {
                let race = [one.event, other.event];
                let prefix = self.preserving(|index| index.race_witness(race)).map_err(NoWitness::NoTrace)?;
                Ok([prefix.ok_or(NoWitness::NotFound)?, race.to_vec()].concat())
            }
            (Witness::SyncPreserving, _) => Err(NoWitness::NotFound),
        }
    }
}

/// Why a claim has no order that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NoWitness {
    /// The search found none.
    NotFound,
    /// There is nothing to search in, and why.
    NoTrace(String),
}

impl std::fmt::Display for NoWitness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoWitness::NotFound => f.write_str("none was found"),
            NoWitness::NoTrace(why) => f.write_str(why),
        }
    }
}
