//! Wake-ups in a window: each comes after its notify, and not at all if the notify came before the wait.

use crate::builder::{ChainPosition, StructureBuilder};
use crate::rules::Action;
use crate::window::Window;
use clock::VectorClock;
use event::{Event, Op, ThreadId};
use rustc_hash::FxHashMap;
use sync::Wakeup;

/// The pairs of a window, by their events.
pub(crate) struct Wakeups {
    by_event: FxHashMap<u64, Vec<Wakeup>>,
    waits: FxHashMap<u64, ChainPosition>,
    /// By notify: its clock.
    notifies: FxHashMap<u64, VectorClock>,
    /// By wake-up: the slot that says whether its notify was lost.
    slots: FxHashMap<u64, u32>,
}

impl Wakeups {
    pub(crate) fn new(window: &Window<'_>) -> Wakeups {
        let mut by_event: FxHashMap<u64, Vec<Wakeup>> = FxHashMap::default();
        // The pairs are in the order of their wake-ups.
        let pairs = window.trace.wakeups();
        let from = pairs.partition_point(|pair| pair.woken < window.range.start);
        for pair in pairs[from..].iter().take_while(|pair| pair.woken < window.range.end) {
            // A pair whose notify comes before the window, or whose wake-up comes after it, has no rule in it.
            if pair.notify >= window.range.start {
                by_event.entry(pair.notify).or_default().push(*pair);
                by_event.entry(pair.woken).or_default().push(*pair);
                by_event.entry(pair.wait).or_default().push(*pair);
            }
        }
        Wakeups { by_event, waits: FxHashMap::default(), notifies: FxHashMap::default(), slots: FxHashMap::default() }
    }

    pub(crate) fn has_rule(&self, index: u64) -> bool {
        self.by_event.contains_key(&index)
    }

    pub(crate) fn before(&self, index: u64, event: Event, builder: &mut StructureBuilder) {
        if event.op() == Op::Woken
            && let Some(pairs) = self.by_event.get(&index)
            && let Some(clock) = self.notifies.get(&pairs[0].notify)
        {
            builder.join(event.thread(), clock);
        }
    }

    pub(crate) fn after(&mut self, index: u64, event: Event, position: ChainPosition, builder: &mut StructureBuilder) {
        let Some(pairs) = self.by_event.get(&index) else { return };
        match event.op() {
            Op::Wait => {
                self.waits.insert(index, position);
            }
            Op::Notify | Op::NotifyAll => {
                let clock = builder.clock(event.thread()).clone();
                let from = builder.structure.rules.notifies.len() as u32;
                for pair in pairs {
                    // A wait before the window, or one that precedes the notify, cannot come too late.
                    let Some(wait) = self.waits.get(&pair.wait) else { continue };
                    if clock.get(ThreadId(wait.chain)) < wait.number {
                        let slot = builder.structure.rules.add_slot(Vec::new(), Vec::new());
                        builder.structure.rules.notifies.push((slot, wait.prefix()));
                        self.slots.insert(pair.woken, slot);
                    }
                }
                let to = builder.structure.rules.notifies.len() as u32;
                if from < to {
                    builder.event_mut(position).action = Action::Notify { from, to };
                }
                self.notifies.insert(index, clock);
            }
            _ => {
                if let Some(&slot) = self.slots.get(&index) {
                    builder.event_mut(position).action = Action::Woken { slot };
                }
            }
        }
    }
}
