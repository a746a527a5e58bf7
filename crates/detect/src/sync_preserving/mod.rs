//! Races and deadlocks of runs in which synchronisation keeps its recorded order, or reverses it in part.
//!
//! After Mathur, Pavlogiannis, Viswanathan, "Optimal prediction of synchronization-preserving races" (POPL'21), Shi,
//! Mathur, Pavlogiannis, "Optimistic prediction of synchronization-reversal data races" (ICSE'24), and for deadlocks
//! Tunç, Mathur, Pavlogiannis, Viswanathan, "Sound dynamic deadlock prediction in linear time" (PLDI'23).
//!
//! *Sync-preserving.* A set of events is closed if, in recorded order, it is a feasible prefix of `maximal`
//! (docs/causality.md) in which every read has its recorded writer: it contains what its events need, and of two
//! sections of a lock that exclude each other the closing event of the one recorded earlier. Two conflicting events
//! race if the least closed set with what both need to be next contains neither. That set, in recorded order, is the
//! witness.
//!
//! *Optimistic.* For accesses that are in no such race, a section may stay open though others of its lock are recorded
//! later; then these come first. An order of the set is made, and only if that succeeds a race is claimed.
//!
//! Where it deviates from the papers:
//! * All operations of a trace count. Each `down` consumes an `up` first in, first out; in reversals, the events of a
//!   condition or of a semaphore keep their recorded order.
//! * A closure is a cut and looks only at the sections that the cut leaves open; the papers keep a queue of sections
//!   for each lock and thread.
//! * The optimistic set closes as few sections as the rules allow, first with few reversals, then with few events;
//!   the paper closes all it can, which only adds constraints;
//!   writes that no read of the set sees are not ordered.
//!
//! What it may miss: races in which a read sees another write of the same value, or a `down` another `up`; complete
//! sections that change places without one of them staying open; of each thread's accesses that an event is concurrent
//! with, only the last few are tried for reversals (what is left out is counted), and none with `free`. A drop barrier
//! between the two events themselves counts.
//!
//! Why it raises no false alarm: closed sets are feasible prefixes by definition, and an order with reversals is made
//! event by event, each taken only when all rules allow it. The caller passes every witness through
//! `witness::check_race` or `check_deadlock` all the same.

mod clocks;
mod closure;
mod deadlocks;
mod index;
mod locks;
mod on_demand;
mod optimistic;
mod pairs;
mod predecessors;
mod reorder;
mod reversals;
mod search;
mod semaphores;
mod work;

use crate::prefilter::Filtered;
use crate::race::{Access, Log, Races};
use crate::sections::NONE;
use closure::Closure;
use event::{Batch, Id, Names, Space, VarId};
use index::Index;
use reversals::Reversals;
use search::{Pair, Search};
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use work::Work;

pub use deadlocks::Deadlock;
pub use on_demand::OnDemand;

/// Of an access that holds more locks than this none is reported.
const MOST_LOCKS: usize = 64;

/// What to look for, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Options<'s> {
    /// Also look for races that need sections to be reversed.
    pub optimistic: bool,
    /// Keep at most so many races; all racy events are counted.
    pub most_races: usize,
    /// Steps that the search for reversals may take; a step is about a look at an event.
    pub most_steps: u64,
    /// End when this is set.
    pub stop: Option<&'s AtomicBool>,
    /// End at this time.
    pub deadline: Option<Instant>,
    /// Look at these variables only.
    pub filtered: Option<&'s Filtered>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            optimistic: true,
            most_races: 1000,
            most_steps: 100_000_000,
            stop: None,
            deadline: None,
            filtered: None,
        }
    }
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Predicted {
    /// Races with a sync-preserving witness.
    pub sync_preserving: Races,
    /// Racy events that are in no such race, but in one that reverses sections.
    pub optimistic: Races,
    /// Racy events of either kind.
    pub racy_events: u64,
    /// The different sites of all racy events.
    pub racy_sites: u64,
    /// Accesses that were not looked at together with all accesses they conflict with, because time or steps ran out.
    pub unexamined: u64,
    /// Accesses in no race of either kind for which reversals were not looked for, or not with every access they
    /// conflict with.
    pub unexamined_reversals: u64,
}

/// A whole trace in memory, prepared for questions.
#[derive(Debug)]
pub struct SyncPreserving<'a> {
    index: Index<'a>,
    closure: Closure,
    reversals: Reversals,
}

/// Why a trace could not be prepared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoIndex {
    /// So many threads run at the same time, and learn so much of each other, that their clocks would fill the memory.
    #[error(
        "too many threads at the same time: the clocks of event {event} and those before it would take more than \
         {gigabytes} GB"
    )]
    TooLarge {
        /// As far as the clocks went.
        event: u64,
        /// What they may take.
        gigabytes: usize,
    },
    /// The caller stopped it.
    #[error("interrupted before the trace was prepared")]
    Interrupted,
    /// Its time was over.
    #[error("the time was over before the trace was prepared, at event {event}")]
    Late {
        /// As far as it came.
        event: u64,
    },
}

impl NoIndex {
    /// What ended the work, at this event.
    fn over(work: &Work<'_>, event: u64) -> NoIndex {
        if work.is_stopped() { NoIndex::Interrupted } else { NoIndex::Late { event } }
    }
}

impl<'a> SyncPreserving<'a> {
    /// Looks through a whole trace (its first event is number 0).
    pub fn new(names: &Names, trace: &'a Batch) -> Result<Self, NoIndex> {
        SyncPreserving::within(names, trace, None, None)
    }

    /// Looks through a whole trace, unless `stop` is set meanwhile, or there is no time left.
    pub fn within(
        names: &Names,
        trace: &'a Batch,
        stop: Option<&AtomicBool>,
        deadline: Option<Instant>,
    ) -> Result<Self, NoIndex> {
        let mut work = Work::new(stop, deadline, u64::MAX);
        let found = predecessors::find(names, trace, &mut work)?;
        let index = Index::new(&trace.events, found, names.space(Space::Var).len(), names.space(Space::Lock).len());
        let closure = Closure::new(index.chains());
        let objects = [Space::Var, Space::Lock, Space::Cond, Space::Sem].map(|space| names.space(space).len());
        let reversals = Reversals::new(&index, objects);
        Ok(SyncPreserving { index, closure, reversals })
    }

    /// All racy events, and the races they are in.
    pub fn races(&mut self, options: &Options<'_>) -> Predicted {
        let index = &self.index;
        let mut search = Search::new(index);
        let mut work = Work::new(options.stop, options.deadline, u64::MAX);
        let wanted = |&var: &u32| options.filtered.is_none_or(|filtered| filtered.may_race(VarId(var)));
        let vars: Vec<u32> = (0..index.vars() as u32).filter(wanted).collect();
        for &var in &vars {
            for lifetime in search::lifetimes(index, var) {
                search.lifetime(&lifetime, &mut work);
            }
        }
        let preserving = search.found.len();
        let mut unexamined_reversals = 0;
        if options.optimistic {
            let mut work = Work::new(options.stop, options.deadline, options.most_steps);
            for &var in &vars {
                for lifetime in search::lifetimes(index, var) {
                    unexamined_reversals += self.reversals.lifetime(index, &lifetime, &mut search, &mut work);
                }
            }
        }
        let Search { mut found, unexamined, .. } = search;
        let mut optimistic = found.split_off(preserving);
        found.sort_unstable();
        optimistic.sort_unstable();
        let mut sites: Vec<_> =
            found.iter().chain(&optimistic).map(|pair| index.events[pair.later as usize].site()).collect();
        sites.sort_unstable();
        sites.dedup();
        Predicted {
            racy_events: (found.len() + optimistic.len()) as u64,
            racy_sites: sites.len() as u64,
            sync_preserving: self.report(&found, options.most_races),
            optimistic: self.report(&optimistic, options.most_races),
            unexamined,
            unexamined_reversals,
        }
    }

    fn report(&self, found: &[Pair], most: usize) -> Races {
        let mut log = Log::new(most);
        for pair in found {
            let [earlier, later] = [pair.earlier, pair.later].map(|at| self.index.events[at as usize]);
            log.racy(VarId::from_index(later.object() as usize), (earlier.site(), later.site()), || {
                (self.access(pair.earlier), self.access(pair.later))
            });
        }
        log.finish()
    }

    fn access(&self, at: u32) -> Access {
        let event = self.index.events[at as usize];
        let held = self.index.open_before(at).map(|section| event::LockId(section.lock));
        let mut locks: Vec<_> = held.take(MOST_LOCKS + 1).collect();
        if locks.len() > MOST_LOCKS {
            locks.clear();
        }
        locks.sort_unstable();
        locks.dedup();
        Access { event: u64::from(at), thread: event.thread(), site: event.site(), locks }
    }

    /// The events of the closure, in recorded order.
    fn prefix(&self) -> Vec<u64> {
        prefix(&self.index, &self.closure)
    }

    /// The least sync-preserving closed set after which all these events (of different threads) are next, in recorded
    /// order. Whether they can then be done is another question. `None` if there is no such set.
    pub fn next_together(&mut self, events: &[u64]) -> Option<Vec<u64>> {
        let index = &self.index;
        self.closure.clear();
        for &event in events {
            let event = u32::try_from(event).ok().filter(|&at| (at as usize) < index.events.len())?;
            self.closure.add_before(index, event);
        }
        self.closure.close(index).ok()?;
        events.iter().all(|&at| !self.closure.has(index, at as u32)).then(|| self.prefix())
    }

    /// Whether an event can only be next after another one has happened, if every read sees the write that it saw: then
    /// no other order of the recorded events brings the two together. `false` also for events that are not there.
    pub fn needs(&self, event: u64, other: u64) -> bool {
        let index = &self.index;
        let [event, other] = [event, other].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        let (Some(&row), Some(&chain)) = (index.before.get(event), index.chain.get(other)) else { return false };
        let own = index.chain[event] == chain && index.position[event] > index.position[other];
        own || index.clocks.row(row).get(chain as usize).is_some_and(|&count| count > index.position[other])
    }

    /// The events before a sync-preserving race, in order; `None` if it is none.
    pub fn sync_preserving_witness(&mut self, race: [u64; 2]) -> Option<Vec<u64>> {
        let [a, b] = self.two(race)?;
        search::is_race(&self.index, &mut self.closure, a, b).then(|| self.prefix())
    }

    /// The events before a race of either kind, in order: what [`races`](Self::races) claims of two events has one.
    /// `None` if these two do not conflict, or no such order is known.
    pub fn race_witness(&mut self, race: [u64; 2]) -> Option<Vec<u64>> {
        let [a, b] = self.two(race)?;
        self.sync_preserving_witness(race).or_else(|| self.reversals.witness(&self.index, a, b))
    }

    fn two(&self, race: [u64; 2]) -> Option<[u32; 2]> {
        let events = self.index.events.len() as u64;
        let [a, b] = [race[0].min(race[1]), race[0].max(race[1])];
        if b >= events || a == b {
            return None;
        }
        let [a, b] = [a as u32, b as u32];
        (pairs::events_conflict(&self.index, a, b)).then_some([a, b])
    }
}

/// The events of a set, in recorded order.
fn prefix(index: &Index<'_>, closure: &Closure) -> Vec<u64> {
    let mut prefix: Vec<u64> = Vec::new();
    for (chain, &count) in (0u32..).zip(closure.cut()) {
        prefix.extend(index.chain_events(chain)[..count as usize].iter().map(|&at| u64::from(at)));
    }
    prefix.sort_unstable();
    prefix
}
