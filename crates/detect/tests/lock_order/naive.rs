//! The definition, word by word, against the detector, on random runs with every operation on locks.

use super::support::Random;
use detect::lock_order::LockMode::{self, Exclusive, Shared};
use detect::lock_order::{LockOrder, LockOrderOptions};
use event::{Batch, Event, Extra, LockId, Names, Op, SiteId, Space, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

type Hold = (LockId, LockMode, SiteId);

/// Lock held, how, where taken; how and where the next one is asked for.
type Step = (LockId, LockMode, SiteId, LockMode, SiteId);

#[derive(Clone)]
struct Request {
    thread: ThreadId,
    event: usize,
    held: BTreeMap<LockId, (LockMode, SiteId)>,
    lock: LockId,
    mode: LockMode,
    site: SiteId,
}

#[derive(Default)]
struct Thread {
    /// Every acquisition, re-entrant ones too.
    holds: Vec<Hold>,
    /// Condition and lock of its last wait, and what that gave up.
    waits: Option<(u32, LockId, Vec<LockMode>)>,
    asked: Option<(LockId, SiteId, usize)>,
}

impl Thread {
    fn has(&self, lock: LockId, mode: LockMode) -> bool {
        self.holds.iter().any(|hold| (hold.0, hold.1) == (lock, mode))
    }

    fn held(&self) -> BTreeMap<LockId, (LockMode, SiteId)> {
        let mut held = BTreeMap::new();
        for mode in [Shared, Exclusive] {
            for hold in self.holds.iter().rev().filter(|hold| hold.1 == mode) {
                held.insert(hold.0, (mode, hold.2));
            }
        }
        held
    }
}

fn requests(batch: &Batch) -> Vec<Request> {
    let mut threads: BTreeMap<ThreadId, Thread> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, &event) in batch.events.iter().enumerate() {
        let (op, id, site) = (event.op(), event.thread(), event.site());
        if matches!(op, Op::Fork | Op::Join) {
            continue;
        }
        let thread = threads.entry(id).or_default();
        let lock = if matches!(op, Op::Wait | Op::Woken) { batch.extra(event).lock } else { event.lock() };
        let mut ask = |thread: &Thread, event: usize, lock: LockId, mode: LockMode, site: SiteId| {
            if !thread.has(lock, Exclusive) && !thread.has(lock, mode) {
                found.push(Request { thread: id, event, held: thread.held(), lock, mode, site });
            }
        };
        let answers = matches!(op, Op::Acquire | Op::TryAcquire | Op::ReadAcquire | Op::Woken | Op::TryFail);
        if let Some((asked, site, event)) = thread.asked.take()
            && !(answers && asked == lock)
        {
            ask(thread, event, asked, Exclusive, site);
        }
        let mut take = |thread: &mut Thread, mode: LockMode, blocking: bool| {
            if blocking {
                ask(thread, index, lock, mode, site);
            }
            thread.holds.push((lock, mode, site));
        };
        let give = |thread: &mut Thread, mode: LockMode| {
            if let Some(last) = thread.holds.iter().rposition(|hold| (hold.0, hold.1) == (lock, mode)) {
                thread.holds.remove(last);
            }
        };
        match op {
            Op::Acquire => take(thread, Exclusive, true),
            Op::ReadAcquire => take(thread, Shared, true),
            Op::TryAcquire => take(thread, Exclusive, false),
            Op::Release => give(thread, Exclusive),
            Op::ReadRelease => give(thread, Shared),
            Op::Wait => {
                let given = thread.holds.iter().filter(|hold| hold.0 == lock).map(|hold| hold.1).collect();
                thread.holds.retain(|hold| hold.0 != lock);
                thread.waits = Some((event.object(), lock, given));
            }
            Op::Woken => {
                let waited = thread.waits.take().filter(|(cond, of, _)| (*cond, *of) == (event.object(), lock));
                let given = waited.map(|(.., given)| given).filter(|given| !given.is_empty());
                let mut given = given.unwrap_or_else(|| vec![Exclusive]);
                given.sort_unstable();
                given.into_iter().rev().for_each(|mode| take(thread, mode, true));
            }
            Op::Request => thread.asked = Some((lock, site, index)),
            _ => {}
        }
    }
    for (&id, thread) in &threads {
        if let Some((lock, site, event)) = thread.asked
            && !thread.has(lock, Exclusive)
        {
            let held = thread.held();
            found.push(Request { thread: id, event, held, lock, mode: Exclusive, site });
        }
    }
    found
}

/// For every event the set of those before it by program order, forks and joins; there are fewer than 64.
fn order(batch: &Batch) -> Vec<u64> {
    let mut order: Vec<u64> = Vec::new();
    for (b, &second) in batch.events.iter().enumerate() {
        let mut before = 0;
        for (a, &first) in batch.events[..b].iter().enumerate() {
            let forks = first.op() == Op::Fork;
            let joins = second.op() == Op::Join;
            if first.thread() == second.thread()
                || (forks && first.child() == second.thread())
                || (joins && second.child() == first.thread())
                || (forks && joins && first.child() == second.child())
            {
                before |= 1 << a | order[a];
            }
        }
        order.push(before);
    }
    order
}

fn canonical(cycle: &[Step]) -> Vec<Step> {
    (0..cycle.len()).map(|k| [&cycle[k..], &cycle[..k]].concat()).min().expect("not empty")
}

fn naive(batch: &Batch) -> BTreeSet<Vec<Step>> {
    fn compatible(a: &Request, b: &Request, order: &[u64]) -> bool {
        let gates = a.held.iter().filter_map(|(lock, held)| Some((held.0, b.held.get(lock)?.0)));
        a.thread != b.thread
            && order[b.event] >> a.event & 1 == 0
            && order[a.event] >> b.event & 1 == 0
            && gates.clone().all(|gate| gate == (Shared, Shared))
    }
    /// Each with the lock that it holds for the one before.
    type Chain<'a> = Vec<(&'a Request, LockId)>;
    fn go<'a>(all: &'a [Request], order: &[u64], chain: &mut Chain<'a>, found: &mut BTreeSet<Vec<Step>>) {
        let waits = |a: &Request, b: &Request, lock: LockId| {
            a.lock == lock && b.held.get(&lock).is_some_and(|held| (a.mode, held.0) != (Shared, Shared))
        };
        if let (Some(first), Some(last)) = (chain.first(), chain.last())
            && chain.len() > 1
            && waits(last.0, first.0, first.1)
        {
            let locks: BTreeSet<LockId> = chain.iter().map(|link| link.1).collect();
            if locks.len() == chain.len() || (chain.len() == 2 && locks.len() == 1) {
                let step = |&(request, lock): &(&Request, LockId)| {
                    let (mode, site) = request.held[&lock];
                    (lock, mode, site, request.mode, request.site)
                };
                found.insert(canonical(&chain.iter().map(step).collect::<Vec<_>>()));
            }
        }
        for next in all {
            if chain.iter().all(|link| compatible(link.0, next, order)) {
                for &lock in next.held.keys() {
                    if chain.last().is_none_or(|last| waits(last.0, next, lock)) {
                        chain.push((next, lock));
                        go(all, order, chain, found);
                        chain.pop();
                    }
                }
            }
        }
    }
    let all: Vec<Request> = requests(batch).into_iter().filter(|request| !request.held.is_empty()).collect();
    let mut found = BTreeSet::new();
    go(&all, &order(batch), &mut Vec::new(), &mut found);
    found
}

const OPS: [Op; 16] = [
    Op::Acquire,
    Op::Acquire,
    Op::Acquire,
    Op::Acquire,
    Op::Release,
    Op::Release,
    Op::Release,
    Op::ReadAcquire,
    Op::ReadAcquire,
    Op::ReadRelease,
    Op::TryAcquire,
    Op::TryFail,
    Op::Request,
    Op::Wait,
    Op::Woken,
    Op::Fork,
];

/// A run of up to four threads: thread 0 starts some of the others and may wait for them; the rest were always there.
/// Who holds what elsewhere does not matter to the detector, so it does not matter here.
fn random_run(random: &mut Random, threads: u32, locks: u32) -> Batch {
    let mut batch = Batch::default();
    // Not started, running, ended.
    let mut state: Vec<u32> = (0..threads).map(|k| u32::from(k == 0 || random.below(3) == 0)).collect();
    for _ in 0..8 + random.below(28) {
        let running: Vec<u32> = (0..threads).filter(|&k| state[k as usize] == 1).collect();
        let me = running[random.below(running.len() as u32) as usize];
        let op = OPS[random.below(OPS.len() as u32) as usize];
        let (lock, site) = (random.below(locks), SiteId(random.below(8) / 6));
        if op == Op::Fork {
            let child = 1 + random.below(threads);
            match state.get(child as usize) {
                Some(0) => batch.events.push(Event::new(ThreadId(me), Op::Fork, child, site)),
                Some(1) if child != me && random.below(2) == 0 => {
                    batch.events.push(Event::new(ThreadId(me), Op::Join, child, site));
                }
                _ => continue,
            }
            state[child as usize] += 1;
            continue;
        }
        let mut extra = 0;
        if matches!(op, Op::Wait | Op::Woken) {
            extra = batch.add_extra(Extra { lock: LockId(lock), order: event::Order::Relaxed, ..Extra::default() });
        }
        batch.events.push(Event::with_extra(ThreadId(me), op, lock, site, extra));
    }
    batch
}

/// A run in which long cycles are frequent: every thread takes two locks at a time, now and then as a reader.
fn pairs_run(random: &mut Random) -> Batch {
    let mut batch = Batch::default();
    let mut held: [Vec<(Op, u32)>; 4] = Default::default();
    for _ in 0..20 + random.below(24) {
        let me = random.below(4);
        let held = &mut held[me as usize];
        let (op, lock) = if held.len() == 2 || (held.len() == 1 && random.below(6) == 0) {
            held.remove(random.below(held.len() as u32) as usize)
        } else {
            // Mostly in a circle.
            let lock = if random.below(4) > 0 { (me + held.len() as u32) % 4 } else { random.below(4) };
            let ops = if random.below(8) > 0 { [Op::Acquire, Op::Release] } else { [Op::ReadAcquire, Op::ReadRelease] };
            held.push((ops[1], lock));
            (ops[0], lock)
        };
        batch.events.push(Event::new(ThreadId(me), op, lock, SiteId(random.below(8) / 6)));
    }
    batch
}

#[test]
fn random_runs_give_what_the_definition_gives() {
    let mut random = Random(4);
    let mut names = Names::default();
    for k in 0..4 {
        names.add(Space::Thread, &format!("T{k}")).expect("room");
        names.add(Space::Lock, &format!("L{k}")).expect("room");
    }
    let mut lengths = [0u32; 5];
    let mut clean = 0;
    for round in 0..140_000 {
        let (threads, locks) = (2 + random.below(3), 1 + random.below(4));
        let pairs = round % 7 == 0;
        let batch = if pairs { pairs_run(&mut random) } else { random_run(&mut random, threads, locks) };
        let expected = naive(&batch);
        // In two parts, to be sure that nothing hangs on the batch.
        let split = random.below(batch.events.len() as u32 + 1) as usize;
        let (mut head, mut tail) = (batch.clone(), batch.clone());
        head.events.truncate(split);
        tail.events.drain(..split);
        tail.first = split as u64;
        let mut detector = LockOrder::new(LockOrderOptions { cycles: usize::MAX, ..LockOrderOptions::default() });
        detector.batch(&names, &head);
        detector.batch(&names, &tail);
        let report = detector.finish();
        assert!(report.complete && report.unrecorded == 0);
        let mut found = BTreeSet::new();
        for cycle in &report.cycles {
            let step = |request: &detect::lock_order::LockRequest| {
                let held = request.holder();
                (held.lock, held.mode, held.site, request.mode, request.site)
            };
            let steps: Vec<Step> = cycle.requests.iter().map(step).collect();
            assert!(found.insert(canonical(&steps)), "reported twice: {steps:?}");
            lengths[steps.len()] += 1;
        }
        assert_eq!(found, expected, "{:?}", batch.events);
        clean += u32::from(found.is_empty());
    }
    // Cycles of every length, and runs without any.
    assert!(lengths[2..].iter().all(|&many| many > 500) && clean > 10_000, "{lengths:?} {clean}");
}
