//! Atomicity violations, as docs/detectors.md defines them.

use crate::definition::{Definition, Set, has, set_of};
use crate::prefixes::Memory;
use event::Op;
use std::collections::{BTreeMap, BTreeSet};

/// The transactions of a run, and which of their events conflict.
#[derive(Clone, Debug)]
pub struct Transactions {
    /// By event: its transaction, named by its first event.
    pub transaction_of: Vec<usize>,
    /// The transactions that are blocks.
    pub blocks: BTreeSet<usize>,
    /// By event: the events with which it conflicts, if they come before it.
    conflicts: Vec<Set>,
}

/// By transaction: the transactions before it, by conflicts and their transitive closure.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Before(Vec<Set>);

impl Transactions {
    /// An outermost block of a thread (`begin` to its `end`, or to the end of the trace; nested blocks belong to the
    /// outermost), or a single event outside blocks.
    pub fn new(definition: &Definition) -> Transactions {
        let events = definition.events();
        // By thread: the names of the blocks it is in, and the outermost one.
        let mut inside: BTreeMap<u32, (Vec<u32>, usize)> = BTreeMap::new();
        let (mut transaction_of, mut blocks) = (Vec::new(), BTreeSet::new());
        for (e, event) in events.iter().enumerate() {
            let (open, outermost) = inside.entry(event.thread).or_default();
            if event.op == Op::Begin {
                if open.is_empty() {
                    *outermost = e;
                    blocks.insert(e);
                }
                open.push(event.object);
            }
            transaction_of.push(if open.is_empty() { e } else { *outermost });
            if event.op == Op::End {
                let nameless = event.object == 0;
                if let Some(closed) = open.iter().rposition(|&block| nameless || block == event.object) {
                    open.truncate(closed);
                }
            }
        }
        let count = events.len();
        let row = |b: usize| (0..count).filter(|&a| a != b && definition.comes_into_conflict(a, b)).collect::<Vec<_>>();
        let conflicts = (0..count).map(|b| set_of(&row(b))).collect();
        Transactions { transaction_of, blocks, conflicts }
    }

    fn nothing(&self) -> Before {
        Before(vec![0; self.transaction_of.len()])
    }

    /// The transactions that come before that of an event because of this event.
    fn precede(&self, prefix: &[usize], e: usize) -> Set {
        let conflicting =
            prefix.iter().filter(|&&a| has(self.conflicts[e], a) && self.transaction_of[a] != self.transaction_of[e]);
        conflicting.fold(0, |set, &a| set | 1 << self.transaction_of[a])
    }

    fn after(&self, before: &Before, prefix: &[usize], e: usize) -> Before {
        let own = self.transaction_of[e];
        let direct = self.precede(prefix, e);
        let all = (0..self.transaction_of.len()).filter(|&t| has(direct, t)).fold(direct, |all, t| all | before.0[t]);
        let add = |(t, known): (usize, &Set)| if t == own || has(*known, own) { known | all } else { *known };
        Before(before.0.iter().enumerate().map(add).collect())
    }

    /// The blocks on a cycle.
    fn violated(&self, before: &Before) -> BTreeSet<usize> {
        self.blocks.iter().copied().filter(|&t| has(before.0[t], t)).collect()
    }
}

/// The order of transactions, along an enumeration of prefixes.
#[derive(Clone, Debug)]
struct Graph<'a> {
    transactions: &'a Transactions,
    before: Before,
}

impl PartialEq for Graph<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.before == other.before
    }
}

impl Eq for Graph<'_> {}

impl std::hash::Hash for Graph<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.before.hash(state);
    }
}

impl Memory for Graph<'_> {
    fn after(&self, _: &Definition, prefix: &[usize], e: usize) -> Self {
        Graph { transactions: self.transactions, before: self.transactions.after(&self.before, prefix, e) }
    }
}

impl Definition {
    /// Whether a conflicts with b, in a run with a before b.
    fn comes_into_conflict(&self, a: usize, b: usize) -> bool {
        let (first, second) = (&self.events()[a], &self.events()[b]);
        let harmless = |op| matches!(op, Op::Read | Op::AtomicLoad);
        let variable = first.accesses().is_some()
            && first.accesses() == second.accesses()
            && !(harmless(first.op) && harmless(second.op));
        let on_lock = |e: usize| {
            let event = &self.events()[e];
            let shared = matches!(event.op, Op::ReadAcquire | Op::ReadRelease);
            let alone = matches!(event.op, Op::Acquire | Op::Release | Op::TryAcquire | Op::Wait | Op::Woken);
            event.lock.filter(|_| (shared || alone) && !self.run.without_effect[e]).map(|lock| (lock, shared))
        };
        let lock = match (on_lock(a), on_lock(b)) {
            (Some((one, one_shared)), Some((other, other_shared))) => one == other && !(one_shared && other_shared),
            _ => false,
        };
        let ops = |one, other| first.op == one && second.op == other && first.object == second.object;
        first.thread == second.thread
            || variable
            || lock
            || first.op == Op::Fork && first.object == second.thread
            || ops(Op::Fork, Op::Join)
            || second.op == Op::Join && second.object == first.thread
            || ops(Op::Post, Op::Await)
            || ops(Op::Up, Op::Down)
            || self.run.woken_by.get(&b).is_some_and(|&(_, notify)| notify == a)
    }

    /// The transactions of the recorded run.
    pub fn transactions(&self) -> Transactions {
        Transactions::new(self)
    }

    /// The blocks that are violated in a run, by their `begin`.
    pub fn violated(&self, order: &[usize]) -> BTreeSet<usize> {
        let transactions = self.transactions();
        let mut before = transactions.nothing();
        for (at, &e) in order.iter().enumerate() {
            before = transactions.after(&before, &order[..at], e);
        }
        transactions.violated(&before)
    }

    /// Whether a run is serialisable.
    pub fn serialisable(&self, order: &[usize]) -> bool {
        self.violated(order).is_empty()
    }

    /// The blocks that are violated in the recorded run.
    pub fn observed_atomicity(&self) -> BTreeSet<usize> {
        let recorded: Vec<usize> = (0..self.events().len()).collect();
        self.violated(&recorded)
    }

    /// The events of a run that close a cycle, each with the block in which it closes it.
    pub fn closing(&self, order: &[usize]) -> Vec<(usize, usize)> {
        let transactions = self.transactions();
        let mut before = transactions.nothing();
        let mut closing = Vec::new();
        for (at, &e) in order.iter().enumerate() {
            let own = transactions.transaction_of[e];
            let direct = transactions.precede(&order[..at], e);
            if (0..self.events().len()).any(|t| has(direct, t) && has(before.0[t], own)) {
                closing.push((e, own));
            }
            before = transactions.after(&before, &order[..at], e);
        }
        closing
    }

    /// The blocks that are violated in some feasible prefix, maybe with one terminal read as its last event.
    pub fn predicted_atomicity(&self) -> BTreeSet<usize> {
        let transactions = &self.transactions();
        let mut violated = BTreeSet::new();
        if transactions.blocks.is_empty() {
            return violated;
        }
        let start = Graph { transactions, before: transactions.nothing() };
        self.each_prefix(start, &mut |prefix, graph| {
            violated.extend(transactions.violated(&graph.before));
            for e in 0..self.events().len() {
                if self.may_only_end(prefix, e) {
                    violated.extend(transactions.violated(&transactions.after(&graph.before, prefix, e)));
                }
            }
        });
        violated
    }
}
