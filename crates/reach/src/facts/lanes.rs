//! The events that are not fixed, one lane for each thread.

use super::NONE;
use event::{Batch, ThreadId};
use rustc_hash::FxHashMap;

/// Where each event stands.
pub(crate) struct Lanes {
    /// How many events are fixed; they stand in no lane.
    pub(crate) fixed: u32,
    /// The events of each lane, in order.
    pub(crate) events: Vec<Vec<u32>>,
    /// By event: its lane, [`NONE`] for a fixed one.
    lane: Vec<u32>,
    /// By event: how many of its lane come before it.
    position: Vec<u32>,
    by_thread: FxHashMap<ThreadId, u32>,
}

impl Lanes {
    pub(crate) fn new(trace: &Batch, fixed: u32) -> Lanes {
        let mut lanes = Lanes {
            fixed,
            events: Vec::new(),
            lane: vec![NONE; trace.events.len()],
            position: vec![0; trace.events.len()],
            by_thread: FxHashMap::default(),
        };
        for (at, event) in (0u32..).zip(&trace.events).skip(fixed as usize) {
            let next = lanes.events.len() as u32;
            let lane = *lanes.by_thread.entry(event.thread()).or_insert(next);
            if lane == next {
                lanes.events.push(Vec::new());
            }
            let events = &mut lanes.events[lane as usize];
            lanes.lane[at as usize] = lane;
            lanes.position[at as usize] = events.len() as u32;
            events.push(at);
        }
        lanes
    }

    /// How many lanes there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// The lane of an event that is not fixed.
    #[inline]
    pub(crate) fn of(&self, event: u32) -> usize {
        self.lane[event as usize] as usize
    }

    /// How many events of its lane come before it.
    #[inline]
    pub(crate) fn position(&self, event: u32) -> u32 {
        self.position[event as usize]
    }

    /// The lane of a thread; [`NONE`] if all its events are fixed.
    pub(crate) fn of_thread(&self, thread: ThreadId) -> u32 {
        self.by_thread.get(&thread).copied().unwrap_or(NONE)
    }

    /// Whether a set, as counts per lane, has an event. Fixed ones are in every set.
    #[inline]
    pub(crate) fn has(&self, counts: &[u32], event: u32) -> bool {
        event < self.fixed || counts[self.of(event)] > self.position(event)
    }
}
