//! What can happen in one run of a multithreaded program: events, their operations, ids, names and values.
//!
//! Everything else stands on this vocabulary, so it has no dependencies, does no I/O and holds no opinion: an
//! [`Event`] says what happened (an acquire, a write, a wait), never what that means for the order of events. That
//! belongs to the causality models.
//!
//! * [`Event`] is 16 bytes: operation, thread, object, site, and a link to its [`Extra`] (value, memory order, …).
//! * [`Names`] interns every name once, so that all ids are dense and can index arrays.
//! * [`Batch`] is a number of consecutive events: a chunk of a stream, or a whole run in memory.

mod batch;
mod causality;
mod class;
mod event;
mod id;
mod meta;
mod names;
mod op;
mod order;
mod status;
mod value;

pub use batch::{Batch, Init, Item};
pub use causality::{Causality, CausalityChoice};
pub use event::{Event, Extra, MAX_THREADS, Wake};
pub use id::{BlockId, CondId, Id, LabelId, LatchId, LockId, SemId, SiteId, StackId, StrId, ThreadId, VarId};
pub use meta::{Made, Meta, Module, Origin, Stacks, ThreadInfo};
pub use names::{Full, Interner, Names, Space};
pub use op::Op;
pub use order::Order;
pub use status::PathStatus;
pub use value::Value;
