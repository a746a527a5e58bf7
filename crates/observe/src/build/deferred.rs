//! Deferred accesses and drop barriers, which another thread's conflicting access brought to light.
//!
//! Those of one word wait for the record that they were written for: only all masks together say which bytes are
//! variables of their own. (A `memset` of eight bytes, and then two counters of four: one variable for all eight would
//! have the name of the first counter, and keep it when the second is all that is left of it.)

use super::Build;
use super::event_index::TracePosition;
use super::variables::Part;
use crate::decode::{aux, context, payload};
use event::{Event, Op, ThreadId, VarId};
use runtime::record::{CONTEXT_BITS, Kind, PENDING, SEQ_BITS, bulk_words, head, is_deferred_write};
use trace::binary::{Action, DeferredPosition};

/// Records that may wait: an agent writes fewer of a word.
const MOST: usize = 256;

const DEFERRED: u8 = Kind::Deferred as u8;
const DROP_BARRIER: u8 = Kind::DropBarrier as u8;

/// What was found for the last deferred access.
#[derive(Clone, Copy, Default)]
struct LastDeferred {
    /// The slot and the sync index.
    at: (u32, u64),
    position: Option<TracePosition>,
    mask: u8,
    /// The variable of these bytes, if they are one.
    var: Option<VarId>,
}

/// The word and the bytes of a `Deferred`, a `DropBarrier` or a plain access.
fn bytes_of(head: u64) -> (u64, u8) {
    (payload(head) >> 3, aux(head))
}

impl Build {
    /// Takes a `Deferred` or a `DropBarrier` record.
    #[inline]
    pub(super) fn defer(&mut self, record: &[u64]) {
        let Some(record) = record.first_chunk() else { return };
        let another = self.deferred.last().is_some_and(|last: &[u64; 3]| bytes_of(last[0]).0 != bytes_of(record[0]).0);
        if another || self.deferred.len() == MOST {
            self.flush_deferred(0);
        }
        self.deferred.push(*record);
    }

    /// Takes a bulk record: whole words, one sequence number after the other.
    pub(super) fn defer_bulk(&mut self, kind: Kind, record: &[u64]) {
        let Some(&[first, second, mut third]) = record.first_chunk() else { return };
        for word in bulk_words(first) {
            self.defer(&[head(kind, 0xff, word << 3), second, third]);
            third = third.wrapping_add(1 << (64 - SEQ_BITS));
        }
    }

    /// Takes records that stand before the one with this head, if all of them are of these kinds, and nothing waits.
    /// Returns whether they are.
    #[inline]
    pub(super) fn take_deferred(&mut self, words: &[u64], head: u64) -> bool {
        let (mut records, rest) = words.as_chunks();
        let is_deferred = |record: &[u64; 3]| matches!(record[0] as u8, DEFERRED | DROP_BARRIER);
        if !rest.is_empty() || records.len() > MOST || !self.deferred.is_empty() || !records.iter().all(is_deferred) {
            return false;
        }
        while let Some(first) = records.first() {
            let word = bytes_of(first[0]).0;
            let others = records.iter().position(|record| bytes_of(record[0]).0 != word);
            let (same, rest) = records.split_at(others.unwrap_or(records.len()));
            self.put_all(same, if rest.is_empty() { head } else { 0 });
            records = rest;
        }
        true
    }

    /// Emits what waits before the record with this head; 0: there is none.
    pub(super) fn flush_deferred(&mut self, head: u64) {
        let mut deferred = std::mem::take(&mut self.deferred);
        self.put_all(&deferred, head);
        deferred.clear();
        self.deferred = deferred;
    }

    /// Emits records of one word before the record with this head.
    fn put_all(&mut self, deferred: &[[u64; 3]], head: u64) {
        let Some(first) = deferred.first() else { return };
        let word = bytes_of(first[0]).0;
        let arriving = bytes_in(head, word);
        let (mut all, mut shared) = (arriving, if arriving == 0 { 0xff } else { arriving });
        for late in deferred {
            let mask = bytes_of(late[0]).1;
            all |= mask;
            // A drop barrier is for the whole word, whatever is in it.
            let is_access = late[0] as u8 == DEFERRED && mask != 0;
            shared &= if is_access { mask } else { 0xff };
        }
        // If nothing is an access, drop barriers are for all bytes. In a Java program every access is of a whole word,
        // whatever its record says of values.
        if shared != all && shared != 0xff && !self.is_java {
            self.split_bytes(word, deferred, arriving, all);
        }
        let mut known = LastDeferred::default();
        for record in deferred {
            known = self.put_deferred(record, known);
        }
    }

    /// Makes variables of the bytes that no access here separates.
    #[cold]
    fn split_bytes(&mut self, word: u64, deferred: &[[u64; 3]], arriving: u8, all: u8) {
        let masks = || {
            let accesses = deferred.iter().filter(|late| late[0] as u8 == Kind::Deferred as u8);
            accesses.map(|late| bytes_of(late[0]).1).chain([arriving]).filter(|&mask| mask != 0)
        };
        let mut rest = all & !self.variables.bytes(word);
        while rest != 0 {
            let first = rest & rest.wrapping_neg();
            let alike = masks().fold(rest, |alike, mask| alike & if mask & first != 0 { mask } else { !mask });
            // Lowest first.
            let part = alike & !alike.wrapping_add(first);
            self.vars(word, part);
            rest &= !part;
        }
    }

    /// New variables for these bytes of a word: one, or one for each variable of the program that is there, and for
    /// each side of a gap (they could have only one's name).
    pub(super) fn new_variables(&mut self, word: u64, mask: u8) -> impl Iterator<Item = Part> + use<> {
        let cuts = if mask.count_ones() == 1 { 0 } else { self.sites.naming.cuts(word << 3) };
        let mut parts = [None; 8];
        let mut rest = mask;
        for part in &mut parts {
            if rest == 0 {
                break;
            }
            // Up to a gap, or to the next byte with which something else begins.
            let first = rest & rest.wrapping_neg();
            let run = rest & !rest.wrapping_add(first);
            let ends = cuts & run & !first;
            let mask = if ends == 0 { run } else { run & ((1 << ends.trailing_zeros()) - 1) };
            rest &= !mask;
            *part = self.new_variable(word, mask).map(|var| Part { mask, var });
        }
        parts.into_iter().flatten()
    }

    /// Emits a deferred access. `known` is what was found for the one before it in the same word; returns that for this
    /// one.
    #[inline]
    fn put_deferred(&mut self, record: &[u64; 3], known: LastDeferred) -> LastDeferred {
        let op = match (record[0] as u8 == DROP_BARRIER, is_deferred_write(record[2])) {
            (true, true) => Op::Pin,
            (true, false) => Op::ReadPin,
            (false, true) => Op::Write,
            (false, false) => Op::Read,
        };
        let seq = (record[2] >> (64 - SEQ_BITS)) as u32;
        let slot = record[2] as u32;
        let sync_index = record[1] >> CONTEXT_BITS;
        let Some(state) = self.slots.get(slot as usize) else {
            self.senseless += 1;
            return known;
        };
        // Most have the sync index of the one before them.
        let position = match known.position {
            Some(position) if known.at == (slot, sync_index) => Some(position),
            _ => state.event_index.find(sync_index),
        };
        let Some((position, at)) = position.and_then(|position| Some((position, position.at(seq)?))) else {
            self.senseless += 1;
            return known;
        };
        let thread = position.thread;
        let (word, mask) = bytes_of(record[0]);
        let mask = if op.is_drop_barrier() && mask == 0 { 0xff } else { mask };
        let known = LastDeferred { at: (slot, sync_index), position: Some(position), ..known };
        let number = context(record[1]);
        let action = state.contexts.action(number, op).copied();
        let action = action.or_else(|| self.new_action(slot, number, op));
        // And most are of the same bytes.
        let var = match known.var {
            Some(var) if known.mask == mask => Some(var),
            _ => self.variables.one(word, mask),
        };
        if let (Some(action), Some(var)) = (action, var) {
            self.out.act_deferred((thread, action, var.0), at, &self.names, &self.meta);
            return LastDeferred { mask, var: Some(var), ..known };
        }
        self.put_parts((slot, op, thread, at), (word, mask), number, action);
        LastDeferred { var: None, ..known }
    }

    /// Emits a deferred access of several variables, or in a call context without an action, or of memory of which
    /// nothing was known.
    #[cold]
    fn put_parts(
        &mut self,
        (slot, op, thread, at): (u32, Op, ThreadId, DeferredPosition),
        (word, mask): (u64, u8),
        context: u32,
        action: Option<Action>,
    ) {
        let vars = self.vars(word, mask);
        if let Some(action) = action {
            for &var in vars.vars() {
                self.out.act_deferred((thread, action, var.0), at, &self.names, &self.meta);
            }
            return;
        }
        let (site, stack) = self.context(slot, context);
        for &var in vars.vars() {
            let event = Event::new(thread, op, var.0, site);
            self.out.push_deferred(event, stack, at, &self.names, &self.meta);
        }
    }
}

/// The bytes of a word that the record with this head touches.
#[inline]
fn bytes_in(head: u64, word: u64) -> u8 {
    const READ: u8 = Kind::ConflictRead as u8;
    const WRITE: u8 = Kind::ConflictWrite as u8;
    match head as u8 {
        READ | WRITE => {
            let (at, mask) = bytes_of(head);
            if at == word { mask } else { 0 }
        }
        _ => other_bytes_in(head, word),
    }
}

fn other_bytes_in(head: u64, word: u64) -> u8 {
    let size = match Kind::from_code(head as u8) {
        Some(Kind::ConflictReadBulk | Kind::ConflictWriteBulk) => {
            return if bulk_words(head).any(|one| one == word) { 0xff } else { 0 };
        }
        Some(Kind::AtomicLoad | Kind::AtomicStore | Kind::AtomicRmw) => 1u64 << (aux(head) >> 4).min(4),
        Some(Kind::WatchRead | Kind::WatchWrite) => 1 << (aux(head) & !PENDING).min(3),
        _ => return 0,
    };
    let (begin, end) = (payload(head), payload(head) + size);
    (0..8).filter(|byte| (begin..end).contains(&((word << 3) + byte))).fold(0, |mask, byte| mask | 1 << byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_touch_bytes_of_words() {
        assert_eq!(bytes_in(head(Kind::ConflictRead, 0x3c, 0x5008), 0xa01), 0x3c);
        assert_eq!(bytes_in(head(Kind::ConflictRead, 0x3c, 0x5008), 0xa02), 0);
        assert_eq!(bytes_in(head(Kind::ConflictWriteBulk, 0x82, 0x5000), 0xa01), 0xff);
        assert_eq!(bytes_in(head(Kind::ConflictWriteBulk, 0x82, 0x5000), 0xa02), 0);
        assert_eq!(bytes_in(head(Kind::ConflictReadBulk, 0x82, 0x5000), 0xa07), 0xff);
        assert_eq!(bytes_in(head(Kind::ConflictReadBulk, 0x82, 0x5000), 0xa09), 0);
        assert_eq!(bytes_in(head(Kind::ConflictReadBulk, 0x82, 0x5000), 0x9ff), 0);
        assert_eq!(bytes_in(head(Kind::ConflictReadBulk, 0x82, 0x5002), 0xa00), 0);
        assert_eq!(bytes_in(head(Kind::ConflictReadBulk, 0x82, 0x5002), 0xa17), 0xff);
        assert_eq!(bytes_in(head(Kind::ConflictReadBulk, 0x82, 0x5002), 0xa18), 0);
        // More than a strip has.
        assert_eq!(bytes_in(head(Kind::ConflictReadBulk, 0x82, 0x5008), 0xa08), 0);
        assert_eq!(bytes_in(head(Kind::AtomicRmw, 2 << 4, 0x500c), 0xa01), 0xf0);
        assert_eq!(bytes_in(head(Kind::AtomicLoad, 3 << 4, 0x500c), 0xa02), 0x0f);
        assert_eq!(bytes_in(head(Kind::WatchWrite, PENDING | 1, 0x500a), 0xa01), 0x0c);
        assert_eq!(bytes_in(head(Kind::Acquire, 0, 0x5008), 0xa01), 0);
        assert_eq!(bytes_in(0, 0), 0);
    }
}
