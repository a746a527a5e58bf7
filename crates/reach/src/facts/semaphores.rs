//! Counting semaphores.

use super::{Lanes, NONE};
use event::{Batch, Id, Names, Op, Space, Value};

/// A semaphore that the events which are not fixed use.
#[derive(Clone, Debug)]
pub(crate) struct Semaphore {
    pub(crate) number: u32,
    /// What it counts after the fixed events.
    pub(crate) count: i64,
    /// Its events that are not fixed, in recorded order.
    pub(crate) ups: Vec<u32>,
    pub(crate) downs: Vec<u32>,
}

/// By semaphore: what the trace says last before its first use, else 0.
pub(crate) fn initial_counts(names: &Names, trace: &Batch) -> Vec<i64> {
    let semaphores = names.space(Space::Sem);
    let mut counts = vec![0; semaphores.len()];
    let mut used = vec![NONE; semaphores.len()];
    for (at, event) in (0u32..).zip(&trace.events).filter(|(_, e)| matches!(e.op(), Op::Up | Op::Down)) {
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
pub(crate) fn semaphores(names: &Names, trace: &Batch, lanes: &Lanes) -> Vec<Semaphore> {
    let mut all: Vec<Semaphore> = (0..)
        .zip(initial_counts(names, trace))
        .map(|(number, count)| Semaphore { number, count, ups: Vec::new(), downs: Vec::new() })
        .collect();
    for (at, &event) in (0u32..).zip(&trace.events).filter(|(_, e)| matches!(e.op(), Op::Up | Op::Down)) {
        let semaphore = &mut all[event.sem().index()];
        match (event.op(), at < lanes.fixed) {
            (Op::Up, true) => semaphore.count = semaphore.count.saturating_add(1),
            (Op::Up, false) => semaphore.ups.push(at),
            (_, true) => semaphore.count -= 1,
            (_, false) => semaphore.downs.push(at),
        }
    }
    all.retain(|semaphore| !semaphore.downs.is_empty());
    all
}
