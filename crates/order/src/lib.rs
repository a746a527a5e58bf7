//! Causality models as event structures: which other orders of the recorded events the program could have shown.
//!
//! **The idea.** The events of a recorded run could have come in other orders, as far as the program allows. A
//! causality model says which orders count as allowed. This crate turns a trace (or a window of it) and a model into an
//! [`EventStructure`]: the *relevant events*, one [`Chain`] for each thread, the *predecessors* of each event (a vector
//! clock over relevant events), and, for `weak-hb` and `maximal`, [`Rules`] that depend on the cut or on the path to
//! it. A *cut* takes a prefix of every chain; a cut that contains the predecessors of all its events, and whose rules
//! hold, is what some run can have done first. The crate `lattice` searches these cuts.
//!
//! **Relevant events** are those that the caller asks for (the steps of a property) and those that a rule of the model
//! speaks of. Other events are not in a chain, but they still order those that are: the clocks pass through them. That
//! is the relevant causality of JMPaX, and keeps the lattice as small as the property allows.
//!
//! **Papers.** `docs/causality.md` defines the models. Vector clocks and consistent cuts are Mattern's (*Virtual
//! time and global states of distributed systems*). [`full_hb()`] is algorithm A of Roşu and Sen (*An
//! instrumentation technique for online analysis of multithreaded programs*), [`weak_hb()`] follows Sen, Roşu and
//! Agha (*Detecting errors in multithreaded programs by generalized predictive analysis of executions*), and
//! [`maximal()`] Şerbănuţă, Chen and Roşu (*Maximal causal models for sequentially consistent systems*).
//!
//! **What it guarantees.** The structure admits exactly the prefixes that `docs/causality.md` calls feasible,
//! restricted to relevant events; `tests/definition.rs` and the tests of `predict` compare it with brute force. All
//! rules demand only orders that the recorded run has, so one pass along the recorded order finds every clock.
//!
//! **What it does not know.** Properties, searches, and schedules of events that are not relevant. The checker
//! (`witness`) does not use this crate: it reads the definitions on its own.
//!
//! ```
//! use order::{ChainPrefix, Trace, full_hb, sync_only};
//! use trace::text::TextReader;
//!
//! // Thread A writes some data, then a flag; thread B reads the flag.
//! let text = "A|w(data)=1|a.c:1\nA|w(flag)=1|a.c:2\nB|r(flag)=1|b.c:1\n";
//! let recorded = trace::Trace::read(&mut TextReader::new(text.as_bytes()))?;
//! let trace = Trace::new(&recorded.names, &recorded.batch);
//!
//! // The write of the data and the read are relevant. The write of the flag is not, but it orders them.
//! let is_relevant = |index: u64| index != 1;
//! let structure = full_hb(&trace, is_relevant);
//! let read = &structure.chains[1].events[0];
//! assert_eq!(structure.predecessors(read), [ChainPrefix { chain: 0, count: 1 }]);
//!
//! // `sync-only` ignores plain accesses: there, both orders are possible.
//! let structure = sync_only(&trace, is_relevant);
//! assert!(structure.predecessors(&structure.chains[1].events[0]).is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod event_structure;
mod full_hb;
mod lifetime_boundaries;
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

/// Whether a model has rules beyond clocks, so that it is searched window by window.
pub const fn is_windowed(model: Causality) -> bool {
    match model {
        Causality::WeakHb | Causality::Maximal => true,
        Causality::Observed | Causality::SyncOnly | Causality::FullHb => false,
    }
}
