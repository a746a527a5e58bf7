//! `maximal`: every order in which all reads see the values that they saw (Şerbănuţă, Chen and Roşu, *Maximal
//! causal models for sequentially consistent systems*), with terminal reads.
//!
//! The context of a path says for each variable which write the reads to come would see. Writes that no read
//! distinguishes form one class: those with equal recorded values, except where a read without a recorded value demands
//! its very write.

use crate::builder::{ChainPosition, StructureBuilder, is_read};
use crate::event_structure::{ChainPrefix, EventStructure};
use crate::lifetimes::{Lifetime, Lifetimes};
use crate::rules::{Action, ChainWrites};
use crate::window::Window;
use crate::windowed::{Access, Accesses, build};
use event::{Id, Op, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The event structure of `maximal` over a window. Relevant are the events that `is_relevant` accepts, by index, and
/// those that the rules speak of.
pub fn maximal(window: &Window<'_>, is_relevant: impl Fn(u64) -> bool) -> EventStructure {
    build(window, is_relevant, |lifetimes| ReadRules { accesses: vec![Vec::new(); lifetimes.all.len()] })
}

/// An access of a lifetime that the rules speak of.
#[derive(Clone)]
struct RuledAccess {
    position: ChainPosition,
    op: Op,
    value: Value,
}

struct ReadRules {
    /// By lifetime, in recorded order.
    accesses: Vec<Vec<RuledAccess>>,
}

/// What a variable can hold: the initial value (number 0), and what each write left, in recorded order.
struct Contents {
    values: Vec<Value>,
    /// By number: whether some read demands exactly this write.
    demanded: Vec<bool>,
}

impl Contents {
    /// By number: its class, which is called by the number of its first member.
    fn classes(&self) -> Vec<u32> {
        let mut index: FxHashMap<ValueKey, u32> = FxHashMap::default();
        (0..self.values.len())
            .map(|number| {
                if self.demanded[number] {
                    return number as u32;
                }
                // Unrecorded values that no read demands are one class, too.
                let value = self.values[number];
                *index.entry(ValueKey::new(value)).or_insert(number as u32)
            })
            .collect()
    }
}

/// A value as a hash key: real numbers by their bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ValueKey(u8, u64);

impl ValueKey {
    fn new(value: Value) -> ValueKey {
        match value {
            Value::Unknown => ValueKey(0, 0),
            Value::Bool(b) => ValueKey(1, b.into()),
            Value::Int(n) => ValueKey(2, n as u64),
            Value::Real(r) => ValueKey(3, r.to_bits()),
            Value::Str(s) => ValueKey(4, s.0.into()),
        }
    }
}

impl Accesses for ReadRules {
    const ORDERED_SEMAPHORES: bool = false;

    /// A lifetime without writes or without reads needs no rules: no read can see a wrong value.
    fn has_rule(&self, lifetime: &Lifetime) -> bool {
        lifetime.shared && lifetime.writes > 0 && lifetime.reads > 0
    }

    fn before(&mut self, _access: &Access, _builder: &mut StructureBuilder) {}

    fn after(&mut self, access: &Access, position: Option<ChainPosition>, _builder: &mut StructureBuilder) {
        if let Some(position) = position.filter(|_| access.ruled) {
            self.accesses[access.lifetime as usize].push(RuledAccess {
                position,
                op: access.event.op(),
                value: access.value,
            });
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
            set_actions(initial, accesses, structure, &mut accepted);
        }
        let mut lists: Vec<(Vec<u32>, u32)> = accepted.into_iter().collect();
        lists.sort_by_key(|(_, number)| *number);
        structure.rules.accepted = lists.into_iter().map(|(list, _)| list).collect();
    }
}

/// Gives the accesses of a lifetime their actions.
fn set_actions(
    initial: Value,
    accesses: &[RuledAccess],
    structure: &mut EventStructure,
    accepted: &mut FxHashMap<Vec<u32>, u32>,
) {
    let mut contents = Contents { values: vec![initial], demanded: vec![false] };
    let mut last_reads: BTreeMap<u32, u32> = BTreeMap::new();
    for access in accesses {
        let reads = is_read(access.op) || access.op == Op::AtomicRmw;
        if reads {
            let writer = contents.values.len() - 1;
            let saw = if access.op == Op::AtomicRmw { Value::Unknown } else { access.value };
            contents.demanded[writer] |= !saw.is_known() || saw != contents.values[writer];
            last_reads.insert(access.position.chain, access.position.number);
        }
        if !is_read(access.op) {
            contents.values.push(access.value);
            contents.demanded.push(false);
        }
    }
    let classes = contents.classes();
    let mut writes: BTreeMap<u32, Vec<(u32, u32, u32)>> = BTreeMap::new();
    for (order, access) in (1..).zip(accesses.iter().filter(|access| !is_read(access.op))) {
        writes.entry(access.position.chain).or_default().push((access.position.number, order, classes[order as usize]));
    }
    let last_reads = last_reads.into_iter().map(|(chain, count)| ChainPrefix { chain, count }).collect();
    let writes = writes.into_iter().map(|(chain, writes)| ChainWrites { chain, writes }).collect();
    let slot = structure.rules.add_slot(last_reads, writes);
    let mut by_value: FxHashMap<ValueKey, Vec<u32>> = FxHashMap::default();
    for (&class, &value) in classes.iter().zip(&contents.values).filter(|(_, value)| value.is_known()) {
        by_value.entry(ValueKey::new(value)).or_default().push(class);
    }
    for list in by_value.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    let mut written = 0;
    for access in accesses {
        let accept = |saw: Value, accepted: &mut FxHashMap<Vec<u32>, u32>| {
            let mut list = vec![classes[written]];
            if saw.is_known() {
                list.extend(by_value.get(&ValueKey::new(saw)).into_iter().flatten());
            }
            list.sort_unstable();
            list.dedup();
            let fresh = accepted.len() as u32;
            *accepted.entry(list).or_insert(fresh)
        };
        let action = match access.op {
            op if is_read(op) => Action::Read { slot, accepted: accept(access.value, accepted) },
            Op::AtomicRmw => {
                let accepted = accept(Value::Unknown, accepted);
                Action::ReadWrite { slot, accepted, class: classes[written + 1], order: written as u32 + 1 }
            }
            _ => Action::Write { slot, class: classes[written + 1], order: written as u32 + 1 },
        };
        written += usize::from(!is_read(access.op));
        structure.chains[access.position.chain as usize].events[access.position.number as usize - 1].action = action;
    }
}
