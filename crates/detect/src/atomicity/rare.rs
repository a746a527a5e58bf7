//! What the streaming detector does at every event that is no plain access.

use super::sync::Waiting;
use super::{Atomicity, Mark, Spot, Table, add};
use event::{Batch, BlockId, Event, Id, LockId, Op, ThreadId, Wake};

impl Atomicity {
    /// Everything but plain accesses.
    #[inline(never)]
    pub(super) fn rare(&mut self, batch: &Batch, event: Event, spot: Spot, now: u64) {
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
            _ => {}
        }
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
}
