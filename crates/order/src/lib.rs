//! Causality models: which other orders of the recorded events the program could have shown.
//!
//! `docs/causality.md` defines them. A model turns a trace into a [`Frame`]: the *elements* (the events that matter), one
//! lane for each thread, with what each element needs before it (vector clocks over the elements), and, for `weak-hb` and
//! `maximal`, [`Rules`] that depend on the cut or on the path. Events that are no elements still order those that are:
//! the clocks pass through them.
//!
//! All rules only ever demand an order that the recorded run has, so one pass along the recorded order finds every clock.

mod barriers;
mod conditions;
mod frame;
mod full_hb;
mod locks;
mod maximal;
mod observed;
mod rules;
mod sections;
mod semaphores;
mod start;
mod threads;
mod variables;
mod wakeups;
mod weak_hb;
mod wide;
mod window;

#[cfg(test)]
mod tests;

pub use frame::{Element, Frame, Lane, Need};
pub use full_hb::{full_hb, sync_only};
pub use maximal::maximal;
pub use observed::observed;
pub use rules::{Context, Passed, Rules};
pub use weak_hb::weak_hb;
pub use window::{Trace, Window, Windows};

/// Which orders count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Model {
    /// Only the recorded one.
    Observed,
    /// Those that keep synchronisation, but not data accesses: unsound for values.
    SyncOnly,
    /// Those that keep every conflict.
    FullHb,
    /// Those that keep who read from whom, and atomic sets undivided.
    WeakHb,
    /// Every one in which all reads see what they saw.
    Maximal,
}

impl Model {
    /// Every model.
    pub const ALL: [Model; 5] = [Model::Observed, Model::SyncOnly, Model::FullHb, Model::WeakHb, Model::Maximal];

    /// Its lattice is over all events of a window: its rules depend on more than clocks.
    pub const fn is_wide(self) -> bool {
        match self {
            Model::WeakHb | Model::Maximal => true,
            Model::Observed | Model::SyncOnly | Model::FullHb => false,
        }
    }

    /// As the command line and the JSON spell it.
    pub const fn text(self) -> &'static str {
        match self {
            Model::Observed => "observed",
            Model::SyncOnly => "sync-only",
            Model::FullHb => "full-hb",
            Model::WeakHb => "weak-hb",
            Model::Maximal => "maximal",
        }
    }
}
