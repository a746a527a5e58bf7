//! Builds an event structure, and keeps the orders that all models share: program order, fork and join, latches
//! (`post`, `await`) and drop barriers (`pin`, `rpin`).
//!
//! Models drive a [`StructureBuilder`] along the recorded order. For each event they call `before`, join the clocks of
//! its other predecessors, call `add` if the event is relevant, and call `after`. All clocks count relevant events by
//! chain.

use crate::event_structure::{Chain, ChainPrefix, EventStructure, RelevantEvent};
use crate::rules::{Action, Guard};
use crate::window::Trace;
use clock::VectorClock;
use event::{Event, Op, ThreadId, Value, VarId};
use rustc_hash::FxHashMap;

/// Where a relevant event stands: its chain, and its number there, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChainPosition {
    pub(crate) chain: u32,
    pub(crate) number: u32,
}

impl ChainPosition {
    /// The events of the chain up to this one.
    pub(crate) fn prefix(self) -> ChainPrefix {
        ChainPrefix { chain: self.chain, count: self.number }
    }
}

#[derive(Clone, Default)]
struct ThreadState {
    /// The relevant events that precede its next event.
    clock: VectorClock,
    /// The clock of its last relevant event.
    of_last: VectorClock,
    /// Its chain, once it has a relevant event.
    chain: Option<u32>,
    /// How many events it has had, relevant or not.
    events: u64,
}

/// The clocks of all threads, and the event structure that grows with them.
pub(crate) struct StructureBuilder {
    threads: Vec<ThreadState>,
    latches: Vec<VectorClock>,
    /// By thread and number of an event in it: the drop barriers that name this event, by kind and variable.
    barriers: FxHashMap<(ThreadId, u64), Vec<(Op, VarId)>>,
    /// By kind of drop barrier and variable: by thread, the clock of its last event that was named so far. Accesses of
    /// other threads follow it.
    named: FxHashMap<(Op, VarId), Vec<(ThreadId, VectorClock)>>,
    pub(crate) structure: EventStructure,
}

impl StructureBuilder {
    /// An empty structure. `events`: by thread, how many events it had before the first one that will come.
    pub(crate) fn new(trace: &Trace<'_>, events: &[u64]) -> StructureBuilder {
        let mut barriers: FxHashMap<_, Vec<(Op, VarId)>> = FxHashMap::default();
        for &index in trace.drop_barriers() {
            let event = trace.event(index);
            if let Value::Int(n) = trace.batch.extra(event).value {
                barriers.entry((event.thread(), n as u64)).or_default().push((event.op(), event.var()));
            }
        }
        let threads = (0..trace.threads())
            .map(|t| ThreadState { events: events.get(t).copied().unwrap_or(0), ..ThreadState::default() });
        StructureBuilder {
            threads: threads.collect(),
            latches: vec![VectorClock::default(); trace.names.space(event::Space::Latch).len()],
            barriers,
            named: FxHashMap::default(),
            structure: EventStructure::default(),
        }
    }

    /// The relevant events that precede a thread's next event. Once an event is added, it is one of them.
    #[inline]
    pub(crate) fn clock(&self, thread: ThreadId) -> &VectorClock {
        &self.threads[thread.0 as usize].clock
    }

    /// Makes all events of a clock predecessors of a thread's next event.
    #[inline]
    pub(crate) fn join(&mut self, thread: ThreadId, clock: &VectorClock) {
        self.threads[thread.0 as usize].clock.join(clock);
    }

    /// Called before each event: joins its predecessors that all models share.
    #[inline]
    pub(crate) fn before(&mut self, event: Event) {
        let thread = event.thread();
        match event.op() {
            Op::Join => self.pass_on(event.child(), thread),
            Op::Await => {
                let latch = &self.latches[event.latch().0 as usize];
                self.threads[thread.0 as usize].clock.join(latch);
            }
            op if !self.named.is_empty() && is_access(op) => {
                let kinds = Op::DROP_BARRIERS.into_iter().filter(|kind| kind.holds_back(op));
                for (by, clock) in kinds.filter_map(|kind| self.named.get(&(kind, event.var()))).flatten() {
                    if *by != thread {
                        self.threads[thread.0 as usize].clock.join(clock);
                    }
                }
            }
            _ => {}
        }
    }

    /// The next event of `to` follows all that precedes the next event of `from`.
    fn pass_on(&mut self, from: ThreadId, to: ThreadId) {
        if from == to {
            return;
        }
        let clock = std::mem::take(&mut self.threads[from.0 as usize].clock);
        self.threads[to.0 as usize].clock.join(&clock);
        self.threads[from.0 as usize].clock = clock;
    }

    /// Adds a relevant event, whose predecessors have been joined.
    pub(crate) fn add(&mut self, index: u64, event: Event) -> ChainPosition {
        let thread = &mut self.threads[event.thread().0 as usize];
        let chains = &mut self.structure.chains;
        let chain = *thread.chain.get_or_insert_with(|| {
            chains.push(Chain { thread: event.thread(), events: Vec::new() });
            chains.len() as u32 - 1
        });
        let from = self.structure.predecessors.len() as u32;
        for (other, &count) in thread.clock.times().iter().enumerate() {
            let other = other as u32;
            if other != chain && count > thread.of_last.get(ThreadId(other)) {
                self.structure.predecessors.push(ChainPrefix { chain: other, count });
            }
        }
        thread.of_last.copy_from(&thread.clock);
        let predecessors = (from, self.structure.predecessors.len() as u32);
        let events = &mut chains[chain as usize].events;
        events.push(RelevantEvent { index, predecessors, guard: Guard::None, action: Action::None });
        let number = events.len() as u32;
        thread.clock.set(ThreadId(chain), number);
        ChainPosition { chain, number }
    }

    /// Called after each event: passes its clock on to its successors that all models share.
    #[inline]
    pub(crate) fn after(&mut self, event: Event) {
        let thread = event.thread();
        match event.op() {
            Op::Fork => self.pass_on(thread, event.child()),
            Op::Post => {
                let clock = &self.threads[thread.0 as usize].clock;
                self.latches[event.latch().0 as usize].join(clock);
            }
            _ => {}
        }
        let own = &mut self.threads[thread.0 as usize];
        if !self.barriers.is_empty()
            && let Some(barriers) = self.barriers.get(&(thread, own.events))
        {
            for &barrier in barriers {
                let named = self.named.entry(barrier).or_default();
                match named.iter_mut().find(|(by, _)| *by == thread) {
                    // The clock of a later event of the thread contains those of its earlier ones.
                    Some((_, clock)) => clock.copy_from(&own.clock),
                    None => named.push((thread, own.clock.clone())),
                }
            }
        }
        own.events += 1;
    }

    /// An event that was added, to set its rules.
    pub(crate) fn event_mut(&mut self, position: ChainPosition) -> &mut RelevantEvent {
        &mut self.structure.chains[position.chain as usize].events[position.number as usize - 1]
    }
}

/// Whether an operation accesses a variable.
pub(crate) fn is_access(op: Op) -> bool {
    op.is_access()
}

/// Whether an operation only reads its variable.
pub(crate) fn is_read(op: Op) -> bool {
    op.only_reads()
}
