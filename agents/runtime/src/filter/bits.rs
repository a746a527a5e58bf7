//! The bits of an entry of a shadow cell: `at` and `what`, two words of 64 bits.
//!
//! ```text
//!        63        51 50             18 17            4 3   0
//!  at   | slot       | sync index      | sequence no.  |flags|
//!
//!        63        56 55     46 45           32 31       8 7     0
//!  what | bytes read | nodes   | span          | context  | bytes | first entry
//!  what | foreign    | nodes   | span          | context  | bytes | second entry
//! ```
//!
//! `span` is the entry's sequence number less that of the first access like it. The number of the list of nodes has its
//! low 10 bits in the first entry and its high 8 bits in the second. Bit 54 of the second says that the word is
//! contended, and bit 55 that its upper half is foreign to the owner's reads.

const SLOT_BITS: u32 = 13;
const SYNC_INDEX_BITS: u32 = 33;
const SEQ_BITS: u32 = 14;
pub(crate) const SEQ_SHIFT: u32 = 4;
/// Above this bit are sync index and slot: the epoch.
pub(crate) const EPOCH_SHIFT: u32 = SEQ_SHIFT + SEQ_BITS;
pub(crate) const SLOT_SHIFT: u32 = EPOCH_SHIFT + SYNC_INDEX_BITS;
pub(crate) const CONTEXT_SHIFT: u32 = 8;
pub(crate) const CONTEXT_BITS: u32 = crate::record::CONTEXT_BITS;
pub(crate) const SPAN_SHIFT: u32 = CONTEXT_SHIFT + CONTEXT_BITS;
pub(crate) const NODES_SHIFT: u32 = SPAN_SHIFT + SEQ_BITS;
pub(crate) const NODES_HALF: u32 = 10;
const NODES_REST: u32 = 8;
/// Above this bit are the bytes read, or the foreign ones.
pub(crate) const BYTES_SHIFT: u32 = NODES_SHIFT + NODES_HALF;
/// Bits of the number of a node.
pub(crate) const NODE_BITS: u32 = NODES_HALF + NODES_REST;

/// Sequence numbers at a sync index; then another begins.
pub(crate) const MAX_SEQ: u32 = (1 << SEQ_BITS) - 1;
/// Sync indexes of a slot; then its thread records everything.
pub(crate) const MAX_SYNC_INDEX: u64 = (1 << SYNC_INDEX_BITS) - 1;
/// Slots that differ from the values of `at` that are no entry.
pub(crate) const MOST_SLOTS: u32 = (1 << SLOT_BITS) - 1;

/// Values of the first `at` that are no entry.
pub(crate) const EMPTY: u64 = 0;
pub(crate) const LOCKED: u64 = u64::MAX;
pub(crate) const FREED: u64 = u64::MAX - 1;
pub(crate) const WATCHED: u64 = u64::MAX - 2;

/// The access is in the trace already, or never will be: the entry only says that later ones are covered.
pub(crate) const RECORDED: u64 = 1;
/// Accesses before it were dropped: reads; or if it is a write, any.
pub(crate) const DROPPED: u64 = 2;
/// In a second entry or a node: it is a write.
pub(crate) const WRITE: u64 = 4;
/// In a first entry: the cell is Shared.
pub(crate) const SHARED: u64 = 4;
/// In a first entry: there is a recorded write that no entry shows; other threads' first reads of it conflict.
pub(crate) const VERSION: u64 = 8;
/// In a second entry: the lower half of the word is foreign to the owner's reads.
pub(crate) const LOWER_FOREIGN_TO_READS: u64 = 8;
/// In `what` of a second entry: the upper half of the word is.
pub(crate) const UPPER_FOREIGN_TO_READS: u64 = CONTENDED << 1;
/// In `what` of a second entry: the word is contended.
pub(crate) const CONTENDED: u64 = 1 << (NODES_SHIFT + NODES_REST);

pub(crate) const OWN_BITS: u64 = (1 << NODES_SHIFT) - 1;
pub(crate) const HALF: u64 = (1 << NODES_HALF) - 1;
pub(crate) const REST: u64 = (1 << NODES_REST) - 1;

/// Whether this is the state of an Exclusive or Shared cell.
#[inline(always)]
pub(crate) const fn is_known(a: u64) -> bool {
    a != EMPTY && a < (MOST_SLOTS as u64) << SLOT_SHIFT
}

#[inline(always)]
pub(crate) const fn is_shared(a: u64) -> bool {
    is_known(a) && a & SHARED != 0
}

/// An epoch, as in `at`: slot and sync index.
#[inline(always)]
pub(crate) const fn epoch_of(slot: u32, sync_index: u64) -> u64 {
    (slot as u64) << SLOT_SHIFT | sync_index << EPOCH_SHIFT
}

#[inline(always)]
pub(crate) const fn slot_of(a: u64) -> u32 {
    (a >> SLOT_SHIFT) as u32
}

/// A point of a thread, as in `at`: epoch and sequence number.
#[inline(always)]
pub(crate) const fn point(epoch: u64, seq: u32) -> u64 {
    epoch | (seq as u64) << SEQ_SHIFT
}

/// The distance between consecutive sequence numbers in `at`.
pub(crate) const NEXT_SEQ: u64 = 1 << SEQ_SHIFT;

/// The sequence number of a point.
#[inline(always)]
pub(crate) const fn seq_of(point: u64) -> u32 {
    (point >> SEQ_SHIFT) as u32 & MAX_SEQ
}

/// Whether a second entry or a node with this `at` is a write.
#[inline(always)]
pub(crate) const fn is_write(at: u64) -> bool {
    at & WRITE != 0
}

/// `at` of an entry that was renewed at a later point; the flags of the cell stay. If the entry was deferred, it is
/// dropped.
#[inline(always)]
pub(crate) const fn renewed(at: u64, point: u64) -> u64 {
    let dropped = (!at & RECORDED) * (DROPPED / RECORDED);
    point | at & (SHARED | VERSION | DROPPED) | dropped
}

/// Whether two epochs are equal.
#[inline(always)]
pub(crate) const fn same_epoch(a: u64, epoch: u64) -> bool {
    (a ^ epoch) >> EPOCH_SHIFT == 0
}

/// Whether two points are equal.
#[inline(always)]
pub(crate) const fn same_point(a: u64, b: u64) -> bool {
    (a ^ b) >> SEQ_SHIFT == 0
}

/// Whether two slots are equal.
#[inline(always)]
pub(crate) const fn same_slot(a: u64, epoch: u64) -> bool {
    (a ^ epoch) >> SLOT_SHIFT == 0
}

const _: () = assert!(BYTES_SHIFT + 8 == 64 && SLOT_SHIFT + SLOT_BITS == 64 && SHARED == WRITE);
