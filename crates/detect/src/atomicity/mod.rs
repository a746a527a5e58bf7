//! Blocks that are not serialisable in the recorded run ([`Atomicity`]), or in another one ([`predict`], which has its own account).
//!
//! **Follows** Mathur, Viswanathan, *Atomicity checking in linear time using vector clocks*, ASPLOS'20 (AeroDrome): instead of
//! the graph of transactions (Flanagan, Freund, Yi, *Velodrome*, PLDI'08) it keeps, with threads, variables and locks, what
//! comes before them, and asks at each conflict whether the running block is among it.
//!
//! **Deviates** in what is kept. AeroDrome's clocks tell which blocks of every thread come before; only those that still run can
//! ever close a cycle, so here it is a set of running blocks (`graph.rs`), mostly empty or a single bit. What the paper's
//! optimised version does lazily at the end of a block (update the clocks of all that has seen the block, by sets of what to update; forget
//! transactions without a predecessor) is that transactions are shared by reference, and die when no running block comes before them. And it is
//! exact in time: a cycle is found at the event that closes it, while AeroDrome finds some of them only at the end of a block of theirs.
//! The conflicts are those of docs/detectors.md, for every operation there is. Only marked blocks, outermost ones, are transactions, or
//! outermost ones of the names asked for; every other event is one by itself.
//!
//! **May miss** nothing up to the first violation: it is found if and only if the recorded run is not serialisable. A
//! block that is violated is from then on no transaction any more: its earlier events are one that ended, its later ones
//! stand for themselves. So every block is reported at most once, and a later cycle that needs the events of a reported
//! block to be one transaction is not reported. Only the block in which a cycle closes is reported, not the others on it.
//! Events more than four billion events back may be told with a wrong index.
//!
//! **Raises no false alarm**: every edge is a conflict of the definition, or several in a row. To split a
//! transaction only takes cycles away: each one found is one of the whole transactions as well.

mod accesses;
mod graph;
mod predict;
mod report;
mod sync;

pub use crate::place::Place;
pub use predict::{Predicted, Predictions, predict};
pub use report::{Violation, Violations};

use crate::pairing::Pairing;
use event::{Batch, BlockId, Event, Id, LockId, Names, Op, Space, ThreadId, Wake};
use graph::{Graph, Mark, Node};
use report::{Log, Spot};
use rustc_hash::FxHashSet;
use sync::{Blocks, Held, Waiting};

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
    held: Held,
    waiting: Option<Waiting>,
}

/// Finds the violations of the recorded run, batch by batch.
#[derive(Debug)]
pub struct Atomicity {
    graph: Graph,
    vars: Vec<Object>,
    locks: Vec<Object>,
    /// Reads that are not the only one of their object.
    lists: Vec<Vec<Mark>>,
    conds: Vec<Pairing<Mark>>,
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
            conds: Vec::new(),
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
        self.conds.resize_with(count(Space::Cond), Pairing::default);
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

    /// Everything but plain accesses.
    #[inline(never)]
    fn rare(&mut self, batch: &Batch, event: Event, spot: Spot, now: u64) {
        let object = event.object() as usize;
        match event.op() {
            Op::Read | Op::AtomicLoad => self.read(Table::Vars, event.object(), spot, now),
            Op::Write | Op::AtomicStore | Op::AtomicRmw | Op::Alloc | Op::Free => {
                self.write(Table::Vars, event.object(), spot, now);
            }
            Op::Acquire | Op::TryAcquire => {
                if self.held(spot.thread).acquire(event.lock()) {
                    self.write(Table::Locks, event.object(), spot, now);
                }
            }
            Op::Release => {
                if self.held(spot.thread).release(event.lock()) {
                    self.write(Table::Locks, event.object(), spot, now);
                }
            }
            Op::ReadAcquire => {
                if self.held(spot.thread).read_acquire(event.lock()) {
                    self.read(Table::Locks, event.object(), spot, now);
                }
            }
            Op::ReadRelease => {
                if self.held(spot.thread).read_release(event.lock()) {
                    self.read(Table::Locks, event.object(), spot, now);
                }
            }
            Op::Wait => self.wait(event, batch.extra(event).lock, spot, now),
            Op::Woken => self.woken(batch, event, spot, now),
            Op::Notify | Op::NotifyAll => {
                let mark = self.mark(spot);
                self.conds[object].notify(now, mark, event.op() == Op::NotifyAll);
            }
            Op::Fork => {
                let mark = self.mark(spot);
                if event.child() != spot.thread {
                    add(&self.graph, &mut self.threads[object].forks, mark);
                }
            }
            Op::Join => {
                let child = &self.threads[object];
                let last = Mark { node: child.node, spot: child.last };
                self.edge(last, spot, now);
            }
            Op::Post => {
                let mark = self.mark(spot);
                add(&self.graph, &mut self.posts[object], mark);
            }
            Op::Up => {
                let mark = self.mark(spot);
                add(&self.graph, &mut self.ups[object], mark);
            }
            Op::Await => {
                let posts = std::mem::take(&mut self.posts[object]);
                posts.iter().for_each(|&post| self.edge(post, spot, now));
                self.posts[object] = posts;
            }
            Op::Down => {
                let ups = std::mem::take(&mut self.ups[object]);
                ups.iter().for_each(|&up| self.edge(up, spot, now));
                self.ups[object] = ups;
            }
            Op::Begin => self.begin(event.block(), spot, now),
            Op::End => self.end(event.block(), spot.thread),
            Op::TryFail | Op::Request | Op::Fence | Op::Internal | Op::Pin => {}
        }
    }

    fn held(&mut self, thread: ThreadId) -> &mut Held {
        &mut self.threads[thread.index()].held
    }

    fn mark(&self, spot: Spot) -> Mark {
        Mark { node: self.threads[spot.thread.index()].node, spot }
    }

    fn begin(&mut self, block: BlockId, spot: Spot, now: u64) {
        let thread = &mut self.threads[spot.thread.index()];
        if thread.outermost.is_none() && self.counts[block.index()] {
            thread.outermost = Some((thread.blocks.depth(), block, spot.place(now)));
            thread.node = self.graph.begin(thread.node);
            self.log.found.blocks += 1;
        }
        thread.blocks.begin(block);
        if self.graph.is_crowded() {
            self.merge();
        }
    }

    fn end(&mut self, block: BlockId, thread: ThreadId) {
        let thread = &mut self.threads[thread.index()];
        thread.blocks.end(block);
        if thread.outermost.is_some_and(|(depth, ..)| thread.blocks.depth() <= depth) {
            thread.outermost = None;
            if self.graph.runs(thread.node) {
                self.graph.end(thread.node);
            }
        }
    }

    fn wait(&mut self, event: Event, lock: LockId, spot: Spot, now: u64) {
        let thread = &mut self.threads[spot.thread.index()];
        let given_up = thread.held.give_up(lock);
        let waiting = Waiting { cond: event.cond(), lock, since: now, given_up };
        if let Some(left) = thread.waiting.replace(waiting) {
            self.conds[left.cond.index()].over(left.since, false);
        }
        self.conds[event.cond().index()].wait(now);
        self.write(Table::Locks, lock.0, spot, now);
    }

    fn woken(&mut self, batch: &Batch, event: Event, spot: Spot, now: u64) {
        let extra = batch.extra(event);
        let thread = &mut self.threads[spot.thread.index()];
        let waiting = thread.waiting.take();
        let matching = waiting.filter(|waiting| (waiting.cond, waiting.lock) == (event.cond(), extra.lock));
        thread.held.take_back(extra.lock, matching.map(|waiting| waiting.given_up));
        if let Some(waiting) = waiting {
            let notified = matching.is_some() && extra.wake == Wake::Notified;
            if let Some(notify) = self.conds[waiting.cond.index()].over(waiting.since, notified) {
                self.edge(notify, spot, now);
            }
        }
        self.write(Table::Locks, extra.lock.0, spot, now);
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

    /// Makes transactions one that cannot be told apart any more.
    #[cold]
    fn merge(&mut self) {
        let becomes = self.graph.merge(self.vars.len() + self.locks.len() + self.lists.len());
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
        for notify in self.conds.iter_mut().flat_map(Pairing::notifies_mut) {
            renew(&mut notify.node);
        }
        for thread in &mut self.threads {
            renew(&mut thread.node);
            thread.forks.iter_mut().for_each(|mark| renew(&mut mark.node));
        }
    }
}

/// Adds an event to those of which each comes into conflict before some later one; the transactions are different ones that matter.
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
