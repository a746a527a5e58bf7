//! Accesses and pins that another thread's arrival brought to light.
//!
//! Those of one granule wait for the record that they were written for: only all masks together say which bytes are variables of
//! their own. (A `memset` of eight bytes, and then two counters of four: one variable for all eight would have the name of the
//! first counter, and keep it when the second is all that is left of it.)

use super::Build;
use super::variables::Part;
use crate::decode::{aux, payload, place};
use event::{Event, Op, VarId};
use runtime::record::{Kind, PENDING, PLACE_BITS, RANK_BITS, head, is_late_write};

/// Records that wait: an agent writes fewer of a granule.
const MOST: usize = 256;

/// The granule and the bytes in it of a `Late`, a `Pin` or a plain access.
fn bytes_of(head: u64) -> (u64, u8) {
    (payload(head) >> 3, aux(head))
}

impl Build {
    /// A `Late` or a `Pin`.
    #[inline]
    pub(super) fn late(&mut self, words: &[u64]) {
        let Some(record) = words.first_chunk() else { return };
        let another = self.lates.last().is_some_and(|last: &[u64; 3]| bytes_of(last[0]).0 != bytes_of(record[0]).0);
        if another || self.lates.len() == MOST {
            self.put_lates(0);
        }
        self.lates.push(*record);
    }

    /// `Lates` or `Pins`: of whole granules of a block, one rank after the other.
    pub(super) fn several_late(&mut self, kind: Kind, words: &[u64]) {
        let Some(&[first, second, mut third]) = words.first_chunk() else { return };
        let mut rest = aux(first);
        while rest != 0 {
            let granule = payload(first) + 8 * u64::from(rest.trailing_zeros());
            rest &= rest - 1;
            self.late(&[head(kind, 0xff, granule), second, third]);
            third = third.wrapping_add(1 << (64 - RANK_BITS));
        }
    }

    /// What waited goes before the record with this head; 0: there is none.
    pub(super) fn put_lates(&mut self, head: u64) {
        let mut lates = std::mem::take(&mut self.lates);
        if let Some(first) = lates.first() {
            let granule = bytes_of(first[0]).0;
            let arriving = bytes_in(head, granule);
            let (mut all, mut shared) = (arriving, None);
            let mut share = |mask: u8| shared = Some(shared.unwrap_or(0xff) & mask);
            if arriving != 0 {
                share(arriving);
            }
            for late in &lates {
                let mask = bytes_of(late[0]).1;
                all |= mask;
                // A pin is for the whole granule, whatever is in it.
                if late[0] as u8 == Kind::Late as u8 && mask != 0 {
                    share(mask);
                }
            }
            if shared.is_some_and(|shared| shared != all) {
                self.tell_apart(granule, &lates, arriving, all);
            }
        }
        // Most are of the same bytes.
        let mut known = None;
        for words in &lates {
            known = self.put_late(words, known);
        }
        lates.clear();
        self.lates = lates;
    }

    /// Makes variables of those bytes that no access of these tells apart.
    #[cold]
    fn tell_apart(&mut self, granule: u64, lates: &[[u64; 3]], arriving: u8, all: u8) {
        let masks = || {
            let accesses = lates.iter().filter(|late| late[0] as u8 == Kind::Late as u8);
            accesses.map(|late| bytes_of(late[0]).1).chain([arriving]).filter(|&mask| mask != 0)
        };
        let mut rest = all & !self.variables.bytes(granule);
        while rest != 0 {
            let first = rest & rest.wrapping_neg();
            let alike = masks().fold(rest, |alike, mask| alike & if mask & first != 0 { mask } else { !mask });
            // Lowest first.
            let part = alike & !alike.wrapping_add(first);
            self.vars(granule, part);
            rest &= !part;
        }
    }

    /// New variables for these bytes of a granule: one, or one for each variable of the program that is there, and for each side of
    /// a gap (they could have only one's name).
    pub(super) fn new_variables(&mut self, granule: u64, mask: u8) -> impl Iterator<Item = Part> + use<> {
        let cuts = if mask.count_ones() == 1 { 0 } else { self.sites.naming.cuts(granule << 3) };
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
            *part = self.new_variable(granule, mask).map(|var| Part { mask, var });
        }
        parts.into_iter().flatten()
    }

    /// A late access. `known`: the bytes of the one before it in the same granule, and their variable, if they are one; the same of this one.
    #[inline]
    fn put_late(&mut self, words: &[u64; 3], known: Option<(u8, VarId)>) -> Option<(u8, VarId)> {
        let op = match (words[0] as u8 == Kind::Pin as u8, is_late_write(words[2])) {
            (true, true) => Op::Pin,
            (true, false) => Op::ReadPin,
            (false, true) => Op::Write,
            (false, false) => Op::Read,
        };
        let rank = (words[2] >> (64 - RANK_BITS)) as u32;
        let slot = words[2] as u32;
        let position = words[1] >> PLACE_BITS;
        let state = self.slots.get(slot as usize);
        let found = state.and_then(|state| Some((state, state.positions.find(position)?)));
        let Some((state, thread, at)) = found.and_then(|(state, spot)| Some((state, spot.thread, spot.at(rank)?)))
        else {
            self.senseless += 1;
            return known;
        };
        let (granule, mask) = bytes_of(words[0]);
        let mask = if op.is_pin() && mask == 0 { 0xff } else { mask };
        let number = place(words[1]);
        let action = state.places.action(number, op).copied();
        let action = action.or_else(|| self.new_action(slot, number, op));
        let var = match known {
            Some((bytes, var)) if bytes == mask => Some(var),
            _ => self.variables.one(granule, mask),
        };
        if let (Some(action), Some(var)) = (action, var) {
            self.out.act_late((thread, action, var.0), at, &self.names, &self.meta);
            return Some((mask, var));
        }
        let vars = self.vars(granule, mask);
        if let Some(action) = action {
            for &var in vars.vars() {
                self.out.act_late((thread, action, var.0), at, &self.names, &self.meta);
            }
            return None;
        }
        let (site, stack) = self.place(slot, number);
        for &var in vars.vars() {
            let event = Event::new(thread, op, var.0, site);
            self.out.push_late(event, stack, at, &self.names, &self.meta);
        }
        None
    }
}

/// The bytes of a granule that the record with this head touches.
fn bytes_in(head: u64, granule: u64) -> u8 {
    let size = match Kind::from_code(head as u8) {
        Some(Kind::ArriveRead | Kind::ArriveWrite) => {
            let (at, mask) = bytes_of(head);
            return if at == granule { mask } else { 0 };
        }
        Some(Kind::ArriveReads | Kind::ArriveWrites) => {
            let (block, granules) = bytes_of(head);
            let is_one = granule.checked_sub(block).is_some_and(|number| number < 8 && granules >> number & 1 == 1);
            return if is_one { 0xff } else { 0 };
        }
        Some(Kind::AtomicLoad | Kind::AtomicStore | Kind::AtomicRmw) => 1u64 << (aux(head) >> 4).min(4),
        Some(Kind::WatchRead | Kind::WatchWrite) => 1 << (aux(head) & !PENDING).min(3),
        _ => return 0,
    };
    let (begin, end) = (payload(head), payload(head) + size);
    (0..8).filter(|byte| (begin..end).contains(&((granule << 3) + byte))).fold(0, |mask, byte| mask | 1 << byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_touch_bytes_of_granules() {
        assert_eq!(bytes_in(head(Kind::ArriveRead, 0x3c, 0x5008), 0xa01), 0x3c);
        assert_eq!(bytes_in(head(Kind::ArriveRead, 0x3c, 0x5008), 0xa02), 0);
        assert_eq!(bytes_in(head(Kind::ArriveWrites, 0x82, 0x5000), 0xa01), 0xff);
        assert_eq!(bytes_in(head(Kind::ArriveWrites, 0x82, 0x5000), 0xa02), 0);
        assert_eq!(bytes_in(head(Kind::ArriveReads, 0x82, 0x5000), 0xa07), 0xff);
        assert_eq!(bytes_in(head(Kind::ArriveReads, 0x82, 0x5000), 0xa09), 0);
        assert_eq!(bytes_in(head(Kind::ArriveReads, 0x82, 0x5000), 0x9ff), 0);
        assert_eq!(bytes_in(head(Kind::AtomicRmw, 2 << 4, 0x500c), 0xa01), 0xf0);
        assert_eq!(bytes_in(head(Kind::AtomicLoad, 3 << 4, 0x500c), 0xa02), 0x0f);
        assert_eq!(bytes_in(head(Kind::WatchWrite, PENDING | 1, 0x500a), 0xa01), 0x0c);
        assert_eq!(bytes_in(head(Kind::Acquire, 0, 0x5008), 0xa01), 0);
        assert_eq!(bytes_in(0, 0), 0);
    }
}
