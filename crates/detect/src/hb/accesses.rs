//! Plain accesses, `alloc` and `free`: tested against what is remembered of the variable, then remembered themselves.

use super::Hb;
use super::clocks::{Given, Thread, Time};
use super::shadow::{Mark, Wide};
use event::Event;

impl Hb {
    #[inline]
    pub(super) fn read(&mut self, event: Event, me: Thread, now: Time) {
        let mark = Mark { time: now, slot: me.slot, site: event.site(), locks: me.locks };
        let var = &mut self.vars[event.object() as usize];
        let row = self.clocks.row(me.row);
        if var.write.known_to(row) && var.wide == 0 {
            self.reads.put(&mut var.read, mark, row);
        } else {
            self.racy_read(event, me, mark);
        }
    }

    /// A read that may be racy.
    #[inline(never)]
    fn racy_read(&mut self, event: Event, me: Thread, mark: Mark) {
        let var = self.vars[event.object() as usize];
        let row = self.clocks.row(me.row);
        let wide = self.wides.get((var.wide as usize).wrapping_sub(1));
        let mut partner = var.unknown_write(row, wide);
        if let Some(wide) = wide {
            partner = wide.atomic_writes.latest_unknown(row, partner);
        }
        self.report(event, partner, mark);
        self.clocks.learn(event.thread(), Given { slot: var.write.slot, time: var.write.time, row: var.row });
        let me = self.clocks.enter(event.thread(), mark.time);
        let row = self.clocks.row(me.row);
        self.reads.put(&mut self.vars[event.object() as usize].read, mark, row);
    }

    #[inline]
    pub(super) fn write(&mut self, event: Event, me: Thread, now: Time) {
        let mark = Mark { time: now, slot: me.slot, site: event.site(), locks: me.locks };
        let var = &mut self.vars[event.object() as usize];
        let row = self.clocks.row(me.row);
        if var.all_known(row) {
            var.write = mark;
            var.read = Mark::default();
            if var.row != me.row {
                self.clocks.hold(me.row);
                self.clocks.drop(var.row);
                var.row = me.row;
            }
        } else {
            self.racy_write(event, me, mark, true);
        }
    }

    /// A write that may be racy, or a `free`, which no read sees.
    #[inline(never)]
    pub(super) fn racy_write(&mut self, event: Event, me: Thread, mark: Mark, seen: bool) {
        let var = &mut self.vars[event.object() as usize];
        let row = self.clocks.row(me.row);
        let mut partner = var.unknown_write(row, self.wides.get((var.wide as usize).wrapping_sub(1)));
        partner = self.reads.latest_unknown(var.read, row, partner);
        self.reads.keep_unknown(&mut var.read, row);
        let overtaken = (!var.write.known_to(row)).then_some(var.write);
        if overtaken.is_some() || var.wide != 0 {
            self.widen(event.object());
            let var = &mut self.vars[event.object() as usize];
            let wide = &mut self.wides[var.wide as usize - 1];
            let row = self.clocks.row(me.row);
            partner = wide.atomic_reads.latest_unknown(row, partner);
            partner = wide.atomic_writes.latest_unknown(row, partner);
            wide.writes.keep_unknown(row);
            wide.atomic_reads.keep_unknown(row);
            wide.atomic_writes.keep_unknown(row);
            if let Some(write) = overtaken {
                wide.writes.put(write, row);
            }
            wide.head.forget(&mut self.clocks);
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
        let var = &mut self.vars[var as usize];
        self.clocks.drop(var.row);
        self.reads.clear(&mut var.read);
        (var.write, var.row) = (Mark::default(), 0);
        if let Some(wide) = self.wides.get_mut((var.wide as usize).wrapping_sub(1)) {
            wide.clear(&mut self.clocks);
        }
    }
}
