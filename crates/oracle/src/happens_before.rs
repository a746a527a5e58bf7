//! Happens-before and the order of `hb`, written from the sentences that define them: for each event the set of those
//! before it.

use event::{Batch, Event, LockId, Op, Order, ThreadId, Wake};
use std::collections::{BTreeMap, BTreeSet};

/// A set of events: at most 128 in a trace.
type Set = u128;

/// By later event, the earlier events of pairs.
pub type Pairs = BTreeMap<usize, BTreeSet<usize>>;

/// The edges of both orders.
pub struct HappensBefore<'a> {
    batch: &'a Batch,
    /// Edges into each event, the one from the plain write that it reads apart.
    into: Vec<Vec<usize>>,
    reads: Vec<Option<usize>>,
    /// The locks held at each event.
    pub held: Vec<Vec<LockId>>,
}

fn writes(op: Op) -> bool {
    matches!(op, Op::Write | Op::AtomicStore | Op::AtomicRmw | Op::Free | Op::Alloc)
}

fn accesses(op: Op) -> bool {
    op.is_plain_access() || op.is_atomic() || op == Op::Free
}

/// One of them writes, and not both are atomic.
fn conflict(a: Op, b: Op) -> bool {
    accesses(a) && accesses(b) && (writes(a) || writes(b)) && !(a.is_atomic() && b.is_atomic())
}

fn acquires(order: Order) -> bool {
    matches!(order, Order::Acquire | Order::AcqRel | Order::SeqCst)
}

fn releases(order: Order) -> bool {
    matches!(order, Order::Release | Order::AcqRel | Order::SeqCst)
}

impl<'a> HappensBefore<'a> {
    /// The orders of a trace of at most 128 events; `initial` is the initial count of the semaphore of a `down`.
    pub fn new(batch: &'a Batch, initial: impl Fn(Event) -> usize) -> Self {
        let n = batch.events.len();
        assert!(n <= 128);
        let mut naive = HappensBefore { batch, into: vec![Vec::new(); n], reads: vec![None; n], held: Vec::new() };
        naive.threads();
        naive.locks();
        naive.conditions();
        naive.latches_and_semaphores(initial);
        naive.atomics();
        naive.pins();
        for e in 0..n {
            if naive.event(e).op() == Op::Read {
                naive.reads[e] = naive.source(e).filter(|&w| naive.event(w).op() == Op::Write);
            }
        }
        naive
    }

    fn event(&self, e: usize) -> Event {
        self.batch.events[e]
    }

    fn order(&self, e: usize) -> Order {
        self.batch.extra(self.event(e)).order
    }

    /// The last event before that is one of these.
    fn last(&self, e: usize, is: impl Fn(Event) -> bool) -> Option<usize> {
        (0..e).rev().find(|&f| is(self.event(f)))
    }

    /// The write (or `alloc`, `free`) that a read sees.
    fn source(&self, e: usize) -> Option<usize> {
        self.last(e, |f| writes(f.op()) && f.object() == self.event(e).object())
    }

    /// A `pin` comes before reads of its variable, up to the next write.
    fn pins(&mut self) {
        for e in 0..self.into.len() {
            let event = self.event(e);
            if matches!(event.op(), Op::Read | Op::AtomicLoad | Op::AtomicRmw) {
                let since = self.source(e).unwrap_or(0);
                let is_drop_barrier =
                    |f: &usize| self.event(*f).op() == Op::Pin && self.event(*f).object() == event.object();
                let pins: Vec<usize> = (since..e).filter(is_drop_barrier).collect();
                self.into[e].extend(pins);
            }
        }
    }

    fn threads(&mut self) {
        for e in 0..self.into.len() {
            let event = self.event(e);
            for f in 0..e {
                let before = self.event(f);
                let forked = before.op() == Op::Fork && before.child() == event.thread();
                // The fork of the joined thread counts even if that has no event of its own.
                let child = before.thread() == ThreadId(event.object())
                    || before.op() == Op::Fork && before.child() == ThreadId(event.object());
                let joined = event.op() == Op::Join && child;
                if before.thread() == event.thread() || forked || joined {
                    self.into[e].push(f);
                }
            }
        }
    }

    /// Outermost releases come before later acquires; shared ones before exclusive ones only.
    fn locks(&mut self) {
        // Depths by thread and lock: exclusive, shared.
        let mut depths: BTreeMap<(ThreadId, LockId), [u32; 2]> = BTreeMap::new();
        let mut given_up: BTreeMap<ThreadId, [u32; 2]> = BTreeMap::new();
        let mut closed: Vec<(usize, LockId, usize)> = Vec::new();
        for e in 0..self.into.len() {
            let event = self.event(e);
            let thread = event.thread();
            let lock = match event.op() {
                Op::Wait | Op::Woken => self.batch.extra(event).lock,
                _ => LockId(event.object()),
            };
            let depth = depths.entry((thread, lock)).or_default();
            let before = *depth;
            match event.op() {
                Op::Acquire | Op::TryAcquire => depth[0] += 1,
                Op::ReadAcquire => depth[1] += 1,
                Op::Release => depth[0] -= 1,
                Op::ReadRelease => depth[1] -= 1,
                Op::Wait => _ = given_up.insert(thread, std::mem::take(depth)),
                Op::Woken => *depth = given_up.remove(&thread).expect("it waited"),
                _ => {}
            }
            let after = *depth;
            for kind in [0, 1] {
                if before[kind] == 0 && after[kind] > 0 {
                    let needed = closed.iter().filter(|c| c.1 == lock && (kind == 0 || c.2 == 0));
                    self.into[e].extend(needed.map(|c| c.0));
                }
            }
            for kind in [0, 1] {
                if before[kind] > 0 && after[kind] == 0 {
                    closed.push((e, lock, kind));
                }
            }
            let held = depths.iter().filter(|(key, depth)| key.0 == thread && depth.iter().any(|&d| d > 0));
            self.held.push(held.map(|(key, _)| key.1).collect());
        }
    }

    /// Each `woken` comes after the notify that woke it.
    fn conditions(&mut self) {
        let mut paired = BTreeSet::new();
        for e in 0..self.into.len() {
            let event = self.event(e);
            if event.op() != Op::Woken || self.batch.extra(event).wake != Wake::Notified {
                continue;
            }
            let wait = self.last(e, |f| f.op() == Op::Wait && f.thread() == event.thread()).expect("it waited");
            let woke = (wait + 1..e).find(|&f| {
                let notify = self.event(f);
                let possible = notify.op() == Op::NotifyAll || notify.op() == Op::Notify && !paired.contains(&f);
                possible && notify.cond() == event.cond()
            });
            paired.extend(woke);
            self.into[e].extend(woke);
        }
    }

    fn latches_and_semaphores(&mut self, initial: impl Fn(Event) -> usize) {
        for e in 0..self.into.len() {
            let event = self.event(e);
            let events = &self.batch.events;
            let earlier = |op| (0..e).filter(move |&f| events[f].op() == op && events[f].object() == event.object());
            let needed: Vec<usize> = match event.op() {
                Op::Await => earlier(Op::Post).collect(),
                // The n-th up allows the down with number initial + n.
                Op::Down => {
                    let number = earlier(Op::Down).count();
                    let up = number.checked_sub(initial(event));
                    up.and_then(|up| earlier(Op::Up).nth(up)).into_iter().collect()
                }
                _ => continue,
            };
            self.into[e].extend(needed);
        }
    }

    /// The events that release what an atomic write gives: itself and fences before it; and, if it is a
    /// read-modify-write, those of the atomic write that it read from.
    fn given_by(&self, write: usize) -> Vec<usize> {
        let event = self.event(write);
        let mut given: Vec<usize> = (0..write)
            .filter(|&f| self.event(f).thread() == event.thread())
            .filter(|&f| self.event(f).op() == Op::Fence && releases(self.order(f)))
            .collect();
        if releases(self.order(write)) {
            given.push(write);
        }
        if event.op() == Op::AtomicRmw
            && let Some(before) = self.source(write).filter(|&w| self.event(w).op().is_atomic())
        {
            given.extend(self.given_by(before));
        }
        given
    }

    fn atomics(&mut self) {
        for e in 0..self.into.len() {
            let event = self.event(e);
            if !matches!(event.op(), Op::AtomicLoad | Op::AtomicRmw) {
                continue;
            }
            let Some(write) = self.source(e).filter(|&w| self.event(w).op().is_atomic()) else { continue };
            let given = self.given_by(write);
            if acquires(self.order(e)) {
                self.into[e].extend(&given);
            }
            for f in e + 1..self.into.len() {
                let fence = self.event(f);
                if fence.thread() == event.thread() && fence.op() == Op::Fence && acquires(self.order(f)) {
                    self.into[f].extend(&given);
                }
            }
        }
    }

    /// By event, all that comes before it: in `hb`'s order, or in happens-before. An access that is racy is tested
    /// before it learns from what it reads, so its own edge counts only for later events.
    fn before(&self, reads: bool) -> Vec<Set> {
        let (mut known, mut before): (Vec<Set>, Vec<Set>) = (Vec::new(), Vec::new());
        for e in 0..self.into.len() {
            let with = |set: Set, f: usize| set | before[f] | 1 << f;
            let tested = self.into[e].iter().fold(0, |set, &f| with(set, f));
            before.push(self.reads[e].filter(|_| reads).map_or(tested, |w| with(tested, w)));
            known.push(tested);
        }
        known
    }

    /// The conflicting pairs of which this is so.
    fn conflicts(&self, is: impl Fn(usize, usize) -> bool) -> Pairs {
        let mut pairs = Pairs::new();
        for e in 0..self.into.len() {
            let event = self.event(e);
            let new =
                self.last(e, |f| f.op() == Op::Alloc && f.object() == event.object()).map_or(0, |alloc| alloc + 1);
            let partners: BTreeSet<usize> = (new..e)
                .filter(|&f| self.event(f).thread() != event.thread() && is(f, e))
                .filter(|&f| conflict(self.event(f).op(), event.op()) && self.event(f).object() == event.object())
                .collect();
            if !partners.is_empty() {
                pairs.insert(e, partners);
            }
        }
        pairs
    }

    /// All conflicting pairs.
    pub fn conflicting(&self) -> Pairs {
        self.conflicts(|_, _| true)
    }

    /// The races of `hb`.
    pub fn races(&self) -> Pairs {
        let before = self.before(true);
        self.conflicts(|e, f| before[f] >> e & 1 == 0)
    }

    /// The conflicting pairs that happens-before does not order.
    pub fn unordered(&self) -> Pairs {
        let before = self.before(false);
        self.conflicts(|e, f| before[f] >> e & 1 == 0)
    }

    /// Whether this race, the later event of which reads, is on a chain of the order of `hb` between the two events.
    pub fn is_between(&self, (write, read): (usize, usize), (e, f): (usize, usize)) -> bool {
        let before = self.before(true);
        let upto = |a: usize, b: usize| a == b || before[b] >> a & 1 == 1;
        self.reads[read] == Some(write) && upto(e, write) && upto(read, f)
    }

    /// The write that a plain read sees, if it is a plain one.
    pub fn writer(&self, read: usize) -> Option<usize> {
        self.reads[read]
    }
}
