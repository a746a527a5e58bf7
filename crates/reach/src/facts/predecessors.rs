//! What an event needs whatever else a prefix has. It is always recorded before it.
//!
//! Only what the order of threads does not give is kept: of each other chain the last event that is needed.

use super::{Chains, Effect, NONE, Section, Wakeup, is_access, lock_of};
use event::{Batch, Event, Op, ThreadId, Value};
use rustc_hash::FxHashMap;

/// By event: events of other chains that it needs.
pub(crate) struct Predecessors {
    ends: Vec<u32>,
    predecessors: Vec<u32>,
}

impl Predecessors {
    /// What an event needs.
    #[inline]
    pub(crate) fn of(&self, event: u32) -> &[u32] {
        let from = if event == 0 { 0 } else { self.ends[event as usize - 1] };
        &self.predecessors[from as usize..self.ends[event as usize] as usize]
    }
}

/// Builds the lists of predecessors, event after event.
struct Builder<'a> {
    chains: &'a Chains,
    predecessors: Predecessors,
    event: u32,
}

impl<'a> Builder<'a> {
    fn new(chains: &'a Chains) -> Self {
        Builder { chains, predecessors: Predecessors { ends: Vec::new(), predecessors: Vec::new() }, event: 0 }
    }

    /// The current event needs this one.
    fn need(&mut self, needed: u32) {
        let chains = self.chains;
        if self.event >= chains.fixed && needed >= chains.fixed && chains.of(needed) != chains.of(self.event) {
            self.predecessors.predecessors.push(needed);
        }
    }

    fn next(&mut self) {
        self.predecessors.ends.push(self.predecessors.predecessors.len() as u32);
        self.event += 1;
    }
}

/// The last event of each thread that had something to do with an object.
#[derive(Clone, Default)]
struct Lasts(Vec<(ThreadId, u32)>);

impl Lasts {
    fn set(&mut self, thread: ThreadId, event: u32) {
        match self.0.iter_mut().find(|(other, _)| *other == thread) {
            Some((_, last)) => *last = event,
            None => self.0.push((thread, event)),
        }
    }
}

/// The accesses of a variable that its lifetime boundaries order.
#[derive(Default)]
struct Memory {
    boundary: Option<u32>,
    since: Lasts,
}

/// Fork and join, posts, pins; `alloc` and `free`.
pub(super) fn always(trace: &Batch, chains: &Chains) -> Predecessors {
    let mut builder = Builder::new(chains);
    // By thread: its forks that no event of it has come after.
    let mut forks: FxHashMap<ThreadId, Lasts> = FxHashMap::default();
    let mut last: FxHashMap<ThreadId, u32> = FxHashMap::default();
    let mut posts: FxHashMap<u32, Lasts> = FxHashMap::default();
    let mut memory: FxHashMap<u32, Memory> = FxHashMap::default();
    for event in trace.events.iter().filter(|event| event.op().bounds_lifetime()) {
        memory.entry(event.object()).or_default();
    }
    let mut pins = Pins::new(trace);
    for (at, &event) in (0u32..).zip(&trace.events) {
        let thread = event.thread();
        for (_, fork) in forks.remove(&thread).unwrap_or_default().0 {
            builder.need(fork);
        }
        match event.op() {
            Op::Fork => forks.entry(event.child()).or_default().set(thread, at),
            Op::Join => {
                if let Some(&end) = last.get(&event.child()) {
                    builder.need(end);
                }
                for &(_, fork) in forks.get(&event.child()).into_iter().flat_map(|lasts| &lasts.0) {
                    builder.need(fork);
                }
            }
            Op::Post => posts.entry(event.object()).or_default().set(thread, at),
            Op::Await => {
                for &(_, post) in posts.get(&event.object()).into_iter().flat_map(|lasts| &lasts.0) {
                    builder.need(post);
                }
            }
            op if is_access(op) => {
                for (_, pinned) in pins.of(event) {
                    builder.need(pinned);
                }
                if let Some(memory) = memory.get_mut(&event.object()) {
                    if let Some(boundary) = memory.boundary {
                        builder.need(boundary);
                    }
                    if op.bounds_lifetime() {
                        for (_, access) in std::mem::take(&mut memory.since).0 {
                            builder.need(access);
                        }
                        memory.boundary = Some(at);
                    } else {
                        memory.since.set(thread, at);
                    }
                }
            }
            _ => {}
        }
        pins.step(at, event);
        last.insert(thread, at);
        builder.next();
    }
    builder.predecessors
}

/// Pins, along the recorded run.
struct Pins {
    /// By thread and number of its event: the kinds of pins there, and their variables.
    wanted: FxHashMap<(ThreadId, u64), Vec<(Op, u32)>>,
    counts: FxHashMap<ThreadId, u64>,
    /// By kind of pin and variable: the pinned events so far.
    pinned: FxHashMap<(Op, u32), Lasts>,
}

impl Pins {
    fn new(trace: &Batch) -> Pins {
        let mut wanted: FxHashMap<_, Vec<(Op, u32)>> = FxHashMap::default();
        for event in trace.events.iter().filter(|event| event.op().is_drop_barrier()) {
            if let Value::Int(n) = trace.extra(*event).value
                && let Ok(n) = u64::try_from(n)
            {
                wanted.entry((event.thread(), n)).or_default().push((event.op(), event.object()));
            }
        }
        Pins { wanted, counts: FxHashMap::default(), pinned: FxHashMap::default() }
    }

    fn of(&self, access: Event) -> impl Iterator<Item = (ThreadId, u32)> {
        let kinds = Op::DROP_BARRIERS.into_iter().filter(move |pin| pin.holds_back(access.op()));
        kinds.filter_map(move |pin| self.pinned.get(&(pin, access.object()))).flat_map(|lasts| lasts.0.iter().copied())
    }

    fn step(&mut self, at: u32, event: Event) {
        if self.wanted.is_empty() {
            return;
        }
        let count = self.counts.entry(event.thread()).or_default();
        for &pin in self.wanted.get(&(event.thread(), *count)).into_iter().flatten() {
            self.pinned.entry(pin).or_default().set(event.thread(), at);
        }
        *count += 1;
    }
}

/// A failed try, and an event of another thread that closes a section because of which it failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    pub(crate) failed: u32,
    pub(crate) close: u32,
}

/// Failed tries inside their sections, and wake-ups after their notifies. Of the failed tries of a thread in a section
/// the last one says where the section may end, if it is in the prefix; so do the earlier ones, if it is not.
pub(super) fn beside(
    trace: &Batch,
    chains: &Chains,
    sections: &[Section],
    effects: &[Effect],
    pairs: &[Wakeup],
) -> (Predecessors, Vec<Failure>) {
    let mut builder = Builder::new(chains);
    let mut failures = Vec::new();
    let mut pairs = pairs.iter().peekable();
    // By lock with failed tries: the sections open now, each with those that failed in it.
    let mut open: FxHashMap<u32, Vec<(u32, Vec<u32>)>> = FxHashMap::default();
    for event in trace.events.iter().filter(|event| event.op() == Op::TryFail) {
        open.entry(event.object()).or_default();
    }
    for (number, section) in (0u32..).zip(sections).filter(|(_, section)| section.open == NONE) {
        if let Some(open) = open.get_mut(&section.lock.0) {
            open.push((number, Vec::new()));
        }
    }
    for (at, &event) in (0u32..).zip(&trace.events) {
        if let Some(pair) = pairs.next_if(|pair| pair.woken == at) {
            builder.need(pair.notify);
        }
        if !open.is_empty()
            && let Some(open) = lock_of(trace, event).and_then(|lock| open.get_mut(&lock.0))
        {
            if event.op() == Op::TryFail {
                for (section, failed) in open.iter_mut() {
                    let opened = sections[*section as usize].open;
                    if opened != NONE {
                        builder.need(opened);
                    }
                    failed.push(at);
                }
            }
            let effect = &effects[at as usize];
            for closed in effect.closes.into_iter().filter(|&section| section != NONE) {
                if let Some(place) = open.iter().position(|(section, _)| *section == closed) {
                    let failed = open.swap_remove(place).1.into_iter();
                    let may_come_late = |&failed: &u32| failed >= chains.fixed && chains.of(failed) != chains.of(at);
                    failures.extend(failed.filter(may_come_late).map(|failed| Failure { failed, close: at }));
                }
            }
            open.extend(effect.opens.into_iter().filter(|&s| s != NONE).map(|s| (s, Vec::new())));
        }
        builder.next();
    }
    failures.sort_unstable_by_key(|failure| (failure.failed, failure.close));
    (builder.predecessors, failures)
}
