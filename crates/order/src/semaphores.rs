//! Semaphores in a window: `weak-hb` keeps the recorded order of their events, `maximal` counts.

use crate::builder::{ChainPosition, StructureBuilder};
use crate::event_structure::EventStructure;
use crate::rules::{ChainCounts, Guard};
use crate::window::Window;
use clock::VectorClock;
use event::{Event, Id, Op, SemId, Space, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The semaphores of a window.
pub(crate) struct Semaphores {
    /// By semaphore: the clock of its last event, if their order is kept.
    clocks: Option<Vec<VectorClock>>,
    /// The semaphores that have to be counted: those that more than one thread uses, or that go below zero.
    counted: FxHashSet<SemId>,
    /// By semaphore and thread: the numbers of the events that change the count.
    counts: BTreeMap<SemId, BTreeMap<ThreadId, ChainCounts>>,
}

impl Semaphores {
    pub(crate) fn new(window: &Window<'_>, ordered: bool) -> Semaphores {
        let mut owner: FxHashMap<SemId, ThreadId> = FxHashMap::default();
        let mut counted = FxHashSet::default();
        let mut counts = window.start.semaphores.clone();
        for (_, event) in window.events().filter(|(_, e)| e.op().counts()) {
            if *owner.entry(event.sem()).or_insert(event.thread()) != event.thread() {
                counted.insert(event.sem());
            }
            let count = &mut counts[event.sem().index()];
            if event.op() == Op::Up {
                *count = count.saturating_add(1);
            } else {
                *count = count.saturating_sub(1);
                if *count < 0 {
                    counted.insert(event.sem());
                }
            }
        }
        let clocks = ordered.then(|| vec![VectorClock::default(); window.trace.names.space(Space::Sem).len()]);
        Semaphores { clocks, counted, counts: BTreeMap::new() }
    }

    pub(crate) fn has_rule(&self, event: Event) -> bool {
        event.op().counts() && self.clocks.is_none() && self.counted.contains(&event.sem())
    }

    pub(crate) fn before(&self, event: Event, builder: &mut StructureBuilder) {
        if event.op().counts()
            && let Some(clocks) = &self.clocks
        {
            builder.join(event.thread(), &clocks[event.sem().index()]);
        }
    }

    pub(crate) fn after(&mut self, event: Event, position: Option<ChainPosition>, builder: &mut StructureBuilder) {
        if !event.op().counts() {
            return;
        }
        if let Some(clocks) = &mut self.clocks {
            clocks[event.sem().index()].copy_from(builder.clock(event.thread()));
        } else if let Some(position) = position.filter(|_| self.counted.contains(&event.sem())) {
            let counts = self.counts.entry(event.sem()).or_default().entry(event.thread()).or_default();
            if event.op() == Op::Up {
                counts.ups.push(position.number);
            } else {
                counts.downs.push(position.number);
                builder.event_mut(position).guard = Guard::Down { semaphore: event.sem().0 };
            }
        }
    }

    pub(crate) fn finish(self, window: &Window<'_>, structure: &mut EventStructure) {
        structure.rules.semaphores = window.start.semaphores.iter().map(|&count| (count, Vec::new())).collect();
        for (semaphore, threads) in self.counts {
            for (chain, by) in (0..).zip(&structure.chains) {
                if let Some(counts) = threads.get(&by.thread) {
                    let counts = ChainCounts { chain, ..counts.clone() };
                    structure.rules.semaphores[semaphore.index()].1.push(counts);
                }
            }
        }
    }
}
