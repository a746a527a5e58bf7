//! `alloc` and `free` keep their recorded order with every access of their variable (`weak-hb` and `maximal`).

use crate::builder::StructureBuilder;
use crate::window::Window;
use clock::VectorClock;
use event::{Event, Op, VarId};
use rustc_hash::FxHashMap;

/// The clocks of variables that a window allocates or frees.
#[derive(Default)]
pub(crate) struct LifetimeBoundaries {
    /// By variable: the accesses so far. Only variables with an `alloc` or `free` in the window are here.
    accesses: FxHashMap<VarId, VectorClock>,
    /// By variable: its last `alloc` or `free`.
    last: FxHashMap<VarId, VectorClock>,
}

impl LifetimeBoundaries {
    pub(crate) fn new(window: &Window<'_>) -> LifetimeBoundaries {
        let boundaries = window.events().filter(|(_, e)| e.op().bounds_lifetime());
        let accesses = boundaries.map(|(_, e)| (e.var(), VectorClock::default())).collect();
        LifetimeBoundaries { accesses, last: FxHashMap::default() }
    }

    pub(crate) fn before(&self, event: Event, builder: &mut StructureBuilder) {
        let clock = match event.op() {
            Op::Alloc | Op::Free => self.accesses.get(&event.var()),
            _ => self.last.get(&event.var()),
        };
        if let Some(clock) = clock {
            builder.join(event.thread(), clock);
        }
    }

    pub(crate) fn after(&mut self, event: Event, clock: &VectorClock) {
        if let Some(accesses) = self.accesses.get_mut(&event.var()) {
            accesses.join(clock);
            if event.op().bounds_lifetime() {
                self.last.entry(event.var()).or_default().copy_from(clock);
            }
        }
    }
}
