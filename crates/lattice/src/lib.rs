//! Level-by-level exploration of the consistent cuts, with a monitor on every path.
//!
//! A *cut* is a set of events that some run can have taken first; the cuts of n events are level n. Each cut carries
//! the set of states that the paths to it can be in. Only two levels are needed for a verdict: a level is a sorted list of
//! packed cuts, and the next one an n-way merge of what each chain makes of it, without any hashing. Older levels are kept,
//! as far as memory allows, to read back a path that shows a violation.
//!
//! [`Explorer`] takes events as they arrive, in any order; [`explore`] a whole [`EventStructure`](order::EventStructure). [`count`] counts
//! paths exactly.

mod automaton;
mod breadth;
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
mod violated_runs;

pub use automaton::{Automaton, Status};
pub use explorer::{Counted, Explorer, Outcome, Violation, count, explore};
pub use limits::{Limits, Shortened};
pub use messages::Message;
pub use search::Figures;
pub use violated_runs::violated_runs;
