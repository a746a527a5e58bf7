//! Races, as docs/detectors.md defines them.

use crate::definition::{Definition, Set, has, set_of};
use event::Op;
use std::collections::{BTreeSet, HashSet};

impl Definition {
    /// Accesses (`r`, `w`, `ald`, `ast`, `armw`, `free`; not `alloc`) of one variable by different threads, at least
    /// one is neither `r` nor `ald`, and they are not both atomic.
    pub fn conflicting(&self, e: usize, f: usize) -> bool {
        let (one, other) = (&self.events()[e], &self.events()[f]);
        let is_access =
            |op| matches!(op, Op::Read | Op::Write | Op::AtomicLoad | Op::AtomicStore | Op::AtomicRmw | Op::Free);
        let harmless = |op| matches!(op, Op::Read | Op::AtomicLoad);
        is_access(one.op)
            && is_access(other.op)
            && one.object == other.object
            && one.thread != other.thread
            && !(harmless(one.op) && harmless(other.op))
            && !(one.op.is_atomic() && other.op.is_atomic())
    }

    /// All conflicting pairs, each in recorded order.
    pub fn conflicts(&self) -> Vec<(usize, usize)> {
        let count = self.events().len();
        let pairs = (0..count).flat_map(|e| (e + 1..count).map(move |f| (e, f)));
        pairs.filter(|&(e, f)| self.conflicting(e, f)).collect()
    }

    /// Whether two conflicting events both come next after a feasible prefix of these events.
    fn both_next(&self, came: Set, e: usize, f: usize) -> bool {
        self.is_next(came, e)
            && self.is_next(came, f)
            && self.in_order_with_boundaries(came, e, f)
            && self.in_order_with_boundaries(came, f, e)
    }

    /// In order with all other accesses of the variable as far as these are `alloc` or `free` (or it is itself a
    /// `free`): those recorded before are in the prefix.
    fn in_order_with_boundaries(&self, came: Set, e: usize, other: usize) -> bool {
        let event = &self.events()[e];
        (0..e).filter(|&a| a != other && self.events()[a].accesses() == Some(event.object)).all(|a| {
            let ordered = self.events()[a].bounds_lifetime() || event.bounds_lifetime();
            !ordered || has(came, a)
        })
    }

    /// Every race, its events in recorded order.
    pub fn races(&self) -> BTreeSet<(usize, usize)> {
        let mut races = BTreeSet::new();
        let mut left = self.conflicts();
        let mut cuts = HashSet::new();
        if left.is_empty() {
            return races;
        }
        self.each_prefix((), &mut |prefix, ()| {
            let came = set_of(prefix);
            if cuts.insert(came) {
                left.retain(|&(e, f)| {
                    let race = self.both_next(came, e, f);
                    if race {
                        races.insert((e, f));
                    }
                    !race
                });
            }
        });
        races
    }

    /// The races after sync-preserving prefixes.
    pub fn sync_preserving_races(&self) -> BTreeSet<(usize, usize)> {
        let mut races = BTreeSet::new();
        let conflicts = self.conflicts();
        self.each_recorded_prefix(&mut |prefix| {
            let came = set_of(prefix);
            races.extend(conflicts.iter().filter(|&&(e, f)| self.both_next(came, e, f)));
        });
        races
    }

    /// Whether this order of events is a witness of a race: the two come next after it.
    pub fn shows_race(&self, prefix: &[usize], e: usize, f: usize) -> bool {
        self.is_feasible(prefix) && self.conflicting(e, f) && self.both_next(set_of(prefix), e, f)
    }
}
