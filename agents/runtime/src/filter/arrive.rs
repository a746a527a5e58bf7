//! Writing out what a cell has kept, when another thread comes.

use super::Sink;
use super::cell::{Entry, Words, segment_of, slot_of};
use super::memory::{Filter, MOST_NODES};
use super::positions::{Found, moment};
use super::recorder::Recorder;
use crate::record::{Kind, PLACE_BITS, RANK_BITS, head, late, ranked};
use core::sync::atomic::Ordering::Relaxed;

impl Recorder {
    /// Writes what was kept of a granule, the oldest first, and gives its nodes back. There is room for all of it.
    pub(super) fn write_out(&mut self, filter: &Filter, sink: &mut impl Sink, granule: u64, words: &Words) {
        let mut nodes = [0; MOST_NODES];
        let mut count = 0;
        let mut at = words.older();
        while at != 0 && count < MOST_NODES {
            nodes[count] = at;
            count += 1;
            at = filter.node(at).words(0).older();
        }
        for &at in nodes[..count].iter().rev() {
            let node = filter.node(at);
            put_words(filter, sink, granule, &node.words(node.a.load(Relaxed)));
            self.give_node(filter, at);
        }
        put_words(filter, sink, granule, words);
    }

    /// Gives nodes back, of what is not to be written.
    pub(super) fn give_history(&mut self, filter: &Filter, mut at: u32) {
        while at != 0 {
            let older = filter.node(at).words(0).older();
            self.give_node(filter, at);
            at = older;
        }
    }
}

/// Writes the entries of a node, or of a cell.
fn put_words(filter: &Filter, sink: &mut impl Sink, granule: u64, words: &Words) {
    let (slot, segment) = (slot_of(words.a), segment_of(words.a));
    let (read, write) = (words.read(), words.write());
    let known = words.lasts_known();
    let newest = if known { read.last.max(write.last) } else { read.first.max(write.first) };
    let mut pin = (words.is_pin() || words.is_lost()).then(|| filter.find(slot, moment(segment, newest)));
    if !known {
        // A store that came too late hid what was last: it was not after now.
        pin = Some(Found::At(filter.slot(slot).position.load(Relaxed), (1 << RANK_BITS) - 1));
    }
    if !words.is_pin() {
        for (entry, is_write) in [(read, false), (write, true)] {
            let lost = put_entry(filter, sink, granule, words, entry, is_write, known);
            pin = pin.or(lost);
        }
    }
    if let Some(found) = pin {
        let (position, rank) = match found {
            Found::At(position, rank) => (position, rank),
            Found::Before(position) => (position, 0),
        };
        let third = ranked(late(slot, false, false), rank);
        sink.put(&[head(Kind::Pin, 0xff, granule), position << PLACE_BITS, third]);
    }
}

/// Writes the first and the last access of an entry. Where a pin is needed instead.
fn put_entry(
    filter: &Filter,
    sink: &mut impl Sink,
    granule: u64,
    words: &Words,
    entry: Entry,
    write: bool,
    lasts_known: bool,
) -> Option<Found> {
    if entry.mask == 0 {
        return None;
    }
    let (slot, segment) = (slot_of(words.a), segment_of(words.a));
    let mut lost = None;
    let mut put = |stamp| match filter.find(slot, moment(segment, stamp)) {
        Found::At(position, rank) => {
            let third = ranked(late(slot, write, false), rank);
            sink.put(&[head(Kind::Late, entry.mask, granule), position << PLACE_BITS | u64::from(entry.place), third]);
        }
        before @ Found::Before(_) => lost = Some(before),
    };
    put(entry.first);
    if lasts_known && entry.last > entry.first {
        put(entry.last);
    }
    lost
}
