//! What an access that is not covered does to its cell.

use super::cell::{
    Cell, EMPTY, Entry, FREED, LOCKED, NONE, SHARED, TAG_SHIFT, WATCHED, Words, is_exclusive, is_shared, read_of,
    segment_of, slot_of,
};
use super::memory::Filter;
use super::recorder::{Outcome, Recorder, put_ticketed};
use super::{ARRIVAL_WORDS, Sink};
use crate::record::{Kind, head};
use core::ops::Deref;
use core::sync::atomic::Ordering::Relaxed;

impl Recorder {
    /// An access of bytes of a granule that [`Recorder::covered`] denied (or was not asked about).
    pub fn access<S: Sink>(
        &mut self,
        filter: &Filter,
        sink: &mut S,
        cell: &Cell,
        access: Access,
        place: impl FnOnce(&mut S) -> u32,
    ) -> Outcome {
        let Access { mask, write, .. } = access;
        if self.covered(cell, mask, write) {
            return Outcome::Covered;
        }
        if cell.is_watched() {
            return Outcome::Watched;
        }
        let place = place(sink);
        self.make_stamps();
        let access = Placed { access, place };
        loop {
            let a = cell.a.load(Relaxed);
            let done = match a {
                _ if is_shared(a) && !write && !self.records_everything() => {
                    self.read_shared(filter, sink, cell, &access)
                }
                WATCHED => Some(Outcome::Watched),
                _ if self.is_quiet(filter, a) => self.keep(filter, sink, cell, &access),
                _ => self.arrive(filter, sink, cell, &access),
            };
            if let Some(outcome) = done {
                return outcome;
            }
        }
    }

    /// Whether this thread need not arrive: nobody has been there, or only those who come before it in every run.
    #[inline]
    fn is_quiet(&self, filter: &Filter, a: u64) -> bool {
        !self.records_everything()
            && (a == EMPTY
                || is_exclusive(a) && (slot_of(a) == self.slot() || self.is_after(filter, slot_of(a), segment_of(a))))
    }

    /// Keeps an access in a cell that is, or becomes, this thread's. `None`: the cell is not so any more.
    fn keep(&mut self, filter: &Filter, sink: &mut impl Sink, cell: &Cell, access: &Placed) -> Option<Outcome> {
        sink.reserve(2);
        let a = cell.lock(sink, |a| self.is_quiet(filter, a)).ok()?;
        let mut words = if a == EMPTY { Words::owned(self.slot(), self.segment()) } else { cell.words(a) };
        let known = words.lasts_known();
        if known && words.foreign(access.write) & access.mask != 0 {
            words.arrived(access.mask, access.write);
            self.put_arrival(filter, sink, access);
            cell.set(&words);
            return Some(Outcome::Written);
        }
        if (words.a ^ self.exclusive_tag()) >> TAG_SHIFT != 0 || !known {
            let mut anew = Words::owned(self.slot(), self.segment());
            anew.set_nodes(words.older(), words.count());
            if known {
                anew.add_foreign_of(&words);
            } else {
                // A store that came too late hid what was last: nothing of it can be told but that it was, at most now.
                anew.add_foreign(!access.mask);
                words = Words::owned(self.slot(), self.segment());
                words.set_read(Entry { last: self.next_stamp(), ..NONE });
                words.make_pin();
            }
            if words.read().mask | words.write().mask != 0 || words.is_pin() || words.is_lost() {
                self.push(filter, &mut anew, words);
            }
            words = anew;
        }
        if access.write {
            self.keep_write(filter, &mut words, access);
        } else {
            self.keep_read(filter, &mut words, access);
        }
        cell.set(&words);
        Some(Outcome::Kept)
    }

    /// Writes an access that sees what others did, or that others see.
    fn put_arrival(&mut self, filter: &Filter, sink: &mut impl Sink, access: &Placed) {
        let kind = if access.write { Kind::ArriveWrite } else { Kind::ArriveRead };
        put_ticketed(sink, head(kind, access.mask, access.granule), access.place, None);
        if access.write {
            self.synchronised(filter);
        } else {
            // It may see a write of another thread: it is the first of another segment.
            self.new_segment();
            self.moved_on(filter);
        }
    }

    fn keep_read(&mut self, filter: &Filter, words: &mut Words, access: &Placed) {
        let old = words.read();
        let is_new = read_of(words.a) & access.mask == 0;
        words.add_read(access.mask);
        if is_new && old.mask != 0 && old.place == access.place && words.write().mask == 0 {
            // Byte after byte in a loop: taken for one read, the first.
            words.set_read(Entry { mask: old.mask | access.mask, ..old });
            return;
        }
        let stamp = self.next_stamp();
        if old.mask == access.mask {
            words.set_read(Entry { last: stamp, ..old });
            return;
        }
        if old.mask != 0 {
            if let Some((node, mut known)) =
                self.of_this_segment(filter, words, |known| known.read().mask == access.mask)
            {
                words.set_read(Entry { last: stamp, ..known.read() });
                known.set_read(old);
                filter.node(node).set(&known);
                return;
            }
            let mut node = Words::owned(self.slot(), self.segment());
            node.set_read(old);
            self.push(filter, words, node);
        }
        words.set_read(Entry { mask: access.mask, place: access.place, first: stamp, last: stamp });
    }

    /// A node of this thread and segment. Bytes of their own have an entry of their own, exchanged with that in the cell.
    fn of_this_segment(&self, filter: &Filter, words: &Words, is_it: impl Fn(&Words) -> bool) -> Option<(u32, Words)> {
        let mut at = words.older();
        while at != 0 {
            let node = filter.node(at);
            let known = node.words(node.a.load(Relaxed));
            if (known.a ^ words.a) >> TAG_SHIFT != 0 || known.is_pin() {
                return None;
            }
            if is_it(&known) {
                return Some((at, known));
            }
            at = known.older();
        }
        None
    }

    fn keep_write(&mut self, filter: &Filter, words: &mut Words, access: &Placed) {
        let old = words.write();
        if old.mask == 0 {
            let stamp = self.write_stamp();
            words.set_write(Entry { mask: access.mask, place: access.place, first: stamp, last: stamp });
            return;
        }
        let goes_on = old.last == self.stamp() && old.first == old.last && old.place == access.place;
        if goes_on && access.mask.trailing_zeros() >= 8 - old.mask.leading_zeros() {
            // Byte after byte, upwards, with nothing in between that the trace will have: one write.
            words.set_write(Entry { mask: old.mask | access.mask, ..old });
            return;
        }
        if old.mask == access.mask {
            words.set_write(Entry { last: self.write_stamp(), ..old });
            return;
        }
        if let Some((node, mut known)) = self.of_this_segment(filter, words, |known| known.write().mask == access.mask)
        {
            words.set_write(Entry { last: self.write_stamp(), ..known.write() });
            known.set_write(old);
            filter.node(node).set(&known);
            return;
        }
        let mut node = Words::owned(self.slot(), self.segment());
        node.set_write(old);
        self.push(filter, words, node);
        let stamp = self.write_stamp();
        words.set_write(Entry { mask: access.mask, place: access.place, first: stamp, last: stamp });
    }

    /// Puts what was in a cell into a node before the older ones. When there are too many, all are dropped but for a pin: a
    /// cell whose owner comes again and again must not cost more each time.
    fn push(&mut self, filter: &Filter, words: &mut Words, mut dropped: Words) {
        let (older, count) = (words.older(), words.count());
        let room = filter.segments() - 1;
        if count < room
            && !dropped.is_pin()
            && let Some(node) = self.take_node(filter)
        {
            dropped.set_older(older);
            filter.node(node).set(&dropped);
            words.set_nodes(node, count + 1);
            return;
        }
        filter.pinned.fetch_add(u64::from(!dropped.is_lost() && count == 0), Relaxed);
        // The pin stands at the newest of what is dropped: the others come before it in every run.
        let pin = if older != 0 {
            self.give_history(filter, filter.node(older).words(0).older());
            Some(older)
        } else if room > 0 {
            self.take_node(filter)
        } else {
            None
        };
        match pin {
            Some(node) => {
                dropped.make_pin();
                dropped.set_older(0);
                filter.node(node).set(&dropped);
                words.set_nodes(node, 1);
            }
            None => {
                words.set_nodes(0, 0);
                words.set_lost();
            }
        }
    }

    /// Reads a shared granule: written, with a stamp. `None`: it is not shared any more.
    fn read_shared(&mut self, filter: &Filter, sink: &mut impl Sink, cell: &Cell, access: &Placed) -> Option<Outcome> {
        sink.reserve(3);
        sink.reading(sink.stamp() + 1);
        let locked = cell.lock(sink, is_shared);
        let Ok(a) = locked else {
            sink.reading(0);
            return None;
        };
        let stamp = sink.stamp();
        let (second, l) = (cell.p.load(Relaxed), cell.l.load(Relaxed));
        let slot = self.slot();
        let is_mine = |reader| is_shared(reader) && read_of(reader) != 0 && slot_of(reader) == slot;
        if !is_mine(a) && !is_mine(second) {
            // It may see a write of another thread for the first time: what follows is another segment.
            self.new_segment();
        }
        self.moved_on(filter);
        let tag = self.shared_tag();
        let now = self.stamp();
        let same_segment = |reader: u64| (reader ^ tag) >> TAG_SHIFT == 0;
        let bytes = u64::from(access.mask) << 8;
        let mine = |before: u64| if same_segment(before) { before | bytes } else { tag | bytes };
        if is_mine(second) {
            cell.p.store(mine(second), Relaxed);
            cell.l.store(super::cell::with_last_write(l, now), Relaxed);
            cell.unlock(a);
        } else {
            if !is_mine(a) {
                // The first moves to the second place, whoever is there is forgotten.
                cell.p.store(a, Relaxed);
                cell.l.store(u64::from(super::cell::last_read_of(l)), Relaxed);
            }
            cell.l.store(super::cell::with_last_read(cell.l.load(Relaxed), now), Relaxed);
            cell.unlock(mine(a));
        }
        self.put_stamp(sink, stamp);
        sink.put(&[head(Kind::Read, access.mask, access.granule), u64::from(access.place)]);
        sink.reading(0);
        Some(Outcome::Written)
    }

    /// Comes to a granule of others. `None`: it is another state by now.
    fn arrive(&mut self, filter: &Filter, sink: &mut impl Sink, cell: &Cell, access: &Placed) -> Option<Outcome> {
        sink.reserve(ARRIVAL_WORDS);
        let everything = self.records_everything();
        let fits = |a| {
            a == FREED
                || everything && a != WATCHED
                || is_shared(a) && access.write
                || is_exclusive(a) && !self.is_quiet(filter, a)
        };
        let a = cell.lock(sink, fits).ok()?;
        if is_exclusive(a) {
            self.write_out(filter, sink, access.granule, &cell.words(a));
        }
        self.put_arrival(filter, sink, access);
        match a {
            FREED => cell.unlock(FREED),
            _ if everything => cell.unlock(SHARED),
            _ if access.write => {
                let mut words = Words::owned(self.slot(), self.segment());
                words.add_foreign(!access.mask);
                cell.set(&words);
            }
            _ => {
                let now = self.stamp();
                let bytes = u64::from(access.mask) << 8;
                cell.set(&Words { a: self.shared_tag() | bytes, p: 0, f: 0, l: super::cell::with_last_read(0, now) });
            }
        }
        Some(Outcome::Written)
    }

    /// An atomic access: holds the cells still (those of the granules it touches, the lowest first) while `act` does it, then
    /// writes it. `act` gives the record's kind, auxiliary byte and value, and what the program gets.
    pub fn atomic<R>(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        cells: &[(&Cell, u64)],
        address: u64,
        place: u32,
        act: impl FnOnce() -> (Kind, u8, u64, R),
    ) -> R {
        debug_assert!(cells.len() <= 2);
        sink.reserve(2 * ARRIVAL_WORDS);
        let mut before = [WATCHED; 2];
        for (&(cell, granule), before) in cells.iter().zip(&mut before) {
            if let Ok(a) = cell.lock(sink, |a| a != WATCHED) {
                *before = a;
                if is_exclusive(a) {
                    self.write_out(filter, sink, granule, &cell.words(a));
                }
            }
        }
        let (kind, aux, value, result) = act();
        put_ticketed(sink, head(kind, aux, address), place, Some(value));
        self.synchronised(filter);
        for (&(cell, _), a) in cells.iter().zip(before) {
            match a {
                WATCHED => {}
                FREED => cell.unlock(FREED),
                // Nobody's reads are covered less.
                _ if is_shared(a) && kind == Kind::AtomicLoad => cell.unlock(a),
                _ => cell.set(&Words { a: SHARED, p: 0, f: 0, l: 0 }),
            }
        }
        result
    }

    /// A granule of a block that is taken back, whose `Free` is written.
    pub fn free(&mut self, filter: &Filter, sink: &mut impl Sink, cell: &Cell, granule: u64) {
        if cell.a.load(Relaxed) == FREED {
            return;
        }
        if let Some(()) = self.clear(filter, sink, cell, granule) {
            cell.unlock(FREED);
        }
    }

    /// A granule of a block that was given to this thread, whose `Alloc` is written: it is this thread's.
    pub fn alloc(&mut self, filter: &Filter, sink: &mut impl Sink, cell: &Cell, granule: u64) {
        if let Some(()) = self.clear(filter, sink, cell, granule) {
            if self.records_everything() {
                cell.unlock(SHARED);
            } else {
                cell.set(&Words::owned(self.slot(), self.segment()));
            }
        }
    }

    /// Nothing is known of a granule any more, and nothing is said about it: the stack of a thread that has ended, a block whose
    /// shadow is given back.
    pub fn forget(&mut self, filter: &Filter, sink: &impl Sink, cell: &Cell) {
        if cell.is_empty() {
            return;
        }
        if let Ok(a) = cell.lock(sink, |a| a != WATCHED) {
            if is_exclusive(a) {
                self.give_history(filter, cell.words(a).older());
            }
            cell.set(&Words { a: LOCKED, p: 0, f: 0, l: 0 });
            cell.unlock(EMPTY);
        }
    }

    /// Locks a cell, and ends what was there: what others have kept is written.
    fn clear(&mut self, filter: &Filter, sink: &mut impl Sink, cell: &Cell, granule: u64) -> Option<()> {
        sink.reserve(ARRIVAL_WORDS);
        let a = cell.lock(sink, |a| a != WATCHED).ok()?;
        if is_exclusive(a) {
            let words = cell.words(a);
            if self.is_quiet(filter, a) {
                self.give_history(filter, words.older());
            } else {
                self.write_out(filter, sink, granule, &words);
            }
        }
        Some(())
    }
}

/// An access of bytes of a granule.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The granule's address.
    pub granule: u64,
    /// The bytes of it.
    pub mask: u8,
    /// Whether it writes.
    pub write: bool,
}

/// An access with its place.
struct Placed {
    access: Access,
    place: u32,
}

impl Deref for Placed {
    type Target = Access;
    fn deref(&self) -> &Access {
        &self.access
    }
}
