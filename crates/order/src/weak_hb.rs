//! `weak-hb`: weak happens-before with atomic sets (Sen, Roşu and Agha, *Detecting errors in multithreaded programs by
//! generalized predictive analysis of executions*), as docs/causality.md defines it.
//!
//! A read stays after the write that it read from. A write and its reads form an atomic set, which no other access of
//! the variable may divide; whole sets may change their order. The reads of the initial value form a set that is open
//! from the start, so every write comes after them.

use crate::builder::{ChainPosition, StructureBuilder, is_read};
use crate::event_structure::{ChainPrefix, EventStructure};
use crate::lifetimes::{Lifetime, Lifetimes};
use crate::rules::{Guard, Openers};
use crate::window::Window;
use crate::windowed::{Access, Accesses, build};
use clock::VectorClock;
use event::{Op, ThreadId};
use std::collections::BTreeMap;

/// The event structure of `weak-hb` over a window. Relevant are the events that `is_relevant` accepts, by index, and
/// those that the rules speak of.
pub fn weak_hb(window: &Window<'_>, is_relevant: impl Fn(u64) -> bool) -> EventStructure {
    build(window, is_relevant, |lifetimes| AtomicSets {
        states: vec![SetState::default(); lifetimes.all.len()],
        complete: Vec::new(),
    })
}

/// The atomic sets of one lifetime so far.
#[derive(Clone, Default)]
struct SetState {
    /// The clock of the reads of the initial value.
    initial: VectorClock,
    /// The clock of the write that opened the last set.
    write: Option<VectorClock>,
    /// The clock of the members of the last set.
    members: VectorClock,
    /// The number of the last set.
    set: u32,
    /// By thread: the events that open a set, with the number of that set.
    openers: BTreeMap<ThreadId, Vec<(u32, u32)>>,
}

struct AtomicSets {
    /// By lifetime.
    states: Vec<SetState>,
    /// By set: it is complete when so many events of these chains are taken.
    complete: Vec<BTreeMap<u32, u32>>,
}

impl Accesses for AtomicSets {
    const ORDERED_SEMAPHORES: bool = true;

    /// A lifetime with a single set needs no rules: nothing can divide the set.
    fn has_rule(&self, lifetime: &Lifetime) -> bool {
        lifetime.shared && lifetime.writes > 1
    }

    fn before(&mut self, access: &Access, builder: &mut StructureBuilder) {
        let state = &self.states[access.lifetime as usize];
        if is_read(access.event.op()) {
            if let Some(write) = &state.write {
                builder.join(access.event.thread(), write);
            }
            return;
        }
        builder.join(access.event.thread(), &state.initial);
        if access.event.op() == Op::AtomicRmw {
            builder.join(access.event.thread(), &state.members);
        }
    }

    fn after(&mut self, access: &Access, position: Option<ChainPosition>, builder: &mut StructureBuilder) {
        let clock = builder.clock(access.event.thread());
        let state = &mut self.states[access.lifetime as usize];
        let op = access.event.op();
        if op.reads() {
            match state.write {
                None => state.initial.join(clock),
                Some(_) => {
                    state.members.join(clock);
                    if let Some(position) = position.filter(|_| access.ruled) {
                        self.complete[state.set as usize].insert(position.chain, position.number);
                    }
                }
            }
        }
        if is_read(op) {
            return;
        }
        state.write.get_or_insert_default().copy_from(clock);
        state.members.copy_from(clock);
        let Some(position) = position.filter(|_| access.ruled) else { return };
        state.set = self.complete.len() as u32;
        state.openers.entry(access.event.thread()).or_default().push((position.number, state.set));
        let mut complete = BTreeMap::new();
        if access.read_later {
            // Some of its reads come after the window, so it is never complete in it.
            complete.insert(u32::MAX, u32::MAX);
        }
        self.complete.push(complete);
        // An `armw` is also the last member of the set before, so that set is not another one.
        if op != Op::AtomicRmw {
            builder.event_mut(position).guard = Guard::Set { lifetime: access.lifetime, own: state.set };
        }
    }

    fn finish(self, _spans: &Lifetimes, _window: &Window<'_>, structure: &mut EventStructure) {
        let chain_of: BTreeMap<ThreadId, u32> =
            (0..).zip(&structure.chains).map(|(i, chain)| (chain.thread, i)).collect();
        let openers = self.states.into_iter().map(|state| {
            state.openers.into_iter().map(|(thread, sets)| Openers { chain: chain_of[&thread], sets }).collect()
        });
        structure.rules.openers = openers.collect();
        let predecessors = |set: BTreeMap<u32, u32>| {
            let never = ChainPrefix { chain: 0, count: u32::MAX };
            set.into_iter()
                .map(|(chain, count)| if chain == u32::MAX { never } else { ChainPrefix { chain, count } })
                .collect()
        };
        structure.rules.complete = self.complete.into_iter().map(predecessors).collect();
    }
}
