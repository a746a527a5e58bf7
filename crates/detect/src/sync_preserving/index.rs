//! The trace in dense arrays: chains, positions, what each event needs, sections by lock, accesses by variable.
//!
//! A *chain* is a thread, or several, each of which begins only after the one before has ended: what a chain did is a
//! count, and there are about as many chains as threads that run at the same time.

use super::NONE;
use super::clocks::Clocks;
use crate::sections::{Holds, Section};
use event::Event;
use rustc_hash::FxHashMap;

/// The sections of one lock that one chain opens, of one kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) chain: u32,
    pub(super) shared: bool,
    /// Their opening events, in [`Index::opens`].
    start: u32,
    end: u32,
}

/// Everything about a trace that closures and searches look up. Events are their offsets.
#[derive(Debug)]
pub(super) struct Index<'a> {
    pub(super) events: &'a [Event],
    /// By event.
    pub(super) chain: Vec<u32>,
    /// By event: how many events of its chain come before it.
    pub(super) position: Vec<u32>,
    /// By event: the row of what it needs, by all rules but that of locks.
    pub(super) predecessors: Vec<u32>,
    /// By event: the row of what it needs to be next: not what it reads from, nor what only its being done needs.
    pub(super) before: Vec<u32>,
    /// By event: the list of the sections that its chain has open behind it.
    pub(super) held: Vec<u32>,
    pub(super) clocks: Clocks,
    pub(super) sections: Vec<Section>,
    pub(super) holds: Holds,
    /// The events of each chain, one chain behind the other.
    chain_events: Vec<u32>,
    chain_starts: Vec<u32>,
    /// By chain: the first position that no feasible prefix reaches.
    pub(super) never: Vec<u32>,
    /// By access of a variable that is allocated or freed: the forks and drop barriers that it needs itself.
    pub(super) apart: FxHashMap<u32, Vec<u32>>,
    /// By lock: its failed try-locks.
    pub(super) failed: FxHashMap<u32, Vec<u32>>,
    groups: Vec<Group>,
    /// By lock: where its groups begin.
    lock_groups: Vec<u32>,
    opens: Vec<u32>,
    /// The sections of `opens`.
    open_sections: Vec<u32>,
    /// The sections of each lock in recorded order, one lock behind the other, and where each stands there.
    lock_sections: Vec<u32>,
    lock_starts: Vec<u32>,
    places: Vec<u32>,
    /// The accesses of each variable, one variable behind the other, each in recorded order.
    var_events: Vec<u32>,
    var_starts: Vec<u32>,
}

/// What was found along the recorded run.
pub(super) struct TraceFacts {
    pub(super) chain: Vec<u32>,
    pub(super) position: Vec<u32>,
    pub(super) predecessors: Vec<u32>,
    pub(super) before: Vec<u32>,
    pub(super) held: Vec<u32>,
    pub(super) clocks: Clocks,
    pub(super) sections: Vec<Section>,
    pub(super) holds: Holds,
    pub(super) never: Vec<u32>,
    pub(super) apart: FxHashMap<u32, Vec<u32>>,
    pub(super) failed: FxHashMap<u32, Vec<u32>>,
}

/// Sorts the numbers of items by a dense key: where the items of each key begin, and the items.
fn by_key(keys: usize, items: impl Iterator<Item = (u32, u32)> + Clone) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; keys + 1];
    for (key, _) in items.clone() {
        starts[key as usize + 1] += 1;
    }
    for key in 0..keys {
        starts[key + 1] += starts[key];
    }
    let mut next = starts.clone();
    let mut sorted = vec![0; starts[keys] as usize];
    for (key, item) in items {
        let slot = &mut next[key as usize];
        sorted[*slot as usize] = item;
        *slot += 1;
    }
    (starts, sorted)
}

/// An access of a variable.
pub(super) fn is_access(event: Event) -> bool {
    let op = event.op();
    op.is_access()
}

impl<'a> Index<'a> {
    pub(super) fn new(events: &'a [Event], found: TraceFacts, vars: usize, locks: usize) -> Index<'a> {
        let TraceFacts { chain, position, predecessors, before, held, clocks, sections, holds, never, apart, failed } =
            found;
        let (chain_starts, chain_events) = by_key(never.len(), chain.iter().copied().zip(0..));
        let accesses = events.iter().zip(0..).filter(|(event, _)| is_access(**event));
        let (var_starts, var_events) = by_key(vars, accesses.map(|(event, at)| (event.object(), at)));
        let locked = sections.iter().zip(0..).map(|(section, number)| (section.lock, number));
        let (lock_starts, lock_sections) = by_key(locks, locked);
        let mut places = vec![0; sections.len()];
        for (place, &number) in (0..).zip(&lock_sections) {
            places[number as usize] = place;
        }
        let mut order: Vec<u32> = (0..sections.len() as u32).collect();
        order.sort_by_key(|&number| {
            let section = &sections[number as usize];
            (section.lock, section.chain, section.shared, section.open)
        });
        let mut groups: Vec<Group> = Vec::new();
        let mut lock_groups = vec![0u32; locks + 1];
        for (k, &number) in (0..).zip(&order) {
            let Section { lock, chain, shared, .. } = sections[number as usize];
            let before = k > 0 && sections[order[k as usize - 1] as usize].lock == lock;
            match groups.last_mut() {
                Some(group) if before && group.chain == chain && group.shared == shared => group.end = k + 1,
                _ => {
                    groups.push(Group { chain, shared, start: k, end: k + 1 });
                    lock_groups[lock as usize + 1] += 1;
                }
            }
        }
        for lock in 0..locks {
            lock_groups[lock + 1] += lock_groups[lock];
        }
        let opens = order.iter().map(|&number| sections[number as usize].open).collect();
        Index {
            events,
            chain,
            position,
            predecessors,
            before,
            held,
            clocks,
            sections,
            holds,
            chain_events,
            chain_starts,
            never,
            apart,
            failed,
            groups,
            lock_groups,
            opens,
            open_sections: order,
            lock_sections,
            lock_starts,
            places,
            var_events,
            var_starts,
        }
    }

    /// How many chains there are.
    #[inline]
    pub(super) fn chains(&self) -> usize {
        self.never.len()
    }

    /// How many locks there are.
    pub(super) fn locks(&self) -> usize {
        self.lock_starts.len() - 1
    }

    /// How many variables there are.
    pub(super) fn vars(&self) -> usize {
        self.var_starts.len() - 1
    }

    /// The events of a chain.
    #[inline]
    pub(super) fn chain_events(&self, chain: u32) -> &[u32] {
        let chain = chain as usize;
        &self.chain_events[self.chain_starts[chain] as usize..self.chain_starts[chain + 1] as usize]
    }

    /// The last of the first `count` events of a chain, or [`NONE`].
    #[inline]
    pub(super) fn last(&self, chain: u32, count: u32) -> u32 {
        match count {
            0 => NONE,
            _ => self.chain_events[(self.chain_starts[chain as usize] + count - 1) as usize],
        }
    }

    /// The accesses of a variable.
    pub(super) fn accesses(&self, var: u32) -> &[u32] {
        let var = var as usize;
        &self.var_events[self.var_starts[var] as usize..self.var_starts[var + 1] as usize]
    }

    /// The groups of a lock's sections.
    #[inline]
    pub(super) fn groups(&self, lock: u32) -> &[Group] {
        let lock = lock as usize;
        &self.groups[self.lock_groups[lock] as usize..self.lock_groups[lock + 1] as usize]
    }

    /// The sections of its lock that are recorded behind a section.
    #[inline]
    pub(super) fn sections_behind(&self, number: u32) -> &[u32] {
        let end = self.lock_starts[self.sections[number as usize].lock as usize + 1];
        &self.lock_sections[self.places[number as usize] as usize + 1..end as usize]
    }

    /// The first event after this one that opens a section of a group, or [`NONE`].
    #[inline]
    pub(super) fn opened_after(&self, group: Group, event: u32) -> u32 {
        let opens = &self.opens[group.start as usize..group.end as usize];
        opens.get(opens.partition_point(|&open| open <= event)).copied().unwrap_or(NONE)
    }

    /// The last section of a group that opens no later than with this event.
    #[inline]
    pub(super) fn opened_up_to(&self, group: Group, event: u32) -> Option<u32> {
        let opens = &self.opens[group.start as usize..group.end as usize];
        let behind = opens.partition_point(|&open| open <= event);
        (behind > 0).then(|| self.open_sections[group.start as usize + behind - 1])
    }

    /// The sections that are open right before an event, in its own chain.
    pub(super) fn open_before(&self, event: u32) -> impl Iterator<Item = &Section> {
        let last = self.last(self.chain[event as usize], self.position[event as usize]);
        let list = if last == NONE { NONE } else { self.held[last as usize] };
        self.holds
            .list(list)
            .map(|section| &self.sections[section as usize])
            .filter(move |section| section.close >= event)
    }
}
