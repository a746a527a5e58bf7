//! The events that are not fixed, one chain for each thread.

use super::NONE;
use event::{Batch, ThreadId};
use rustc_hash::FxHashMap;

/// Where each event stands.
pub(crate) struct Chains {
    /// How many events are fixed; they stand in no chain.
    pub(crate) fixed: u32,
    /// The events of each chain, in order.
    pub(crate) events: Vec<Vec<u32>>,
    /// By event: its chain, [`NONE`] for a fixed one.
    chain: Vec<u32>,
    /// By event: how many of its chain come before it.
    position: Vec<u32>,
    by_thread: FxHashMap<ThreadId, u32>,
}

impl Chains {
    pub(crate) fn new(trace: &Batch, fixed: u32) -> Chains {
        let mut chains = Chains {
            fixed,
            events: Vec::new(),
            chain: vec![NONE; trace.events.len()],
            position: vec![0; trace.events.len()],
            by_thread: FxHashMap::default(),
        };
        for (at, event) in (0u32..).zip(&trace.events).skip(fixed as usize) {
            let next = chains.events.len() as u32;
            let chain = *chains.by_thread.entry(event.thread()).or_insert(next);
            if chain == next {
                chains.events.push(Vec::new());
            }
            let events = &mut chains.events[chain as usize];
            chains.chain[at as usize] = chain;
            chains.position[at as usize] = events.len() as u32;
            events.push(at);
        }
        chains
    }

    /// How many chains there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// The chain of an event that is not fixed.
    #[inline]
    pub(crate) fn of(&self, event: u32) -> usize {
        self.chain[event as usize] as usize
    }

    /// How many events of its chain come before it.
    #[inline]
    pub(crate) fn position(&self, event: u32) -> u32 {
        self.position[event as usize]
    }

    /// The chain of a thread; [`NONE`] if all its events are fixed.
    pub(crate) fn of_thread(&self, thread: ThreadId) -> u32 {
        self.by_thread.get(&thread).copied().unwrap_or(NONE)
    }

    /// Whether a set, as counts per chain, has an event. Fixed ones are in every set.
    #[inline]
    pub(crate) fn has(&self, counts: &[u32], event: u32) -> bool {
        event < self.fixed || counts[self.of(event)] > self.position(event)
    }
}
