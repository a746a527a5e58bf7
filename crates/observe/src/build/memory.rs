//! Accesses, allocations and frees.

use super::Build;
use super::blocks::{Doer, Freed};
use super::values::{Encoding, Use, Watched};
use super::variables::{Parts, cut};
use crate::decode::{aux, payload, place};
use event::{Extra, Op, Order, Value, VarId};
use runtime::record::{ADDRESS_BITS, Kind, PENDING, bulk_words};

/// No watched variable is larger.
const LARGEST: u64 = 8;

impl Build {
    /// A plain access by which a thread arrives at a granule, or reads a shared one.
    #[inline]
    pub(super) fn access(&mut self, slot: u32, words: &[u64], op: Op) {
        let (granule, mask) = (payload(words[0]) >> 3, aux(words[0]));
        if let Some(var) = self.variables.one(granule, mask)
            && self.at_known_place(slot, place(words[1]), op, var.0)
        {
            if op == Op::Write {
                self.values.unknown(var);
            }
            return;
        }
        self.rare_access(slot, words, op);
    }

    #[cold]
    fn rare_access(&mut self, slot: u32, words: &[u64], op: Op) {
        let by = self.doer(slot, words[1]);
        let events = self.parts(by, payload(words[0]) >> 3, aux(words[0]), op);
        self.gave(slot, events);
    }

    /// Plain accesses by which a thread arrives at whole granules: those of the lowest one come first.
    #[inline]
    pub(super) fn accesses(&mut self, slot: u32, words: &[u64], op: Op) {
        let mut granules = bulk_words(words[0]);
        let mut events = 0;
        if let Some((thread, action)) = self.known_action(slot, place(words[1]), op)
            && (op == Op::Read || self.values.is_empty())
        {
            let mut rest = granules.clone();
            while let Some(granule) = rest.next()
                && let Some(var) = self.variables.one(granule, 0xff)
            {
                self.out.act(thread, action, var.0, &self.names, &self.meta);
                events += 1;
                granules = rest.clone();
            }
        }
        events += self.rare_accesses(slot, words, op, granules);
        self.gave(slot, events);
    }

    fn rare_accesses(&mut self, slot: u32, words: &[u64], op: Op, mut granules: impl Iterator<Item = u64>) -> u64 {
        let Some(first) = granules.next() else { return 0 };
        let by = self.doer(slot, words[1]);
        std::iter::once(first).chain(granules).map(|granule| self.parts(by, granule, 0xff, op)).sum()
    }

    /// An access of each variable that some bytes of a granule are. How many that were.
    #[cold]
    fn parts(&mut self, by: Doer, granule: u64, mask: u8, op: Op) -> u64 {
        let vars = self.vars(granule, mask);
        for &var in vars.vars() {
            if op == Op::Write {
                self.values.unknown(var);
            }
            self.plain(by, op, var.0);
        }
        vars.vars().len() as u64
    }

    /// The variables that some bytes of a granule are.
    pub(super) fn vars(&mut self, granule: u64, mask: u8) -> Parts {
        if let Some(known) = self.variables.known(granule, mask) {
            return known;
        }
        self.new_vars(granule, mask)
    }

    #[cold]
    fn new_vars(&mut self, granule: u64, mask: u8) -> Parts {
        let mut parts = self.variables.open(granule);
        let vars = cut(&mut parts, mask, |mask| self.new_variables(granule, mask));
        self.variables.close(granule, parts);
        vars
    }

    /// The variables of an aligned or unaligned access of up to 16 bytes.
    fn vars_at(&mut self, address: u64, size: u32) -> Vec<VarId> {
        let offset = (address & 7) as u32;
        let bytes = ((1u64 << size) - 1) << offset;
        let mut vars = Vec::new();
        for part in 0..3 {
            let mask = (bytes >> (8 * part)) as u8;
            if mask != 0 {
                vars.extend_from_slice(self.vars((address >> 3) + part, mask).vars());
            }
        }
        vars
    }

    pub(super) fn atomic(&mut self, slot: u32, kind: Kind, words: &[u64]) {
        let by = self.doer(slot, words[1]);
        let log2 = (aux(words[0]) >> 4).min(4);
        let order = Order::from_code(aux(words[0]) & 15).unwrap_or_default();
        let op = match kind {
            Kind::AtomicLoad => Op::AtomicLoad,
            Kind::AtomicStore => Op::AtomicStore,
            _ => Op::AtomicRmw,
        };
        if self.direct > 0 {
            return self.java_value(by, op, words, order);
        }
        let value = if log2 > 3 { Value::Unknown } else { self.value(payload(words[0]), words[2], 1 << log2) };
        let extra = Extra { value, order, ..Extra::default() };
        let events = self.valued(by, op, payload(words[0]), 1 << log2, extra);
        self.gave(by.slot, events);
    }

    /// An access of a Java program with its value: the upper half of the auxiliary byte tells what that is.
    fn java_value(&mut self, by: Doer, op: Op, words: &[u64], order: Order) {
        let value = match aux(words[0]) >> 4 {
            1 => Value::Int(words[2] as i64),
            2 => Value::Bool(words[2] & 1 == 1),
            3 => Value::Real(f64::from_bits(words[2])),
            _ => Value::Unknown,
        };
        let events = self.valued(by, op, payload(words[0]) & !7, 8, Extra { value, order, ..Extra::default() });
        self.gave(by.slot, events);
    }

    pub(super) fn watched(&mut self, slot: u32, kind: Kind, words: &[u64]) {
        let by = self.doer(slot, words[1]);
        let op = if kind == Kind::WatchRead { Op::Read } else { Op::Write };
        if self.direct > 0 {
            return self.java_value(by, op, words, Order::default());
        }
        let aux = aux(words[0]);
        let start = payload(words[0]);
        let end = start.saturating_add(1 << (aux & !PENDING).min(3));
        // Of neighbours in the same granule nobody asked for values, and the C library may write them unseen.
        let is_watched = self.is_watched(start, end - start);
        // The thread was gone, or waited for too long, before it could say what it wrote.
        let is_pending = aux & PENDING != 0;
        let (mut at, mut events) = (start, 0);
        while at < end {
            let size = self.part(at, end) - at;
            let mut extra = Extra { inexact: is_watched && is_pending, ..Extra::default() };
            if is_watched && !is_pending {
                extra.value = self.value(at, words[2] >> (8 * (at - start)), size);
            }
            events += self.valued(by, op, at, size as u32, extra);
            at += size;
        }
        self.gave(by.slot, events);
    }

    /// A watched variable whose values are recorded that some byte is of: where it begins, and its bytes.
    fn watched_around(&self, at: u64) -> Option<(u64, u64)> {
        (at.saturating_sub(LARGEST - 1)..=at).rev().find_map(|start| {
            let watched = self.watched.get(*self.watched_at.get(&start)?)?;
            let is_value = matches!(watched.used, Use::Value(_)) && start.saturating_add(watched.size.into()) > at;
            is_value.then_some((start, watched.size.into()))
        })
    }

    /// Up to where the bytes from one on are of one such variable, or of none.
    fn part(&self, at: u64, end: u64) -> u64 {
        let of = self.watched_around(at);
        (at + 1..end).find(|&next| self.watched_around(next) != of).unwrap_or(end)
    }

    /// Whether some of these bytes are a watched variable's.
    fn is_watched(&self, address: u64, size: u64) -> bool {
        let mut starts = (address.saturating_sub(LARGEST - 1)..address.saturating_add(size)).rev();
        starts.any(|start| {
            let watched = self.watched_at.get(&start).and_then(|&index| self.watched.get(index));
            watched.is_some_and(|watched| start.saturating_add(watched.size.into()) > address)
        })
    }

    /// What so many bytes at an address mean.
    fn value(&self, address: u64, word: u64, size: u64) -> Value {
        let log2 = size.ilog2() as u8;
        let watched = |at| self.watched_at.get(&at).and_then(|&index| self.watched.get(index));
        if let Some(around) = self.watched_around(address) {
            return match watched(address).map(|watched| watched.used) {
                Some(Use::Value(encoding)) if around == (address, size) => encoding.value(word, log2),
                // A part of it is no value.
                _ => Value::Unknown,
            };
        }
        // Compilers read and write bit-fields as parts of a word around them.
        let end = address.saturating_add(size);
        for start in address.saturating_sub(LARGEST - 1)..end {
            if let Some(&Watched { size, used: Use::Bits { encoding, first, width }, .. }) = watched(start)
                && start.saturating_add(size.into()) > address
            {
                let whole = start >= address && start.saturating_add(size.into()) <= end;
                let first = (start.saturating_sub(address) * 8) as u32 + u32::from(first);
                return if whole { encoding.bits(word, first, width.into()) } else { Value::Unknown };
            }
        }
        if size.is_power_of_two() { Encoding::default().value(word, log2) } else { Value::Unknown }
    }

    /// An access with a value. A value of several variables is none of them. How many there are.
    fn valued(&mut self, by: Doer, op: Op, address: u64, size: u32, mut extra: Extra) -> u64 {
        let vars = self.vars_at(address, size);
        if vars.len() != 1 {
            extra.value = Value::Unknown;
        }
        for &var in &vars {
            let mut extra = extra;
            match op {
                Op::Read | Op::AtomicLoad => extra.inexact |= self.values.read(var, extra.value),
                _ => self.values.written(var, extra.value),
            }
            self.emit(by, op, var.0, extra);
        }
        vars.len() as u64
    }

    pub(super) fn alloc(&mut self, slot: u32, words: &[u64]) {
        let by = self.doer(slot, words[1]);
        let (start, size) = (payload(words[0]), bounded(words));
        self.variables.range(start, size, true, |_| {});
        self.objects.end_range(start, size);
        // A part of a stack that is used anew stays one.
        if self.stack_owner(start).is_none() {
            self.blocks.insert(start, size, by);
        }
        self.gave(slot, 0);
    }

    pub(super) fn free(&mut self, slot: u32, words: &[u64]) {
        let by = self.doer(slot, words[1]);
        let (start, size) = (payload(words[0]), bounded(words));
        let at = self.slots[slot as usize].positions.find(u64::MAX).unwrap_or_default().end();
        let known = self.blocks.find(start).filter(|block| block.start == start);
        let of_heap = known.is_some();
        // A free tells what malloc had room for. Behind what was asked for may lie what is left of a block that was there before.
        let behind = start.saturating_add(size);
        let size = known.as_ref().map_or(size, |block| block.size);
        if let Some(block) = known {
            block.freed = Some(Freed { by, at });
        }
        let mut vars = Vec::new();
        // Memory that nobody allocated (a stack) will not be allocated again: what comes there is something else.
        self.variables.range(start, size, !of_heap, |var| vars.push(var));
        let end = start.saturating_add(size).next_multiple_of(8);
        self.variables.range(end, behind.saturating_sub(end), true, |_| {});
        self.objects.end_range(start, size);
        for &var in &vars {
            self.values.unknown(var);
            self.plain(by, Op::Free, var.0);
        }
        self.gave(slot, vars.len() as u64);
    }
}

/// The size in a third word: no more than addresses have.
fn bounded(words: &[u64]) -> u64 {
    words[2].min(1 << ADDRESS_BITS)
}
