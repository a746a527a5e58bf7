//! `maximal`: every order in which all reads see what they saw (after Şerbănuţă, Chen and Roşu, "Maximal causal models for
//! sequentially consistent systems"), with terminal reads.
//!
//! A path remembers for each variable which write the reads to come would see. Writes that no read tells apart
//! are one class: equal recorded values, unless some read has no value and so needs that very write.

use crate::builder::{ChainPosition, StructureBuilder, is_read};
use crate::event_structure::{ChainPrefix, EventStructure};
use crate::lifetimes::{Lifetime, Lifetimes};
use crate::rules::{Action, ChainWrites};
use crate::window::Window;
use crate::windowed::{Access, Accesses, build};
use event::{Id, Op, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The structure of `maximal` over a window: events that `is_relevant` wants, and those that the rules speak of.
pub fn maximal(window: &Window<'_>, is_relevant: impl Fn(u64) -> bool) -> EventStructure {
    build(window, is_relevant, |lifetimes| Reads { accesses: vec![Vec::new(); lifetimes.all.len()] })
}

/// An access of a lifetime that the rules speak of.
#[derive(Clone)]
struct Seen {
    position: ChainPosition,
    op: Op,
    value: Value,
}

struct Reads {
    /// By lifetime, in recorded order.
    accesses: Vec<Vec<Seen>>,
}

/// What a variable can hold: the initial value, and what each write left. Numbered from 0 in recorded order.
struct Contents {
    values: Vec<Value>,
    /// Some read needs this very one.
    itself: Vec<bool>,
}

impl Contents {
    /// By number: the class, which is the number of its first member.
    fn classes(&self) -> Vec<u32> {
        let mut index: FxHashMap<Key, u32> = FxHashMap::default();
        (0..self.values.len())
            .map(|number| {
                if self.itself[number] {
                    return number as u32;
                }
                // What is not recorded, and nobody needs, is all alike.
                let value = self.values[number];
                *index.entry(Key::of(value)).or_insert(number as u32)
            })
            .collect()
    }
}

/// A value as a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key(u8, u64);

impl Key {
    fn of(value: Value) -> Key {
        match value {
            Value::Unknown => Key(0, 0),
            Value::Bool(b) => Key(1, b.into()),
            Value::Int(n) => Key(2, n as u64),
            Value::Real(r) => Key(3, r.to_bits()),
            Value::Str(s) => Key(4, s.0.into()),
        }
    }
}

impl Accesses for Reads {
    const ORDERED_SEMAPHORES: bool = false;

    /// Without writes or without reads nothing can be seen wrongly.
    fn has_rule(&self, lifetime: &Lifetime) -> bool {
        lifetime.shared && lifetime.writes > 0 && lifetime.reads > 0
    }

    fn before(&mut self, _access: &Access, _threads: &mut StructureBuilder) {}

    fn after(&mut self, access: &Access, position: Option<ChainPosition>, _threads: &mut StructureBuilder) {
        if let Some(position) = position.filter(|_| access.ruled) {
            self.accesses[access.number as usize].push(Seen { position, op: access.event.op(), value: access.value });
        }
    }

    fn finish(self, lifetimes: &Lifetimes, window: &Window<'_>, structure: &mut EventStructure) {
        let mut accepted: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        for (lifetime, accesses) in lifetimes.all.iter().zip(&self.accesses) {
            if accesses.is_empty() {
                continue;
            }
            let initial =
                if lifetime.from_start { window.start.values[lifetime.variable.index()] } else { Value::Unknown };
            rule(initial, accesses, structure, &mut accepted);
        }
        let mut lists: Vec<(Vec<u32>, u32)> = accepted.into_iter().collect();
        lists.sort_by_key(|(_, number)| *number);
        structure.rules.accepted = lists.into_iter().map(|(list, _)| list).collect();
    }
}

/// Gives the accesses of a lifetime their acts.
fn rule(initial: Value, accesses: &[Seen], structure: &mut EventStructure, accepted: &mut FxHashMap<Vec<u32>, u32>) {
    let mut contents = Contents { values: vec![initial], itself: vec![false] };
    let mut last_reads: BTreeMap<u32, u32> = BTreeMap::new();
    for seen in accesses {
        let reads = is_read(seen.op) || seen.op == Op::AtomicRmw;
        if reads {
            let writer = contents.values.len() - 1;
            let saw = if seen.op == Op::AtomicRmw { Value::Unknown } else { seen.value };
            contents.itself[writer] |= !saw.is_known() || saw != contents.values[writer];
            last_reads.insert(seen.position.chain, seen.position.number);
        }
        if !is_read(seen.op) {
            contents.values.push(seen.value);
            contents.itself.push(false);
        }
    }
    let classes = contents.classes();
    let mut writes: BTreeMap<u32, Vec<(u32, u32, u32)>> = BTreeMap::new();
    for (order, seen) in (1..).zip(accesses.iter().filter(|seen| !is_read(seen.op))) {
        writes.entry(seen.position.chain).or_default().push((seen.position.number, order, classes[order as usize]));
    }
    let last_reads = last_reads.into_iter().map(|(chain, count)| ChainPrefix { chain, count }).collect();
    let writes = writes.into_iter().map(|(chain, writes)| ChainWrites { chain, writes }).collect();
    let slot = structure.rules.slot(last_reads, writes);
    let mut by_value: FxHashMap<Key, Vec<u32>> = FxHashMap::default();
    for (&class, &value) in classes.iter().zip(&contents.values).filter(|(_, value)| value.is_known()) {
        by_value.entry(Key::of(value)).or_default().push(class);
    }
    for list in by_value.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    let mut written = 0;
    for seen in accesses {
        let accept = |saw: Value, accepted: &mut FxHashMap<Vec<u32>, u32>| {
            let mut list = vec![classes[written]];
            if saw.is_known() {
                list.extend(by_value.get(&Key::of(saw)).into_iter().flatten());
            }
            list.sort_unstable();
            list.dedup();
            let fresh = accepted.len() as u32;
            *accepted.entry(list).or_insert(fresh)
        };
        let action = match seen.op {
            op if is_read(op) => Action::Read { slot, accepted: accept(seen.value, accepted) },
            Op::AtomicRmw => {
                let accepted = accept(Value::Unknown, accepted);
                Action::ReadWrite { slot, accepted, class: classes[written + 1], order: written as u32 + 1 }
            }
            _ => Action::Write { slot, class: classes[written + 1], order: written as u32 + 1 },
        };
        written += usize::from(!is_read(seen.op));
        structure.chains[seen.position.chain as usize].events[seen.position.number as usize - 1].action = action;
    }
}
