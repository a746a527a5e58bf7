//! Which events of a schedule a reader would call moved.

/// By position in a schedule: whether a reader would call the event moved.
///
/// Moved events are as few as possible: without them, the others are in recorded order. If several choices are equally
/// small, the events that overtake or are overtaken most often count as moved; if that does not decide, those that come
/// earlier than recorded.
pub fn moved(schedule: &[u64]) -> Vec<bool> {
    let mut moved = vec![false; schedule.len()];
    let (start, end) = disorder(schedule);
    let region = &schedule[start..end];
    let keep = unmoved(region);
    for (moved, keep) in moved[start..end].iter_mut().zip(keep) {
        *moved = !keep;
    }
    moved
}

/// The number of moved events of a schedule.
pub(crate) fn fewest_moved(schedule: &[u64]) -> usize {
    // By length, less one: the least last event of an increasing subsequence of that length.
    let mut ends: Vec<u64> = Vec::new();
    for &event in schedule {
        if ends.last().is_none_or(|&last| last < event) {
            ends.push(event);
        } else {
            let longer = ends.partition_point(|&end| end < event);
            ends[longer] = event;
        }
    }
    schedule.len() - ends.len()
}

/// The range of positions outside of which every event is in order with all others.
fn disorder(schedule: &[u64]) -> (usize, usize) {
    let n = schedule.len();
    // By position: the least event from there on.
    let mut least = vec![u64::MAX; n + 1];
    for k in (0..n).rev() {
        least[k] = least[k + 1].min(schedule[k]);
    }
    let start = (0..n).find(|&k| schedule[k] > least[k + 1]).unwrap_or(n);
    let mut greatest = 0;
    let mut end = start;
    for k in start..n {
        greatest = greatest.max(schedule[k]);
        if greatest > least[k + 1] {
            end = k + 2;
        }
    }
    (start, end.min(n))
}

/// A Fenwick tree: prefix sums or prefix maxima over ranks.
struct Tree<T>(Vec<T>);

impl<T: Copy> Tree<T> {
    fn fold(&self, mut rank: usize, mut best: T, join: impl Fn(T, T) -> T) -> T {
        while rank > 0 {
            best = join(best, self.0[rank]);
            rank &= rank - 1;
        }
        best
    }

    fn update(&mut self, mut rank: usize, value: T, join: impl Fn(T, T) -> T) {
        while rank < self.0.len() {
            self.0[rank] = join(self.0[rank], value);
            rank += rank & rank.wrapping_neg();
        }
    }
}

/// An increasing subsequence: its length, the negated number of its members' inversions, and its last position, from 1.
/// The greatest is the best.
type Subsequence = (u32, i64, usize);

/// By position: whether the event belongs to the longest increasing subsequence; of several, the one whose members take
/// part in the fewest inversions.
fn unmoved(region: &[u64]) -> Vec<bool> {
    let n = region.len();
    let mut sorted = region.to_vec();
    sorted.sort_unstable();
    let ranks: Vec<usize> = region.iter().map(|event| sorted.partition_point(|other| other < event) + 1).collect();
    let mut seen = Tree(vec![0usize; n + 1]);
    let mut longest: Tree<Subsequence> = Tree(vec![(0, 0, 0); n + 1]);
    // By position: the position before it in its subsequence, from 1; 0 for none.
    let mut before = vec![0; n];
    let mut best: Subsequence = (0, 0, 0);
    for (k, &rank) in ranks.iter().enumerate() {
        let less = seen.fold(rank, 0, |a, b| a + b);
        seen.update(rank, 1, |a, b| a + b);
        // Greater events before it, and lesser events after it.
        let inversions = (k - less) + (rank - 1 - less);
        let (length, weight, end) = longest.fold(rank - 1, (0, 0, 0), Ord::max);
        before[k] = end;
        let longer = (length + 1, weight - inversions as i64, k + 1);
        longest.update(rank, longer, Ord::max);
        best = best.max(longer);
    }
    let mut keep = vec![false; n];
    let mut end = best.2;
    while end > 0 {
        keep[end - 1] = true;
        end = before[end - 1];
    }
    keep
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(schedule: &[u64]) -> Vec<u64> {
        let moved = moved(schedule);
        schedule.iter().zip(moved).filter(|(_, moved)| *moved).map(|(&event, _)| event).collect()
    }

    #[test]
    fn the_one_that_jumped_is_marked() {
        assert_eq!(marked(&[]), []);
        assert_eq!(marked(&[0, 1, 2, 5, 7]), []);
        assert_eq!(marked(&[0, 2, 1]), [2]);
        assert_eq!(marked(&[0, 4, 1, 2, 3, 5]), [4]);
        assert_eq!(marked(&[0, 2, 3, 4, 1, 5]), [1]);
        assert_eq!(marked(&[0, 5, 6, 1, 2, 3, 4, 7]), [5, 6]);
        // 9 overtakes three events. Either 2 or 1 must be marked, too.
        assert_eq!(marked(&[0, 9, 2, 1, 3]), [9, 2]);
    }

    #[test]
    fn the_fewest_are_marked() {
        let mut seed = 3u64;
        let mut below = |bound: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % bound
        };
        for _ in 0..2_000 {
            let n = below(9);
            let mut schedule: Vec<u64> = (0..n as u64).map(|k| k * 3).collect();
            for _ in 0..below(6) {
                if n > 0 {
                    schedule.swap(below(n), below(n));
                }
            }
            let kept: Vec<u64> = {
                let moved = moved(&schedule);
                schedule.iter().zip(moved).filter(|(_, moved)| !moved).map(|(&event, _)| event).collect()
            };
            assert!(kept.is_sorted(), "{schedule:?}");
            let subsets = 0u32..1 << n;
            let sequences =
                subsets.map(|set| -> Vec<u64> { (0..n).filter(|k| set >> k & 1 == 1).map(|k| schedule[k]).collect() });
            let longest = sequences.filter(|s| s.is_sorted()).map(|s| s.len()).max();
            assert_eq!(Some(kept.len()), longest, "{schedule:?}");
            assert_eq!(fewest_moved(&schedule), n - kept.len(), "{schedule:?}");
        }
    }
}
