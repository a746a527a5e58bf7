//! The filter: decides which accesses are recorded at once, which are deferred in shadow cells until another thread's
//! access conflicts, and which say nothing new. `docs/recording/filter.md` defines it and argues that it is sound.
//!
//! * [`Cell`]: two entries of 16 bytes for each word of 8 bytes of memory, zero at first.
//! * [`Recorder`]: a thread's side: its slot, sync index, sequence numbers. The table in `agents/native/src/access.rs`
//!   shows in which order its methods are tried: [`Recorder::is_covered`], then [`Recorder::repeat_biased`] or
//!   [`Recorder::renew_shared`] and [`Recorder::repeat_locked`], then [`Recorder::first_touch`] and
//!   [`Recorder::take_over`], at last [`Recorder::record_access`].
//! * [`Block`]: words side by side that are accessed at once, [`Recorder::record_block`]; several blocks whose cells
//!   are uniform, [`Recorder::record_uniform_blocks`].
//! * Read summaries (an [`AtomicEntry`] for 64 words, zero at first): what a thread has read in a long segment,
//!   [`Recorder::has_read`].
//! * [`Scan`] and [`Strip`]: loops that read memory of their own thread in order.
//! * [`Filter`]: what the process has once: nodes for older entries of cells, and the fork–join clocks, in zeroed
//!   memory that the caller gives.
//! * [`Sink`]: where records go.
//!
//! Nothing here allocates, and nothing waits but for the lock of a cell.

mod access;
mod atomic;
pub(crate) mod bits;
mod block;
mod cell;
mod conflict;
mod contents;
mod defer;
mod entry;
mod heap;
mod memory;
mod node;
pub mod offsets;
mod read_summary;
mod reads_from;
mod recorder;
mod remaining;
mod repeat;
mod runs;
mod scan;
mod sync;
mod take_over;
mod uniform;
mod waiting;
mod wide;
mod write_out;

pub use access::Access;
pub use atomic::Atomic;
pub use block::{BLOCK_BYTES, Block};
pub use cell::{AtomicEntry, Cell};
pub use memory::{Filter, Limits, Shape};
pub use read_summary::{ADDRESS_BITS, SUMMARY_BITS, clear_summary};
pub use recorder::{Outcome, Recorder};
pub use repeat::HomeEntry;
pub use scan::{Ownership, STRIP_BYTES, Scan, ScanMemory, ScanStep, Strip};
pub use waiting::Look;

use crate::hand_off::Timing;
use block::BULK_ROOM;

/// Where a thread's records go, and where times come from.
pub trait Sink {
    /// Announces that a timed record is being written. From now on until [`Sink::written`], the observer, and a thread
    /// that changes a [`HandOff`](crate::hand_off::HandOff) from outside, must see that: in between, the time is taken,
    /// and hand-offs are read and changed.
    fn begin(&self);
    /// Takes the time of that record.
    fn time(&mut self, timing: Timing) -> u64;
    /// The record is visible.
    fn written(&self);
    /// Makes room for this many words, in records of any size. May block; never called while a cell is locked.
    fn reserve(&mut self, words: usize);
    /// Writes a record for which there is room.
    fn put<const WORDS: usize>(&mut self, words: [u64; WORDS]);
    /// Lets other threads run, because a cell has been locked for long.
    fn yield_now(&self) {
        core::hint::spin_loop();
    }
}

/// Record words that an entry can need: first access, last access, drop barrier.
const ENTRY_ROOM: usize = 3 * 3;

/// Record words that a conflicting access can need at most: those of every entry, and the access itself.
pub const CONFLICT_ROOM: usize = ENTRY_ROOM * (memory::MOST_NODES + 2) + 4;
