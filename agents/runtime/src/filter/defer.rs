//! Defers accesses: of the owner of a cell, and of a reader among others.

use super::Sink;
use super::access::AccessAt;
use super::bits::{same_epoch, same_slot};
use super::contents::{Contents, without_halves};
use super::entry::Entry;
use super::memory::{Filter, MOST_NODES};
use super::recorder::{Outcome, Recorder};
use super::write_out::put_entry;
use core::sync::atomic::Ordering::Relaxed;

impl Recorder {
    /// Defers an access in a cell that is empty, this thread's, or whose entries are ordered before this thread.
    pub(super) fn defer(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        contents: &mut Contents,
        access: &AccessAt,
    ) -> Outcome {
        let (mut dropped_reads, mut dropped_writes) = (false, false);
        if contents.shared || !same_slot(contents.first.at, self.epoch()) || contents.first.at == 0 {
            dropped_reads = self.retire(filter, sink, contents, contents.first, access.word);
            // The write of a thread that is ordered before stays where it is while this thread only reads.
            if access.write || contents.shared {
                let has_dropped = self.retire(filter, sink, contents, contents.second, access.word);
                dropped_writes = has_dropped && contents.second.is_write();
                dropped_reads |= has_dropped && !contents.second.is_write();
                contents.version |= dropped_writes;
                contents.second = Entry::default();
            }
            contents.first = Entry::nothing(self.epoch());
            contents.shared = false;
            contents.read = 0;
        }
        let old = if access.write { contents.second } else { contents.first };
        let conflicts = if access.write {
            contents.foreign & access.mask != 0
        } else {
            contents.foreign_to_reads & access.mask != 0 && access.mask & !contents.first.mask() != 0
        };
        let mut entry = if conflicts {
            self.conflict_in_own_cell(filter, sink, contents, old, access)
        } else {
            self.deferred(filter, sink, contents, old, access)
        };
        // Each entry carries the flag for what was dropped of its kind.
        if access.write {
            if dropped_writes {
                entry.set_dropped();
            }
            contents.second = entry;
        } else {
            contents.first = entry;
        }
        if dropped_reads {
            contents.first.set_dropped();
        }
        if conflicts { Outcome::Written } else { Outcome::Deferred }
    }

    /// Records the first access of the owner to foreign bytes, which conflicts.
    fn conflict_in_own_cell(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        contents: &mut Contents,
        old: Entry,
        access: &AccessAt,
    ) -> Entry {
        let timing = self.conflict_timing(contents);
        let seen = if access.write { None } else { self.seen_write(filter, contents, access) };
        self.put_conflict(sink, access, timing);
        if let Some(seen) = seen {
            self.learn_from(filter, seen);
        }
        let dropped = self.retire(filter, sink, contents, old, access.word);
        contents.foreign_to_reads = without_halves(contents.foreign_to_reads, access.mask);
        if access.write {
            contents.foreign &= !access.mask;
        } else {
            contents.read = access.mask;
        }
        let mut entry = Entry::recorded(self.epoch(), access.mask, access.write);
        if dropped {
            entry.set_dropped();
        }
        entry
    }

    /// The entry of this thread with this access in it. For a first entry, also updates the bytes read.
    pub(super) fn deferred(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        contents: &mut Contents,
        old: Entry,
        access: &AccessAt,
    ) -> Entry {
        let (epoch, mask, context, write) = (self.epoch(), access.mask, access.context, access.write);
        let is_first = old.at == contents.first.at && !write;
        if !same_epoch(old.at, epoch) || old.mask() == 0 {
            let dropped = self.retire(filter, sink, contents, old, access.word);
            if is_first {
                contents.read = mask;
            }
            let mut entry = Entry::deferred(epoch, self.next_seq(write), mask, context, write);
            if dropped {
                entry.set_dropped();
            }
            return entry;
        }
        let is_new = contents.read & mask == 0;
        if is_first {
            // After a write of this thread, the other bytes have to be read again.
            contents.read = mask | if self.is_newest(old.at) { contents.read } else { 0 };
        }
        let mut entry = old;
        let is_loop = is_first && is_new && old.is_deferred() && old.context() == context && self.is_newest(old.at);
        if is_loop && !(contents.second.is_write() && same_epoch(contents.second.at, epoch)) {
            // Byte after byte in a loop counts as one read, the first.
            entry.add_bytes(mask);
            return entry;
        }
        if write && self.goes_on(&old, mask, context) {
            entry.add_bytes(mask);
            return entry;
        }
        let seq = self.next_seq(write);
        if old.mask() == mask && old.is_deferred() {
            entry.set_last(seq);
            return entry;
        }
        if let Some((node, mut known)) = filter.list(contents.nodes).find(|(_, entry)| {
            same_epoch(entry.at, epoch) && entry.is_write() == write && entry.mask() == mask && entry.is_deferred()
        }) {
            // An access of other bytes has an entry of its own.
            known.set_last(seq);
            filter.node(node).set_entry(old);
            return known;
        }
        let mut entry = Entry::deferred(epoch, seq, mask, context, write);
        if old.mask() == mask {
            // The recorded access is in the trace: this one is the last.
            if old.has_dropped() {
                entry.set_dropped();
            }
        } else if self.retire(filter, sink, contents, old, access.word) {
            entry.set_dropped();
        }
        entry
    }

    /// Evicts an entry from the cell: into a node before the older ones; or a reader's among others into the trace, as
    /// long as its call context is not hot. Otherwise it is dropped, and with it all older ones of the owner's cell.
    /// Returns whether it was dropped: the entry in its place then needs a drop barrier. (If writes are dropped with a
    /// read, the newest write gets one, too.) A cell whose owner comes again and again must not cost more each time.
    pub(super) fn retire(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        contents: &mut Contents,
        entry: Entry,
        word: u64,
    ) -> bool {
        if entry.mask() == 0 || entry.needs_no_record() {
            // There is no access, but some may have been dropped before it.
            return entry.has_dropped();
        }
        if !self.is_hot(&entry) {
            let room = match 2 * (filter.entries() - 1) {
                room if room > 0 && same_epoch(entry.at, self.epoch()) => MOST_NODES,
                room => room,
            };
            let is_deferred =
                !entry.has_dropped() && filter.count(contents.nodes) < room && self.push(filter, contents, entry);
            if is_deferred || contents.shared {
                self.count_kept(&entry);
                if !is_deferred {
                    put_entry(sink, word, &entry);
                    self.need_clock();
                }
                return false;
            }
        }
        if !entry.has_dropped() {
            self.count_dropped(filter, 1);
        }
        if !contents.shared {
            let writes = || filter.list(contents.nodes).filter(|(_, older)| older.is_write());
            if writes().next().is_some() {
                debug_assert!(contents.second.is_write(), "the newest write is in the cell");
                contents.version = true;
                if writes().any(|(_, older)| same_epoch(older.at, contents.second.at)) {
                    // The dropped writes are before the last one, but maybe not before the first.
                    contents.second.forget_first();
                }
                contents.second.set_dropped();
            }
            self.give_history(filter, core::mem::take(&mut contents.nodes));
        }
        true
    }

    /// Puts an entry into a node before the others. Returns false if there is no node.
    pub(super) fn push(&mut self, filter: &Filter, contents: &mut Contents, entry: Entry) -> bool {
        let count = filter.count(contents.nodes);
        if count >= MOST_NODES {
            return false;
        }
        let Some(node) = self.take_node(filter) else { return false };
        filter.node(node).set_entry(entry);
        filter.node(node).next.store(u64::from(contents.nodes) | (count as u64 + 1) << 32, Relaxed);
        contents.nodes = node;
        true
    }
}
