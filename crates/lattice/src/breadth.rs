//! Narrowing a level to the cuts that are nearest to the recorded run.

use crate::key::Key;
use crate::layout::Layout;
use crate::payload::distance;

/// By cut: whether it is one of the `n` nearest. Of equally near cuts the first in key order are kept.
pub(crate) fn nearest<K: Key>(keys: &[K], layout: &Layout, recorded: &[u32], n: usize) -> Vec<bool> {
    let mut cut = Vec::new();
    let distances: Vec<u64> = keys
        .iter()
        .map(|&key| {
            layout.unpack(key, &mut cut);
            distance(&cut, recorded)
        })
        .collect();
    let mut sorted = distances.clone();
    let (_, &mut limit, _) = sorted.select_nth_unstable(n.saturating_sub(1).min(keys.len() - 1));
    let mut equal = n - distances.iter().filter(|&&d| d < limit).count().min(n);
    distances
        .iter()
        .map(|&d| {
            d < limit
                || (d == limit && equal > 0 && {
                    equal -= 1;
                    true
                })
        })
        .collect()
}
