//! `lock_order`: locks taken in contradicting orders.
//!
//! **Follows** the lock graph of Havelund and Roşu, "Java PathExplorer: a runtime verification tool" (2001), and the
//! lock trees with gate locks of Havelund, "Using runtime analysis to guide model checking of Java programs" (GoodLock,
//! 2000).
//!
//! A request is a thread that holds locks and asks for another. A warning is a cycle of requests of different threads,
//! each asking for a lock that the next one holds, that could all be waiting at the same time: no two of them hold a
//! lock in common (a gate lock), and no two of them are ordered by forks and joins.
//!
//! **Deviates**: cycles of any length, where GoodLock compares two threads ([`LockOrderOptions::upto`] 2 gives the same
//! pairs of locks as its figure 10, but for forks and joins); gate locks and forks and joins, which JPaX does not know.
//! Readers do not wait for each other, so they close no cycle and are no gate among themselves; two of them that both
//! ask to have the lock alone are a cycle. A try-lock never waits, but what it takes is held. `wait` gives the lock up,
//! `woken` asks for it again. Locks need not be given back in the reverse order: what remains is then another path of
//! the tree.
//!
//! **May miss** what the run did not do, as anything that looks at one run; writers that wait and so keep out a reader
//! that asks again; requests beyond the bounds of memory, and cycles beyond those of the search, which the report
//! counts.
//!
//! **May raise false alarms**: values and other synchronisation (conditions, semaphores, barriers) can keep the
//! requests apart. A cycle is a warning unless [`LockCycle::happened`].

mod components;
mod graph;
mod held;
mod report;
mod search;
mod segments;
mod tree;

pub use report::{HeldLock, LockCycle, LockMode, LockOrderReport, LockRequest};
pub use tree::{LockNode, LockTree};

pub(crate) use components::components;
pub(crate) use segments::{SegmentOrder, Segments};

use event::{Batch, Event, Names, Op, Space};
use held::LocksInTrees;
use tree::{Forest, TakenAt};

/// What to look for, and how hard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockOrderOptions {
    /// Only cycles of up to so many threads; 2 is GoodLock as published.
    pub upto: Option<usize>,
    /// Report at most so many cycles; the others are counted.
    pub cycles: usize,
    /// Give up the search after so many steps (about a hundred million a second).
    pub steps: u64,
    /// The most nodes of all lock trees together, about 100 bytes each.
    pub nodes: usize,
}

impl Default for LockOrderOptions {
    fn default() -> Self {
        LockOrderOptions { upto: None, cycles: 1000, steps: 50_000_000, nodes: 4 << 20 }
    }
}

/// Reads a run and finds lock-order cycles.
#[derive(Clone, Debug)]
pub struct LockOrder {
    options: LockOrderOptions,
    forest: Forest,
    segments: Segments,
    locks: LocksInTrees,
}

impl LockOrder {
    /// A detector at the beginning of a run.
    pub fn new(options: LockOrderOptions) -> LockOrder {
        let forest = Forest::new(options.nodes);
        LockOrder { options, forest, segments: Segments::default(), locks: LocksInTrees::default() }
    }

    /// Takes the next events of the run.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        self.locks.grow(names.space(Space::Thread).len());
        for (index, &event) in (batch.first..).zip(&batch.events) {
            match event.op() {
                Op::Acquire | Op::TryAcquire | Op::ReadAcquire | Op::Woken => {
                    let taken_at = self.taken_at(batch, index, event);
                    self.locks.acquire(&mut self.forest, batch, event, taken_at);
                }
                Op::Release | Op::ReadRelease | Op::Wait => self.locks.release(&mut self.forest, batch, event),
                Op::Fork => self.segments.fork(event.thread(), event.child()),
                Op::Join => self.segments.join(event.thread(), event.child()),
                Op::Request => {
                    let taken_at = self.taken_at(batch, index, event);
                    self.locks.request(&mut self.forest, event, taken_at);
                }
                Op::TryFail => self.locks.failed(&mut self.forest, event),
                _ => {}
            }
        }
    }

    /// The lock trees so far, by thread.
    pub fn lock_trees(&self) -> Vec<LockTree> {
        self.forest.trees()
    }

    /// The run has ended: finds the cycles.
    pub fn finish(&mut self) -> LockOrderReport {
        self.locks.end(&mut self.forest);
        let graph = graph::LockGraph::new(&self.forest, &self.segments);
        let mut report = search::Search::new(&graph, &self.forest, &self.options).run(self.options.upto);
        report.unrecorded = self.forest.unrecorded + self.segments.unrecorded + graph.unrecorded;
        report
    }

    #[inline]
    fn taken_at(&mut self, batch: &Batch, event_index: u64, event: Event) -> TakenAt {
        TakenAt { event: event_index, segment: self.segments.current(event.thread()), stack: batch.extra(event).stack }
    }
}
