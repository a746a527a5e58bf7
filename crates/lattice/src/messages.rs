//! The events that have arrived, by chain. Messages may come in any order.

use order::{ChainPrefix, EventStructure, RelevantEvent, Rules};

/// An event, its number in its chain and what it needs: the paper's message ⟨event, thread, clock⟩, where of the clock only
/// those entries stand that grew since the event before it in its chain.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The chain.
    pub chain: u32,
    /// Which event of the chain it is, from 0.
    pub number: u32,
    /// The index of its event in the trace.
    pub index: u64,
    /// What it does to the automaton.
    pub class: u32,
    /// What it needs of other chains.
    pub predecessors: &'a [ChainPrefix],
}

/// An event that has arrived.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedEvent {
    pub(crate) index: u64,
    pub(crate) class: u32,
    predecessors: (u32, u32),
}

#[derive(Clone, Default, Debug)]
pub(crate) struct ChainMessages {
    slots: Vec<Option<ReceivedEvent>>,
    /// How many have arrived without a gap.
    pub(crate) ready: u32,
    /// No more will come.
    pub(crate) ended: bool,
    /// What the next event will need at least.
    pub(crate) bound: Vec<ChainPrefix>,
}

/// Everything that has arrived.
pub(crate) struct Messages<'f> {
    pub(crate) chains: Vec<ChainMessages>,
    predecessors: Vec<ChainPrefix>,
    /// Where the rules are.
    pub(crate) structure: Option<&'f EventStructure>,
    /// One more than the greatest class so far.
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

    /// Chains that are needed are known, too.
    fn know(&mut self, predecessors: &[ChainPrefix]) {
        for prefix in predecessors {
            self.chain(prefix.chain);
        }
    }

    pub(crate) fn progress(&mut self, chain: u32, predecessors: &[ChainPrefix]) {
        self.know(predecessors);
        let bound = &mut self.chain(chain).bound;
        bound.clear();
        bound.extend_from_slice(predecessors);
    }

    pub(crate) fn message(&mut self, message: Message<'_>) {
        let from = self.predecessors.len() as u32;
        self.predecessors.extend_from_slice(message.predecessors);
        let predecessors = (from, self.predecessors.len() as u32);
        self.know(message.predecessors);
        self.classes = self.classes.max(message.class + 1);
        let chain = self.chain(message.chain);
        if chain.slots.len() <= message.number as usize {
            chain.slots.resize(message.number as usize + 1, None);
        }
        chain.slots[message.number as usize] =
            Some(ReceivedEvent { index: message.index, class: message.class, predecessors });
        while chain.slots.get(chain.ready as usize).is_some_and(Option::is_some) {
            chain.ready += 1;
        }
    }

    /// An event that has arrived.
    #[inline]
    pub(crate) fn event(&self, chain: u32, number: u32) -> &ReceivedEvent {
        self.chains[chain as usize].slots[number as usize].as_ref().expect("it has arrived")
    }

    /// What it needs beyond the event before it.
    #[inline]
    pub(crate) fn predecessors(&self, event: &ReceivedEvent) -> &[ChainPrefix] {
        &self.predecessors[event.predecessors.0 as usize..event.predecessors.1 as usize]
    }

    /// Its rules, if it has any.
    #[inline]
    pub(crate) fn ruled(&self, chain: u32, number: u32) -> Option<(&'f Rules, &'f RelevantEvent)> {
        let structure = self.structure?;
        let event = &structure.chains[chain as usize].events[number as usize];
        event.has_rule().then_some((&structure.rules, event))
    }

    /// No more will come, anywhere.
    pub(crate) fn has_ended(&self) -> bool {
        self.chains.iter().all(|chain| chain.ended)
    }

    /// Whether some event is missing before one that has arrived.
    pub(crate) fn has_gaps(&self) -> bool {
        self.chains.iter().any(|chain| chain.slots.len() > chain.ready as usize)
    }

    /// How many events have arrived in order.
    pub(crate) fn len(&self) -> u64 {
        self.chains.iter().map(|chain| u64::from(chain.ready)).sum()
    }
}
