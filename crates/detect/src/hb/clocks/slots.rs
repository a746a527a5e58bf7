//! Which thread is in which slot: beginnings, forks, joins, and slots taken over or shared.

use super::{Clocks, Given, NO_SLOT, RowId, Slot, Thread, Time};
use event::{Id, ThreadId};

/// How many ended threads a fork looks at for a slot.
const LOOKS: usize = 32;

impl Clocks {
    /// The thread that had a slot at a time.
    pub(in crate::hb) fn thread_at(&self, slot: Slot, time: Time) -> ThreadId {
        let owners = &self.owners[slot as usize];
        owners[owners.partition_point(|owner| owner.0 <= time).saturating_sub(1)].1
    }

    /// A thread begins, in a slot that it may take over if there is one, or goes on where another was meanwhile.
    #[cold]
    pub(super) fn start(&mut self, thread: ThreadId, slot: Option<Slot>, now: Time) -> Thread {
        let own = self.threads[thread.index()].slot;
        if own != NO_SLOT {
            return self.share(thread, own, now);
        }
        let slot = match slot {
            Some(slot) => slot,
            None if self.owners.len() < self.most_slots => {
                self.owners.push(Vec::new());
                self.shared.push(false);
                self.owners.len() as Slot - 1
            }
            None => {
                self.sharing += 1;
                return self.share(thread, (thread.index() % self.most_slots) as Slot, now);
            }
        };
        if self.owners.len() > self.stride {
            self.widen();
        }
        let row = self.empty(slot);
        self.occupy(thread, slot, row, now);
        // Only in a trace with problems does a thread that was joined go on.
        if let Some(&given) = self.left.get(&thread) {
            self.learn(thread, given);
        }
        self.threads[thread.index()]
    }

    fn occupy(&mut self, thread: ThreadId, slot: Slot, row: RowId, now: Time) {
        self.owners[slot as usize].push((now, thread));
        self.changes += 1;
        let me = &mut self.threads[thread.index()];
        let who = self.packing.pack(slot, self.packing.locks(me.who));
        *me = Thread { slot, row, who, is_plain: true };
        self.look_at_row(thread);
    }

    /// The thread goes on in a slot where another was.
    fn share(&mut self, thread: ThreadId, slot: Slot, now: Time) -> Thread {
        self.shared[slot as usize] = true;
        let before = self.owners[slot as usize].last().map(|owner| owner.1);
        let row = before.map_or(0, |other| {
            let other = &mut self.threads[other.index()];
            other.is_plain = false;
            std::mem::take(&mut other.row)
        });
        if row != 0 {
            self.occupy(thread, slot, row, now);
        } else {
            // Who was there has been joined.
            let row = self.empty(slot);
            self.occupy(thread, slot, row, now);
            if let Some(&given) = before.and_then(|other| self.left.get(&other)) {
                self.learn_news(thread, given);
            }
        }
        if let Some(&given) = self.left.get(&thread) {
            self.learn(thread, given);
        }
        self.threads[thread.index()]
    }

    /// A thread starts another.
    pub(in crate::hb) fn fork(&mut self, parent: ThreadId, child: ThreadId, now: Time) {
        if parent == child {
            return;
        }
        let Thread { slot, row, .. } = self.threads[child.index()];
        if row == 0 {
            let slot = if slot == NO_SLOT { self.reusable(parent) } else { None };
            self.start(child, slot, now);
        }
        // The child may be in its parent's slot now, and knows all then.
        let parent = self.threads[parent.index()];
        self.learn(child, Given { slot: parent.slot, time: now, row: parent.row });
    }

    /// A thread has waited for the end of another, all of whose events so far it knows now.
    pub(in crate::hb) fn join(&mut self, thread: ThreadId, child: ThreadId, now: Time) {
        let Thread { slot, row, .. } = self.threads[child.index()];
        if child == thread {
            return;
        }
        if slot == NO_SLOT {
            if let Some(&given) = self.left.get(&child) {
                self.learn(thread, given);
            }
        } else if self.shared[slot as usize] {
            let last = self.owners[slot as usize].last().map_or(0, |owner| self.threads[owner.1.index()].row);
            self.learn(thread, Given { slot, time: now, row: last });
        } else {
            let given = Given { slot, time: now, row };
            self.learn(thread, given);
            // If it goes on all the same, it does so as another: the slot is given away as it was at this time.
            let ended = &mut self.threads[child.index()];
            (ended.slot, ended.row, ended.is_plain) = (NO_SLOT, 0, false);
            if let Some(before) = self.left.insert(child, given) {
                self.drop(before.row);
            }
            self.ended.push((slot, now));
        }
    }

    /// The slot of an ended thread, whose end the parent knows.
    fn reusable(&mut self, parent: ThreadId) -> Option<Slot> {
        let row = self.threads[parent.index()].row;
        let first = self.ended.len().saturating_sub(LOOKS);
        let fits =
            |&(slot, end): &(Slot, Time)| !self.shared[slot as usize] && self.knows_without_races(row, slot, end);
        let found = self.ended[first..].iter().rposition(fits)?;
        Some(self.ended.swap_remove(first + found).0)
    }
}
