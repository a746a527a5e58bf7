//! What every model keeps: the order of each thread, fork and join, post and await, pins; as clocks over the events.

use crate::event_structure::{Chain, ChainPrefix, EventStructure, RelevantEvent};
use crate::rules::{Action, Guard};
use crate::window::Trace;
use clock::{Clock, VectorClock};
use event::{Event, Op, ThreadId, Value, VarId};
use rustc_hash::FxHashMap;

/// The position of an event: its chain, and which one it is there, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChainPosition {
    pub(crate) chain: u32,
    pub(crate) number: u32,
}

impl ChainPosition {
    /// The events up to this one.
    pub(crate) fn prefix(self) -> ChainPrefix {
        ChainPrefix { chain: self.chain, count: self.number }
    }
}

#[derive(Clone, Default)]
struct Thread {
    /// The events before its next event.
    clock: VectorClock,
    /// What its last event needed.
    told: VectorClock,
    chain: Option<u32>,
    /// How many events it made.
    events: u64,
}

/// The clocks of all threads, and the structure that grows with them.
pub(crate) struct StructureBuilder {
    threads: Vec<Thread>,
    latches: Vec<VectorClock>,
    /// The pins of event n of a thread: their kinds and variables.
    pins: FxHashMap<(ThreadId, u64), Vec<(Op, VarId)>>,
    /// By kind of pin and variable: by whom, and the clock of the last event that others' accesses must follow.
    pinned: FxHashMap<(Op, VarId), Vec<(ThreadId, VectorClock)>>,
    pub(crate) structure: EventStructure,
}

impl StructureBuilder {
    /// Before the first event. `events`: how many events each thread made before that.
    pub(crate) fn new(trace: &Trace<'_>, events: &[u64]) -> StructureBuilder {
        let mut pins: FxHashMap<_, Vec<(Op, VarId)>> = FxHashMap::default();
        for &index in trace.pins() {
            let event = trace.event(index);
            if let Value::Int(n) = trace.batch.extra(event).value {
                pins.entry((event.thread(), n as u64)).or_default().push((event.op(), event.var()));
            }
        }
        let threads =
            (0..trace.threads()).map(|t| Thread { events: events.get(t).copied().unwrap_or(0), ..Thread::default() });
        StructureBuilder {
            threads: threads.collect(),
            latches: vec![VectorClock::default(); trace.names.space(event::Space::Latch).len()],
            pins,
            pinned: FxHashMap::default(),
            structure: EventStructure::default(),
        }
    }

    /// The events before a thread's next event; after [`StructureBuilder::event`], those up to its last one.
    #[inline]
    pub(crate) fn clock(&self, thread: ThreadId) -> &VectorClock {
        &self.threads[thread.0 as usize].clock
    }

    /// The next event of a thread comes after all that a clock knows.
    #[inline]
    pub(crate) fn join(&mut self, thread: ThreadId, clock: &VectorClock) {
        self.threads[thread.0 as usize].clock.join(clock);
    }

    /// Before an event: what comes before it in every model.
    #[inline]
    pub(crate) fn before(&mut self, event: Event) {
        let thread = event.thread();
        match event.op() {
            Op::Join => self.pass_on(event.child(), thread),
            Op::Await => {
                let latch = &self.latches[event.latch().0 as usize];
                self.threads[thread.0 as usize].clock.join(latch);
            }
            op if !self.pinned.is_empty() && is_access(op) => {
                let pins = Op::DROP_BARRIERS.into_iter().filter(|pin| pin.holds_back(op));
                for (by, clock) in pins.filter_map(|pin| self.pinned.get(&(pin, event.var()))).flatten() {
                    if *by != thread {
                        self.threads[thread.0 as usize].clock.join(clock);
                    }
                }
            }
            _ => {}
        }
    }

    /// One thread learns what another knows.
    fn pass_on(&mut self, from: ThreadId, to: ThreadId) {
        if from == to {
            return;
        }
        let clock = std::mem::take(&mut self.threads[from.0 as usize].clock);
        self.threads[to.0 as usize].clock.join(&clock);
        self.threads[from.0 as usize].clock = clock;
    }

    /// Makes an event an event; its predecessors are joined already.
    pub(crate) fn event(&mut self, index: u64, event: Event) -> ChainPosition {
        let thread = &mut self.threads[event.thread().0 as usize];
        let chains = &mut self.structure.chains;
        let chain = *thread.chain.get_or_insert_with(|| {
            chains.push(Chain { thread: event.thread(), events: Vec::new() });
            chains.len() as u32 - 1
        });
        let from = self.structure.predecessors.len() as u32;
        for (other, &count) in thread.clock.times().iter().enumerate() {
            let other = other as u32;
            if other != chain && count > thread.told.get(ThreadId(other)) {
                self.structure.predecessors.push(ChainPrefix { chain: other, count });
            }
        }
        thread.told.copy_from(&thread.clock);
        let predecessors = (from, self.structure.predecessors.len() as u32);
        let events = &mut chains[chain as usize].events;
        events.push(RelevantEvent { index, predecessors, guard: Guard::None, action: Action::None });
        let number = events.len() as u32;
        thread.clock.set(ThreadId(chain), number);
        ChainPosition { chain, number }
    }

    /// After an event: what comes after it in every model.
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
        if !self.pins.is_empty()
            && let Some(pins) = self.pins.get(&(thread, own.events))
        {
            for &pin in pins {
                let pinned = self.pinned.entry(pin).or_default();
                match pinned.iter_mut().find(|(by, _)| *by == thread) {
                    // It knows what its thread's pinned events before it knew.
                    Some((_, clock)) => clock.copy_from(&own.clock),
                    None => pinned.push((thread, own.clock.clone())),
                }
            }
        }
        own.events += 1;
    }

    /// Gives an event its rules.
    pub(crate) fn rule(&mut self, position: ChainPosition) -> &mut RelevantEvent {
        &mut self.structure.chains[position.chain as usize].events[position.number as usize - 1]
    }
}

/// An access of a variable.
pub(crate) fn is_access(op: Op) -> bool {
    op.has_value() || matches!(op, Op::Alloc | Op::Free)
}

/// An access that only reads.
pub(crate) fn is_read(op: Op) -> bool {
    matches!(op, Op::Read | Op::AtomicLoad)
}
