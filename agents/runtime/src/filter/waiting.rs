//! Atomic accesses and failed try-locks that a waiting thread repeats.
//!
//! A loop that waits loads the same stores again and again. A load need not be recorded if the thread has done nothing
//! but such loads since, and every variable among them has been loaded twice from the same store, around one load (the
//! *pivot*): each once at or before the pivot, and once at or after it. Then all these variables have the loaded values
//! at the pivot, in every run that is predicted from the trace. So the thread can have made all its further loads
//! there, and what it records next follows. Without the second round, a variable could have changed before another one
//! was loaded, and a load that confirms what was read in between (a sequence lock) would not be missed.
//!
//! For this, each store leaves its identity in the shadow cell ([`Entry::stored`]): slot and sync index of its thread.
//! So a store of the same value is another store. A read-modify-write that leaves the value as it is (a try to take a
//! spin lock that is held) counts as a load, but it also releases what its thread has done. So the second entry of the
//! cell counts those since the store that can tell other threads something: not those of a thread that has done nothing
//! since its last one. A try-lock that fails is of this kind, too: it sees a critical section of another thread.

use super::bits::{NEXT_SEQ, same_slot};
use super::cell::Cell;
use super::contents::Packed;
use super::recorder::Recorder;
use crate::record::Kind;

/// A loop looks at no more variables.
const MOST: usize = 4;

/// An atomic access that leaves memory as it is (a load, or a read-modify-write), or a try-lock that fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// As in its record.
    pub kind: Kind,
    /// As in its record.
    pub aux: u8,
    /// Its address.
    pub address: u64,
    /// What it sees there: a value, or the critical section because of which it fails.
    pub value: u64,
}

/// A recorded one.
#[derive(Clone, Copy, Debug)]
struct Seen {
    look: Look,
    /// The contents of the cell then.
    cell: Packed,
    /// It was made at or before the pivot, and at or after it.
    is_confirmed: bool,
}

/// What a thread has recorded last, if that is nothing but such accesses.
#[derive(Debug, Default)]
pub(super) struct RecentLooks {
    seen: [Option<Seen>; MOST],
    /// The point of the thread after the last of them.
    at: u64,
}

impl RecentLooks {
    /// Notes an access that was recorded between two points of its thread.
    #[inline]
    fn add(&mut self, [before, after]: [u64; 2], look: Look, cell: Packed) {
        let known = self.seen.iter_mut().flatten().find(|seen| is_alike(&seen.look, &look));
        match known {
            Some(seen) if self.at == before && seen.look == look && seen.cell == cell => seen.is_confirmed = true,
            // A new value is news: what was seen before it counts no more.
            Some(_) => self.restart(look, cell),
            None if self.at != before => self.restart(look, cell),
            None => match self.seen.iter().position(Option::is_none) {
                Some(free) if free > 0 => {
                    // A new variable: the next access that is repeated is the pivot.
                    self.seen.iter_mut().flatten().for_each(|seen| seen.is_confirmed = false);
                    self.seen[free] = Some(Seen { look, cell, is_confirmed: false });
                }
                _ => self.restart(look, cell),
            },
        }
        self.at = after;
    }

    fn restart(&mut self, look: Look, cell: Packed) {
        self.seen = [None; MOST];
        // It is the pivot itself.
        self.seen[0] = Some(Seen { look, cell, is_confirmed: true });
    }
}

/// Whether two accesses differ in their values only.
fn is_alike(a: &Look, b: &Look) -> bool {
    (a.kind, a.aux, a.address) == (b.kind, b.aux, b.address)
}

impl Recorder {
    /// Whether this thread may be waiting: it has recorded nothing since an atomic access that left memory as it was.
    #[inline(always)]
    pub fn may_be_waiting(&self) -> bool {
        self.recent_looks.at == self.now() && self.recent_looks.seen[0].is_some()
    }

    /// A thread that may be waiting has written to its own stack: the value that a compare-exchange expects. If that is
    /// all it has done since, it still may be waiting. (No other thread sees that word. If one did after all, the write
    /// is in the trace where it was made first, and its repetitions are covered.)
    #[inline]
    pub fn prepared(&mut self, cell: Cell) {
        let now = self.now();
        if now == self.recent_looks.at.wrapping_add(NEXT_SEQ)
            && cell.second.entry().is_write_at(now)
            && same_slot(cell.state(), self.epoch())
        {
            self.recent_looks.at = now;
        }
    }

    /// Whether what this thread does, which waits, repeats what the trace already has of it, and need not be recorded:
    /// an atomic access, which was just made without the lock of its cell, or a try-lock that has failed.
    #[inline]
    pub fn is_repeated(&self, cell: Option<Cell>, look: Look) -> bool {
        // A store locks the cell before it changes the memory, and leaves its identity. So if this access has seen a
        // new store, the cell has changed.
        let is_still = |packed| cell.is_none_or(|cell| cell.is_still(packed));
        let same = |seen: &Seen| seen.is_confirmed && seen.look == look && is_still(seen.cell);
        self.may_be_waiting() && self.recent_looks.seen.iter().flatten().any(same)
    }

    /// Notes a try-lock that failed, and was recorded after this point of the thread.
    pub fn failed(&mut self, before: u64, look: Look) {
        self.looked(before, look, Packed::default());
    }

    /// Notes what was recorded after this point of the thread.
    #[inline]
    pub(super) fn looked(&mut self, before: u64, look: Look, cell: Packed) {
        let after = self.now();
        if !self.records_everything() {
            self.recent_looks.add([before, after], look, cell);
        }
    }

    /// Whether a read-modify-write that leaves memory as it is, and a cell with these contents, tells other threads
    /// nothing: since the same store, this thread has done nothing but the same.
    #[inline]
    pub(super) fn tells_nothing(&self, before: u64, look: &Look, [first, _]: Packed) -> bool {
        let RecentLooks { seen, at } = &self.recent_looks;
        let is_only = *at == before && seen[1].is_none();
        is_only && seen[0].is_some_and(|seen| seen.look == *look && seen.cell[0] == first)
    }
}
