//! The filter: which accesses a thread writes at once, which are kept in the cells until another thread comes, and which
//! say nothing new. `docs/recording.md` defines it ("The filter").
//!
//! * [`Cell`]: two halves of 16 bytes for each granule of 8 bytes of memory, zero at first.
//! * [`Recorder`]: a thread's side: its slot, position, ranks. [`Recorder::is_covered`] is the fast path, then
//!   [`Recorder::repeat_biased`] (among others [`Recorder::renew_shared`], then [`Recorder::repeat_locked`]); what they deny goes to [`Recorder::record_access`].
//! * [`Block`]: granules side by side that are accessed at once, [`Recorder::record_block`]; a row of them whose cells are alike, [`Recorder::record_uniform_blocks`].
//! * Lines (two [`AtomicEntry`]s for 64 granules, zero at first): what a thread has read in a long segment, [`Recorder::has_read`].
//! * [`Filter`]: what the process has once: nodes for the history of cells, the must vectors, in zeroed
//!   memory that the caller gives.
//! * [`Sink`]: where records go.
//!
//! Nothing here allocates, and nothing waits but for the lock of a cell.

mod access;
mod block;
mod blocks;
mod cell;
mod conflict;
mod defer;
mod memory;
mod node;
pub mod offsets;
mod read_summary;
mod recorder;
mod repeat;
mod runs;
mod scan;
mod sync;
mod uniform;
mod wide;
mod write_out;

pub use access::Access;
pub use block::{BLOCK_BYTES, Block};
pub use cell::{AtomicEntry, Cell};
pub use memory::{Filter, Limits, Shape};
pub use read_summary::{ADDRESS_BITS, SUMMARY_BITS, clear_summary};
pub use recorder::{Outcome, Recorder};
pub use repeat::HomeEntry;
pub use scan::{Ownership, STRIP_BYTES, Scan, ScanMemory, ScanStep, Strip};

use crate::hand_off::Timing;
use block::BULK_ROOM;

/// Where a thread's records go, and where times come from.
pub trait Sink {
    /// A timed record is to be put. From now on until [`Sink::written`], the observer, and who changes a [`HandOff`](crate::handover::Handover) from outside, must see that: the time
    /// is taken, and handovers are looked at and changed, in between.
    fn begin(&self);
    /// The time of that record.
    fn time(&mut self, timing: Timing) -> u64;
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
const ENTRY_ROOM: usize = 3 * 3;

/// Words that an arrival can need at most: those of every entry, and the access itself.
pub const CONFLICT_ROOM: usize = ENTRY_ROOM * (memory::MOST_NODES + 2) + 4;
