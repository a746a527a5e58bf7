//! Accesses, allocations and frees.

use super::Build;
use super::blocks::{Actor, Freed};
use super::values::{Encoding, Use, Watched};
use super::variables::{Parts, cut};
use crate::decode::{aux, context, payload};
use event::{Extra, Op, Order, Value, VarId};
use runtime::record::{ADDRESS_BITS, Kind, PENDING, SILENT, bulk_words};

/// No watched variable is larger.
const LARGEST: u64 = 8;

impl Build {
    /// A conflicting access, or a read of a Shared word for which no entry was free.
    #[inline]
    pub(super) fn access(&mut self, slot: u32, record: &[u64], op: Op) {
        let (word, mask) = (payload(record[0]) >> 3, aux(record[0]));
        if let Some(var) = self.variables.one(word, mask)
            && self.at_known_context(slot, context(record[1]), op, var.0)
        {
            if op == Op::Write {
                self.values.unknown(var);
            }
            return;
        }
        self.rare_access(slot, record, op);
    }

    #[cold]
    fn rare_access(&mut self, slot: u32, record: &[u64], op: Op) {
        let by = self.actor(slot, record[1]);
        let events = self.parts(by, payload(record[0]) >> 3, aux(record[0]), op);
        self.count_events(slot, events);
    }

    /// Conflicting accesses of whole words: the lowest one first.
    #[inline]
    pub(super) fn accesses(&mut self, slot: u32, record: &[u64], op: Op) {
        let mut words = bulk_words(record[0]);
        let mut events = 0;
        if let Some((thread, action)) = self.known_action(slot, context(record[1]), op)
            && (op == Op::Read || self.values.is_empty())
        {
            let mut rest = words.clone();
            while let Some(word) = rest.next()
                && let Some(var) = self.variables.one(word, 0xff)
            {
                self.out.act(thread, action, var.0, &self.names, &self.meta);
                events += 1;
                words = rest.clone();
            }
        }
        events += self.rare_accesses(slot, record, op, words);
        self.count_events(slot, events);
    }

    fn rare_accesses(&mut self, slot: u32, record: &[u64], op: Op, mut words: impl Iterator<Item = u64>) -> u64 {
        let Some(first) = words.next() else { return 0 };
        let by = self.actor(slot, record[1]);
        std::iter::once(first).chain(words).map(|word| self.parts(by, word, 0xff, op)).sum()
    }

    /// Emits an access of each variable that these bytes of a word are. Returns how many there are.
    #[cold]
    fn parts(&mut self, by: Actor, word: u64, mask: u8, op: Op) -> u64 {
        let vars = self.vars(word, mask);
        if op == Op::Write {
            vars.vars().iter().for_each(|&var| self.values.unknown(var));
        }
        self.plain_all(by, op, vars.vars());
        vars.vars().len() as u64
    }

    /// Emits an operation of several variables.
    fn plain_all(&mut self, by: Actor, op: Op, vars: &[VarId]) {
        match self.known_action(by.slot, by.context, op) {
            Some((thread, action)) if thread == by.thread => {
                vars.iter().for_each(|var| self.out.act(thread, action, var.0, &self.names, &self.meta));
            }
            _ => vars.iter().for_each(|var| self.plain(by, op, var.0)),
        }
    }

    /// The variables that these bytes of a word are.
    pub(super) fn vars(&mut self, word: u64, mask: u8) -> Parts {
        if let Some(known) = self.variables.known(word, mask) {
            return known;
        }
        self.new_vars(word, mask)
    }

    #[cold]
    fn new_vars(&mut self, word: u64, mask: u8) -> Parts {
        let mut parts = self.variables.open(word);
        let vars = cut(&mut parts, mask, |mask| self.new_variables(word, mask));
        self.variables.close(word, parts);
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

    pub(super) fn atomic(&mut self, slot: u32, kind: Kind, record: &[u64]) {
        let by = self.actor(slot, record[1]);
        let log2 = (aux(record[0]) >> 4).min(4);
        let order = Order::from_code(aux(record[0]) & 15).unwrap_or_default();
        let op = match kind {
            Kind::AtomicLoad => Op::AtomicLoad,
            Kind::AtomicStore => Op::AtomicStore,
            _ => Op::AtomicRmw,
        };
        if self.is_java {
            return self.java_value(by, op, record, order);
        }
        let value = if log2 > 3 { Value::Unknown } else { self.value(payload(record[0]), record[2], 1 << log2) };
        let extra = Extra { value, order, ..Extra::default() };
        let events = self.valued(by, op, payload(record[0]), 1 << log2, extra);
        self.count_events(by.slot, events);
    }

    /// An access of a Java program with its value: the upper half of the auxiliary byte says what that is.
    fn java_value(&mut self, by: Actor, op: Op, record: &[u64], order: Order) {
        let value = match aux(record[0]) >> 4 {
            1 => Value::Int(record[2] as i64),
            2 => Value::Bool(record[2] & 1 == 1),
            3 => Value::Real(f64::from_bits(record[2])),
            _ => Value::Unknown,
        };
        let events = self.valued(by, op, payload(record[0]) & !7, 8, Extra { value, order, ..Extra::default() });
        self.count_events(by.slot, events);
    }

    pub(super) fn watched(&mut self, slot: u32, kind: Kind, record: &[u64]) {
        let by = self.actor(slot, record[1]);
        let op = if kind == Kind::WatchRead { Op::Read } else { Op::Write };
        if self.is_java {
            return self.java_value(by, op, record, Order::default());
        }
        let aux = aux(record[0]);
        let start = payload(record[0]);
        let end = start.saturating_add(1 << (aux & !PENDING).min(3));
        // The values of neighbours in the same word are not wanted, and the C library may write them unseen.
        let is_watched = self.is_watched(start, end - start);
        // The thread was gone, or waited for too long, before it could record what it wrote.
        let is_pending = aux & PENDING != 0;
        let (mut at, mut events) = (start, 0);
        while at < end {
            let size = self.part(at, end) - at;
            let mut extra = Extra { inexact: is_watched && is_pending, ..Extra::default() };
            if is_watched && !is_pending {
                extra.value = self.value(at, record[2] >> (8 * (at - start)), size);
            }
            events += self.valued(by, op, at, size as u32, extra);
            at += size;
        }
        self.count_events(by.slot, events);
    }

    /// The watched variable that a byte belongs to, if its values are recorded: where it begins, and its size.
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

    /// The value of the bytes at an address.
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

    /// Emits an access with a value. A value of several variables is the value of none of them. Returns how many there
    /// are.
    fn valued(&mut self, by: Actor, op: Op, address: u64, size: u32, mut extra: Extra) -> u64 {
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

    pub(super) fn alloc(&mut self, slot: u32, record: &[u64]) {
        let by = self.actor(slot, record[1]);
        let (start, size) = (payload(record[0]), bounded(record));
        self.variables.range(start, size, true, |_| {});
        self.end_objects(start, size);
        // A part of a stack that is used again is still a stack.
        if self.stack_owner(start).is_none() {
            self.blocks.insert(start, size, by);
        }
        self.count_events(slot, 0);
    }

    pub(super) fn free(&mut self, slot: u32, record: &[u64]) {
        let by = self.actor(slot, record[1]);
        let (start, size) = (payload(record[0]), bounded(record));
        if aux(record[0]) == SILENT {
            // Nothing but a new identity.
            self.variables.range(start, size, true, |_| {});
            self.end_objects(start, size);
            return self.count_events(slot, 0);
        }
        let at = self.slots[slot as usize].event_index.find(u64::MAX).unwrap_or_default().end();
        let known = self.blocks.find(start).filter(|block| block.start == start);
        let of_heap = known.is_some();
        // The size in a free is what malloc had room for. Behind what was asked for may lie what is left of a block
        // that was there before.
        let behind = start.saturating_add(size);
        let size = known.as_ref().map_or(size, |block| block.size);
        if let Some(block) = known {
            block.freed = Some(Freed { by, at });
        }
        let mut vars = Vec::new();
        // Memory that was not allocated (a stack) will not be allocated again: what comes there is something else.
        self.variables.range(start, size, !of_heap, |var| vars.push(var));
        let end = start.saturating_add(size).next_multiple_of(8);
        self.variables.range(end, behind.saturating_sub(end), true, |_| {});
        let lives = self.end_objects(start, size);
        vars.iter().for_each(|&var| self.values.unknown(var));
        self.plain_all(by, Op::Free, &vars);
        let objects = self.freed_with(by, &lives);
        self.count_events(slot, vars.len() as u64 + objects);
    }
}

/// The size in a third word: no more than addresses have.
fn bounded(record: &[u64]) -> u64 {
    record[2].min(1 << ADDRESS_BITS)
}
