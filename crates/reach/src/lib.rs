//! Whether some feasible prefix of the `maximal` model (docs/causality.md) leads to where given events are next.
//!
//! Detectors that search a window for errors all ask this one [`Question`]: can these two accesses, or these requests of
//! locks, be next at the same time? [`Reach`] answers it for one trace; [`Excerpts`] makes such traces of windows of a
//! longer one. An answer is a prefix, or a proof that there is none, or says that a limit was met.

mod excerpt;
mod exhaustive;
mod facts;
mod goal;
mod question;

pub use excerpt::{Excerpt, Excerpts};
pub use question::{Answer, Limits, Question};

use event::{Batch, Names, Value, VarId};
use facts::Facts;
use goal::Goal;
use question::Meter;
use std::marker::PhantomData;

/// A trace whose first events stay where they are (what is left of the past), and what variables hold before it.
pub struct Reach<'a> {
    facts: Facts,
    trace: PhantomData<&'a Batch>,
}

impl<'a> Reach<'a> {
    /// Looks at a trace, whose first event is number 0 and whose first `fixed` events stay where they are.
    pub fn new(names: &'a Names, batch: &'a Batch, fixed: usize, initial: &'a dyn Fn(VarId) -> Value) -> Reach<'a> {
        Reach { facts: Facts::new(names, batch, fixed, initial), trace: PhantomData }
    }

    /// Whether a feasible prefix does what the question asks.
    pub fn ask(&mut self, question: &Question<'_>, limits: &Limits<'_>) -> Answer {
        let Some(goal) = Goal::new(&self.facts, question) else { return Answer::Impossible };
        exhaustive::search(&self.facts, &goal, &mut Meter::new(limits))
    }
}
