//! A shadow cell: what is known of one word of memory, in two entries that are locked as one. `bits` draws an entry.
//!
//! In an Exclusive cell, the first entry is the owner's newest read (without bytes: there is none, but the entry names
//! the owner), and the second the newest write, its own or of a thread that is ordered before it. In a Shared cell,
//! both are reads of two threads.
//!
//! The entries lie apart, so that two threads that read the same memory all the time change different cache lines:
//! threads with even slots use the first entry of a Shared cell, if they can, and those with odd slots the second.
//!
//! A cell is written by a thread that holds its lock (`at` of the first entry is [`LOCKED`]), or that owns its biased
//! region. One exception: a reader renews its own entry without the lock, both words at once
//! ([`AtomicEntry::exchange`]). For a first entry the lock is one of the two words; a second one is taken out by the
//! thread that has the lock ([`Cell::contents`]).

use super::bits::{
    BYTES_SHIFT, CONTENDED, EMPTY, HALF, LOCKED, LOWER_FOREIGN_TO_READS, NODES_SHIFT, REST, SEQ_SHIFT, SHARED,
    UPPER_FOREIGN_TO_READS, VERSION, WATCHED, is_known, is_shared, same_slot,
};
use super::contents::{Contents, Packed};
use super::entry::Entry;
use super::{Sink, wide};
use core::hint::spin_loop;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU64, fence};

/// Attempts before the thread yields its processor.
const SPINS: u32 = 100;

/// The storage of an entry: two words that can be exchanged as one. Zeroed memory is an empty entry.
#[repr(C, align(16))]
#[derive(Default, Debug)]
pub struct AtomicEntry([AtomicU64; 2]);

impl AtomicEntry {
    #[inline(always)]
    pub(super) fn new(entry: Entry) -> AtomicEntry {
        AtomicEntry([AtomicU64::new(entry.at), AtomicU64::new(entry.what)])
    }

    #[inline(always)]
    pub(super) fn at(&self) -> u64 {
        self.0[0].load(Relaxed)
    }

    #[inline(always)]
    pub(super) fn what(&self) -> u64 {
        self.0[1].load(Relaxed)
    }

    /// Loads `what` before anything that is loaded next.
    #[inline(always)]
    pub(super) fn what_first(&self) -> u64 {
        self.0[1].load(Acquire)
    }

    #[inline(always)]
    pub(super) fn set_at(&self, at: u64) {
        self.0[0].store(at, Relaxed);
    }

    /// Loads both words, which may not belong together.
    #[inline(always)]
    pub(super) fn entry(&self) -> Entry {
        Entry { at: self.at(), what: self.what() }
    }

    #[inline(always)]
    pub(super) fn set(&self, at: u64, what: u64) {
        self.0[1].store(what, Relaxed);
        self.0[0].store(at, Relaxed);
    }

    /// Replaces both words at once, if they are still the old ones.
    #[inline(always)]
    pub(super) fn exchange(&self, old: Entry, new: Entry) -> bool {
        wide::exchange(&self.0, [old.at, old.what], [new.at, new.what])
    }
}

/// The shadow cell of a word: references to its two entries.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    pub(super) first: &'a AtomicEntry,
    pub(super) second: &'a AtomicEntry,
}

impl<'a> Cell<'a> {
    /// The cell of these entries. The same two always belong together.
    #[inline(always)]
    pub fn new(first: &'a AtomicEntry, second: &'a AtomicEntry) -> Cell<'a> {
        Cell { first, second }
    }

    /// Makes it the cell of a watched variable: accesses bypass the filter. No thread has accessed it yet.
    pub fn watch(&self) {
        self.first.0[0].store(WATCHED, Relaxed);
    }

    /// Whether it is a watched variable's.
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        self.state() == WATCHED
    }

    /// Whether nothing is known. A range of empty cells can be given back.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.state() == EMPTY
    }

    /// Whether anything is known of the word's present contents.
    #[inline(always)]
    pub fn is_in_use(&self) -> bool {
        is_known(self.state())
    }

    /// `at` of the first entry: the state of the cell, and its lock.
    #[inline(always)]
    pub(super) fn state(&self) -> u64 {
        self.first.at()
    }

    /// Waits for the lock, and returns the state, now locked, if it `fits` (with `biased`, no lock is needed); or,
    /// without the lock, a state that does not fit.
    #[inline]
    pub(super) fn lock(&self, sink: &impl Sink, biased: bool, fits: impl Fn(u64) -> bool) -> Result<u64, u64> {
        let mut spins = 0;
        loop {
            let a = self.state();
            if a != LOCKED {
                if !fits(a) {
                    return Err(a);
                }
                if biased {
                    // Others may be looking whether it covers what they do.
                    self.hide();
                    return Ok(a);
                }
                if self.first.0[0].compare_exchange_weak(a, LOCKED, Acquire, Relaxed).is_ok() {
                    return Ok(a);
                }
            }
            spins += 1;
            if spins % SPINS == 0 {
                sink.yield_now();
            } else {
                spin_loop();
            }
        }
    }

    /// Hides the entries of a cell that this thread owns from others, which would take what it changes for theirs.
    #[inline(always)]
    pub(super) fn hide(&self) {
        self.first.set_at(LOCKED);
        fence(Release);
    }

    /// Locks the cell, if its state is still this one.
    #[inline(always)]
    pub(super) fn try_lock(&self, a: u64) -> bool {
        self.first.0[0].compare_exchange(a, LOCKED, Acquire, Relaxed).is_ok()
    }

    /// Unlocks the cell with this state.
    #[inline]
    pub(super) fn unlock(&self, a: u64) {
        self.first.0[0].store(a, Release);
    }

    /// The contents of a cell that this thread has locked. A second reader is taken out: it waits for the lock with
    /// what it does from then on.
    #[inline]
    pub(super) fn contents(&self, a: u64) -> Contents {
        Contents::unpack(self.take_packed(a))
    }

    /// The packed contents of a cell that this thread has locked.
    #[inline]
    pub(super) fn take_packed(&self, a: u64) -> Packed {
        let c = if a & SHARED != 0 { self.second.0[0].swap(0, AcqRel) } else { self.second.at() };
        [Entry { at: a, what: self.first.what() }, Entry { at: c, what: self.second.what() }]
    }

    /// Whether a locked cell that is in use has older entries.
    #[inline(always)]
    pub(super) fn has_nodes(&self) -> bool {
        self.first.what() >> NODES_SHIFT & HALF != 0 || self.second.what() >> NODES_SHIFT & REST != 0
    }

    /// Unlocks the cell with this first entry.
    #[inline(always)]
    pub(super) fn set_first(&self, entry: Entry) {
        self.first.0[1].store(entry.what, Relaxed);
        self.unlock(entry.at);
    }

    /// Unlocks the cell with these contents.
    #[inline]
    pub(super) fn set(&self, contents: &Contents) {
        self.put(contents.pack());
    }

    /// Unlocks the cell with these packed contents.
    #[inline]
    pub(super) fn put(&self, [first, second]: Packed) {
        self.second.set(second.at, second.what);
        self.set_first(first);
    }

    /// The bytes that are foreign to the writes of an Exclusive cell's owner.
    #[inline(always)]
    pub(super) fn foreign(&self) -> u8 {
        (self.second.what() >> BYTES_SHIFT) as u8
    }

    /// Whether a half of the word is foreign to the reads of an Exclusive cell's owner.
    #[inline(always)]
    pub(super) fn has_foreign_to_reads(&self) -> bool {
        self.second.at() & LOWER_FOREIGN_TO_READS != 0 || self.second.what() & UPPER_FOREIGN_TO_READS != 0
    }

    /// Whether it is Shared, and all threads that it names know its version, if there is one: each thread that a word
    /// names which is not contended came after all writes that the cell does not show (`Recorder::knows_version`).
    /// While an entry of a reader that was loaded before is unchanged, that stays so: who writes a version, or makes
    /// the word contended by a conflict, takes all entries out.
    #[inline(always)]
    pub(super) fn is_version_known(&self) -> bool {
        let a = self.state();
        is_shared(a) && (a & VERSION == 0 || self.second.what() & CONTENDED == 0)
    }

    /// Whether the contents are still these, and unlocked.
    #[inline]
    pub(super) fn is_still(&self, [first, second]: Packed) -> bool {
        let at = self.first.0[0].load(Acquire);
        at == first.at && Entry { at, what: self.first.what() } == first && self.second.entry() == second
    }

    /// Whether the word is contended: the trace has an access to it that conflicted with another thread's.
    #[inline(always)]
    pub fn is_contended(&self) -> bool {
        self.second.what() & CONTENDED != 0 && is_known(self.state())
    }

    /// Whether a cell in use is not Shared, and its owner's newest read is of this call context.
    #[inline(always)]
    pub(super) fn is_read_in(&self, context: u32) -> bool {
        self.state() & SHARED == 0 && self.first.entry().context() == context
    }

    /// Renews the read entry of an Exclusive cell, if it belongs to the thread of `at`: that thread has read these
    /// bytes since, at this point, and the new entry replaces the old one.
    pub(super) fn was_read(&self, at: u64, mask: u8, context: u32) {
        let a = self.state();
        if !is_known(a) || is_shared(a) || !same_slot(a, at) || (a ^ at) >> SEQ_SHIFT == 0 {
            return;
        }
        let first = Entry { at: a, what: self.first.what() };
        let entry = first.renewed(at, mask, context);
        let bytes = u64::from(mask) << BYTES_SHIFT;
        self.set_first(Entry { what: entry.what & !(0xff << BYTES_SHIFT) | bytes, ..entry });
    }

    /// Forgets everything, and unlocks the cell with this state.
    pub(super) fn clear(&self, state: u64) {
        self.first.0[1].store(0, Relaxed);
        self.second.set(0, 0);
        self.unlock(state);
    }
}
