//! Serialisability from its definition: all pairs of events, and a search of the graph of transactions.

use event::{Batch, Event, LockId, Op, ThreadId, Wake};
use std::collections::BTreeMap;

pub(crate) struct Naive<'a> {
    batch: &'a Batch,
    /// By event: its transaction, named by its first event.
    pub(crate) transaction: Vec<usize>,
    /// By event: whether it is a lock operation with effect.
    effect: Vec<bool>,
    /// By event: the notify that it is paired with.
    notify: Vec<Option<usize>>,
}

fn accesses(op: Op) -> bool {
    op.is_plain_access() || op.is_atomic() || matches!(op, Op::Alloc | Op::Free)
}

fn reads(op: Op) -> bool {
    matches!(op, Op::Read | Op::AtomicLoad)
}

impl<'a> Naive<'a> {
    pub(crate) fn new(batch: &'a Batch) -> Self {
        let n = batch.events.len();
        let mut naive = Naive { batch, transaction: (0..n).collect(), effect: vec![false; n], notify: vec![None; n] };
        naive.transactions();
        naive.locks();
        naive.conditions();
        naive
    }

    fn transactions(&mut self) {
        let mut open: BTreeMap<ThreadId, (usize, u32)> = BTreeMap::new();
        for (at, event) in self.batch.events.iter().enumerate() {
            let entry = open.get(&event.thread()).copied();
            self.transaction[at] = entry.map_or(at, |(begin, _)| begin);
            match (event.op(), entry) {
                (Op::Begin, _) => {
                    let (begin, depth) = entry.unwrap_or((at, 0));
                    open.insert(event.thread(), (begin, depth + 1));
                }
                (Op::End, Some((_, 1))) => {
                    open.remove(&event.thread());
                }
                (Op::End, Some((begin, depth))) => {
                    open.insert(event.thread(), (begin, depth - 1));
                }
                _ => {}
            }
        }
    }

    fn locks(&mut self) {
        let mut depths: BTreeMap<(ThreadId, LockId), [u32; 2]> = BTreeMap::new();
        let mut given_up: BTreeMap<ThreadId, [u32; 2]> = BTreeMap::new();
        for (at, &event) in self.batch.events.iter().enumerate() {
            let thread = event.thread();
            let mut depth = |lock, kind: usize, up: bool| {
                let depth = &mut depths.entry((thread, lock)).or_default()[kind];
                *depth = if up { *depth + 1 } else { depth.saturating_sub(1) };
                *depth == u32::from(up)
            };
            self.effect[at] = match event.op() {
                Op::Acquire | Op::TryAcquire => depth(event.lock(), 0, true),
                Op::ReadAcquire => depth(event.lock(), 1, true),
                Op::Release => depth(event.lock(), 0, false),
                Op::ReadRelease => depth(event.lock(), 1, false),
                Op::Wait => {
                    given_up.insert(thread, depths.remove(&(thread, self.lock(event))).unwrap_or_default());
                    true
                }
                Op::Woken => {
                    depths.insert((thread, self.lock(event)), given_up.remove(&thread).unwrap_or([1, 0]));
                    true
                }
                _ => false,
            };
        }
    }

    fn conditions(&mut self) {
        let mut taken = vec![false; self.batch.events.len()];
        for (at, &event) in self.batch.events.iter().enumerate() {
            if event.op() != Op::Woken || self.batch.extra(event).wake != Wake::Notified {
                continue;
            }
            let own = |e: &usize| self.batch.events[*e].thread() == event.thread();
            let Some(wait) = (0..at).rev().find(own).filter(|&e| self.batch.events[e].op() == Op::Wait) else {
                continue;
            };
            let notify = (wait + 1..at).find(|&e| {
                let other = self.batch.events[e];
                match other.op() {
                    Op::Notify => other.object() == event.object() && !taken[e],
                    Op::NotifyAll => other.object() == event.object(),
                    _ => false,
                }
            });
            if let Some(notify) = notify {
                taken[notify] |= self.batch.events[notify].op() == Op::Notify;
                self.notify[at] = Some(notify);
            }
        }
    }

    fn lock(&self, event: Event) -> LockId {
        match event.op() {
            Op::Wait | Op::Woken => self.batch.extra(event).lock,
            _ => event.lock(),
        }
    }

    /// Whether the first, which stands before the second, comes into conflict before it.
    pub(crate) fn conflict(&self, first: usize, second: usize) -> bool {
        let [a, b] = [first, second].map(|e| self.batch.events[e]);
        let shared = |op| matches!(op, Op::ReadAcquire | Op::ReadRelease);
        a.thread() == b.thread()
            || accesses(a.op()) && accesses(b.op()) && a.object() == b.object() && !(reads(a.op()) && reads(b.op()))
            || self.effect[first]
                && self.effect[second]
                && self.lock(a) == self.lock(b)
                && !(shared(a.op()) && shared(b.op()))
            || a.op() == Op::Fork && (a.child() == b.thread() || b.op() == Op::Join && b.child() == a.child())
            || b.op() == Op::Join && b.child() == a.thread()
            || a.op() == Op::Post && b.op() == Op::Await && a.object() == b.object()
            || a.op() == Op::Up && b.op() == Op::Down && a.object() == b.object()
            || self.notify[second] == Some(first)
    }

    /// The transactions that come directly before each one, among the events in this order: by first event.
    pub(crate) fn before(&self, order: &[usize]) -> Vec<Vec<usize>> {
        let mut before = vec![Vec::new(); self.batch.events.len()];
        for (position, &second) in order.iter().enumerate() {
            for &first in &order[..position] {
                let (from, to) = (self.transaction[first], self.transaction[second]);
                if from != to && !before[to].contains(&from) && self.conflict(first, second) {
                    before[to].push(from);
                }
            }
        }
        before
    }

    /// Whether a transaction is on a cycle.
    pub(crate) fn on_cycle(before: &[Vec<usize>], transaction: usize) -> bool {
        let mut seen = vec![false; before.len()];
        let mut left = before[transaction].clone();
        while let Some(next) = left.pop() {
            if next == transaction {
                return true;
            }
            if !std::mem::replace(&mut seen[next], true) {
                left.extend(&before[next]);
            }
        }
        false
    }

    /// The first event that closes a cycle in the recorded order: one through its own transaction.
    pub(crate) fn first_closed(&self) -> Option<usize> {
        let mut before = vec![Vec::new(); self.batch.events.len()];
        (0..self.batch.events.len()).find(|&second| {
            let to = self.transaction[second];
            for first in 0..second {
                let from = self.transaction[first];
                if from != to && !before[to].contains(&from) && self.conflict(first, second) {
                    before[to].push(from);
                }
            }
            Naive::on_cycle(&before, to)
        })
    }
}
