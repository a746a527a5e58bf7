//! What the detectors of races need not look at, in a second pass over what the prefilter left.
//!
//! Each of them has its own reason to pass over a variable. `hb` orders what the language orders; the searches know
//! what every run must keep, whatever the language says; `lockset` forgives the first thread of a variable. What `hb`
//! and `lockset` can say nothing of is found in one go, which costs less than they do, and most programs need no more.

use super::{Filtered, Handovers, Unordered};
use crate::lockset::Screen;
use event::{Batch, Event, Names};

/// After so many events it is asked whether to go on.
const LOOK: usize = 1 << 12;

/// Looks through a trace that the prefilter has seen, batch by batch.
#[derive(Debug)]
pub struct Narrow<'f> {
    filtered: &'f Filtered,
    ordered: Handovers<'f>,
    /// Whether the order still tells something.
    orders: bool,
    screen: Option<Screen>,
}

/// What came of that.
#[derive(Clone, Debug)]
pub struct Narrowed {
    /// For the detectors that look at the recorded run.
    pub observed: Filtered,
    /// For those that search other runs: what may race there. [`Handovers`] may rule out more of it.
    pub searched: Filtered,
}

impl<'f> Narrow<'f> {
    /// Before the first event of a trace that the prefilter has seen to its end. `warns`: `lockset` is wanted, too.
    pub fn new(filtered: &'f Filtered, warns: bool) -> Narrow<'f> {
        let screen = warns.then(Screen::new);
        Narrow { filtered, ordered: Handovers::new(filtered).ordered(), orders: false, screen }
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        self.begin(names);
        self.events(batch, batch.first, &batch.events);
    }

    /// Takes a whole trace; whether it has seen it to the end, and was not stopped.
    pub fn trace(&mut self, names: &Names, trace: &Batch, mut stop: impl FnMut() -> bool) -> bool {
        self.begin(names);
        for (number, events) in trace.events.chunks(LOOK).enumerate() {
            if stop() {
                return false;
            }
            self.events(trace, trace.first + (number * LOOK) as u64, events);
        }
        true
    }

    fn begin(&mut self, names: &Names) {
        self.orders = self.ordered.begin(names);
        if let Some(screen) = &mut self.screen {
            screen.grow(names);
        }
    }

    fn events(&mut self, batch: &Batch, first: u64, events: &[Event]) {
        if self.orders {
            self.ordered.events(batch, first, events);
        }
        if let Some(screen) = &mut self.screen {
            screen.events(batch, events, |var| self.filtered.may_race(var));
        }
    }

    /// What is left.
    pub fn finish(self) -> Narrowed {
        let known = !self.ordered.has_given_up();
        let barriers = self.ordered.barriers().to_vec();
        let searched = self.ordered.finish();
        let unordered = known.then(|| {
            let seen = searched.races.iter().zip(barriers).map(|(&races, orders)| races || orders);
            Unordered { any: searched.any_races, seen: seen.collect() }
        });
        let candidates = self.screen.map(Screen::finish);
        Narrowed { observed: Filtered { unordered, candidates, ..self.filtered.clone() }, searched }
    }
}

impl Narrowed {
    /// Nothing more is ruled out.
    pub fn all(filtered: &Filtered) -> Narrowed {
        Narrowed { observed: filtered.clone(), searched: filtered.clone() }
    }

    /// Whether some detector looks at the recorded run.
    pub fn is_looked_at(&self) -> bool {
        let Filtered { waits, blocks, nested, hangs, misuses, .. } = self.observed;
        self.any_observed() || waits || blocks || nested || hangs || misuses
    }

    /// Whether `hb` or `lockset` may find something.
    pub fn any_observed(&self) -> bool {
        let Filtered { any_races, candidates, .. } = &self.observed;
        let warned = candidates.as_ref().is_none_or(|candidates| candidates.count() > 0);
        self.observed.any_unordered() || *any_races && warned
    }
}
