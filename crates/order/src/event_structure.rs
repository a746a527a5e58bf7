//! Event structures: relevant events in chains, the predecessors of each, and the rules of a model.

use crate::rules::{Action, Guard, Rules};
use event::ThreadId;

/// The first `count` events of a chain: one component of a vector clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ChainPrefix {
    /// The number of the chain in its structure.
    pub chain: u32,
    /// How many of its events.
    pub count: u32,
}

impl ChainPrefix {
    /// Whether a cut (by chain: the number of events taken) contains these events.
    #[inline]
    pub fn is_within(&self, cut: &[u32]) -> bool {
        cut[self.chain as usize] >= self.count
    }
}

/// An event that the caller asked for, or that a rule of the model speaks of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RelevantEvent {
    /// Its index in the trace.
    pub index: u64,
    /// A range of [`EventStructure::predecessors`].
    pub(crate) predecessors: (u32, u32),
    pub(crate) guard: Guard,
    pub(crate) action: Action,
}

impl RelevantEvent {
    /// Whether it has a rule that depends on the cut or on the path.
    #[inline]
    pub fn has_rule(&self) -> bool {
        self.guard != Guard::None || self.action != Action::None
    }
}

/// The relevant events of one thread, in program order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// The thread.
    pub thread: ThreadId,
    /// Its relevant events.
    pub events: Vec<RelevantEvent>,
}

/// The relevant events of a trace, or of a window of it, under one model.
#[derive(Clone, Default, Debug)]
pub struct EventStructure {
    /// One chain for each thread that has relevant events, in the order of their first ones.
    pub chains: Vec<Chain>,
    pub(crate) predecessors: Vec<ChainPrefix>,
    /// What depends on the cut or on the path.
    pub rules: Rules,
}

impl EventStructure {
    /// The predecessors of an event that are not predecessors of the event before it in its chain: of every other chain
    /// at most one prefix.
    #[inline]
    pub fn predecessors(&self, event: &RelevantEvent) -> &[ChainPrefix] {
        &self.predecessors[event.predecessors.0 as usize..event.predecessors.1 as usize]
    }

    /// The number of relevant events.
    pub fn len(&self) -> usize {
        self.chains.iter().map(|chain| chain.events.len()).sum()
    }

    /// Whether no event is relevant.
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }

    /// Whether some event has a rule that depends on the cut or on the path.
    pub fn has_rules(&self) -> bool {
        self.chains.iter().flat_map(|chain| &chain.events).any(RelevantEvent::has_rule)
    }

    /// The structure over only those events that `keep` accepts, by index; they keep their order among each other.
    ///
    /// The structure must have no rules, and the predecessors of each event must be transitively closed, as those of
    /// `full-hb` and `sync-only` are. (Those of `observed` name only the event recorded last.)
    pub fn project(&self, keep: impl Fn(u64) -> bool) -> EventStructure {
        debug_assert!(!self.has_rules());
        let mut projected = EventStructure::default();
        // By chain: by number of events, how many of the first ones are kept; and the number of the new chain.
        let mut kept: Vec<Vec<u32>> = Vec::with_capacity(self.chains.len());
        let mut new_chains: Vec<Option<u32>> = vec![None; self.chains.len()];
        let mut firsts: Vec<(u64, usize)> = Vec::new();
        for (number, chain) in self.chains.iter().enumerate() {
            let mut counts = Vec::with_capacity(chain.events.len() + 1);
            counts.push(0);
            let mut count = 0;
            for event in &chain.events {
                let keeps = keep(event.index);
                if keeps && count == 0 {
                    firsts.push((event.index, number));
                }
                count += u32::from(keeps);
                counts.push(count);
            }
            kept.push(counts);
        }
        // In the order of their first events that are kept, as if there had never been others: among equally good paths
        // a search takes the one that this order prefers.
        firsts.sort_unstable();
        for (_, number) in firsts {
            new_chains[number] = Some(projected.chains.len() as u32);
            let count = kept[number].last().copied().unwrap_or(0);
            let thread = self.chains[number].thread;
            projected.chains.push(Chain { thread, events: Vec::with_capacity(count as usize) });
        }
        // By chain: how many of its events the kept event to come follows; `changed` lists those above zero.
        let mut pending: Vec<u32> = vec![0; self.chains.len()];
        let mut changed: Vec<u32> = Vec::new();
        for (number, chain) in self.chains.iter().enumerate() {
            let Some(own) = new_chains[number] else { continue };
            // By new chain: how many of its events the last kept event follows.
            let mut known: Vec<u32> = vec![0; projected.chains.len()];
            for (at, event) in chain.events.iter().enumerate() {
                for prefix in self.predecessors(event) {
                    if pending[prefix.chain as usize] == 0 {
                        changed.push(prefix.chain);
                    }
                    let most = &mut pending[prefix.chain as usize];
                    *most = prefix.count.max(*most);
                }
                if kept[number][at] == kept[number][at + 1] {
                    continue;
                }
                let from = projected.predecessors.len() as u32;
                changed.sort_unstable_by_key(|&other| new_chains[other as usize]);
                for other in changed.drain(..) {
                    let count = kept[other as usize][std::mem::take(&mut pending[other as usize]) as usize];
                    if let Some(chain) = new_chains[other as usize]
                        && count > known[chain as usize]
                    {
                        known[chain as usize] = count;
                        projected.predecessors.push(ChainPrefix { chain, count });
                    }
                }
                let predecessors = (from, projected.predecessors.len() as u32);
                projected.chains[own as usize].events.push(RelevantEvent { predecessors, ..*event });
            }
            changed.drain(..).for_each(|other| pending[other as usize] = 0);
        }
        projected
    }
}
