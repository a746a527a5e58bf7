//! Writes the deferred accesses of a cell, when another thread's access conflicts.

use super::Sink;
use super::bits::MAX_SEQ;
use super::contents::Contents;
use super::entry::Entry;
use super::memory::Filter;
use super::recorder::Recorder;
use crate::record::{CONTEXT_BITS, Kind, deferred_third, head, with_seq};

impl Recorder {
    /// Writes all deferred accesses of a word, and returns its nodes. There is room for all of it.
    pub(super) fn write_out(&mut self, filter: &Filter, sink: &mut impl Sink, word: u64, contents: &Contents) {
        let mut at = contents.nodes;
        while at != 0 {
            let node = filter.node(at);
            put_entry(sink, word, &node.entry());
            let next = node.next();
            self.give_node(filter, at);
            at = next;
        }
        put_entry(sink, word, &contents.second);
        put_entry(sink, word, &contents.first);
    }

    /// Returns nodes whose entries are not to be written.
    pub(super) fn give_history(&mut self, filter: &Filter, mut at: u32) {
        while at != 0 {
            let next = filter.node(at).next();
            self.give_node(filter, at);
            at = next;
        }
    }
}

/// Writes the first and the last access of an entry, and right before them a drop barrier if older accesses were
/// dropped: only reads, if the entry is a read.
pub(super) fn put_entry(sink: &mut impl Sink, word: u64, entry: &Entry) {
    let third = |seq| with_seq(deferred_third(entry.slot(), entry.is_write()), seq);
    let sync_index = entry.sync_index() << CONTEXT_BITS;
    if entry.has_dropped() {
        // A conflicting access has no sequence number: it begins its sync index. What was dropped, and so the drop
        // barrier, is before it.
        let (sync_index, seq) = match entry.first() {
            0 => (entry.sync_index().saturating_sub(1) << CONTEXT_BITS, MAX_SEQ - 1),
            first => (sync_index, first - 1),
        };
        sink.put([head(Kind::DropBarrier, 0xff, word), sync_index, third(seq)]);
    }
    if !entry.is_deferred() {
        return;
    }
    let mut put = |seq| {
        sink.put([head(Kind::Deferred, entry.mask(), word), sync_index | u64::from(entry.context()), third(seq)]);
    };
    put(entry.first());
    if entry.last() > entry.first() {
        put(entry.last());
    }
}
