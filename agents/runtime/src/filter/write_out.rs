//! Writing out what a cell has kept, when another thread comes.

use super::Sink;
use super::cell::{Entry, MOST_RANKS, Words};
use super::memory::Filter;
use super::recorder::Recorder;
use crate::record::{Kind, PLACE_BITS, head, late, ranked};

impl Recorder {
    /// Writes what was kept of a granule, and gives its nodes back. There is room for all of it.
    pub(super) fn write_out(&mut self, filter: &Filter, sink: &mut impl Sink, granule: u64, words: &Words) {
        let mut at = words.nodes;
        while at != 0 {
            let node = filter.node(at);
            put_entry(sink, granule, &node.entry());
            let next = node.next();
            self.give_node(filter, at);
            at = next;
        }
        put_entry(sink, granule, &words.second);
        put_entry(sink, granule, &words.first);
    }

    /// Gives nodes back, of what is not to be written.
    pub(super) fn give_history(&mut self, filter: &Filter, mut at: u32) {
        while at != 0 {
            let next = filter.node(at).next();
            self.give_node(filter, at);
            at = next;
        }
    }
}

/// Writes the first and the last access of an entry, and a pin right before them if older ones were dropped: of reads, if it is a read.
pub(super) fn put_entry(sink: &mut impl Sink, granule: u64, entry: &Entry) {
    let third = |rank| ranked(late(entry.slot(), entry.is_write()), rank);
    let position = entry.position() << PLACE_BITS;
    if entry.is_lost() {
        // An arrival has no rank: it begins its position. What was dropped, and so the pin, is before it.
        let (position, rank) = match entry.first() {
            0 => (entry.position().saturating_sub(1) << PLACE_BITS, MOST_RANKS - 1),
            first => (position, first - 1),
        };
        sink.put([head(Kind::Pin, 0xff, granule), position, third(rank)]);
    }
    if !entry.is_kept() {
        return;
    }
    let mut put = |rank| {
        sink.put([head(Kind::Late, entry.mask(), granule), position | u64::from(entry.place()), third(rank)]);
    };
    put(entry.first());
    if entry.last() > entry.first() {
        put(entry.last());
    }
}
