//! Sets of locks as numbers: equal sets have equal numbers, so an access can remember what was held in one word.
//!
//! A set is a chain: its greatest member and the set of the others. So the sets of nested sections share their memory,
//! and to give back the lock taken last is one look at the chain.

use event::{Id, LockId};
use rustc_hash::FxHashMap;
use sync::{Change, Effect};

/// The number of a set of locks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SetId(u32);

impl SetId {
    /// No locks.
    pub(crate) const EMPTY: SetId = SetId(0);
    /// All locks: what is known of a set that was too large to be kept.
    pub(crate) const ALL: SetId = SetId(u32::MAX);

    pub(crate) const fn from_word(word: u32) -> SetId {
        SetId(word)
    }

    pub(crate) const fn word(self) -> u32 {
        self.0
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    rest: SetId,
    greatest: LockId,
    len: u32,
}

/// Larger sets are not kept, so that no trace can make every acquire walk a long chain.
const MOST_LOCKS: u32 = 64;
/// Nor are more sets than this, so that no trace can fill the memory with them.
const MOST_SETS: usize = 1 << 22;

/// All sets of locks met so far.
#[derive(Debug)]
pub(crate) struct LockSets {
    nodes: Vec<Node>,
    index: FxHashMap<(SetId, LockId), SetId>,
    meets: FxHashMap<(SetId, SetId), SetId>,
    /// By lock: the set of it alone, or [`SetId::EMPTY`]. Most sections are not nested.
    singles: Vec<SetId>,
    most: usize,
    /// How often there was no room for a set.
    pub(crate) unkept: u64,
}

impl Default for LockSets {
    fn default() -> Self {
        let empty = Node { rest: SetId::EMPTY, greatest: LockId(0), len: 0 };
        let (index, meets) = (FxHashMap::default(), FxHashMap::default());
        LockSets { nodes: vec![empty], index, meets, singles: Vec::new(), most: MOST_SETS, unkept: 0 }
    }
}

impl LockSets {
    fn node(&self, set: SetId) -> Node {
        self.nodes[set.0 as usize]
    }

    /// The set with a member that is greater than all others.
    fn push(&mut self, rest: SetId, greatest: LockId) -> Option<SetId> {
        if rest == SetId::EMPTY
            && let Some(&single) = self.singles.get(greatest.index())
            && single != SetId::EMPTY
        {
            return Some(single);
        }
        if let Some(&known) = self.index.get(&(rest, greatest)) {
            return Some(known);
        }
        let len = self.node(rest).len + 1;
        if len > MOST_LOCKS || self.nodes.len() >= self.most {
            self.unkept += 1;
            return None;
        }
        let set = SetId(self.nodes.len() as u32);
        self.nodes.push(Node { rest, greatest, len });
        self.index.insert((rest, greatest), set);
        if rest == SetId::EMPTY && greatest.index() < MOST_SETS {
            let most = self.singles.len().max(greatest.index() + 1);
            self.singles.resize(most, SetId::EMPTY);
            self.singles[greatest.index()] = set;
        }
        Some(set)
    }

    /// The set with a member more, if there is room for it.
    fn with(&mut self, set: SetId, lock: LockId) -> Option<SetId> {
        let node = self.node(set);
        if set == SetId::EMPTY || node.greatest < lock {
            return self.push(set, lock);
        }
        if node.greatest == lock {
            return Some(set);
        }
        let rest = self.with(node.rest, lock)?;
        self.push(rest, node.greatest)
    }

    fn contains(&self, mut set: SetId, lock: LockId) -> bool {
        while set != SetId::EMPTY && self.node(set).greatest > lock {
            set = self.node(set).rest;
        }
        set != SetId::EMPTY && self.node(set).greatest == lock
    }

    /// The set without one of its members, if there is room for it.
    fn without(&mut self, set: SetId, lock: LockId) -> Option<SetId> {
        let node = self.node(set);
        if node.greatest == lock {
            return Some(node.rest);
        }
        let rest = self.without(node.rest, lock)?;
        self.push(rest, node.greatest)
    }

    /// What both have.
    pub(crate) fn meet(&mut self, a: SetId, b: SetId) -> SetId {
        match (a, b) {
            (SetId::ALL, other) | (other, SetId::ALL) => return other,
            (SetId::EMPTY, _) | (_, SetId::EMPTY) => return SetId::EMPTY,
            _ if a == b => return a,
            _ => {}
        }
        // Most variables have one lock.
        let (x, y) = (self.node(a), self.node(b));
        if x.rest == SetId::EMPTY {
            return if self.contains(b, x.greatest) { a } else { SetId::EMPTY };
        } else if y.rest == SetId::EMPTY {
            return if self.contains(a, y.greatest) { b } else { SetId::EMPTY };
        }
        let key = (a.min(b), a.max(b));
        if let Some(&known) = self.meets.get(&key) {
            return known;
        }
        let met = if x.greatest > y.greatest {
            self.meet(x.rest, b)
        } else if x.greatest < y.greatest {
            self.meet(a, y.rest)
        } else {
            let rest = self.meet(x.rest, y.rest);
            // A set that cannot be kept counts as all locks: a warning may be missed then, none is made up.
            self.push(rest, x.greatest).unwrap_or(SetId::ALL)
        };
        if self.meets.len() >= MOST_SETS {
            self.meets.clear();
        }
        self.meets.insert(key, met);
        met
    }

    /// The members in ascending order; none of [`SetId::ALL`], which stands for an unknown set.
    pub(crate) fn members(&self, mut set: SetId) -> Vec<LockId> {
        let mut members = Vec::new();
        while set != SetId::EMPTY && set != SetId::ALL {
            let node = self.node(set);
            members.push(node.greatest);
            set = node.rest;
        }
        members.reverse();
        members
    }
}

/// The locks that a thread holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HeldSet {
    set: SetId,
    /// Locks that are held, but that there was no room for in the set.
    beyond: u32,
}

impl Default for HeldSet {
    fn default() -> Self {
        HeldSet { set: SetId::EMPTY, beyond: 0 }
    }
}

impl HeldSet {
    /// The set; [`SetId::ALL`] if it is too large to be known.
    #[inline]
    pub(crate) fn id(self) -> SetId {
        if self.beyond == 0 { self.set } else { SetId::ALL }
    }

    /// Takes a lock that the thread does not hold.
    pub(crate) fn take(&mut self, sets: &mut LockSets, lock: LockId) {
        match sets.with(self.set, lock) {
            Some(set) => self.set = set,
            None => self.beyond += 1,
        }
    }

    /// Gives a lock back.
    pub(crate) fn give(&mut self, sets: &mut LockSets, lock: LockId) {
        if !sets.contains(self.set, lock) {
            self.beyond = self.beyond.saturating_sub(1);
        } else if let Some(set) = sets.without(self.set, lock) {
            self.set = set;
        } else {
            // No room for the rest: of that, the members below the lock are a set already.
            while sets.node(self.set).greatest != lock {
                self.set = sets.node(self.set).rest;
                self.beyond += 1;
            }
            self.set = sets.node(self.set).rest;
        }
    }
}

/// The locks that protect the accesses of a thread.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Protection {
    /// Locks held in either mode protect reads.
    pub(crate) reads: HeldSet,
    /// Locks held exclusively protect writes, too.
    pub(crate) writes: HeldSet,
}

impl Protection {
    /// An event of the thread has taken or given a lock.
    #[inline]
    pub(crate) fn update(&mut self, sets: &mut LockSets, effect: &Effect) {
        // Most programs have no reader locks, and one set is enough.
        let together = self.reads == self.writes;
        if effect.takes {
            self.reads.take(sets, effect.lock);
        } else if effect.gives {
            self.reads.give(sets, effect.lock);
        }
        match effect.exclusive {
            Change::None | Change::ClosesInitial => {}
            Change::Opens(()) if together && effect.takes => self.writes = self.reads,
            Change::Closes(()) if together && effect.gives => self.writes = self.reads,
            Change::Opens(()) => self.writes.take(sets, effect.lock),
            Change::Closes(()) => self.writes.give(sets, effect.lock),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn sets_are_sets() {
        let mut sets = LockSets::default();
        let mut known: Vec<(HeldSet, BTreeSet<LockId>)> = vec![(HeldSet::default(), BTreeSet::new())];
        let mut seed = 7u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for _ in 0..5000 {
            let (mut held, mut model) = known[random(known.len())].clone();
            let lock = LockId(random(9) as u32);
            if model.insert(lock) {
                held.take(&mut sets, lock);
            } else {
                model.remove(&lock);
                held.give(&mut sets, lock);
            }
            assert_eq!(sets.members(held.id()), model.iter().copied().collect::<Vec<_>>());
            let (other, its) = &known[random(known.len())];
            assert_eq!(held.id() == other.id(), model == *its);
            let met = sets.meet(held.id(), other.id());
            assert_eq!(sets.members(met), model.intersection(its).copied().collect::<Vec<_>>());
            known.push((held, model));
        }
    }

    #[test]
    fn what_is_too_large_is_unknown_until_it_is_small_again() {
        let mut sets = LockSets::default();
        let mut held = HeldSet::default();
        (0..MOST_LOCKS + 2).for_each(|k| held.take(&mut sets, LockId(k)));
        assert_eq!(held.id(), SetId::ALL);
        (0..MOST_LOCKS + 2).rev().for_each(|k| held.give(&mut sets, LockId(k)));
        assert_eq!(held.id(), SetId::EMPTY);
    }
    #[test]
    fn a_lock_given_back_without_room_for_the_rest_is_not_held() {
        let mut sets = LockSets { most: 4, ..LockSets::default() };
        let mut held = HeldSet::default();
        (1..4).for_each(|k| held.take(&mut sets, LockId(k)));
        held.give(&mut sets, LockId(2));
        assert_eq!((held.id(), sets.unkept), (SetId::ALL, 1));
        held.give(&mut sets, LockId(3));
        assert_eq!(sets.members(held.id()), [LockId(1)]);
    }
}
