//! Atomic accesses and fences: which of them synchronise.

use super::Hb;
use super::clocks::{Clocks, Gathered, Given, Time};
use super::shadow::{Head, Mark};
use event::{Batch, Event, Id, Op, Order, ThreadId};

/// A thread's fences.
#[derive(Default, Debug)]
pub(super) struct Fences {
    /// What the thread knew at its last release fence: its later relaxed stores give that.
    released: Given,
    /// What its relaxed loads saw: the next acquire fence learns it.
    seen: Gathered,
}

const fn acquires(order: Order) -> bool {
    matches!(order, Order::Acquire | Order::AcqRel | Order::SeqCst)
}

const fn releases(order: Order) -> bool {
    matches!(order, Order::Release | Order::AcqRel | Order::SeqCst)
}

impl Fences {
    pub(super) fn fence(&mut self, clocks: &mut Clocks, thread: ThreadId, order: Order, now: Time) {
        if acquires(order) {
            clocks.learn_all(thread, &self.seen);
            self.seen.clear();
        }
        if releases(order) {
            let me = clocks.enter(thread, now);
            clocks.give(&mut self.released, me, now);
        }
    }

    pub(super) fn forget(&mut self, clocks: &mut Clocks) {
        clocks.forget(&mut self.released);
        self.seen.clear();
    }
}

impl Head {
    pub(super) fn forget(&mut self, clocks: &mut Clocks) {
        clocks.forget(&mut self.last);
        self.others.clear();
    }
}

impl Hb {
    pub(super) fn atomic(&mut self, batch: &Batch, event: Event, now: Time) {
        let (op, order, thread) = (event.op(), batch.extra(event).order, event.thread());
        self.widen(event.object());
        let var = &mut self.vars[event.object() as usize];
        let wide = &mut self.wides[var.wide as usize - 1];
        let (clocks, head) = (&mut self.clocks, &mut wide.head);
        let fences = &mut self.threads[thread.index()].fences;

        if op != Op::AtomicStore {
            if acquires(order) {
                clocks.learn(thread, head.last);
                clocks.learn_all(thread, &head.others);
            } else {
                clocks.gather(&mut fences.seen, head.last);
                fences.seen.add(&head.others);
            }
        }

        let me = clocks.enter(thread, now);
        let mark = Mark { time: now, who: me.who, site: event.site() };
        self.test_behind(event, me, mark);
        self.remember_behind(event, me, mark);
        let var = &mut self.vars[event.object() as usize];
        let wide = &mut self.wides[var.wide as usize - 1];
        let (clocks, fences) = (&mut self.clocks, &self.threads[thread.index()].fences);
        let row = clocks.known(me.row);
        let mut partner = var.unknown_write(row, Some(wide));
        if op == Op::AtomicLoad {
            wide.atomic_reads.put(mark, row);
        } else {
            partner = self.reads.latest_unknown(var.read, row, partner);
            wide.atomic_writes.put(mark, row);
            wide.drop_barriers.clear();
            let head = &mut wide.head;
            match (op == Op::AtomicRmw, releases(order)) {
                (true, true) if !acquires(order) => {
                    clocks.gather(&mut head.others, head.last);
                    clocks.give(&mut head.last, me, now);
                }
                // A store begins a new sequence; a read-modify-write that acquired knows all that it continues.
                (_, true) => {
                    head.others.clear();
                    clocks.give(&mut head.last, me, now);
                }
                (true, false) => clocks.gather(&mut head.others, fences.released),
                (false, false) => {
                    head.forget(clocks);
                    clocks.hold(fences.released.row);
                    head.last = fences.released;
                }
            }
            clocks.drop(std::mem::take(&mut var.row));
        }
        self.report(event, partner, mark);
    }
}
