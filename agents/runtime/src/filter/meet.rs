//! Threads meet at a granule: reads among others' reads, and accesses that see what others did.

use super::Sink;
use super::access::Placed;
use super::cell::{Entry, Words, same_slot, tag, without_halves};
use super::memory::Filter;
use super::recorder::{Outcome, Recorder};
use super::write_out::put_entry;
use crate::handover::When;

impl Recorder {
    /// Writes to a granule of others: what they have kept is written, and it is this thread's.
    pub(super) fn arrive_writing(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        words: &mut Words,
        access: &Placed,
    ) -> Outcome {
        let when = self.when_arriving(words);
        self.write_out(filter, sink, access.granule, words);
        self.put_arrival(sink, access, when);
        *words = Words {
            first: Entry::nothing(self.here()),
            second: Entry::out(self.here(), access.mask, true),
            version: true,
            foreign: !access.mask,
            unread: without_halves(0xff, access.mask),
            ..Words::default()
        };
        Outcome::Written
    }

    /// Reads a granule of another. If that one has only read it, too, both have: nothing is written before somebody writes.
    pub(super) fn read_anothers(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        words: &mut Words,
        access: &Placed,
    ) -> Outcome {
        let writes = words.second.is_write() && !self.is_after(filter, &words.second);
        let sees = words.version || writes || self.sees_write(filter, words);
        let write = words.second;
        // Without a node for what comes first in every run, it is written, and this read with it.
        if !sees && (write.is_silent() || self.push(filter, words, write)) {
            words.shared = true;
            let entry = Entry::kept(self.here(), self.next_rank(false), access.mask, access.place, false);
            if self.is_second() {
                words.second = entry;
            } else {
                let other = words.first;
                words.second = if other.is_silent() { Entry::default() } else { other };
                words.first = entry;
                words.read = access.mask;
            }
            return Outcome::Kept;
        }
        let when = self.when_arriving(words);
        let known = words.first.mask() | words.second.mask();
        // It need not arrive at what it did itself. If only reads of it were dropped, that concerns those who will write.
        let other = if words.first.is_lost() && words.second.is_write() && !words.second.is_lost() {
            let lost = words.first.out_with(known);
            words.first.set_found();
            lost
        } else {
            Entry::out(tag(words.first.slot(), 0), known, false)
        };
        self.write_out(filter, sink, access.granule, words);
        self.put_arrival(sink, access, when);
        let mine = Entry::out(self.here(), access.mask, false);
        let (first, second) = if self.is_second() { (other, mine) } else { (mine, other) };
        *words = Words { first, second, shared: true, version: true, read: first.mask(), ..Words::default() };
        Outcome::Written
    }

    /// Whether there is a write in the nodes that need not come before this thread.
    fn sees_write(&self, filter: &Filter, words: &Words) -> bool {
        filter.list(words.nodes).any(|(_, entry)| entry.is_write() && !self.is_after(filter, &entry))
    }

    /// Reads a shared granule. Who knows the version of these bytes keeps its read; who does not, arrives.
    pub(super) fn read_shared(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        words: &mut Words,
        access: &Placed,
    ) -> Outcome {
        let here = self.here();
        let mine = |entry: &Entry| entry.at != 0 && same_slot(entry.at, here);
        let knows = |entry: &Entry, bytes: u8| access.mask & !(entry.mask() | bytes) == 0;
        let version = words.version;
        let mut is_second = mine(&words.second);
        let is_inline = is_second || mine(&words.first);
        if !is_inline
            && let Some((node, entry)) = filter
                .list(words.nodes)
                .find(|(_, entry)| mine(entry) && !entry.is_write() && (!version || knows(entry, 0)))
        {
            is_second = self.is_second();
            let old = if is_second { &mut words.second } else { &mut words.first };
            filter.node(node).set_entry(core::mem::replace(old, entry));
            if !is_second {
                words.read = entry.mask();
            }
        }
        let old = if is_second { words.second } else { words.first };
        let bytes = if is_second { 0 } else { words.read };
        if mine(&old) && (!version || knows(&old, bytes)) {
            let entry = self.kept(filter, sink, words, old, access);
            if is_second {
                words.second = entry;
            } else {
                words.first = entry;
            }
            return Outcome::Kept;
        }
        let sees = version || self.sees_write(filter, words);
        let outcome = if sees { Outcome::Written } else { Outcome::Kept };
        if sees {
            if !version {
                self.write_out(filter, sink, access.granule, words);
                *words = Words { shared: true, ..Words::default() };
            }
            words.version = true;
            // Nobody has written since it came here before. Else another reader may go below: this one is later.
            let is_handed = version && is_inline && self.is_earlier(&old) && self.may_be_handed();
            self.put_arrival(sink, access, if is_handed { When::After(0) } else { When::Now });
        }
        // This thread's older entry goes, or another reader's.
        let is_mine = is_second || mine(&words.first);
        let lost = if is_mine {
            self.retire(filter, sink, words, old, access.granule)
        } else {
            is_second = self.make_room(filter, sink, words, access.granule);
            false
        };
        let mut entry = if sees {
            Entry::out(self.here(), access.mask, false)
        } else {
            Entry::kept(self.here(), self.next_rank(false), access.mask, access.place, false)
        };
        if lost {
            entry.set_lost();
        }
        if is_second {
            words.second = entry;
        } else {
            words.first = entry;
            words.read = access.mask;
        }
        outcome
    }

    /// Makes room for this thread among the readers of a shared cell: where it belongs, or where nobody is. Who is there goes
    /// into a node; if there is none, its read is written. Whether the room is the second entry.
    fn make_room(&mut self, filter: &Filter, sink: &mut impl Sink, words: &mut Words, granule: u64) -> bool {
        let is_free = |entry: &Entry| entry.mask() == 0 && !entry.is_lost();
        let is_second = if self.is_second() {
            is_free(&words.second) || !is_free(&words.first)
        } else {
            !is_free(&words.first) && is_free(&words.second)
        };
        let entry = if is_second { words.second } else { words.first };
        if !is_free(&entry) && !self.push(filter, words, entry) {
            put_entry(sink, granule, &entry);
            self.owe();
        }
        is_second
    }
}
