//! What a model makes of a trace: events in chains, what each needs, and rules.

use crate::rules::{Action, Guard, Rules};
use event::ThreadId;

/// The first `count` events of a chain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ChainPrefix {
    /// The chain.
    pub chain: u32,
    /// How many of its events.
    pub count: u32,
}

/// An event that matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RelevantEvent {
    /// Its index in the trace.
    pub index: u64,
    pub(crate) predecessors: (u32, u32),
    pub(crate) guard: Guard,
    pub(crate) action: Action,
}

/// The events of one thread, in its order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// The thread.
    pub thread: ThreadId,
    /// Its events.
    pub events: Vec<RelevantEvent>,
}

/// The events of a trace, or of a window of it, under one model.
#[derive(Clone, Default, Debug)]
pub struct EventStructure {
    /// One chain for each thread that has events, by the time of its first one.
    pub chains: Vec<Chain>,
    pub(crate) predecessors: Vec<ChainPrefix>,
    /// What depends on the cut or on the path.
    pub rules: Rules,
}

impl EventStructure {
    /// What an event needs beyond what the event before it in its chain needed: of every chain at most once, and
    /// never of its own.
    #[inline]
    pub fn predecessors(&self, event: &RelevantEvent) -> &[ChainPrefix] {
        &self.predecessors[event.predecessors.0 as usize..event.predecessors.1 as usize]
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.chains.iter().map(|chain| chain.events.len()).sum()
    }

    /// Nothing matters.
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }

    /// Whether some event has a rule that depends on the cut or on the path.
    pub fn has_rules(&self) -> bool {
        self.chains.iter().flat_map(|chain| &chain.events).any(RelevantEvent::has_rule)
    }
}

impl RelevantEvent {
    /// It has a rule that depends on the cut or on the path.
    #[inline]
    pub fn has_rule(&self) -> bool {
        self.guard != Guard::None || self.action != Action::None
    }
}

impl EventStructure {
    /// The structure of some of the events, which need of each other what they need in this one: for structures whose events
    /// say all that they need, as those of `full-hb` and `sync-only` do. Rules are not kept: it must have none.
    pub fn project(&self, keep: impl Fn(u64) -> bool) -> EventStructure {
        debug_assert!(!self.has_rules());
        // By chain of this structure: how many of its first events are kept, and the new chain.
        let mut kept: Vec<Vec<u32>> = Vec::with_capacity(self.chains.len());
        let mut chains: Vec<Option<u32>> = Vec::with_capacity(self.chains.len());
        let mut structure = EventStructure::default();
        for chain in &self.chains {
            let mut counts = Vec::with_capacity(chain.events.len() + 1);
            counts.push(0);
            let mut count = 0;
            for event in &chain.events {
                count += u32::from(keep(event.index));
                counts.push(count);
            }
            kept.push(counts);
            chains.push((count > 0).then(|| {
                structure.chains.push(Chain { thread: chain.thread, events: Vec::with_capacity(count as usize) });
                structure.chains.len() as u32 - 1
            }));
        }
        let mut pending: Vec<u32> = vec![0; self.chains.len()];
        let mut changed: Vec<u32> = Vec::new();
        for (number, chain) in self.chains.iter().enumerate() {
            let Some(own) = chains[number] else { continue };
            let mut told: Vec<u32> = vec![0; structure.chains.len()];
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
                let from = structure.predecessors.len() as u32;
                changed.sort_unstable();
                for other in changed.drain(..) {
                    let count = kept[other as usize][std::mem::take(&mut pending[other as usize]) as usize];
                    if let Some(chain) = chains[other as usize]
                        && count > told[chain as usize]
                    {
                        told[chain as usize] = count;
                        structure.predecessors.push(ChainPrefix { chain, count });
                    }
                }
                let predecessors = (from, structure.predecessors.len() as u32);
                structure.chains[own as usize].events.push(RelevantEvent { predecessors, ..*event });
            }
            changed.drain(..).for_each(|other| pending[other as usize] = 0);
        }
        structure
    }
}
