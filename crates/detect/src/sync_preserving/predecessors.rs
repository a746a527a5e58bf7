//! What each event needs, found in one pass along the recorded run: all rules of `maximal` but that of locks, with the
//! recorded writer for every read, and each `down` with the `up` it consumes first in, first out.
//!
//! All of these rules only speak of events recorded before, so a vector of counts per event says everything.

use super::clocks::{Clocks, EMPTY, join};
use super::index::{TraceFacts, is_access};
use super::semaphores::{Empty, Semaphores};
use super::work::Work;
use super::{NONE, NoIndex};
use crate::sections::{Act, Sections};
use event::{Batch, Event, Names, Op, Space, Value};
use rustc_hash::FxHashMap;
use sync::{Wakeups, lock_of};

/// The most that clocks may take: 2 GB.
const MOST_WORDS: usize = 1 << 29;

/// The last event of each chain that did something; it needs the ones before it.
type Lasts = Vec<(u32, u32)>;

fn note(lasts: &mut Lasts, chain: u32, event: u32) {
    match lasts.iter_mut().find(|last| last.0 == chain) {
        Some(last) => last.1 = event,
        None => lasts.push((chain, event)),
    }
}

#[derive(Clone, Default)]
struct Thread {
    chain: u32,
    /// Its last event so far, or [`NONE`].
    last: u32,
    events: u32,
    events_to_come: u32,
    /// Forks that its next event needs, and every join of it: the last one of each chain.
    forks: Vec<u32>,
}

/// A lock with failed try-locks, or with sections that were open from the beginning.
#[derive(Default)]
struct LockState {
    open: Vec<u32>,
    /// Thread, whether shared, and the last event that closes such a section.
    early: Vec<(u32, bool, u32)>,
}

/// A variable that is allocated or freed, and that several threads access.
#[derive(Default)]
struct Renewed {
    /// The last `alloc` or `free`.
    boundary: Option<u32>,
    /// Accesses since, the boundary included.
    accesses: Lasts,
}

/// What is known of a variable before the pass begins.
#[derive(Clone, Copy)]
struct Accessed {
    /// The only thread with events of it, or [`NONE`] (no thread yet), or [`SEVERAL`].
    by: u32,
    /// Where it is in `renewed`, if it is [renewed](RENEWED) and `by` is [`SEVERAL`]; else [`NONE`].
    renewed: u32,
}

/// Several threads have events of the variable.
const SEVERAL: u32 = NONE - 1;

/// The variable is allocated or freed; its place in `renewed` is not known yet.
const RENEWED: u32 = NONE - 1;

struct Pass<'a> {
    trace: &'a Batch,
    threads: Vec<Thread>,
    /// By chain: its last event, and the thread that it is of.
    chains: Vec<(u32, u32)>,
    found: TraceFacts,
    /// What the present event needs.
    clock: Vec<u32>,
    changed: bool,
    writers: Vec<u32>,
    /// By variable.
    accessed: Vec<Accessed>,
    renewed: Vec<Renewed>,
    drop_barriers: FxHashMap<(u32, u32), Vec<(Op, u32)>>,
    /// By kind of drop barrier and variable.
    named: FxHashMap<(Op, u32), Lasts>,
    posts: FxHashMap<u32, Lasts>,
    sections: Sections,
    locks: FxHashMap<u32, LockState>,
    acts: Vec<Act>,
}

/// Looks through the recorded run.
pub(super) fn find(names: &Names, trace: &Batch, work: &mut Work<'_>) -> Result<TraceFacts, NoIndex> {
    let events = trace.events.len();
    let mut pass = Pass {
        trace,
        threads: vec![Thread { chain: NONE, last: NONE, ..Thread::default() }; names.space(Space::Thread).len()],
        chains: Vec::new(),
        found: TraceFacts {
            chain: vec![0; events],
            position: vec![0; events],
            predecessors: vec![EMPTY; events],
            before: vec![EMPTY; events],
            held: vec![NONE; events],
            clocks: Clocks::default(),
            sections: Vec::new(),
            holds: Default::default(),
            never: Vec::new(),
            apart: FxHashMap::default(),
            failed: FxHashMap::default(),
        },
        clock: Vec::new(),
        changed: false,
        writers: vec![NONE; names.space(Space::Var).len()],
        accessed: vec![Accessed { by: NONE, renewed: NONE }; names.space(Space::Var).len()],
        renewed: Vec::new(),
        drop_barriers: FxHashMap::default(),
        named: FxHashMap::default(),
        posts: FxHashMap::default(),
        sections: Sections::default(),
        locks: FxHashMap::default(),
        acts: Vec::new(),
    };
    pass.look_ahead();
    let mut semaphores = Semaphores::new(names, trace);
    let mut wakeups = Wakeups::new();
    for (at, &event) in (0u32..).zip(&trace.events) {
        work.spent += 1;
        if work.is_over() {
            return Err(NoIndex::over(work, u64::from(at)));
        }
        pass.step(at, event, &mut semaphores, &mut wakeups);
        if pass.found.clocks.words() > MOST_WORDS {
            return Err(NoIndex::TooLarge { event: u64::from(at), gigabytes: MOST_WORDS >> 28 });
        }
    }
    Ok(pass.finish())
}

impl Pass<'_> {
    /// What must be known before the events that it matters for.
    fn look_ahead(&mut self) {
        for &event in &self.trace.events {
            self.threads[event.thread().0 as usize].events_to_come += 1;
            if event.op().space() == Some(Space::Var) {
                let accessed = &mut self.accessed[event.object() as usize];
                accessed.by = match accessed.by {
                    NONE => event.thread().0,
                    by if by == event.thread().0 => by,
                    _ => SEVERAL,
                };
                if event.op().bounds_lifetime() {
                    accessed.renewed = RENEWED;
                }
            }
            match event.op() {
                Op::TryFail => drop(self.locks.entry(event.object()).or_default()),
                Op::Pin | Op::ReadPin => {
                    if let Value::Int(n) = self.trace.extra(event).value
                        && let Ok(n) = u32::try_from(n)
                    {
                        self.drop_barriers.entry((event.thread().0, n)).or_default().push((event.op(), event.object()));
                    }
                }
                _ => {}
            }
        }
        for accessed in &mut self.accessed {
            if accessed.renewed == RENEWED {
                accessed.renewed = if accessed.by == SEVERAL {
                    self.renewed.push(Renewed::default());
                    self.renewed.len() as u32 - 1
                } else {
                    NONE
                };
            }
        }
    }

    /// Whether an event is of a variable that only its thread has events of. Then it needs nothing because of that
    /// variable: what came before is before it in any case.
    #[inline]
    fn is_alone(&self, event: Event) -> bool {
        event.op().space() == Some(Space::Var) && self.accessed[event.object() as usize].by != SEVERAL
    }

    /// The present event needs this one.
    #[inline]
    fn need(&mut self, event: u32) {
        let chain = self.found.chain[event as usize] as usize;
        let count = self.found.position[event as usize] + 1;
        // An event needs what its predecessors need.
        if self.clock[chain] < count {
            self.changed = true;
            join(&mut self.clock, self.found.clocks.row(self.found.predecessors[event as usize]));
            self.clock[chain] = count;
        }
    }

    fn need_all(&mut self, lasts: &[(u32, u32)]) {
        for &(_, event) in lasts {
            self.need(event);
        }
    }

    /// The row of what the present event needs so far.
    fn row(&mut self, row: u32) -> u32 {
        if std::mem::take(&mut self.changed) { self.found.clocks.add(&self.clock) } else { row }
    }

    fn never(&mut self, at: u32) {
        let never = &mut self.found.never[self.found.chain[at as usize] as usize];
        *never = (*never).min(self.found.position[at as usize]);
    }

    /// The chain of a new thread: one whose threads have all ended before, as far as the new one's first event needs,
    /// and hold nothing; else a new one.
    fn choose_chain(&mut self, thread: usize) -> u32 {
        let forks = std::mem::take(&mut self.threads[thread].forks);
        self.clock.clear();
        self.clock.resize(self.chains.len(), 0);
        for &fork in &forks {
            self.need(fork);
        }
        let ended = (0..self.chains.len()).find(|&chain| {
            let (last, thread) = self.chains[chain];
            self.clock[chain] > self.found.position[last as usize]
                && self.threads[thread as usize].events_to_come == 0
                && self.sections.holds_none(chain as u32)
        });
        let chain = ended.unwrap_or_else(|| {
            self.chains.push((NONE, 0));
            self.found.never.push(u32::MAX);
            self.chains.len() - 1
        });
        self.threads[thread].forks = forks;
        self.threads[thread].chain = chain as u32;
        chain as u32
    }

    fn step(&mut self, at: u32, event: Event, semaphores: &mut Semaphores, wakeups: &mut Wakeups) {
        let number = event.thread().0 as usize;
        let chain = match self.threads[number].chain {
            NONE => self.choose_chain(number),
            chain => chain,
        };
        let (last, _) = self.chains[chain as usize];
        let (position, row) = match last {
            NONE => (0, EMPTY),
            last => (self.found.position[last as usize] + 1, self.found.predecessors[last as usize]),
        };
        self.chains[chain as usize] = (at, number as u32);
        self.found.chain[at as usize] = chain;
        self.found.position[at as usize] = position;
        self.clock.clear();
        self.clock.extend_from_slice(self.found.clocks.row(row));
        self.clock.resize(self.chains.len(), 0);
        self.clock[chain as usize] = position;
        self.changed = false;

        let thread = &mut self.threads[number];
        thread.last = at;
        thread.events += 1;
        thread.events_to_come -= 1;
        let forks = std::mem::take(&mut self.threads[number].forks);
        for &fork in &forks {
            self.need(fork);
        }
        let is_alone = self.is_alone(event);
        if !is_alone {
            self.shared_rules(at, event, forks);
        }
        let row = self.row(row);
        self.found.before[at as usize] = row;

        if !is_alone {
            self.own_rules(at, event, chain, semaphores, wakeups);
        }
        self.found.predecessors[at as usize] = self.row(row);
        self.found.held[at as usize] = self.sections.held(chain);
        if !self.drop_barriers.is_empty() {
            self.note_named(at, number as u32);
        }
    }

    /// Fork, join, post, drop barriers, and the order with `alloc` and `free`: what an event needs even to be next.
    fn shared_rules(&mut self, at: u32, event: Event, forks: Vec<u32>) {
        match event.op() {
            Op::Fork => {
                let chain = &self.found.chain;
                let forks = &mut self.threads[event.object() as usize].forks;
                match forks.iter_mut().find(|fork| chain[**fork as usize] == chain[at as usize]) {
                    Some(fork) => *fork = at,
                    None => forks.push(at),
                }
            }
            Op::Join if event.child() != event.thread() => {
                let child = event.object() as usize;
                let last = self.threads[child].last;
                if last != NONE {
                    self.need(last);
                }
                for fork in 0..self.threads[child].forks.len() {
                    self.need(self.threads[child].forks[fork]);
                }
            }
            Op::Post => note(self.posts.entry(event.object()).or_default(), self.found.chain[at as usize], at),
            Op::Await => {
                if let Some(posts) = self.posts.remove(&event.object()) {
                    self.need_all(&posts);
                    self.posts.insert(event.object(), posts);
                }
            }
            _ if is_access(event) => {
                let mut apart = forks;
                if !self.named.is_empty() {
                    for kind in Op::DROP_BARRIERS.into_iter().filter(|kind| kind.holds_back(event.op())) {
                        if let Some(named) = self.named.remove(&(kind, event.object())) {
                            self.need_all(&named);
                            apart.extend(named.iter().map(|named| named.1));
                            self.named.insert((kind, event.object()), named);
                        }
                    }
                }
                let number = self.accessed[event.object() as usize].renewed;
                if number != NONE {
                    if !apart.is_empty() {
                        self.found.apart.insert(at, apart);
                    }
                    let mut renewed = std::mem::take(&mut self.renewed[number as usize]);
                    if let Some(boundary) = renewed.boundary {
                        self.need(boundary);
                    }
                    if event.op().bounds_lifetime() {
                        self.need_all(&renewed.accesses);
                        renewed.boundary = Some(at);
                        renewed.accesses.clear();
                    }
                    note(&mut renewed.accesses, self.found.chain[at as usize], at);
                    self.renewed[number as usize] = renewed;
                }
            }
            _ => {}
        }
    }

    /// What an event needs to be done.
    fn own_rules(&mut self, at: u32, event: Event, chain: u32, semaphores: &mut Semaphores, wakeups: &mut Wakeups) {
        match event.op() {
            Op::Read | Op::AtomicLoad | Op::AtomicRmw => {
                let writer = self.writers[event.object() as usize];
                if writer != NONE {
                    self.need(writer);
                }
                if event.op() == Op::AtomicRmw {
                    self.writers[event.object() as usize] = at;
                }
            }
            Op::Write | Op::AtomicStore => self.writers[event.object() as usize] = at,
            Op::Alloc | Op::Free => self.writers[event.object() as usize] = NONE,
            Op::Up => semaphores.up(event.object(), at),
            Op::Down => match semaphores.down(event.object()) {
                Ok(Some(up)) => self.need(up),
                Ok(None) => {}
                Err(Empty) => self.never(at),
            },
            Op::Notify | Op::NotifyAll | Op::Wait | Op::Woken => {
                if let Some(pair) = wakeups.step(self.trace, u64::from(at), event, || ()) {
                    self.need(pair.notify as u32);
                }
            }
            _ => {}
        }
        if let Some(lock) = lock_of(self.trace, event) {
            self.lock(at, event, chain, lock.0);
        }
    }

    fn lock(&mut self, at: u32, event: Event, chain: u32, lock: u32) {
        let thread = event.thread().0;
        let mut acts = std::mem::take(&mut self.acts);
        let mut state = self.locks.remove(&lock);
        acts.clear();
        if event.op() == Op::TryFail {
            if let Some(state) = &state {
                for &section in &state.open {
                    self.need(self.sections.all[section as usize].open);
                }
                self.found.failed.entry(lock).or_default().push(at);
            }
        } else {
            self.sections.step(self.trace, at, event, chain, &mut acts);
        }
        for &act in &acts {
            match (act, &mut state) {
                (Act::ClosesEarly(shared), state) => {
                    let state = state.get_or_insert_default();
                    match state.early.iter_mut().find(|early| (early.0, early.1) == (thread, shared)) {
                        Some(early) => early.2 = at,
                        None => state.early.push((thread, shared, at)),
                    }
                }
                (Act::Opens(section), Some(state)) => {
                    let shared = self.sections.all[section as usize].shared;
                    for &(other, early_shared, close) in &state.early {
                        if other != thread && !(shared && early_shared) {
                            self.need(close);
                        }
                    }
                    state.open.push(section);
                }
                (Act::Closes(section), Some(state)) => {
                    state.open.retain(|&open| open != section);
                }
                _ => {}
            }
        }
        if let Some(state) = state {
            self.locks.insert(lock, state);
        }
        self.acts = acts;
    }

    /// Drop barriers speak of the events of a thread by their number.
    fn note_named(&mut self, at: u32, thread: u32) {
        let number = self.threads[thread as usize].events - 1;
        if let Some(barriers) = self.drop_barriers.remove(&(thread, number)) {
            for barrier in barriers {
                note(self.named.entry(barrier).or_default(), self.found.chain[at as usize], at);
            }
        }
    }

    fn finish(mut self) -> TraceFacts {
        self.never_behind_early_sections();
        self.found.sections = self.sections.all;
        self.found.holds = self.sections.holds;
        self.found
    }

    /// A section of another thread cannot open before those close that were open from the beginning.
    fn never_behind_early_sections(&mut self) {
        if self.locks.values().all(|state| state.early.is_empty()) {
            return;
        }
        for number in 0..self.sections.all.len() {
            let section = self.sections.all[number];
            let thread = self.trace.events[section.open as usize].thread().0;
            let Some(state) = self.locks.get(&section.lock) else { continue };
            let late = state
                .early
                .iter()
                .any(|&(other, shared, close)| other != thread && !(shared && section.shared) && close > section.open);
            if late {
                self.never(section.open);
            }
        }
    }
}
