//! What docs/causality.md reads off the recorded run, once for all questions.
//!
//! The fixed events have happened: what they left (open sections, last writes, counts) is where a search begins. The
//! others stand in *chains*, one for each thread, so a set of events that keeps the order of threads is a count per
//! chain.

mod chains;
mod lifetimes;
mod open_sections;
mod orderly;
mod predecessors;
mod runs;
mod sections;
mod semaphores;
mod wakes;

pub(crate) use chains::Chains;
pub(crate) use lifetimes::Lifetimes;
pub(crate) use open_sections::OpenSections;
pub(crate) use predecessors::{Failure, Predecessors};
pub(crate) use runs::Runs;
pub(crate) use sections::{Effect, NONE, Section, Sections};
pub(crate) use semaphores::{Semaphore, Semaphores, initial_counts};
pub(crate) use sync::lock_of;
pub(crate) use wakes::{Wakeup, wakeups};

use event::{Batch, Names, Op, Value, VarId};

/// An access of a variable.
pub(crate) fn is_access(op: Op) -> bool {
    op.has_value() || op.bounds_lifetime()
}

/// An access that only reads.
pub(crate) fn is_read(op: Op) -> bool {
    op.only_reads()
}

/// All of it.
pub(crate) struct Facts {
    pub(crate) fixed: u32,
    pub(crate) chains: Chains,
    /// What an event needs in every model, and by the order with lifetime boundaries.
    pub(crate) always: Predecessors,
    /// What it needs beside that, if it is in the prefix: a failed try its sections, a wake-up its notify.
    pub(crate) beside: Predecessors,
    /// By failed try of a section of another thread: the ends of the sections. If both are in the prefix, it comes
    /// before them.
    pub(crate) failures: Vec<Failure>,
    pub(crate) sections: Vec<Section>,
    /// By event.
    pub(crate) effects: Vec<Effect>,
    /// Wake-ups whose waits are not fixed.
    pub(crate) wakeups: Vec<Wakeup>,
    pub(crate) lifetimes: Lifetimes,
    pub(crate) semaphores: Semaphores,
    pub(crate) runs: Runs,
    pub(crate) held: OpenSections,
    /// The recorded order is feasible, as it is in every trace without problems.
    pub(crate) orderly: bool,
}

impl Facts {
    pub(crate) fn new(names: &Names, trace: &Batch, fixed: usize, initial: &dyn Fn(VarId) -> Value) -> Facts {
        let fixed = fixed.min(trace.events.len()) as u32;
        let chains = Chains::new(trace, fixed);
        let mut found = Sections::default();
        let effects: Vec<Effect> =
            (0u32..).zip(&trace.events).map(|(at, &event)| found.step(trace, at, event)).collect();
        let pairs = wakeups(trace);
        let always = predecessors::always(trace, &chains);
        let (beside, failures) = predecessors::beside(trace, &chains, &found.all, &effects, &pairs);
        let wakeups = pairs.into_iter().filter(|pair| pair.wait >= fixed).collect();
        let semaphores = Semaphores::new(names, trace, &chains);
        let orderly = orderly::is_orderly(trace, &chains, &found.all, &effects, &semaphores);
        let runs = Runs::new(&found.all, &chains);
        Facts {
            fixed,
            always,
            beside,
            failures,
            sections: found.all,
            effects,
            wakeups,
            lifetimes: Lifetimes::new(trace, &chains, initial),
            semaphores,
            held: OpenSections::new(&runs, chains.len()),
            runs,
            orderly,
            chains,
        }
    }
}
