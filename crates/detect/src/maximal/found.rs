//! The races found so far, and what is still worth asking.

use super::pairs::Pair;
use super::{KnownRaces, SitePair};
use crate::race::{Access, Race, Races};
use crate::windows::Schedule;
use event::{LockId, SiteId};
use reach::Window;
use rustc_hash::{FxHashMap, FxHashSet};
use sync::HeldLocks;

/// Collects races.
pub(super) struct RaceCollector {
    most: usize,
    known: KnownRaces,
    races: Races,
    prefixes: Vec<Schedule>,
    /// Where a race is kept, if it is.
    kept: FxHashMap<SitePair, usize>,
    racy_sites: FxHashSet<SiteId>,
}

fn key(window: &Window, pair: &Pair) -> SitePair {
    let [a, b] = pair.events.map(|event| window.batch.events[event as usize].site());
    (a.min(b), a.max(b), pair.variable)
}

impl RaceCollector {
    pub(super) fn new(most: usize, known: KnownRaces) -> RaceCollector {
        RaceCollector {
            most,
            known,
            races: Races::default(),
            prefixes: Vec::new(),
            kept: FxHashMap::default(),
            racy_sites: FxHashSet::default(),
        }
    }

    /// Whether a race of this pair would say anything new.
    pub(super) fn is_new(&self, window: &Window, pair: &Pair) -> bool {
        let later = window.index[pair.events[1] as usize];
        !self.known.racy_events.contains(&later) || !self.known.pairs.contains(&key(window, pair))
    }

    /// The pair is a race, as this prefix shows.
    pub(super) fn race(&mut self, window: &Window, pair: &Pair, prefix: &[u32]) {
        let key = key(window, pair);
        let later = window.index[pair.events[1] as usize];
        let new_pair = self.known.pairs.insert(key);
        let new_event = self.known.racy_events.insert(later);
        if new_event {
            self.races.racy_events += 1;
            if self.racy_sites.insert(window.batch.events[pair.events[1] as usize].site()) {
                self.races.racy_sites += 1;
            }
        }
        if new_pair && self.races.races.len() < self.most {
            self.kept.insert(key, self.races.races.len());
            let [earlier, later] = pair.events.map(|event| access(window, event));
            self.races.races.push(Race { variable: pair.variable, earlier, later, events: 1, others: 0 });
            self.prefixes.push(Schedule::new(window, prefix));
        } else if new_event {
            match self.kept.get(&key) {
                Some(&race) => self.races.races[race].events += 1,
                None => self.races.left_out += 1,
            }
        }
    }

    pub(super) fn finish(self) -> (Races, Vec<Schedule>) {
        (self.races, self.prefixes)
    }
}

fn access(window: &Window, at: u32) -> Access {
    let event = window.batch.events[at as usize];
    Access { event: window.index[at as usize], thread: event.thread(), site: event.site(), locks: held(window, at) }
}

/// The locks that the thread of an event holds, in either mode.
fn held(window: &Window, at: u32) -> Vec<LockId> {
    let thread = window.batch.events[at as usize].thread();
    let mut held: HeldLocks = HeldLocks::new();
    for &event in window.batch.events[..at as usize].iter().filter(|event| event.thread() == thread) {
        held.step(&window.batch, event, |_| ());
    }
    let mut locks: Vec<LockId> = held.locks(thread).map(|hold| hold.lock).collect();
    locks.sort_unstable();
    locks
}
