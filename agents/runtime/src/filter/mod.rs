//! The filter: which accesses a thread writes at once, which are kept in the cells until another thread comes, and which
//! say nothing new. `docs/recording.md` defines it ("The filter").
//!
//! * [`Cell`]: two halves of 16 bytes for each granule of 8 bytes of memory, zero at first.
//! * [`Recorder`]: a thread's side: its slot, position, ranks. [`Recorder::covered`] is the fast path, then
//!   [`Recorder::again`] (among others [`Recorder::renews`], then [`Recorder::again_among_others`]); what they deny goes to [`Recorder::access`].
//! * [`Block`]: granules side by side that are accessed at once, [`Recorder::accesses`]; a row of them whose cells are alike, [`Recorder::blocks_alike`].
//! * Lines (two [`Half`]s for 64 granules, zero at first): what a thread has read in a long segment, [`Recorder::has_read`].
//! * [`Filter`]: what the process has once: nodes for the history of cells, the must vectors, in zeroed
//!   memory that the caller gives.
//! * [`Sink`]: where records go.
//!
//! Nothing here allocates, and nothing waits but for the lock of a cell.

mod access;
mod again;
mod alike;
mod block;
mod blocks;
mod cell;
mod hand;
mod keep;
mod line;
mod meet;
mod memory;
mod node;
pub mod offsets;
mod recorder;
mod runs;
mod sweep;
mod wide;
mod write_out;

pub use access::Access;
pub use again::Home;
pub use block::{BLOCK_BYTES, Block};
pub use cell::{Cell, Half};
pub use line::{ADDRESS_BITS, LINE_BITS, forget_line};
pub use memory::{Filter, Limits, Shape};
pub use recorder::{Outcome, Recorder};
pub use sweep::{Ground, ROW_BYTES, Row, Step, Sweep, Whose};

use crate::handover::When;
use block::BULK_WORDS;

/// Where a thread's records go, and where times come from.
pub trait Sink {
    /// A timed record is to be put. From now on until [`Sink::written`], the observer, and who changes a [`Handover`](crate::handover::Handover) from outside, must see that: the time
    /// is taken, and handovers are looked at and changed, in between.
    fn begin(&self);
    /// The time of that record.
    fn time(&mut self, when: When) -> u64;
    /// It is put.
    fn written(&self);
    /// Makes room for so many words, in records of any size. May wait; never called while a cell is locked.
    fn reserve(&mut self, words: usize);
    /// Writes a record, for which there is room.
    fn put<const WORDS: usize>(&mut self, words: [u64; WORDS]);
    /// Lets others run: the cell has been locked for long.
    fn yield_now(&self) {
        core::hint::spin_loop();
    }
}

/// Words that an entry can need: first, last and pin.
const ENTRY_WORDS: usize = 3 * 3;

/// Words that an arrival can need at most: those of every entry, and the access itself.
pub const ARRIVAL_WORDS: usize = ENTRY_WORDS * (memory::MOST_NODES + 2) + 4;
