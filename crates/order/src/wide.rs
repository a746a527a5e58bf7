//! What `weak-hb` and `maximal` share: sections that exclude each other, notifies and wake-ups, barriers, and the pass
//! along a window that finds the elements and their clocks.

use crate::conditions::Pair;
use crate::frame::Frame;
use crate::locks::Locks;
use crate::rules::{Act, Guard, LaneCounts};
use crate::sections::Effect;
use crate::threads::{Place, Threads, is_access};
use crate::variables::{Span, Spans};
use crate::window::Window;
use clock::{Clock, VectorClock};
use event::{Event, Id, Op, SemId, Space, ThreadId, Value, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// An access that is no barrier.
pub(crate) struct Access {
    pub(crate) event: Event,
    /// Its span.
    pub(crate) number: u32,
    /// The rules speak of its span: all its accesses are elements.
    pub(crate) ruled: bool,
    /// What it writes is read behind the window.
    pub(crate) read_later: bool,
    /// The value that it recorded.
    pub(crate) value: Value,
}

/// How a model treats accesses of variables.
pub(crate) trait Accesses {
    /// `up` and `down` keep their recorded order.
    const ORDERED_SEMAPHORES: bool;

    /// Whether the rules speak of a span.
    fn is_ruled(&self, span: &Span) -> bool;

    /// Before an access: joins what it comes after.
    fn before(&mut self, access: &Access, threads: &mut Threads);

    /// After it.
    fn after(&mut self, access: &Access, place: Option<Place>, threads: &mut Threads);

    /// Gives the frame its rules.
    fn finish(self, spans: &Spans, window: &Window<'_>, frame: &mut Frame);
}

/// `alloc` and `free` keep their order with every access of their variable.
#[derive(Default)]
struct Barriers {
    /// All accesses so far, of variables that have barriers in the window.
    accesses: FxHashMap<VarId, VectorClock>,
    last: FxHashMap<VarId, VectorClock>,
}

impl Barriers {
    fn new(window: &Window<'_>) -> Barriers {
        let barriers = window.events().filter(|(_, e)| matches!(e.op(), Op::Alloc | Op::Free));
        let accesses = barriers.map(|(_, e)| (e.var(), VectorClock::default())).collect();
        Barriers { accesses, last: FxHashMap::default() }
    }

    fn before(&self, event: Event, threads: &mut Threads) {
        let clock = match event.op() {
            Op::Alloc | Op::Free => self.accesses.get(&event.var()),
            _ => self.last.get(&event.var()),
        };
        if let Some(clock) = clock {
            threads.join(event.thread(), clock);
        }
    }

    fn after(&mut self, event: Event, clock: &VectorClock) {
        if let Some(accesses) = self.accesses.get_mut(&event.var()) {
            accesses.join(clock);
            if matches!(event.op(), Op::Alloc | Op::Free) {
                self.last.entry(event.var()).or_default().copy_from(clock);
            }
        }
    }
}

/// The pairs of a window, by their events.
struct Pairs {
    by_event: FxHashMap<u64, Vec<Pair>>,
    waits: FxHashMap<u64, Place>,
    /// By notify: its clock.
    notifies: FxHashMap<u64, VectorClock>,
    /// By wake-up: the slot that says whether its notify was lost.
    slots: FxHashMap<u64, u32>,
}

impl Pairs {
    fn new(window: &Window<'_>) -> Pairs {
        let mut by_event: FxHashMap<u64, Vec<Pair>> = FxHashMap::default();
        // They are in the order of their wake-ups.
        let pairs = window.trace.pairs();
        let from = pairs.partition_point(|pair| pair.woken < window.range.start);
        for pair in pairs[from..].iter().take_while(|pair| pair.woken < window.range.end) {
            // A notify before the window has done its work; a wake-up behind it makes no rule in it.
            if pair.notify >= window.range.start {
                by_event.entry(pair.notify).or_default().push(*pair);
                by_event.entry(pair.woken).or_default().push(*pair);
                by_event.entry(pair.wait).or_default().push(*pair);
            }
        }
        Pairs { by_event, waits: FxHashMap::default(), notifies: FxHashMap::default(), slots: FxHashMap::default() }
    }

    fn is_ruled(&self, index: u64) -> bool {
        self.by_event.contains_key(&index)
    }

    fn before(&self, index: u64, event: Event, threads: &mut Threads) {
        if event.op() == Op::Woken
            && let Some(pairs) = self.by_event.get(&index)
            && let Some(clock) = self.notifies.get(&pairs[0].notify)
        {
            threads.join(event.thread(), clock);
        }
    }

    fn after(&mut self, index: u64, event: Event, place: Place, threads: &mut Threads) {
        let Some(pairs) = self.by_event.get(&index) else { return };
        match event.op() {
            Op::Wait => {
                self.waits.insert(index, place);
            }
            Op::Notify | Op::NotifyAll => {
                let clock = threads.clock(event.thread()).clone();
                let from = threads.frame.rules.notifies.len() as u32;
                for pair in pairs {
                    // A wait before the window, or one that always comes first, cannot be too late.
                    let Some(wait) = self.waits.get(&pair.wait) else { continue };
                    if clock.get(ThreadId(wait.lane)) < wait.number {
                        let slot = threads.frame.rules.reads.len() as u32;
                        threads.frame.rules.reads.push(Vec::new());
                        threads.frame.rules.notifies.push((slot, wait.need()));
                        self.slots.insert(pair.woken, slot);
                    }
                }
                let to = threads.frame.rules.notifies.len() as u32;
                if from < to {
                    threads.rule(place).act = Act::Notify { from, to };
                }
                self.notifies.insert(index, clock);
            }
            _ => {
                if let Some(&slot) = self.slots.get(&index) {
                    threads.rule(place).act = Act::Woken { slot };
                }
            }
        }
    }
}

/// Semaphores: ordered, or counted.
struct Semaphores {
    clocks: Option<Vec<VectorClock>>,
    shared: FxHashSet<SemId>,
    counts: BTreeMap<SemId, BTreeMap<ThreadId, LaneCounts>>,
}

impl Semaphores {
    fn new(window: &Window<'_>, ordered: bool) -> Semaphores {
        let mut owner: FxHashMap<SemId, ThreadId> = FxHashMap::default();
        let mut shared = FxHashSet::default();
        for (_, event) in window.events().filter(|(_, e)| matches!(e.op(), Op::Up | Op::Down)) {
            if *owner.entry(event.sem()).or_insert(event.thread()) != event.thread() {
                shared.insert(event.sem());
            }
        }
        let clocks = ordered.then(|| vec![VectorClock::default(); window.trace.names.space(Space::Sem).len()]);
        Semaphores { clocks, shared, counts: BTreeMap::new() }
    }

    fn is_ruled(&self, event: Event) -> bool {
        matches!(event.op(), Op::Up | Op::Down) && self.clocks.is_none() && self.shared.contains(&event.sem())
    }

    fn before(&self, event: Event, threads: &mut Threads) {
        if matches!(event.op(), Op::Up | Op::Down)
            && let Some(clocks) = &self.clocks
        {
            threads.join(event.thread(), &clocks[event.sem().index()]);
        }
    }

    fn after(&mut self, event: Event, place: Option<Place>, threads: &mut Threads) {
        if !matches!(event.op(), Op::Up | Op::Down) {
            return;
        }
        if let Some(clocks) = &mut self.clocks {
            clocks[event.sem().index()].copy_from(threads.clock(event.thread()));
        } else if let Some(place) = place.filter(|_| self.shared.contains(&event.sem())) {
            let counts = self.counts.entry(event.sem()).or_default().entry(event.thread()).or_default();
            if event.op() == Op::Up {
                counts.ups.push(place.number);
            } else {
                counts.downs.push(place.number);
                threads.rule(place).guard = Guard::Down { semaphore: event.sem().0 };
            }
        }
    }

    fn finish(self, window: &Window<'_>, frame: &mut Frame) {
        frame.rules.semaphores = window.start.semaphores.iter().map(|&count| (count, Vec::new())).collect();
        for (semaphore, threads) in self.counts {
            for (lane, by) in (0..).zip(&frame.lanes) {
                if let Some(counts) = threads.get(&by.thread) {
                    let counts = LaneCounts { lane, ..counts.clone() };
                    frame.rules.semaphores[semaphore.index()].1.push(counts);
                }
            }
        }
    }
}

/// The frame of a window.
pub(crate) fn build<A: Accesses>(
    window: &Window<'_>,
    is_element: impl Fn(u64) -> bool,
    accesses: impl FnOnce(&Spans) -> A,
) -> Frame {
    let spans = Spans::new(window);
    let mut accesses = accesses(&spans);
    let mut threads = Threads::new(window.trace, &window.start.events);
    let mut locks = Locks::new(window);
    let mut barriers = Barriers::new(window);
    let mut pairs = Pairs::new(window);
    let mut semaphores = Semaphores::new(window, A::ORDERED_SEMAPHORES);
    let mut sections = window.start.sections.clone();
    let until = (window.range.end < window.trace.batch.events.len() as u64).then(|| window.trace.until());
    for (index, event) in window.events() {
        let op = event.op();
        let effect = sections.step(window.trace.batch, event);
        threads.before(event);
        let access = spans.of(index - window.range.start).map(|number| Access {
            event,
            number,
            ruled: accesses.is_ruled(&spans.spans[number as usize]),
            read_later: until.is_some_and(|until| u64::from(until[index as usize]) >= window.range.end),
            value: window.trace.batch.extra(event).value,
        });
        if is_access(op) {
            barriers.before(event, &mut threads);
        }
        if let Some(access) = &access {
            accesses.before(access, &mut threads);
        }
        locks.before(effect, event.thread(), &mut threads);
        pairs.before(index, event, &mut threads);
        semaphores.before(event, &mut threads);

        let ruled = access.as_ref().is_some_and(|access| access.ruled)
            || locks.is_ruled(effect)
            || pairs.is_ruled(index)
            || semaphores.is_ruled(event);
        let place = (ruled || is_element(index)).then(|| threads.element(index, event));

        if is_access(op) {
            barriers.after(event, threads.clock(event.thread()));
        }
        if let Some(access) = &access {
            accesses.after(access, place, &mut threads);
        }
        locks.after(effect, event.thread(), place, &mut threads);
        if let Some(place) = place {
            pairs.after(index, event, place, &mut threads);
        }
        semaphores.after(event, place, &mut threads);
        debug_assert!(effect == Effect::None || access.is_none());
        threads.after(event);
    }
    let mut frame = threads.frame;
    locks.finish(&mut frame);
    semaphores.finish(window, &mut frame);
    accesses.finish(&spans, window, &mut frame);
    frame
}
