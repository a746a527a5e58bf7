//! The relevant events received so far, by chain. Messages may arrive in any order.

use order::{ChainPrefix, EventStructure, RelevantEvent, Rules};

/// A relevant event with its predecessors: JMPaX's message ⟨event, thread, clock⟩. Of the clock it has only the
/// entries that grew since the event before it in its chain.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The chain.
    pub chain: u32,
    /// Its number in the chain, from 0.
    pub number: u32,
    /// Its index in the trace.
    pub index: u64,
    /// Its class in the automaton's alphabet.
    pub class: u32,
    /// Its predecessors in other chains, beyond those of the event before it.
    pub predecessors: &'a [ChainPrefix],
}

/// An event that has been received.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedEvent {
    pub(crate) index: u64,
    pub(crate) class: u32,
    /// A range of [`Messages::predecessors`].
    predecessors: (u32, u32),
}

/// What has been received of one chain.
#[derive(Clone, Default, Debug)]
pub(crate) struct ChainMessages {
    /// By number; `None` where an event is still missing.
    events: Vec<Option<ReceivedEvent>>,
    /// The number of events before the first gap.
    pub(crate) ready: u32,
    /// Whether no more events will come.
    pub(crate) ended: bool,
    /// Predecessors that the next event will have at least.
    pub(crate) next_follows: Vec<ChainPrefix>,
}

/// All events received so far.
pub(crate) struct Messages<'f> {
    pub(crate) chains: Vec<ChainMessages>,
    predecessors: Vec<ChainPrefix>,
    /// The event structure, if it has rules.
    pub(crate) structure: Option<&'f EventStructure>,
    /// The number of classes: one more than the greatest so far.
    pub(crate) classes: u32,
}

impl<'f> Messages<'f> {
    pub(crate) fn new(structure: Option<&'f EventStructure>) -> Messages<'f> {
        Messages {
            chains: Vec::new(),
            predecessors: Vec::new(),
            structure: structure.filter(|f| f.has_rules()),
            classes: 0,
        }
    }

    pub(crate) fn chain(&mut self, chain: u32) -> &mut ChainMessages {
        if self.chains.len() <= chain as usize {
            self.chains.resize_with(chain as usize + 1, ChainMessages::default);
        }
        &mut self.chains[chain as usize]
    }

    /// Adds the chains that predecessors name.
    fn add_chains(&mut self, predecessors: &[ChainPrefix]) {
        for prefix in predecessors {
            self.chain(prefix.chain);
        }
    }

    pub(crate) fn progress(&mut self, chain: u32, predecessors: &[ChainPrefix]) {
        self.add_chains(predecessors);
        let next_follows = &mut self.chain(chain).next_follows;
        next_follows.clear();
        next_follows.extend_from_slice(predecessors);
    }

    pub(crate) fn message(&mut self, message: Message<'_>) {
        let from = self.predecessors.len() as u32;
        self.predecessors.extend_from_slice(message.predecessors);
        let predecessors = (from, self.predecessors.len() as u32);
        self.add_chains(message.predecessors);
        self.classes = self.classes.max(message.class + 1);
        let chain = self.chain(message.chain);
        if chain.events.len() <= message.number as usize {
            chain.events.resize(message.number as usize + 1, None);
        }
        chain.events[message.number as usize] =
            Some(ReceivedEvent { index: message.index, class: message.class, predecessors });
        while chain.events.get(chain.ready as usize).is_some_and(Option::is_some) {
            chain.ready += 1;
        }
    }

    /// An event that has been received.
    #[inline]
    pub(crate) fn event(&self, chain: u32, number: u32) -> &ReceivedEvent {
        self.chains[chain as usize].events[number as usize].as_ref().expect("it has arrived")
    }

    /// The predecessors of an event beyond those of the event before it.
    #[inline]
    pub(crate) fn predecessors(&self, event: &ReceivedEvent) -> &[ChainPrefix] {
        &self.predecessors[event.predecessors.0 as usize..event.predecessors.1 as usize]
    }

    /// The rules and the event, if it has rules.
    #[inline]
    pub(crate) fn rule_of(&self, chain: u32, number: u32) -> Option<(&'f Rules, &'f RelevantEvent)> {
        let structure = self.structure?;
        let event = &structure.chains[chain as usize].events[number as usize];
        event.has_rule().then_some((&structure.rules, event))
    }

    /// Whether no chain will have more events.
    pub(crate) fn has_ended(&self) -> bool {
        self.chains.iter().all(|chain| chain.ended)
    }

    /// Whether some event is missing before one that was received.
    pub(crate) fn has_gaps(&self) -> bool {
        self.chains.iter().any(|chain| chain.events.len() > chain.ready as usize)
    }

    /// How many cuts there are at most, from what was received: as many as if nothing were ordered.
    pub(crate) fn most_cuts(&self) -> u64 {
        self.chains.iter().fold(1, |cuts: u64, chain| cuts.saturating_mul(u64::from(chain.ready) + 1))
    }

    /// The number of events before the gaps of all chains.
    pub(crate) fn len(&self) -> u64 {
        self.chains.iter().map(|chain| u64::from(chain.ready)).sum()
    }
}
