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

impl RuledAccess {
    fn reads(&self) -> bool {
        self.op.reads()
    }

    fn writes(&self) -> bool {
        !is_read(self.op)
    }

    /// The value that it read, if recorded; that of an `armw` never is.
    fn recorded_read(&self) -> Value {
        if self.op == Op::AtomicRmw { Value::Unknown } else { self.value }
    }
}

struct ReadRules {
    /// By lifetime, in recorded order.
    accesses: Vec<Vec<RuledAccess>>,
}

/// The classes of what a variable can hold: of the initial value (number 0), and of each write, in recorded order.
struct Classes {
    /// By number: its class, which has the number of its first member.
    of_write: Vec<u32>,
    /// By known value: the classes with this value, sorted.
    by_value: FxHashMap<ValueKey, Vec<u32>>,
}

impl Classes {
    fn new(initial: Value, accesses: &[RuledAccess]) -> Classes {
        let mut values = vec![initial];
        // By number: whether some read demands exactly this write.
        let mut demanded = vec![false];
        for access in accesses {
            if access.reads() {
                let writer = values.len() - 1;
                let saw = access.recorded_read();
                demanded[writer] |= !saw.is_known() || saw != values[writer];
            }
            if access.writes() {
                values.push(access.value);
                demanded.push(false);
            }
        }
        let mut first: FxHashMap<ValueKey, u32> = FxHashMap::default();
        let class = |(number, &value): (u32, &Value)| match demanded[number as usize] {
            true => number,
            // Unrecorded values that no read demands are one class, too.
            false => *first.entry(ValueKey::new(value)).or_insert(number),
        };
        let of_write: Vec<u32> = (0..).zip(&values).map(class).collect();
        let mut by_value: FxHashMap<ValueKey, Vec<u32>> = FxHashMap::default();
        for (&class, &value) in of_write.iter().zip(&values).filter(|(_, value)| value.is_known()) {
            by_value.entry(ValueKey::new(value)).or_default().push(class);
        }
        for classes in by_value.values_mut() {
            classes.sort_unstable();
            classes.dedup();
        }
        Classes { of_write, by_value }
    }

    /// The classes that a read accepts, sorted: that of its recorded writer, and those with the value that it saw.
    fn accepted(&self, writer: usize, saw: Value) -> Vec<u32> {
        let mut classes = vec![self.of_write[writer]];
        if saw.is_known() {
            classes.extend(self.by_value.get(&ValueKey::new(saw)).into_iter().flatten());
        }
        classes.sort_unstable();
        classes.dedup();
        classes
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

/// Gives the accesses of a lifetime their actions. `accepted` numbers the sets of accepted classes of all lifetimes.
fn set_actions(
    initial: Value,
    accesses: &[RuledAccess],
    structure: &mut EventStructure,
    accepted: &mut FxHashMap<Vec<u32>, u32>,
) {
    let classes = Classes::new(initial, accesses);
    let slot = add_slot(&classes, accesses, structure);
    let mut accept = |writer: usize, saw: Value| {
        let fresh = accepted.len() as u32;
        *accepted.entry(classes.accepted(writer, saw)).or_insert(fresh)
    };
    // The number of the last write so far; 0 for the initial value.
    let mut last = 0;
    for access in accesses {
        let write = || (classes.of_write[last + 1], last as u32 + 1);
        let action = match (access.reads(), access.writes()) {
            (true, true) => {
                let (class, order) = write();
                Action::ReadWrite { slot, accepted: accept(last, access.recorded_read()), class, order }
            }
            (true, false) => Action::Read { slot, accepted: accept(last, access.recorded_read()) },
            _ => {
                let (class, order) = write();
                Action::Write { slot, class, order }
            }
        };
        last += usize::from(access.writes());
        let ChainPosition { chain, number } = access.position;
        structure.chains[chain as usize].events[number as usize - 1].action = action;
    }
}

/// Adds the slot of a lifetime to the context: its last reads and its writes, by chain.
fn add_slot(classes: &Classes, accesses: &[RuledAccess], structure: &mut EventStructure) -> u32 {
    let mut last_reads: BTreeMap<u32, u32> = BTreeMap::new();
    let mut writes: BTreeMap<u32, Vec<(u32, u32, u32)>> = BTreeMap::new();
    let mut order = 0;
    for access in accesses {
        let ChainPosition { chain, number } = access.position;
        if access.reads() {
            last_reads.insert(chain, number);
        }
        if access.writes() {
            order += 1;
            writes.entry(chain).or_default().push((number, order, classes.of_write[order as usize]));
        }
    }
    let last_reads = last_reads.into_iter().map(|(chain, count)| ChainPrefix { chain, count }).collect();
    let writes = writes.into_iter().map(|(chain, writes)| ChainWrites { chain, writes }).collect();
    structure.rules.add_slot(last_reads, writes)
}
