//! Counting semaphores.

use super::{Chains, NONE};
use event::{Batch, Id, Names, Op, Space, Value};
use rustc_hash::FxHashMap;

/// A semaphore that the events which are not fixed use.
#[derive(Clone, Debug)]
pub(crate) struct Semaphore {
    /// What it counts after the fixed events.
    pub(crate) count: i64,
    /// Its events that are not fixed, in recorded order.
    pub(crate) ups: Vec<u32>,
    pub(crate) downs: Vec<u32>,
    /// These by chain.
    pub(crate) chains: Vec<ChainCounts>,
}

/// The events of a semaphore in one chain, in order.
#[derive(Clone, Default, Debug)]
pub(crate) struct ChainCounts {
    pub(crate) chain: usize,
    pub(crate) ups: Vec<u32>,
    pub(crate) downs: Vec<u32>,
}

impl Semaphore {
    fn add(&mut self, chains: &Chains, event: u32, up: bool) {
        let chain = chains.of(event);
        let at = self.chains.iter().position(|counts| counts.chain == chain).unwrap_or_else(|| {
            self.chains.push(ChainCounts { chain, ..ChainCounts::default() });
            self.chains.len() - 1
        });
        let counts = &mut self.chains[at];
        for list in if up { [&mut self.ups, &mut counts.ups] } else { [&mut self.downs, &mut counts.downs] } {
            list.push(event);
        }
    }
}

/// By semaphore: what the trace says last before its first use, else 0.
pub(crate) fn initial_counts(names: &Names, trace: &Batch) -> Vec<i64> {
    let semaphores = names.space(Space::Sem);
    if semaphores.is_empty() {
        return Vec::new();
    }
    let mut counts = vec![0; semaphores.len()];
    let mut used = vec![NONE; semaphores.len()];
    for (at, event) in (0u32..).zip(&trace.events).filter(|(_, e)| e.op().counts()) {
        let first = &mut used[event.sem().index()];
        *first = at.min(*first);
    }
    for init in &trace.inits {
        if let Some(number) = semaphores.find(names.str(init.name).as_bytes())
            && init.before <= used[number as usize]
        {
            counts[number as usize] = if let Value::Int(count) = init.value { count.max(0) } else { 0 };
        }
    }
    counts
}

/// The semaphores whose counts matter: those with a `down` that is not fixed.
pub(crate) struct Semaphores {
    pub(crate) all: Vec<Semaphore>,
    /// By event: its semaphore among these.
    of_event: FxHashMap<u32, u32>,
}

impl Semaphores {
    pub(crate) fn new(names: &Names, trace: &Batch, chains: &Chains) -> Semaphores {
        let initial = initial_counts(names, trace).into_iter();
        let mut all: Vec<Semaphore> =
            initial.map(|count| Semaphore { count, ups: Vec::new(), downs: Vec::new(), chains: Vec::new() }).collect();
        for (at, &event) in (0u32..).zip(&trace.events).filter(|(_, e)| e.op().counts()) {
            let semaphore = &mut all[event.sem().index()];
            match (event.op(), at < chains.fixed) {
                (Op::Up, true) => semaphore.count = semaphore.count.saturating_add(1),
                (_, true) => semaphore.count -= 1,
                (op, false) => semaphore.add(chains, at, op == Op::Up),
            }
        }
        all.retain(|semaphore| !semaphore.downs.is_empty());
        let mut of_event = FxHashMap::default();
        for (number, semaphore) in (0..).zip(&all) {
            of_event.extend(semaphore.ups.iter().chain(&semaphore.downs).map(|&event| (event, number)));
        }
        Semaphores { all, of_event }
    }

    /// Whether an event is a `down`.
    #[inline]
    pub(crate) fn is_down(&self, event: u32) -> bool {
        self.of(event).is_some_and(|number| self.all[number as usize].downs.binary_search(&event).is_ok())
    }

    /// The semaphore of an event, if its count matters.
    #[inline]
    pub(crate) fn of(&self, event: u32) -> Option<u32> {
        if self.of_event.is_empty() { None } else { self.of_event.get(&event).copied() }
    }
}
