//! What is reported: blocks that are not serialisable, and the cycles that show it.

use crate::place::Place;
use event::{BlockId, SiteId, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// An event in 12 bytes: of its index the lower half.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Spot {
    pub(super) low: u32,
    pub(super) thread: ThreadId,
    pub(super) site: SiteId,
}

impl Spot {
    /// The event, if it is less than four billion events before this one.
    pub(super) fn place(self, now: u64) -> Place {
        let event = now - u64::from((now as u32).wrapping_sub(self.low));
        Place { event, thread: self.thread, site: self.site }
    }
}

/// A block that is not serialisable in the recorded run.
///
/// The conflicts of the cycle stand in the order in which they lead from the block back to it: each leads from an event
/// to a later one of another transaction, and the next leaves that transaction, or a later one of its thread. The event
/// that closed the cycle is the last one of the last conflict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The block's name.
    pub block: BlockId,
    /// Its first event.
    pub begin: Place,
    /// The conflicts of the cycle.
    pub cycle: Vec<[Place; 2]>,
    /// Whether all conflicts of the cycle are there; if not, the first ones are missing.
    pub complete: bool,
    /// How many blocks of this name were violated by a cycle with the same sites.
    pub times: u64,
}

impl Violation {
    /// The event that closed the cycle.
    pub fn closed(&self) -> Place {
        self.cycle.last().map_or(self.begin, |conflict| conflict[1])
    }
}

/// What was found in the recorded run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Violations {
    /// Outermost blocks looked at.
    pub blocks: u64,
    /// Outermost blocks that were not followed, or not to their ends, because too many ran at a time.
    pub unfollowed: u64,
    /// Blocks that are violated.
    pub violated: u64,
    /// Different ones (by the block's name and the sites of the events on the cycle), in the order in which they were
    /// found.
    pub found: Vec<Violation>,
    /// Violated blocks that are in none of them, because as many as asked for were already kept.
    pub left_out: u64,
}

#[derive(Debug)]
pub(super) struct Log {
    pub(super) found: Violations,
    most: usize,
    index: FxHashMap<(BlockId, Vec<SiteId>), usize>,
}

impl Log {
    pub(super) fn new(most: usize) -> Log {
        Log { found: Violations::default(), most, index: FxHashMap::default() }
    }

    pub(super) fn violated(&mut self, violation: Violation) {
        let found = &mut self.found;
        found.violated += 1;
        let places = std::iter::once(violation.begin).chain(violation.cycle.iter().flatten().copied());
        let sites = places.map(|place| place.site).collect();
        let full = found.found.len() >= self.most;
        match self.index.entry((violation.block, sites)) {
            Entry::Occupied(known) => found.found[*known.get()].times += 1,
            Entry::Vacant(_) if full => found.left_out += 1,
            Entry::Vacant(new) => {
                new.insert(found.found.len());
                found.found.push(violation);
            }
        }
    }
}
