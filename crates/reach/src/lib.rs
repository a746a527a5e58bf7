//! Whether some feasible prefix of the `maximal` model (docs/causality.md) leads to where given events are next.
//!
//! Detectors that search a window for errors all ask this one [`Question`]: can these two accesses, or these requests
//! of locks, be next at the same time? [`Reach`] answers it for one trace; [`Windows`] makes such traces of windows of
//! a longer one. An answer is a prefix, or a proof that there is none, or says that a limit was met.

mod branch;
mod exhaustive;
mod facts;
mod goal;
mod linear;
mod must;
mod order;
mod question;
mod recorded;
mod saturate;
mod solver;
mod window;

#[cfg(test)]
mod tests;

pub use question::{Answer, Limits, Question};
pub use window::{Window, Windows};

use event::{Batch, Names, Value, VarId};
use facts::Facts;
use goal::Goal;
use question::Meter;
use rustc_hash::FxHashSet;
use solver::Solver;

/// More counts than this would take too much memory: events times threads of a window.
const MOST_COUNTS: usize = 1 << 26;

/// A trace whose first events stay where they are (what is left of the past), and what variables hold before it.
pub struct Reach {
    way: Way,
}

/// How questions are answered.
enum Way {
    Solve(Box<Solver>),
    /// A trace whose recorded order is not feasible is beyond the rules by which the solver concludes.
    Exhaust(Box<Facts>),
    /// Too many threads.
    Refuse,
}

impl Reach {
    /// Looks at a trace, whose first event is number 0 and whose first `fixed` events stay where they are: these are
    /// taken to have happened, whatever the rules say.
    pub fn new(names: &Names, batch: &Batch, fixed: usize, initial: &dyn Fn(VarId) -> Value) -> Reach {
        let events = batch.events.len();
        let threads: FxHashSet<u32> = batch.events.iter().skip(fixed).map(|event| event.thread().0).collect();
        if events.saturating_mul(threads.len()) > MOST_COUNTS {
            return Reach { way: Way::Refuse };
        }
        let facts = Facts::new(names, batch, fixed, initial);
        let way = match facts.orderly {
            false => Way::Exhaust(Box::new(facts)),
            true => Way::Solve(Box::new(Solver::new(facts, events as u32))),
        };
        Reach { way }
    }

    /// A quick look: these two can never be next at the same time. If it does not say so, they may still not be.
    pub fn never_together(&self, a: u32, b: u32) -> bool {
        match &self.way {
            Way::Solve(solver) => solver.never_together(a, b),
            _ => false,
        }
    }

    /// Whether a feasible prefix does what the question asks.
    pub fn ask(&mut self, question: &Question<'_>, limits: &Limits<'_>) -> Answer {
        let facts = match &self.way {
            Way::Solve(solver) => &solver.facts,
            Way::Exhaust(facts) => facts,
            Way::Refuse => return Answer::Undecided,
        };
        let Some(goal) = Goal::new(facts, question) else { return Answer::Impossible };
        let mut meter = Meter::new(limits);
        match &mut self.way {
            Way::Solve(solver) => solver.answer(&goal, &mut meter),
            Way::Exhaust(facts) => exhaustive::search(facts, &goal, &mut meter),
            Way::Refuse => Answer::Undecided,
        }
    }
}
