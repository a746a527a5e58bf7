//! Causality models: which other orders of the recorded events the program could have shown.
//!
//! `docs/causality.md` defines them. A model turns a trace into a [`EventStructure`]: the *elements* (the events that matter), one
//! chain for each thread, with what each element needs before it (vector clocks over the elements), and, for `weak-hb` and
//! `maximal`, [`Rules`] that depend on the cut or on the path. Events that are no elements still order those that are:
//! the clocks pass through them.
//!
//! All rules only ever demand an order that the recorded run has, so one pass along the recorded order finds every clock.

mod barriers;
mod builder;
mod conditions;
mod event_structure;
mod full_hb;
mod lifetimes;
mod locks;
mod maximal;
mod observed;
mod rules;
mod sections;
mod semaphores;
mod wakeups;
mod weak_hb;
mod window;
mod window_start;
mod windowed;

#[cfg(test)]
mod tests;

use event::Causality;

pub use event_structure::{Chain, ChainPrefix, EventStructure, RelevantEvent};
pub use full_hb::{full_hb, sync_only};
pub use maximal::maximal;
pub use observed::observed;
pub use rules::{Admission, Context, Rules};
pub use weak_hb::weak_hb;
pub use window::{Trace, Window, Windows};

/// Whether the lattice of a model is over all events of a window: its rules depend on more than clocks.
pub const fn is_windowed(model: Causality) -> bool {
    match model {
        Causality::WeakHb | Causality::Maximal => true,
        Causality::Observed | Causality::SyncOnly | Causality::FullHb => false,
    }
}
