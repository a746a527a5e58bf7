//! Keeping accesses: in a cell that is, or becomes, this thread's, and of a reader among others.

use super::Sink;
use super::access::Placed;
use super::cell::{Entry, Words, same, same_slot, without_halves};
use super::memory::{Filter, MOST_NODES};
use super::recorder::{Outcome, Recorder};
use super::write_out::put_entry;
use core::sync::atomic::Ordering::Relaxed;

impl Recorder {
    /// Keeps an access in a cell that nobody has, or this thread, or threads that come before it in every run.
    pub(super) fn keep(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        words: &mut Words,
        access: &Placed,
    ) -> Outcome {
        let (mut lost_reads, mut lost_writes) = (false, false);
        if words.shared || !same_slot(words.first.at, self.here()) || words.first.at == 0 {
            lost_reads = self.retire(filter, sink, words, words.first, access.granule);
            // The write of one that comes first stays where it is while this thread only reads.
            if access.write || words.shared {
                let is_lost = self.retire(filter, sink, words, words.second, access.granule);
                lost_writes = is_lost && words.second.is_write();
                lost_reads |= is_lost && !words.second.is_write();
                words.version |= lost_writes;
                words.second = Entry::default();
            }
            words.first = Entry::nothing(self.here());
            words.shared = false;
            words.read = 0;
        }
        let old = if access.write { words.second } else { words.first };
        let arrives = if access.write {
            words.foreign & access.mask != 0
        } else {
            words.unread & access.mask != 0 && access.mask & !words.first.mask() != 0
        };
        let mut entry = if arrives {
            self.arrive_at_more(filter, sink, words, old, access)
        } else {
            self.kept(filter, sink, words, old, access)
        };
        // Each entry tells of what was dropped of its kind.
        if access.write {
            if lost_writes {
                entry.set_lost();
            }
            words.second = entry;
        } else {
            words.first = entry;
        }
        if lost_reads {
            words.first.set_lost();
        }
        if arrives { Outcome::Written } else { Outcome::Kept }
    }

    /// The owner comes to bytes that others have accessed.
    fn arrive_at_more(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        words: &mut Words,
        old: Entry,
        access: &Placed,
    ) -> Entry {
        let when = self.when_arriving(words);
        self.put_arrival(sink, access, when);
        let lost = self.retire(filter, sink, words, old, access.granule);
        words.unread = without_halves(words.unread, access.mask);
        if access.write {
            words.foreign &= !access.mask;
        } else {
            words.read = access.mask;
        }
        let mut entry = Entry::out(self.here(), access.mask, access.write);
        if lost {
            entry.set_lost();
        }
        entry
    }

    /// The entry of a thread's kind of access, with this one. Of a first entry, also the bytes read.
    pub(super) fn kept(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        words: &mut Words,
        old: Entry,
        access: &Placed,
    ) -> Entry {
        let (here, mask, place, write) = (self.here(), access.mask, access.place, access.write);
        let is_first = old.at == words.first.at && !write;
        if !same(old.at, here) || old.mask() == 0 {
            let lost = self.retire(filter, sink, words, old, access.granule);
            if is_first {
                words.read = mask;
            }
            let mut entry = Entry::kept(here, self.next_rank(write), mask, place, write);
            if lost {
                entry.set_lost();
            }
            return entry;
        }
        let is_new = words.read & mask == 0;
        if is_first {
            words.read |= mask;
        }
        let mut entry = old;
        let is_loop = is_first && is_new && old.is_kept() && old.place() == place && self.is_newest(old.at);
        if is_loop && !(words.second.is_write() && same(words.second.at, here)) {
            // Byte after byte in a loop: taken for one read, the first.
            entry.add_bytes(mask);
            return entry;
        }
        if write && self.goes_on(&old, mask, place) {
            entry.add_bytes(mask);
            return entry;
        }
        let rank = self.next_rank(write);
        if old.mask() == mask && old.is_kept() {
            entry.set_last(rank);
            return entry;
        }
        if let Some((node, mut known)) = filter.list(words.nodes).find(|(_, entry)| {
            same(entry.at, here) && entry.is_write() == write && entry.mask() == mask && entry.is_kept()
        }) {
            // Bytes of their own have an entry of their own.
            known.set_last(rank);
            filter.node(node).set_entry(old);
            return known;
        }
        let mut entry = Entry::kept(here, rank, mask, place, write);
        if old.mask() == mask {
            // What was written is in the trace: this one is the last.
            if old.is_lost() {
                entry.set_lost();
            }
        } else if self.retire(filter, sink, words, old, access.granule) {
            entry.set_lost();
        }
        entry
    }

    /// Takes an entry out of the cell: into a node before the older ones, or a reader's among others into the trace, as long
    /// as few of its place were; else it is dropped, and all older ones of the owner's cell with it. Whether it was
    /// dropped: who gets the place then has a pin. (If writes are dropped with a read, the newest write has one, too.) A cell whose owner comes
    /// again and again must not cost more each time.
    pub(super) fn retire(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        words: &mut Words,
        entry: Entry,
        granule: u64,
    ) -> bool {
        if entry.mask() == 0 || entry.is_silent() {
            // No access; but some may have been dropped before it.
            return entry.is_lost();
        }
        if !self.is_hot(&entry) {
            let room = match 2 * (filter.entries() - 1) {
                room if room > 0 && same(entry.at, self.here()) => MOST_NODES,
                room => room,
            };
            let is_kept = !entry.is_lost() && filter.count(words.nodes) < room && self.push(filter, words, entry);
            if is_kept || words.shared {
                self.spend(&entry);
                if !is_kept {
                    put_entry(sink, granule, &entry);
                    self.owe();
                }
                return false;
            }
        }
        if !entry.is_lost() {
            self.has_pinned(filter, 1);
        }
        if !words.shared {
            let writes = || filter.list(words.nodes).filter(|(_, older)| older.is_write());
            if writes().next().is_some() {
                debug_assert!(words.second.is_write(), "the newest write is in the cell");
                words.version = true;
                if writes().any(|(_, older)| same(older.at, words.second.at)) {
                    // They are before its last one, but maybe not before its first.
                    words.second.set_single();
                }
                words.second.set_lost();
            }
            self.give_history(filter, core::mem::take(&mut words.nodes));
        }
        true
    }

    /// Puts an entry into a node before the others. False if there is none.
    pub(super) fn push(&mut self, filter: &Filter, words: &mut Words, entry: Entry) -> bool {
        let count = filter.count(words.nodes);
        if count >= MOST_NODES {
            return false;
        }
        let Some(node) = self.take_node(filter) else { return false };
        filter.node(node).set_entry(entry);
        filter.node(node).next.store(u64::from(words.nodes) | (count as u64 + 1) << 32, Relaxed);
        words.nodes = node;
        true
    }
}
