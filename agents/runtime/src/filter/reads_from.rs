//! Reads-from order: what is before a thread in every run in which its reads see what they saw.
//!
//! A recorded read that sees the write of another thread comes after that write in every predicted run, and so does all
//! that its thread does from then on. If write and read are in critical sections of one lock, the whole section of the
//! write comes before. So a thread that takes an element out of a queue is ordered after all that was done to the
//! element before it was put there, as if by a join. The [`Learned`] of a slot says what its thread knows in this way,
//! and since when, so that others learn it, too. `docs/recording/filter.md` argues why that is sound.

use super::access::AccessAt;
use super::bits::{EPOCH_SHIFT, NEXT_SEQ, same_slot, slot_of};
use super::contents::Contents;
use super::entry::Entry;
use super::memory::Filter;
use super::recorder::Recorder;
use crate::hand_off::{HandOff, Section};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU64, fence};

/// Threads of which a thread knows something; of slots that share an index, the last.
const OTHERS: usize = 16;
/// Facts that a slot keeps for others.
const FACTS: usize = 15;
/// Locks that a thread holds of which the section before is remembered.
const HELD: usize = 4;

/// For some other threads: the point up to which all their accesses are before this thread.
#[derive(Default, Debug)]
pub(super) struct Points([u64; OTHERS]);

impl Points {
    /// Learns a point, and returns what was known of that slot before, if it is news.
    #[inline(always)]
    pub(super) fn learn(&mut self, until: u64) -> Option<u64> {
        let known = &mut self.0[index_of(until)];
        let before = if same_slot(*known, until) { *known } else { 0 };
        (before < until).then(|| {
            *known = until;
            before
        })
    }

    /// Whether an entry of another thread with this `at` is before.
    #[inline(always)]
    pub(super) fn has(&self, at: u64) -> bool {
        let known = self.0[index_of(at)];
        same_slot(at, known) && at <= known
    }
}

#[inline(always)]
fn index_of(at: u64) -> usize {
    slot_of(at) as usize % OTHERS
}

/// What the thread of a slot has learned, for others to read. Only that thread writes.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Learned {
    count: AtomicU64,
    /// The newest facts: from this sync index of the thread on, all accesses of another slot up to this point are
    /// before it.
    facts: [[AtomicU64; 2]; FACTS],
}

impl Learned {
    fn add(&self, since: u64, until: u64) {
        let count = self.count.load(Relaxed);
        let [from, of] = &self.facts[count as usize % FACTS];
        // Who sees one of these stores also sees the count before them, and so that the place is used again.
        fence(Release);
        from.store(since, Relaxed);
        of.store(until, Relaxed);
        self.count.store(count + 1, Release);
    }

    /// The facts of which the thread knew at a sync index, but not yet at another; the newest first.
    fn known_at(&self, sync_index: u64, but_not_at: u64) -> impl Iterator<Item = u64> {
        let mut found = [0; FACTS];
        let count = self.count.load(Acquire);
        let mut oldest = count;
        for number in (count.saturating_sub(FACTS as u64)..count).rev() {
            let [from, of] = &self.facts[number as usize % FACTS];
            let since = from.load(Relaxed);
            if since <= but_not_at {
                break;
            }
            found[number as usize % FACTS] = if since <= sync_index { of.load(Relaxed) } else { 0 };
            oldest = number;
        }
        fence(Acquire);
        // The thread may have used places again meanwhile, and may be using the next one.
        let intact = (self.count.load(Relaxed) + 1).saturating_sub(FACTS as u64);
        (oldest.max(intact)..count).rev().map(move |number| found[number as usize % FACTS]).filter(|&of| of != 0)
    }
}

/// The locks that a thread holds, each with its critical section before.
#[derive(Default, Debug)]
pub(super) struct HeldSections([(usize, Section); HELD]);

impl HeldSections {
    #[inline(always)]
    pub(super) fn acquired(&mut self, lock: &HandOff, before: Section) {
        if let Some(free) = self.0.iter_mut().find(|held| held.0 == 0) {
            *free = (core::ptr::from_ref(lock).addr(), before);
        }
    }

    #[inline(always)]
    pub(super) fn released(&mut self, lock: &HandOff) {
        if let Some(held) = self.0.iter_mut().find(|held| held.0 == core::ptr::from_ref(lock).addr()) {
            *held = Default::default();
        }
    }

    /// The section with an access of another thread, if this thread is in the next section of the same lock.
    fn with(&self, at: u64) -> Option<Section> {
        self.0.iter().map(|held| held.1).find(|before| before.has(at))
    }
}

/// Of a write that a read is about to see: its slot, and the point up to which all of its thread will be before the
/// reading thread.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    slot: u32,
    until: u64,
}

/// The bits of `at` that are no part of a point.
const FLAGS: u64 = NEXT_SEQ - 1;
/// The bits of a point below its sync index.
const WITHIN_SYNC_INDEX: u64 = (1 << EPOCH_SHIFT) - 1;

impl Recorder {
    /// The write of another thread that a read will see, if its record says so: the record of the write has the bytes
    /// of the read's. The write also happens before the read by a lock: what is ordered only by a race must not be
    /// dropped, because races behind a race are reported.
    pub(super) fn seen_write(&self, filter: &Filter, contents: &Contents, access: &AccessAt) -> Option<Seen> {
        let write = newest_write(filter, contents, |entry| entry.mask() & access.mask != 0)?;
        // The words of a bulk access share one record: what one of them sees comes too late for the others.
        let is_known = access.bulk.is_none()
            && write.mask() == access.mask
            && write.slot() != self.slot()
            && self.earlier.has(write.at);
        is_known.then(|| Seen {
            slot: write.slot(),
            until: self.held.with(write.at).map_or(write.at | FLAGS, Section::until),
        })
    }

    /// The newest write of another thread to bytes that an access does not touch. The cell keeps it when the access
    /// becomes its contents, because this thread may read these bytes next.
    pub(super) fn other_write(&self, filter: &Filter, contents: &Contents, access: &AccessAt) -> Option<Entry> {
        if access.mask == 0xff {
            return None;
        }
        let mut write = newest_write(filter, contents, |entry| entry.mask() & access.mask == 0)?;
        write.set_recorded();
        (access.bulk.is_none() && write.slot() != self.slot()).then_some(write)
    }

    /// Puts such a write into the new contents of its cell.
    pub(super) fn keep_write(&mut self, filter: &Filter, contents: &mut Contents, write: Option<Entry>) {
        if let Some(write) = write {
            self.push(filter, contents, write);
        }
    }

    /// Learns from a read that was just recorded, and from what the thread of the write knew.
    pub(super) fn learn_from(&mut self, filter: &Filter, seen: Seen) {
        let Some(before) = self.reads_from.learn(seen.until) else { return };
        let since = self.sync_index();
        let mine = filter.learned(self.slot());
        mine.add(since, seen.until);
        let [known, but_not_at] = [seen.until, before].map(|at| Entry { at, what: 0 }.sync_index());
        for until in filter.learned(seen.slot).known_at(known, but_not_at) {
            if slot_of(until) != self.slot() && self.reads_from.learn(until).is_some() {
                mine.add(since, until);
            }
        }
    }

    /// Whether all that is known of a word is before an access in every run, by forks, joins and what was read. In a
    /// word that is not contended, that goes for all accesses to it that the cell no longer shows. `seen` is what the
    /// access itself reads.
    pub(super) fn is_all_before(
        &self,
        filter: &Filter,
        contents: &Contents,
        access: &AccessAt,
        seen: Option<Seen>,
    ) -> bool {
        // Atomic accesses leave a cell without readers.
        let shows_some = !contents.shared || contents.first.mask() | contents.second.mask() != 0;
        // The cells of a bulk access are of different points of one sync index, and must be alike.
        let within = if access.bulk.is_some() { WITHIN_SYNC_INDEX } else { 0 };
        !contents.contended
            && shows_some
            && entries(filter, contents).all(|entry| entry.at == 0 || self.is_before(filter, &entry, within, seen))
    }

    /// Whether the end of a word's lifetime comes after all that is known of it.
    pub(super) fn ends_after_all(&self, filter: &Filter, contents: &Contents) -> bool {
        !contents.contended
            && entries(filter, contents).all(|entry| entry.at == 0 || self.is_before(filter, &entry, 0, None))
    }

    /// Whether this thread knows all writes to a word that the cell does not show: in a word that is not contended,
    /// each thread that the cell names came after them.
    pub(super) fn knows_version(&self, filter: &Filter, contents: &Contents) -> bool {
        !contents.contended
            && entries(filter, contents).any(|entry| entry.at != 0 && self.is_before(filter, &entry, 0, None))
    }

    pub(super) fn is_before(&self, filter: &Filter, entry: &Entry, within: u64, seen: Option<Seen>) -> bool {
        let at = entry.at | within;
        entry.slot() == self.slot()
            || entry.sync_index() != 0
                && (self.reads_from.has(at)
                    || seen.is_some_and(|seen| same_slot(at, seen.until) && at <= seen.until)
                    || self.is_ordered_after(filter, entry))
    }

    /// Whether the conflicts between these call contexts were recorded often enough, though all entries are before this
    /// thread. What happens seldom stays in the trace: `lockset` sees it even where no run can show a race.
    pub(super) fn is_frequent(&mut self, contents: &Contents, access: &AccessAt) -> bool {
        let number = self.number_of_pair(&contents.first, &contents.second, access.context);
        let count = &mut self.conflicts_of[number];
        if *count >= self.per_pair {
            return true;
        }
        *count += 1;
        false
    }

    /// Whether [`Recorder::is_frequent`] would say so, for these entries of a cell.
    #[inline(always)]
    pub(super) fn is_frequent_pair(&self, first: &Entry, second: &Entry, context: u32) -> bool {
        self.conflicts_of[self.number_of_pair(first, second, context)] >= self.per_pair
    }

    /// The counter of the conflicts between the call context of an access and that of an entry.
    #[inline(always)]
    fn number_of_pair(&self, first: &Entry, second: &Entry, context: u32) -> usize {
        let other = if second.is_deferred() { second } else { first };
        let pair = u64::from(context) << 37 ^ u64::from(other.context()) << 13 ^ u64::from(other.slot());
        (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize % self.conflicts_of.len()
    }
}

/// All entries of a cell.
fn entries(filter: &Filter, contents: &Contents) -> impl Iterator<Item = Entry> {
    [contents.first, contents.second].into_iter().chain(filter.list(contents.nodes).map(|(_, entry)| entry))
}

/// The newest write that a cell shows and that has these bytes. None if newer ones may have been dropped.
fn newest_write(filter: &Filter, contents: &Contents, has_bytes: impl Fn(&Entry) -> bool) -> Option<Entry> {
    let is_it = |entry: &Entry| entry.is_write() && entry.mask() != 0 && has_bytes(entry);
    let newest = Some(contents.second).filter(is_it);
    let older = || filter.list(contents.nodes).map(|(_, entry)| entry).find(is_it);
    let dropped_writes = contents.second.is_write() && contents.second.has_dropped();
    let write = newest.or_else(|| (!dropped_writes).then(older).flatten());
    write.filter(|write| write.sync_index() != 0)
}
