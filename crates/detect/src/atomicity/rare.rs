//! What the streaming detector does at every event that is no plain access.

use super::{Atomicity, MOST_RUNNING, Mark, Spot, Table, add};
use event::{Batch, BlockId, Event, Id, Op, ThreadId};
use sync::Change;

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
            Op::Acquire | Op::TryAcquire | Op::Release | Op::ReadAcquire | Op::ReadRelease => {
                self.lock(batch, event, spot, now);
            }
            Op::Wait | Op::Woken => self.wait(batch, event, spot, now),
            Op::Notify | Op::NotifyAll => {
                let mark = self.mark(spot);
                self.wakeups.step(batch, now, event, || mark);
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
                for fork in 0..self.threads[object].forks.len() {
                    self.edge(self.threads[object].forks[fork], spot, now);
                }
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
        if thread.outermost.is_none() && self.counts[block.index()] && self.graph.running() >= MOST_RUNNING {
            self.log.found.unfollowed += 1;
        } else if thread.outermost.is_none() && self.counts[block.index()] {
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

    /// Of nested sections only the outermost acquire and release come into conflict.
    #[inline]
    fn lock(&mut self, batch: &Batch, event: Event, spot: Spot, now: u64) {
        let Some(effect) = self.sections.step(batch, event, |_| ()) else { return };
        if effect.exclusive != Change::None {
            self.write(Table::Locks, effect.lock.0, spot, now);
        } else if effect.shared != Change::None {
            self.read(Table::Locks, effect.lock.0, spot, now);
        }
    }

    /// A `wait` or a `woken`, which comes after the notify that it is paired with. Both always act on the lock.
    fn wait(&mut self, batch: &Batch, event: Event, spot: Spot, now: u64) {
        self.sections.step(batch, event, |_| ());
        let mark = self.mark(spot);
        if let Some(pair) = self.wakeups.step(batch, now, event, || mark) {
            self.edge(pair.data, spot, now);
        }
        self.write(Table::Locks, batch.extra(event).lock.0, spot, now);
    }
}
