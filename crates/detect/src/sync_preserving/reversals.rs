//! The search for races that need sections to be reversed, among accesses that are in no sync-preserving race.

use super::index::Index;
use super::locks::CommonLocks;
use super::optimistic::{Optimistic, Policy};
use super::pairs::conflict;
use super::reorder::Reorder;
use super::search::{ByChain, Lifetime, Pair, Search, cannot_race};
use super::work::Work;
use event::Op;

/// Of the accesses of a chain that an event could race with, at most so many are tried.
const MOST_OF_A_LANE: usize = 4;

/// Tries to find an order for two events.
#[derive(Debug)]
pub(super) struct Reversals {
    optimistic: Optimistic,
    reorder: Reorder,
    by_chain: ByChain,
    /// Whether there is an order could not be said in its time.
    gave_up: bool,
    locks: CommonLocks,
}

impl Reversals {
    /// `objects`: how many variables, locks, conditions and semaphores there are.
    pub(super) fn new(index: &Index<'_>, objects: [usize; 4]) -> Reversals {
        Reversals {
            optimistic: Optimistic::new(index.chains()),
            reorder: Reorder::new(index, objects),
            by_chain: ByChain::default(),
            gave_up: false,
            locks: CommonLocks::new(index.locks()),
        }
    }

    /// That order: where it leaves the recorded one, and the events from there on.
    fn order(&mut self, index: &Index<'_>, earlier: u32, later: u32) -> Option<(u32, &[u32])> {
        self.reorder.steps += 8;
        self.gave_up = false;
        let mut last = None;
        for policy in [Policy::Preserve, Policy::Reverse] {
            let found = self.optimistic.find(index, earlier, later, policy);
            self.reorder.steps += std::mem::take(&mut self.optimistic.closure.looked);
            self.gave_up |= self.optimistic.closure.gave_up;
            if !found {
                continue;
            }
            let Optimistic { closure, reversed } = &self.optimistic;
            // A set of events with given reversals has the same orders wherever it comes from.
            if last.as_ref().is_some_and(|(cut, before)| cut == closure.cut() && before == reversed) {
                continue;
            }
            let found = self.reorder.find(index, closure, reversed);
            self.gave_up |= self.reorder.gave_up;
            if found {
                return Some(self.reorder.order(index));
            }
            last = Some((closure.cut().to_vec(), reversed.clone()));
        }
        None
    }

    /// All events before the two, in order.
    pub(super) fn witness(&mut self, index: &Index<'_>, earlier: u32, later: u32) -> Option<Vec<u64>> {
        let (first, order) = self.order(index, earlier, later)?;
        let mut behind: Vec<u64> = order.iter().map(|&at| u64::from(at)).collect();
        let mut witness = super::prefix(index, &self.optimistic.closure);
        witness.truncate(witness.partition_point(|&at| at < u64::from(first)));
        witness.append(&mut behind);
        Some(witness)
    }

    /// Looks at the accesses of one lifetime that are not racy yet; how many were not tried with everything.
    pub(super) fn lifetime(
        &mut self,
        index: &Index<'_>,
        lifetime: &Lifetime<'_>,
        search: &mut Search<'_, '_>,
        work: &mut Work<'_>,
    ) -> u64 {
        let mut unexamined = 0;
        if cannot_race(index, lifetime.accesses, &mut self.locks, work) {
            return 0;
        }
        let mut by_chain = std::mem::take(&mut self.by_chain);
        by_chain.fill(index, lifetime.accesses);
        for &f in lifetime.accesses {
            if search.is_racy(f) {
                continue;
            }
            let op = index.events[f as usize].op();
            let mut complete = true;
            for &chain in &by_chain.chains {
                if chain.chain == index.chain[f as usize] || !ByChain::has_conflict(chain, op) {
                    continue;
                }
                if work.is_over() {
                    complete = false;
                    break;
                }
                let partner = self.partner(index, by_chain.events(chain), f, op, &mut complete);
                work.spent += std::mem::take(&mut self.reorder.steps);
                if let Some(earlier) = partner {
                    search.add(Pair { later: f, earlier });
                    break;
                }
            }
            unexamined += u64::from(!complete && !search.is_racy(f));
        }
        self.by_chain = by_chain;
        unexamined
    }

    /// An access of a chain that this event races with.
    fn partner(&mut self, index: &Index<'_>, chain: &[u32], f: u32, op: Op, complete: &mut bool) -> Option<u32> {
        let behind = chain.partition_point(|&e| e < f);
        let mut tried = 0;
        for &e in chain[..behind].iter().rev() {
            // The earlier ones are before this one, so f needs them, too.
            if index.clocks.get(index.before[f as usize], index.chain[e as usize]) > index.position[e as usize] {
                break;
            }
            self.reorder.steps += 1;
            if !conflict(index.events[e as usize].op(), op) || self.locks.exclude(index, e, f, &mut self.reorder.steps)
            {
                continue;
            }
            if tried == MOST_OF_A_LANE {
                *complete = false;
                break;
            }
            tried += 1;
            if self.order(index, e, f).is_some() {
                return Some(e);
            }
            *complete &= !self.gave_up;
        }
        None
    }
}
