//! Blocks that are not serialisable in the recorded run ([`Atomicity`]), or in another one ([`predict`], which has its
//! own account).
//!
//! **Follows** Mathur, Viswanathan, *Atomicity checking in linear time using vector clocks*, ASPLOS'20 (AeroDrome):
//! instead of the graph of transactions (Flanagan, Freund, Yi, *Velodrome*, PLDI'08) it keeps, with threads, variables
//! and locks, what comes before them, and asks at each conflict whether the running block is among it.
//!
//! **Deviates** in what is kept. AeroDrome's clocks say which blocks of every thread come before; only those that
//! still run can ever close a cycle, so here it is a set of running blocks (`graph.rs`), mostly empty or a single bit.
//! What the paper's optimised version does lazily at the end of a block (update the clocks of all that has seen the
//! block, by sets of what to update; forget transactions without a predecessor) is that transactions are shared by
//! reference, and die when no running block comes before them. And it is exact in time: a cycle is found at the event
//! that closes it, while AeroDrome finds some of them only at the end of a block of theirs. The conflicts are those of
//! docs/detectors.md, for every operation there is. Only marked blocks, outermost ones, are transactions, or outermost
//! ones of the names asked for; every other event is one by itself. Of more than 512 blocks that run at a time, and
//! where what is known of the blocks before transactions would take more than some 200 MB, some are not followed: their
//! events count as single ones, and how many they are is said.
//!
//! **May miss** nothing up to the first violation, as long as all blocks are followed: it is found if and only if the
//! recorded run is not serialisable. A block that is violated is from then on no transaction any more: its earlier
//! events are one that ended, its later ones stand for themselves. So every block is reported at most once, and a later
//! cycle that needs the events of a reported block to be one transaction is not reported. Only the block in which a
//! cycle closes is reported, not the others on it. Events more than four billion events back may be reported with a
//! wrong index.
//!
//! **Raises no false alarm**: every edge is a conflict of the definition, or several in a row. To split a
//! transaction only takes cycles away: each one found is one of the whole transactions as well.

mod accesses;
mod blocks;
mod graph;
mod predict;
mod rare;
mod report;

pub use crate::place::Place;
pub use predict::{Predicted, Predictions, predict};
pub use report::{Violation, Violations};

use blocks::Blocks;
use event::{Batch, BlockId, Id, Names, Op, Space};
use graph::{Graph, Mark, Node};
use report::{Log, Spot};
use rustc_hash::FxHashSet;
use sync::{Sections, Wakeups};

/// Blocks that are followed at a time: each event costs as much as these are many.
const MOST_RUNNING: usize = 512;

/// Violations kept if not said otherwise.
const MOST: usize = 10_000;

/// A variable or a lock: who wrote it last, and who read it since.
#[derive(Clone, Copy, Default, Debug)]
struct Object {
    write: Mark,
    read: Mark,
    /// Further reads, by the number of their list; 0 is none.
    more: u32,
}

#[derive(Default, Debug)]
struct Thread {
    /// The transaction of its last event.
    node: Node,
    /// Its last event.
    last: Spot,
    /// Forks of it that no event of it has followed yet.
    forks: Vec<Mark>,
    blocks: Blocks,
    /// The outermost block asked for: how many others it is in, its name and its first event.
    outermost: Option<(u64, BlockId, Place)>,
}

/// Finds the violations of the recorded run, batch by batch.
#[derive(Debug)]
pub struct Atomicity {
    graph: Graph,
    vars: Vec<Object>,
    locks: Vec<Object>,
    /// Reads that are not the only one of their object.
    lists: Vec<Vec<Mark>>,
    sections: Sections,
    wakeups: Wakeups<Mark>,
    posts: Vec<Vec<Mark>>,
    ups: Vec<Vec<Mark>>,
    threads: Vec<Thread>,
    /// The names of the blocks that count, if not all do.
    of: Option<FxHashSet<String>>,
    /// By block: whether it counts.
    counts: Vec<bool>,
    log: Log,
}

impl Default for Atomicity {
    fn default() -> Self {
        Atomicity::new()
    }
}

/// Which table an object is in.
#[derive(Clone, Copy)]
enum Table {
    Vars,
    Locks,
}

impl Atomicity {
    /// Before the first event; all blocks count, and at most 10 000 different violations are kept.
    pub fn new() -> Self {
        Atomicity::keeping(MOST, None)
    }

    /// Before the first event; only blocks of these names count, if some are given, and at most so many different
    /// violations are kept.
    pub fn keeping(most: usize, of: Option<FxHashSet<String>>) -> Self {
        Atomicity {
            graph: Graph::default(),
            vars: Vec::new(),
            locks: Vec::new(),
            lists: vec![Vec::new()],
            sections: Sections::new(),
            wakeups: Wakeups::new(),
            posts: Vec::new(),
            ups: Vec::new(),
            threads: Vec::new(),
            of,
            counts: Vec::new(),
            log: Log::new(most),
        }
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        let count = |space| names.space(space).len();
        self.threads.resize_with(count(Space::Thread), Thread::default);
        self.vars.resize(count(Space::Var), Object::default());
        self.locks.resize(count(Space::Lock), Object::default());
        self.posts.resize_with(count(Space::Latch), Vec::new);
        self.ups.resize_with(count(Space::Sem), Vec::new);
        for block in self.counts.len()..count(Space::Block) {
            let name = names.block(BlockId::from_index(block));
            self.counts.push(self.of.as_ref().is_none_or(|of| of.contains(name)));
        }
        for (now, &event) in (batch.first..).zip(&batch.events) {
            let spot = Spot { low: now as u32, thread: event.thread(), site: event.site() };
            let thread = &mut self.threads[event.thread().index()];
            thread.last = spot;
            if !thread.forks.is_empty() {
                self.forked(spot, now);
            }
            match event.op() {
                Op::Read => self.read(Table::Vars, event.object(), spot, now),
                Op::Write => self.write(Table::Vars, event.object(), spot, now),
                _ => self.rare(batch, event, spot, now),
            }
        }
    }

    /// What was found.
    pub fn finish(self) -> Violations {
        self.log.found
    }

    #[inline]
    fn object(&mut self, table: Table, object: u32) -> &mut Object {
        match table {
            Table::Vars => &mut self.vars[object as usize],
            Table::Locks => &mut self.locks[object as usize],
        }
    }

    #[inline]
    fn read(&mut self, table: Table, object: u32, spot: Spot, now: u64) {
        let mut me = self.threads[spot.thread.index()].node;
        let Object { write, read, .. } = *self.object(table, object);
        if write.node != me && self.graph.matters(write.node) {
            self.edge(write, spot, now);
            me = self.threads[spot.thread.index()].node;
        }
        if read.node == me || !self.graph.matters(me) {
            return;
        }
        if self.graph.matters(read.node) {
            self.also_read(table, object, Mark { node: me, spot });
        } else {
            self.object(table, object).read = Mark { node: me, spot };
        }
    }

    #[inline]
    fn write(&mut self, table: Table, object: u32, spot: Spot, now: u64) {
        let me = self.threads[spot.thread.index()].node;
        let Object { write, read, more } = *self.object(table, object);
        let concerns = |mark: Mark| mark.node != me && self.graph.matters(mark.node);
        if more != 0 || concerns(write) || concerns(read) {
            self.edge(write, spot, now);
            self.edge(read, spot, now);
            let mut others = std::mem::take(&mut self.lists[more as usize]);
            for mark in others.drain(..) {
                self.edge(mark, spot, now);
            }
            self.lists[more as usize] = others;
        }
        let node = self.threads[spot.thread.index()].node;
        let mark = if self.graph.matters(node) { Mark { node, spot } } else { Mark::default() };
        *self.object(table, object) = Object { write: mark, read: Mark::default(), more };
    }

    /// A read beside another one.
    #[inline(never)]
    fn also_read(&mut self, table: Table, object: u32, mark: Mark) {
        if self.object(table, object).more == 0 {
            self.object(table, object).more = u32::try_from(self.lists.len()).expect("at most one for each object");
            self.lists.push(Vec::new());
        }
        let more = self.object(table, object).more;
        add(&self.graph, &mut self.lists[more as usize], mark);
    }

    fn mark(&self, spot: Spot) -> Mark {
        Mark { node: self.threads[spot.thread.index()].node, spot }
    }

    #[cold]
    fn forked(&mut self, spot: Spot, now: u64) {
        for fork in std::mem::take(&mut self.threads[spot.thread.index()].forks) {
            self.edge(fork, spot, now);
        }
    }

    /// The event happening now comes into conflict after another one.
    #[inline(never)]
    fn edge(&mut self, from: Mark, spot: Spot, now: u64) {
        let thread = &mut self.threads[spot.thread.index()];
        if from.node == thread.node || !self.graph.matters(from.node) {
            return;
        }
        if self.graph.runs(thread.node) {
            if !self.graph.reaches(thread.node, from.node) {
                self.graph.enter(thread.node, from, spot);
                if self.graph.is_crowded() {
                    self.merge();
                }
                return;
            }
            if let Some((_, block, begin)) = thread.outermost {
                let (hops, complete) = self.graph.way(thread.node, from.node);
                let hops = hops.into_iter().chain([[from.spot, spot]]);
                let cycle = hops.map(|hop| hop.map(|spot| spot.place(now))).collect();
                self.log.violated(Violation { block, begin, cycle, complete, times: 1 });
            }
            self.graph.end(thread.node);
            if !self.graph.matters(from.node) {
                return;
            }
        }
        thread.node = self.graph.step(thread.node, from, spot);
        if self.graph.is_crowded() {
            self.merge();
        }
    }

    /// Makes transactions one that cannot be distinguished any more.
    #[cold]
    fn merge(&mut self) {
        let becomes = self.graph.merge(self.vars.len() + self.locks.len() + self.lists.len());
        if self.graph.known() > graph::MOST_KNOWN / 2 {
            self.log.found.unfollowed += self.graph.forget_blocks();
        }
        let renew = |node: &mut Node| {
            if let Some(&new) = becomes.get(node) {
                *node = new;
            }
        };
        for object in self.vars.iter_mut().chain(&mut self.locks) {
            renew(&mut object.write.node);
            renew(&mut object.read.node);
        }
        for list in self.lists.iter_mut().chain(&mut self.posts).chain(&mut self.ups) {
            list.iter_mut().for_each(|mark| renew(&mut mark.node));
            list.sort_unstable_by_key(|mark| mark.node);
            list.dedup_by_key(|mark| mark.node);
        }
        for notify in self.wakeups.notifies_mut() {
            renew(&mut notify.node);
        }
        for thread in &mut self.threads {
            renew(&mut thread.node);
            thread.forks.iter_mut().for_each(|mark| renew(&mut mark.node));
        }
    }
}

/// Adds an event to those of which each comes into conflict before some later one; the transactions are different ones
/// that matter.
fn add(graph: &Graph, list: &mut Vec<Mark>, mark: Mark) {
    if !graph.matters(mark.node) {
        return;
    }
    list.retain(|other| graph.matters(other.node));
    if list.iter().all(|other| other.node != mark.node) {
        list.push(mark);
    }
}

#[cfg(test)]
mod tests;
