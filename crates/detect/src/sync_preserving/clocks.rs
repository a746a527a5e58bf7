//! What events need, as vectors of counts by chain: a row for every event that learns something, shared by those after
//! it.

use super::NONE;

/// The row that needs nothing.
pub(super) const EMPTY: u32 = 0;

/// All rows, one behind the other. A row is as wide as there were chains when it was made; the rest is 0.
#[derive(Debug)]
pub(super) struct Clocks {
    counts: Vec<u32>,
    ends: Vec<usize>,
}

impl Default for Clocks {
    fn default() -> Self {
        Clocks { counts: Vec::new(), ends: vec![0] }
    }
}

impl Clocks {
    /// The counts of a row.
    #[inline]
    pub(super) fn row(&self, row: u32) -> &[u32] {
        let row = row as usize;
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.counts[start..self.ends[row]]
    }

    /// How many events of a chain a row needs.
    #[inline]
    pub(super) fn get(&self, row: u32, chain: u32) -> u32 {
        self.row(row).get(chain as usize).copied().unwrap_or(0)
    }

    /// How many counts all rows have.
    #[inline]
    pub(super) fn words(&self) -> usize {
        self.counts.len()
    }

    /// A new row.
    pub(super) fn add(&mut self, counts: &[u32]) -> u32 {
        self.counts.extend_from_slice(counts);
        self.ends.push(self.counts.len());
        u32::try_from(self.ends.len() - 1).ok().filter(|&row| row != NONE).expect("fewer rows than events")
    }
}

/// Takes the greater count of each chain.
#[inline]
pub(super) fn join(into: &mut [u32], other: &[u32]) {
    for (mine, &theirs) in into.iter_mut().zip(other) {
        *mine = (*mine).max(theirs);
    }
}
