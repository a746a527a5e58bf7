//! The event structures of `observed`, `full-hb` and `sync-only` against their definitions in docs/causality.md: every
//! pair of events, on random traces with every operation.

use event::{Event, LockId, Op, Space, Value};
use generate::{Generator, Options};
use order::{EventStructure, full_hb, observed, sync_only};
use trace::Trace;

/// By event: whether each event precedes it, by the transitive closure.
type Order = Vec<Vec<bool>>;

fn is_access(op: Op) -> bool {
    use Op::{Alloc, AtomicLoad, AtomicRmw, AtomicStore, Free, Read, Write};
    matches!(op, Read | Write | AtomicLoad | AtomicStore | AtomicRmw | Alloc | Free)
}

/// How an event acts on a lock.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Exclusive,
    Shared,
    Failed,
}

/// The lock that an event acts on with effect.
fn lock(trace: &Trace, index: usize) -> Option<(LockId, Kind)> {
    let event = trace.batch.events[index];
    match event.op() {
        Op::TryFail => Some((event.lock(), Kind::Failed)),
        Op::Wait | Op::Woken => Some((trace.batch.extra(event).lock, Kind::Exclusive)),
        Op::Notify | Op::NotifyAll => {
            let name = trace.names.cond(event.cond());
            Some((LockId(trace.names.space(Space::Lock).find(name.as_bytes())?), Kind::Exclusive))
        }
        Op::Acquire | Op::TryAcquire => (depth(trace, index, false) == 0).then_some((event.lock(), Kind::Exclusive)),
        Op::Release => (depth(trace, index, false) <= 1).then_some((event.lock(), Kind::Exclusive)),
        Op::ReadAcquire => (depth(trace, index, true) == 0).then_some((event.lock(), Kind::Shared)),
        Op::ReadRelease => (depth(trace, index, true) <= 1).then_some((event.lock(), Kind::Shared)),
        _ => None,
    }
}

/// How often the thread of a lock event has taken its lock, and not given it back, before the event. A thread that has
/// been woken has it as often as before its wait, so that waits can be left out.
fn depth(trace: &Trace, index: usize, shared: bool) -> i32 {
    let this = trace.batch.events[index];
    let change = |event: &Event| match (event.op(), shared) {
        (Op::Acquire | Op::TryAcquire, false) | (Op::ReadAcquire, true) => 1,
        (Op::Release, false) | (Op::ReadRelease, true) => -1,
        _ => 0,
    };
    let same = |event: &&Event| {
        event.thread() == this.thread() && event.op().space() == Some(Space::Lock) && event.lock() == this.lock()
    };
    trace.batch.events[..index].iter().filter(same).map(change).sum()
}

/// Whether the definition orders two events directly, the first recorded before the second.
fn directly(trace: &Trace, locks: &[Option<(LockId, Kind)>], first: usize, second: usize, data: bool) -> bool {
    let (a, b) = (trace.batch.events[first], trace.batch.events[second]);
    let (x, y) = (a.op(), b.op());
    let is_condition = |op| matches!(op, Op::Wait | Op::Woken | Op::Notify | Op::NotifyAll);
    let is_semaphore = |op| matches!(op, Op::Up | Op::Down);
    let reads = |op| matches!(op, Op::Read | Op::AtomicLoad);
    let counts = |op: Op| is_access(op) && (data || op.is_atomic());
    let pinned = || {
        let position = trace.batch.events[..first].iter().filter(|e| e.thread() == a.thread()).count();
        trace.batch.events.iter().any(|&pin| {
            (pin.op() == Op::Pin || pin.op() == Op::ReadPin && !matches!(y, Op::Read | Op::AtomicLoad))
                && pin.thread() == a.thread()
                && pin.var() == b.var()
                && trace.batch.extra(pin).value == Value::Int(position as i64)
        })
    };
    a.thread() == b.thread()
        || x == Op::Fork && a.child() == b.thread()
        || x == Op::Fork && y == Op::Join && a.child() == b.child()
        || y == Op::Join && b.child() == a.thread()
        || x == Op::Post && y == Op::Await && a.latch() == b.latch()
        || is_access(y) && pinned()
        || counts(x) && counts(y) && a.var() == b.var() && !(reads(x) && reads(y))
        || is_condition(x) && is_condition(y) && a.cond() == b.cond()
        || is_semaphore(x) && is_semaphore(y) && a.sem() == b.sem()
        || matches!((locks[first], locks[second]), (Some((l, one)), Some((m, two)))
            if l == m && (one == Kind::Exclusive || one != two))
}

fn definition(trace: &Trace, data: bool) -> Order {
    let events = trace.batch.events.len();
    let locks: Vec<_> = (0..events).map(|index| lock(trace, index)).collect();
    let mut order: Order = Vec::with_capacity(events);
    for second in 0..events {
        let mut before = vec![false; events];
        for first in 0..second {
            if directly(trace, &locks, first, second, data) {
                before[first] = true;
                (0..first).for_each(|earlier| before[earlier] |= order[first][earlier]);
            }
        }
        order.push(before);
    }
    order
}

/// The order that a structure defines.
fn order_of(structure: &EventStructure, events: usize) -> Order {
    let mut order = vec![vec![false; events]; events];
    for (own, chain) in structure.chains.iter().enumerate() {
        let mut cut = vec![0; structure.chains.len()];
        for event in &chain.events {
            let mut last = None;
            for prefix in structure.predecessors(event) {
                assert_ne!(prefix.chain as usize, own);
                assert!(prefix.count > cut[prefix.chain as usize], "it says what the one before did not");
                assert!(last < Some(prefix.chain), "each chain at most once");
                last = Some(prefix.chain);
                cut[prefix.chain as usize] = prefix.count;
            }
            for (chain, &count) in structure.chains.iter().zip(&cut) {
                for before in &chain.events[..count as usize] {
                    order[event.index as usize][before.index as usize] = true;
                }
            }
            cut[own] += 1;
        }
    }
    order
}

/// The transitive closure.
fn closed(mut order: Order) -> Order {
    for second in 0..order.len() {
        for first in 0..second {
            if order[second][first] {
                let earlier = order[first].clone();
                order[second].iter_mut().zip(earlier).for_each(|(before, earlier)| *before |= earlier);
            }
        }
    }
    order
}

/// The order of some events only.
fn among(order: &Order, is_relevant: impl Fn(u64) -> bool) -> Order {
    let is = |event: usize| is_relevant(event as u64);
    let row = |(second, before): (usize, &Vec<bool>)| -> Vec<bool> {
        before.iter().enumerate().map(|(first, &before)| before && is(first) && is(second)).collect()
    };
    order.iter().enumerate().map(row).collect()
}

#[test]
fn structures_are_what_the_definition_says() {
    for seed in 0..300 {
        let options = Options {
            events: 60 + seed % 80,
            threads: 2 + seed as u32 % 4,
            vars: 20,
            locks: 3,
            quantum: 4.0,
            cslen: 2.0,
            pcs: 0.2,
            racy: 0.2,
            nest: 0.5,
            readers: 0.3,
            waits: 0.3,
            churn: 0.02,
            all_ops: seed % 4 > 0,
            seed,
            ..Options::default()
        };
        let trace = Trace::read(&mut Generator::new(options).expect("it makes sense")).expect("it does not fail");
        let events = trace.batch.events.len();
        let looked = order::Trace::new(&trace.names, &trace.batch);
        let total: Order = (0..events).map(|second| (0..events).map(|first| first < second).collect()).collect();
        let (full, sync) = (definition(&trace, true), definition(&trace, false));
        // All events, many, few.
        for share in [1, 2, 7] {
            let is_relevant = |event: u64| (event.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32).is_multiple_of(share);
            let structures = [
                (full_hb(&looked, is_relevant), &full),
                (sync_only(&looked, is_relevant), &sync),
                (full_hb(&looked, |_| true).project(is_relevant), &full),
            ];
            // Only the predecessors of `observed` are not transitively closed.
            let recorded = closed(order_of(&observed(&trace.batch, is_relevant), events));
            assert!(recorded == among(&total, is_relevant), "seed {seed}, one event in {share}");
            for (number, (structure, defined)) in structures.iter().enumerate() {
                assert!(!structure.has_rules());
                let relevant = (0..events as u64).filter(|&event| is_relevant(event)).count();
                assert_eq!(structure.len(), relevant);
                assert!(
                    order_of(structure, events) == among(defined, is_relevant),
                    "seed {seed}, one event in {share}, number {number}"
                );
            }
        }
    }
}
