//! Accesses of a word that another thread has accessed: reads among others' reads, and conflicting accesses.

use super::Sink;
use super::access::AccessAt;
use super::bits::{epoch_of, same_slot};
use super::contents::{Contents, without_halves};
use super::entry::Entry;
use super::memory::Filter;
use super::recorder::{Outcome, Recorder};
use super::write_out::put_entry;
use crate::hand_off::Timing;

impl Recorder {
    /// Records a conflicting write: what others have deferred is written, and this thread becomes the owner.
    pub(super) fn take_ownership(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        contents: &mut Contents,
        access: &AccessAt,
    ) -> Outcome {
        let timing = self.conflict_timing(contents);
        let contended = !self.is_all_before(filter, contents, access, None);
        let other = self.other_write(filter, contents, access);
        self.write_out(filter, sink, access.word, contents);
        self.put_conflict(sink, access, timing);
        let foreign = if contended { !access.mask } else { 0 };
        let other = other.filter(|_| contended);
        *contents = Contents {
            first: Entry::nothing(self.epoch()),
            second: Entry::recorded(self.epoch(), access.mask, true),
            version: true,
            foreign,
            foreign_to_reads: if contended { without_halves(0xff, access.mask) } else { 0 },
            contended,
            ..Contents::default()
        };
        self.keep_write(filter, contents, other);
        Outcome::Written
    }

    /// Reads a word that another thread owns. If the owner has only read it, too, the cell is Shared, and nothing is
    /// recorded before a thread writes.
    pub(super) fn read_foreign(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        contents: &mut Contents,
        access: &AccessAt,
    ) -> Outcome {
        let writes = contents.second.is_write() && !self.is_ordered_after(filter, &contents.second);
        let version = contents.version && !self.knows_version(filter, contents);
        let sees = version || writes || self.sees_write(filter, contents);
        let old = contents.second;
        // Without a node for a write that is ordered before, that write is recorded, and this read with it.
        if !sees && (old.needs_no_record() || self.push(filter, contents, old)) {
            contents.shared = true;
            let entry = Entry::deferred(self.epoch(), self.next_seq(false), access.mask, access.context, false);
            if self.is_second() {
                contents.second = entry;
            } else {
                let other = contents.first;
                contents.second = if other.needs_no_record() { Entry::default() } else { other };
                contents.first = entry;
                contents.read = access.mask;
            }
            return Outcome::Deferred;
        }
        let timing = self.conflict_timing(contents);
        let seen = self.seen_write(filter, contents, access);
        let contended = !self.is_all_before(filter, contents, access, seen);
        let write = self.other_write(filter, contents, access).filter(|_| contended);
        let known = contents.first.mask() | contents.second.mask();
        // The old owner has read its own bytes. If only reads of it were dropped, that concerns later writers. What is
        // before this read in every run is also before all that comes after it.
        let other = if contents.first.has_dropped() && contents.second.is_write() && !contents.second.has_dropped() {
            let dropped = contents.first.recorded_with(known);
            contents.first.clear_dropped();
            dropped
        } else if contended {
            Entry::recorded(epoch_of(contents.first.slot(), 0), known, false)
        } else {
            Entry::default()
        };
        self.write_out(filter, sink, access.word, contents);
        self.put_conflict(sink, access, timing);
        if let Some(seen) = seen {
            self.learn_from(filter, seen);
        }
        let mine = Entry::recorded(self.epoch(), access.mask, false);
        let (first, second) = if self.is_second() { (other, mine) } else { (mine, other) };
        *contents = Contents {
            first,
            second,
            shared: true,
            version: true,
            read: first.mask(),
            contended,
            ..Contents::default()
        };
        self.keep_write(filter, contents, write);
        Outcome::Written
    }

    /// Whether a node holds a write that is not ordered before this thread.
    fn sees_write(&self, filter: &Filter, contents: &Contents) -> bool {
        filter.list(contents.nodes).any(|(_, entry)| entry.is_write() && !self.is_ordered_after(filter, &entry))
    }

    /// Reads a word of a Shared cell. A thread that has read the version of these bytes defers its read; another one's
    /// read conflicts, unless all that is known of the word is before this thread.
    pub(super) fn read_shared(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        contents: &mut Contents,
        access: &AccessAt,
        is_before: bool,
    ) -> Outcome {
        let epoch = self.epoch();
        let mine = |entry: &Entry| entry.at != 0 && same_slot(entry.at, epoch);
        let knows = |entry: &Entry, bytes: u8| access.mask & !(entry.mask() | bytes) == 0;
        let version = contents.version && !is_before && !self.knows_version(filter, contents);
        let mut is_second = mine(&contents.second);
        let is_inline = is_second || mine(&contents.first);
        let knows_inline = match is_second {
            _ if !is_inline => false,
            true => knows(&contents.second, 0),
            false => knows(&contents.first, contents.read),
        };
        // A write that is not before this thread came after all that it has read here: none of that is of the write.
        let is_news = |(_, entry): (u32, Entry)| entry.is_write() && !self.is_before(filter, &entry, 0, None);
        let has_news = !is_inline && !version && !is_before && filter.list(contents.nodes).any(is_news);
        if (!is_inline && !has_news || version && !knows_inline)
            && let Some((node, entry)) = filter
                .list(contents.nodes)
                .find(|(_, entry)| mine(entry) && !entry.is_write() && (!version || knows(entry, 0)))
        {
            is_second = if is_inline { is_second } else { self.is_second() };
            let old = if is_second { &mut contents.second } else { &mut contents.first };
            filter.node(node).set_entry(core::mem::replace(old, entry));
            if !is_second {
                contents.read = entry.mask();
            }
        }
        let old = if is_second { contents.second } else { contents.first };
        let bytes = if is_second { 0 } else { contents.read };
        if mine(&old) && (!version || knows(&old, bytes)) {
            let entry = self.deferred(filter, sink, contents, old, access);
            if is_second {
                contents.second = entry;
            } else {
                contents.first = entry;
            }
            return Outcome::Deferred;
        }
        let sees = version || !is_before && self.sees_write(filter, contents);
        let outcome = if sees { Outcome::Written } else { Outcome::Deferred };
        if sees {
            let contended = !self.is_all_before(filter, contents, access, None);
            let seen = self.seen_write(filter, contents, access);
            if !version {
                self.write_out(filter, sink, access.word, contents);
                *contents = Contents { shared: true, ..Contents::default() };
            }
            contents.version = true;
            contents.contended = contended;
            // No thread has written since this one read here. Otherwise another reader may be evicted below, and this
            // one is later.
            let is_handed_off = version && is_inline && self.is_earlier(&old) && self.may_hand_off();
            self.put_conflict(sink, access, if is_handed_off { Timing::After(0) } else { Timing::Now });
            if let Some(seen) = seen {
                self.learn_from(filter, seen);
            }
        }
        // Evicts this thread's older entry, or another reader's.
        let is_mine = is_second || mine(&contents.first);
        // Fields that share a word are read in turn: what the thread has read of the others stays known.
        let stays = is_mine && sees && old.needs_no_record() && old.mask() & access.mask == 0;
        let dropped = if stays && self.push(filter, contents, old) {
            false
        } else if is_mine {
            self.retire(filter, sink, contents, old, access.word)
        } else {
            is_second = self.make_room(filter, sink, contents, access.word);
            false
        };
        let mut entry = if sees {
            Entry::recorded(self.epoch(), access.mask, false)
        } else {
            Entry::deferred(self.epoch(), self.next_seq(false), access.mask, access.context, false)
        };
        if dropped {
            entry.set_dropped();
        }
        if is_second {
            contents.second = entry;
        } else {
            contents.first = entry;
            contents.read = access.mask;
        }
        outcome
    }

    /// Makes room for this thread among the readers of a Shared cell: in its home entry, or in a free one. The
    /// entry that is there goes into a node; without a node, its read is recorded. Returns whether the room is the
    /// second entry.
    fn make_room(&mut self, filter: &Filter, sink: &mut impl Sink, contents: &mut Contents, word: u64) -> bool {
        let is_free = |entry: &Entry| entry.mask() == 0 && !entry.has_dropped();
        let is_second = if self.is_second() {
            is_free(&contents.second) || !is_free(&contents.first)
        } else {
            !is_free(&contents.first) && is_free(&contents.second)
        };
        let entry = if is_second { contents.second } else { contents.first };
        if !is_free(&entry) && !self.push(filter, contents, entry) {
            put_entry(sink, word, &entry);
            self.need_clock();
        }
        is_second
    }
}
