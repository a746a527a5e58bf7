//! What detectors of races report: counts of every racy event, and the different races among them, up to a bound.

use event::{LockId, SiteId, ThreadId, VarId};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// One access of a race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// The index of the event in the trace.
    pub event: u64,
    /// Its thread.
    pub thread: ThreadId,
    /// Where in the program it is.
    pub site: SiteId,
    /// The locks that its thread held, in either way, in ascending order. Empty also if they were too many to be kept.
    pub locks: Vec<LockId>,
}

/// Two accesses of a variable, and how many events were racy in this way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Race {
    /// The variable.
    pub variable: VarId,
    /// An access that the later one races with.
    pub earlier: Access,
    /// The first racy event with this variable and these sites.
    pub later: Access,
    /// How many racy events have this variable and these sites.
    pub events: u64,
    /// At the first race of its sites: racy events there with variables of which no race is kept, because there were
    /// enough like it.
    pub others: u64,
}

/// Two conflicting accesses that happens-before does not order, but a race does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Behind {
    /// The accesses.
    pub race: Race,
    /// Which of the races found orders them.
    pub by: usize,
}

/// What a detector found.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Races {
    /// Events that are the later half of a race.
    pub racy_events: u64,
    /// The different sites of these events.
    pub racy_sites: u64,
    /// The races, one for each variable and unordered pair of sites, in the order in which they were found.
    pub races: Vec<Race>,
    /// Racy events that belong to none of them, because as many races as asked for were already kept.
    pub left_out: u64,
    /// Pairs with one event before this index and one from it on were not looked at: the trace is that long.
    pub forgot_before: Option<u64>,
    /// What only these races order.
    pub behind: Vec<Behind>,
    /// Events behind races that belong to none of these, because enough were already kept.
    pub behind_left_out: u64,
    /// Threads, releases and sets of locks that were not kept apart from others, for lack of room: a race may be
    /// missed.
    pub taken_for_one: u64,
}

/// Collects racy events.
#[derive(Debug)]
pub(crate) struct Log {
    found: Races,
    most: usize,
    most_alike: usize,
    index: FxHashMap<(SiteId, SiteId, VarId), usize>,
    /// By sites: the first race, and how many there are. Empty if all are kept.
    alike: FxHashMap<(SiteId, SiteId), (usize, usize)>,
    is_racy_site: Vec<bool>,
}

impl Log {
    /// Keeps at most so many races.
    pub(crate) fn new(most: usize) -> Self {
        Log {
            found: Races::default(),
            most,
            most_alike: usize::MAX,
            index: FxHashMap::default(),
            alike: FxHashMap::default(),
            is_racy_site: Vec::new(),
        }
    }

    /// Keeps at most so many races of two sites; further variables are counted at the first of them. (The bytes of a
    /// buffer are all alike.)
    pub(crate) fn with_alike(self, most_alike: usize) -> Self {
        Log { most_alike, ..self }
    }

    /// A racy event. Its two accesses are asked for only if the race is new and kept. Which of the races it belongs to,
    /// or is alike; `None` if it is not kept.
    pub(crate) fn racy(
        &mut self,
        variable: VarId,
        (earlier, later): (SiteId, SiteId),
        accesses: impl FnOnce() -> (Access, Access),
    ) -> Option<usize> {
        let found = &mut self.found;
        found.racy_events += 1;
        let site = later.0 as usize;
        if site >= self.is_racy_site.len() {
            self.is_racy_site.resize(site + 1, false);
        }
        found.racy_sites += u64::from(!std::mem::replace(&mut self.is_racy_site[site], true));
        let full = found.races.len() >= self.most;
        let sites = (earlier.min(later), earlier.max(later));
        match self.index.entry((sites.0, sites.1, variable)) {
            Entry::Occupied(known) => {
                found.races[*known.get()].events += 1;
                Some(*known.get())
            }
            Entry::Vacant(new) => {
                if let Some(&(first, kept)) = self.alike.get(&sites)
                    && (full || kept >= self.most_alike)
                {
                    found.races[first].others += 1;
                    return Some(first);
                }
                if full {
                    found.left_out += 1;
                    return None;
                }
                if self.most_alike < usize::MAX {
                    self.alike.entry(sites).or_insert((found.races.len(), 0)).1 += 1;
                }
                new.insert(found.races.len());
                let (earlier, later) = accesses();
                found.races.push(Race { variable, earlier, later, events: 1, others: 0 });
                Some(found.races.len() - 1)
            }
        }
    }

    /// Whether a race of this variable and these sites is kept.
    pub(crate) fn has(&self, variable: VarId, (one, other): (SiteId, SiteId)) -> bool {
        self.index.contains_key(&(one.min(other), one.max(other), variable))
    }

    /// The races so far.
    pub(crate) fn races(&self) -> &[Race] {
        &self.found.races
    }

    /// All that happened before this event is forgotten.
    pub(crate) fn forget_before(&mut self, event: u64) {
        self.found.forgot_before = Some(event);
    }

    pub(crate) fn finish(self) -> Races {
        self.found
    }
}
