//! Plain accesses, `alloc` and `free`: tested against what is remembered of the variable, then remembered themselves.

use super::Hb;
use super::clocks::{Clocks, Given, KnownTimes, RowId, Thread, Time};
use super::shadow::{Mark, Reads, Var, Wide};
use event::{Event, Op};

/// How many events are looked at together. Their variables are fetched first, all at once: one after the other, each
/// would be waited for.
pub(super) const TOGETHER: usize = 64;

/// For each write of some events the row that its variable holds from now on, and the one that it held.
pub(super) type Changes = [(RowId, RowId); TOGETHER];

/// Takes plain accesses that are not racy, up to the first event that is something else. How many these are.
///
/// Whether an access reads or writes is hard to foretell, so there is no branch for it. The rows are counted when the
/// accesses are done.
#[inline(never)]
pub(super) fn quick(
    events: &[Event],
    mut now: Time,
    clocks: &mut Clocks,
    vars: &mut [Var],
    reads: &mut Reads,
    changes: &mut Changes,
) -> usize {
    let packing = clocks.packing();
    let mut changed = 0;
    let mut taken = 0;
    for &event in events {
        now += 1;
        let write = event.op() == Op::Write;
        if !event.op().is_plain_access() {
            break;
        }
        let me = clocks.thread(event.thread());
        let (Some(var), true) = (vars.get_mut(event.object() as usize), me.is_plain) else { break };
        let row = KnownTimes { times: clocks.row(me.row), packing };
        if var.wide != 0 || !row.has(var.write) {
            break;
        }
        let mark = Mark { time: now, who: me.who, site: event.site() };
        if row.has(var.read) {
            *(if write { &mut var.write } else { &mut var.read }) = mark;
            var.read.time = if write { 0 } else { now };
            changes[changed % TOGETHER] = (me.row, var.row);
            changed += usize::from(write);
            var.row = if write { me.row } else { var.row };
        } else if write || !reads.put_shared(var.read, mark, packing.slot(mark.who)) {
            break;
        }
        taken += 1;
    }
    for &(new, old) in &changes[..changed.min(TOGETHER)] {
        clocks.hold(new);
        clocks.drop(old);
    }
    taken
}

impl Hb {
    /// A read that may be racy.
    pub(super) fn racy_read(&mut self, event: Event, me: Thread, mark: Mark) {
        let var = self.vars[event.object() as usize];
        let row = self.clocks.known(me.row);
        let wide = self.wides.get((var.wide as usize).wrapping_sub(1));
        let mut partner = var.unknown_write(row, wide);
        if let Some(wide) = wide {
            partner = wide.atomic_writes.latest_unknown(row, partner);
        }
        let race = self.report(event, partner, mark);
        self.test_behind(event, me, mark);
        self.clocks.learn_by_race(
            event.thread(),
            Given { slot: self.clocks.packing().slot(var.write.who), time: var.write.time, row: var.row },
            race,
        );
        let me = self.clocks.enter(event.thread(), mark.time);
        self.remember_behind(event, me, mark);
        let row = self.clocks.known(me.row);
        self.reads.put(&mut self.vars[event.object() as usize].read, mark, row);
    }

    /// A write that may be racy, or a `free`, which no read sees.
    pub(super) fn racy_write(&mut self, event: Event, me: Thread, mark: Mark, seen: bool) {
        self.test_behind(event, me, mark);
        self.remember_behind(event, me, mark);
        let var = &mut self.vars[event.object() as usize];
        let row = self.clocks.known(me.row);
        let mut partner = var.unknown_write(row, self.wides.get((var.wide as usize).wrapping_sub(1)));
        partner = self.reads.latest_unknown(var.read, row, partner);
        self.reads.keep_unknown(&mut var.read, row);
        let overtaken = (!row.has(var.write)).then_some(var.write);
        if overtaken.is_some() || var.wide != 0 {
            self.widen(event.object());
            let var = &mut self.vars[event.object() as usize];
            let wide = &mut self.wides[var.wide as usize - 1];
            let row = self.clocks.known(me.row);
            partner = wide.atomic_reads.latest_unknown(row, partner);
            partner = wide.atomic_writes.latest_unknown(row, partner);
            wide.writes.keep_unknown(row);
            wide.atomic_reads.keep_unknown(row);
            wide.atomic_writes.keep_unknown(row);
            if let Some(write) = overtaken {
                wide.writes.put(write, row);
            }
            wide.head.forget(&mut self.clocks);
            wide.drop_barriers.clear();
        }
        let row = if seen { me.row } else { 0 };
        self.clocks.hold(row);
        let var = &mut self.vars[event.object() as usize];
        self.clocks.drop(std::mem::replace(&mut var.row, row));
        var.write = mark;
        self.report(event, partner, mark);
    }

    /// The variable's wide part, which it gets if it has none.
    pub(super) fn widen(&mut self, var: u32) -> &mut Wide {
        let var = &mut self.vars[var as usize];
        if var.wide == 0 {
            self.wides.push(Wide::default());
            var.wide = u32::try_from(self.wides.len()).expect("at most one for each variable");
        }
        &mut self.wides[var.wide as usize - 1]
    }

    pub(super) fn alloc(&mut self, var: u32) {
        self.behind.forget_var(var);
        let var = &mut self.vars[var as usize];
        self.clocks.drop(var.row);
        self.reads.clear(&mut var.read);
        (var.write, var.row) = (Mark::default(), 0);
        if let Some(wide) = self.wides.get_mut((var.wide as usize).wrapping_sub(1)) {
            wide.clear(&mut self.clocks);
        }
    }
}
