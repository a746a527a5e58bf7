//! Level-by-level search of the computation lattice, with a monitor on every path.
//!
//! **The idea.** A run is a path through the lattice of *cuts*: sets of events that some run can have taken
//! first. The cuts with n events are *level* n. The search goes from level to level, as in JMPaX (Sen, Roşu and
//! Agha, *Detecting errors in multithreaded programs by generalized predictive analysis of executions*), and
//! carries along with each cut the set of automaton states in which paths can arrive there. So it decides for all
//! runs at once whether one of them violates a property, and needs only two levels at a time.
//!
//! **How.** A cut is packed into a machine word (`key`). Taking the next event of a chain adds a constant, so the
//! successors of a sorted level by one chain are sorted, and the next level is an n-way merge (`merge`), without
//! hashing. Keys count from a base that moves up from *stage* to stage (`layout`). What a cut carries is a *payload*
//! (`payload`): a bit set for small automata, one state or a list for those of some thousand states (`discovered`), a
//! list of states and contexts in general, or exact numbers of paths.
//! Older levels are stored as far as memory allows (`history`), to read back a path to a violation (`path`).
//!
//! **What it guarantees.** Without a limit that was met, a violation is found if and only if some path of the event
//! structure shows it, with a shortest such path. If a limit was met, [`Outcome::shortened`] names it, and the recorded
//! run is still among what was searched. Equal inputs give equal outcomes (unless time ran out), with any number of
//! threads.
//!
//! **What it does not know.** Properties (only an [`Automaton`]) and causality models (only an
//! [`EventStructure`](order::EventStructure)). It makes no schedules of events that are not relevant.
//!
//! [`Explorer`] receives events as they arrive, in any order; [`explore`] searches a whole event structure; [`count`]
//! counts its runs exactly.
//!
//! ```
//! use event::PathStatus;
//! use lattice::{Automaton, Limits, explore};
//! use trace::text::TextReader;
//!
//! /// Violated once event B (class 1) comes before event A (class 0).
//! struct Before;
//!
//! impl Automaton for Before {
//!     fn start(&mut self) -> Vec<u32> {
//!         vec![0]
//!     }
//!     fn step(&mut self, state: u32, class: u32) -> u32 {
//!         if state == 0 { 1 + class } else { state }
//!     }
//!     fn status(&self, state: u32) -> PathStatus {
//!         [PathStatus::Open, PathStatus::Safe, PathStatus::Violated][state as usize]
//!     }
//! }
//!
//! // Two threads that do not synchronise. The recorded run has A first.
//! let text = "T1|ev(A)|a.c:1\nT2|ev(B)|b.c:1\n";
//! let recorded = trace::Trace::read(&mut TextReader::new(text.as_bytes()))?;
//! let trace = order::Trace::new(&recorded.names, &recorded.batch);
//! let structure = order::full_hb(&trace, |_| true);
//!
//! let outcome = explore(&structure, &|index| index as u32, Before, &Limits::default());
//! assert_eq!(outcome.violations[0].path, [1], "another run has B first");
//! assert!(outcome.shortened.is_empty(), "and all runs were searched");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod automaton;
mod breadth;
mod discovered;
mod explorer;
mod history;
mod key;
mod keys;
mod layout;
mod limits;
mod merge;
mod messages;
mod path;
mod payload;
mod search;
mod tables;
mod violated_runs;

pub use automaton::Automaton;
pub use explorer::{Counted, Explorer, Outcome, Violation, count, explore};
pub use limits::{Limits, Shortened};
pub use messages::Message;
pub use search::Figures;
pub use violated_runs::violated_runs;
