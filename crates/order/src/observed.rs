//! `observed`: only the recorded order.

use crate::event_structure::{Chain, ChainPrefix, EventStructure, RelevantEvent};
use crate::rules::{Action, Guard};
use event::{Batch, ThreadId};
use rustc_hash::FxHashMap;

/// The event structure of `observed`. An event's only predecessor is the relevant event recorded last before it.
pub fn observed(trace: &Batch, is_relevant: impl Fn(u64) -> bool) -> EventStructure {
    let mut structure = EventStructure::default();
    let mut chains: FxHashMap<ThreadId, u32> = FxHashMap::default();
    let mut last: Option<ChainPrefix> = None;
    for (index, event) in (trace.first..).zip(&trace.events) {
        if !is_relevant(index) {
            continue;
        }
        let chain = *chains.entry(event.thread()).or_insert_with(|| {
            structure.chains.push(Chain { thread: event.thread(), events: Vec::new() });
            structure.chains.len() as u32 - 1
        });
        let from = structure.predecessors.len() as u32;
        structure.predecessors.extend(last.filter(|prefix| prefix.chain != chain));
        let predecessors = (from, structure.predecessors.len() as u32);
        let events = &mut structure.chains[chain as usize].events;
        events.push(RelevantEvent { index, predecessors, guard: Guard::None, action: Action::None });
        last = Some(ChainPrefix { chain, count: events.len() as u32 });
    }
    structure
}
