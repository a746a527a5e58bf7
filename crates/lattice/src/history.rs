//! Stored levels, from which a path to a cut is read back. They are thinned out when they take too much memory.

use crate::keys::Keys;
use crate::layout::Layout;
use crate::payload::Payload;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A stored level.
#[derive(Clone)]
pub(crate) struct StoredLevel<C> {
    pub(crate) layout: Arc<Layout>,
    pub(crate) keys: Keys,
    pub(crate) column: C,
    /// The cut of the recorded run on it.
    pub(crate) recorded: Vec<u32>,
    bytes: usize,
}

/// The stored levels by depth: those whose depth is a multiple of the stride, which doubles when memory runs out.
pub(crate) struct History<C> {
    pub(crate) levels: BTreeMap<u64, StoredLevel<C>>,
    stride: u64,
    bytes: usize,
    budget: usize,
    /// The depth of the first stored level, from which the stride counts.
    first: u64,
}

/// At least so many levels are stored, however little memory there is. Between them the search is run again.
const AT_LEAST: usize = 4;

impl<C> History<C> {
    pub(crate) fn new(budget: usize, first: u64) -> History<C> {
        History { levels: BTreeMap::new(), stride: 1, bytes: 0, budget, first }
    }

    /// Whether a level of this depth is to be stored.
    pub(crate) fn wants(&self, depth: u64) -> bool {
        (depth - self.first).is_multiple_of(self.stride)
    }

    pub(crate) fn keep<P: Payload<Column = C>>(
        &mut self,
        depth: u64,
        layout: Arc<Layout>,
        keys: Keys,
        column: C,
        recorded: Vec<u32>,
    ) {
        let bytes = keys.bytes() + P::bytes(&column) + recorded.len() * 4 + 200;
        self.bytes += bytes;
        self.levels.insert(depth, StoredLevel { layout, keys, column, recorded, bytes });
        while self.bytes > self.budget && self.levels.len() > AT_LEAST {
            self.stride *= 2;
            let (first, stride) = (self.first, self.stride);
            let mut freed = 0;
            self.levels.retain(|depth, kept| {
                let keep = (depth - first).is_multiple_of(stride);
                freed += if keep { 0 } else { kept.bytes };
                keep
            });
            self.bytes -= freed;
        }
    }
}
