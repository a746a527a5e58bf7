//! All races of a window: every pair of conflicting accesses that some feasible prefix leaves next at the same time.
//!
//! The model is that of Şerbănuţă, Chen and Roşu, "Maximal causal models for sequentially consistent systems", with
//! what docs/causality.md adds; RVPredict asks a constraint solver the same question, pair by pair, and so does this:
//! the solver is `reach`, which knows the theory. Where it deviates: windows overlap by half, the past of a window is
//! kept as far as it matters, and every lock, condition, semaphore and try-lock is in the model.
//!
//! It misses races of events that are in no common window, and pairs on which the time ran out: both are counted and
//! reported. It raises no false alarm: each race has a prefix that `witness::check_race` accepts.
//!
//! In a window, every event is found that is the later half of a race, and every variable and pair of sites; other
//! pairs of the same sites whose later event is known to be racy are passed over.

mod found;
mod pairs;

use crate::prefilter::Filtered;
use crate::race::Races;
use crate::windows::Schedule;
use event::{Event, Names, SiteId, Value, VarId};
use found::RaceCollector;
use reach::{Answer, Limits, Question, Reach, Window};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// After so many pairs the clock is looked at.
const LOOK: u64 = 1024;

/// A variable and the sites of two accesses of it, the smaller first.
pub type SitePair = (SiteId, SiteId, VarId);

/// How far to look.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// How long a window may take.
    pub per_window: Option<Duration>,
    /// How many steps a pair may take.
    pub steps: u64,
    /// Until when to look at all.
    pub deadline: Option<Instant>,
    /// Until it is set.
    pub stop: Option<&'o AtomicBool>,
    /// How many races to keep.
    pub most: usize,
    /// Look at these variables only.
    pub filtered: Option<&'o Filtered>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { per_window: None, steps: u64::MAX, deadline: None, stop: None, most: 1000, filtered: None }
    }
}

/// What others have found already, and need not be found again.
#[derive(Clone, Default, Debug)]
pub struct KnownRaces {
    /// Events that are the later half of a race.
    pub racy_events: FxHashSet<u64>,
    /// Races.
    pub pairs: FxHashSet<SitePair>,
}

/// What was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Looked {
    /// Windows begun.
    pub windows: u64,
    /// Those of them in which some pair is undecided.
    pub undecided_windows: u64,
    /// Conflicting pairs that were decided: racy, not racy, or passed over, as nothing new could come of them.
    pub pairs: u64,
    /// Those of them that took a search.
    pub asked: u64,
    /// Conflicting pairs that were not decided.
    pub undecided: u64,
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Report {
    /// The races, without those that were known.
    pub races: Races,
    /// By race: the order after which its two accesses are next.
    pub prefixes: Vec<Schedule>,
    /// What was looked at.
    pub looked: Looked,
}

fn is_over(limits: &Limits<'_>) -> bool {
    limits.deadline.is_some_and(|deadline| Instant::now() >= deadline)
        || limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
}

/// Looks for all races, window after window.
pub struct Maximal<'o> {
    options: Options<'o>,
    found: RaceCollector,
    looked: Looked,
}

impl<'o> Maximal<'o> {
    /// Before the first window.
    pub fn new(options: Options<'o>, known: KnownRaces) -> Self {
        Maximal { options, found: RaceCollector::new(options.most, known), looked: Looked::default() }
    }

    /// Whether a window of these events has something to ask. If not, it counts as looked at.
    pub fn wants(&mut self, events: &[Event]) -> bool {
        let filtered = self.options.filtered;
        let wants = filtered.is_none_or(|filtered| pairs::any(events, |var| filtered.may_race(var)));
        self.looked.windows += u64::from(!wants);
        wants
    }

    /// The next window; whether all its pairs were decided. `initial` gives what variables hold before the trace.
    pub fn window(&mut self, names: &Names, window: &Window, initial: &dyn Fn(VarId) -> Value) -> bool {
        let end = self.options.per_window.map(|time| Instant::now() + time);
        let deadline = end.into_iter().chain(self.options.deadline).min();
        let limits = Limits { steps: self.options.steps, deadline, stop: self.options.stop };
        let mut reach = Reach::new(names, &window.batch, window.fixed, initial);
        let undecided = self.looked.undecided;
        let (found, looked) = (&mut self.found, &mut self.looked);
        looked.windows += 1;
        let mut visited = 0u64;
        let filtered = self.options.filtered;
        let wanted = |var| filtered.is_none_or(|filtered| filtered.may_race(var));
        let ended = pairs::conflicting(window, &wanted, &mut |pair| {
            // Pairs that need no search are quickly passed over, but there may be millions of them.
            if visited.is_multiple_of(LOOK) && is_over(&limits) {
                return ControlFlow::Break(());
            }
            visited += 1;
            let [a, b] = pair.events;
            if !found.is_new(window, &pair) || pair.held_back || reach.never_together(a, b) {
                looked.pairs += 1;
                return ControlFlow::Continue(());
            }
            match reach.ask(&Question { next: &[a, b], contains: &[], before: &[] }, &limits) {
                Answer::Undecided => {
                    looked.undecided += 1;
                    return ControlFlow::Continue(());
                }
                Answer::Impossible => {}
                Answer::Reached(prefix) => found.race(window, &pair, &prefix),
            }
            looked.pairs += 1;
            looked.asked += 1;
            ControlFlow::Continue(())
        });
        if ended.is_break() {
            looked.undecided += pairs::count(window, &wanted) - visited;
        }
        let is_decided = self.looked.undecided == undecided;
        self.looked.undecided_windows += u64::from(!is_decided);
        is_decided
    }

    /// What was found.
    pub fn finish(self) -> Report {
        let (races, prefixes) = self.found.finish();
        Report { races, prefixes, looked: self.looked }
    }
}
