//! Which locks protect accesses along the recorded run, and whether locks are used as they can be.

use crate::locksets::{LockSets, Protection, SetId};
use event::{Batch, Event, Id, LockId, Op, ThreadId};
use sync::{Change, Effect, LockMode, Sections};

/// All threads and locks.
#[derive(Default, Debug)]
pub(super) struct Locks {
    held: Sections,
    /// By thread.
    protections: Vec<Protection>,
    /// By lock: how many threads hold it exclusively.
    owners: Vec<u32>,
    pub(super) sets: LockSets,
    /// Some thread asked for a lock while it held one.
    pub(super) nested: bool,
    /// Some thread announced a request (`req`) while it held a lock: maybe of that one.
    pub(super) asks_itself: bool,
    /// Something happened that no program can do.
    pub(super) odd: bool,
}

impl Locks {
    pub(super) fn grow(&mut self, threads: usize, locks: usize) {
        self.protections.resize(threads.max(self.protections.len()), Protection::default());
        self.owners.resize(locks.max(self.owners.len()), 0);
    }

    /// The locks that protect an access: a write only those held exclusively.
    #[inline]
    pub(super) fn protecting(&self, thread: ThreadId, write: bool) -> SetId {
        let protection = &self.protections[thread.index()];
        if write { protection.writes.id() } else { protection.reads.id() }
    }

    /// Whether a thread holds a lock.
    #[inline]
    pub(super) fn holds_one(&self, thread: ThreadId) -> bool {
        self.protections[thread.index()].reads.id() != SetId::EMPTY
    }

    pub(super) fn request(&mut self, thread: ThreadId) {
        let holds_one = self.holds_one(thread);
        self.nested |= holds_one;
        self.asks_itself |= holds_one;
    }

    #[inline]
    pub(super) fn acquire(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        self.nested |= self.holds_one(thread);
        let effect = self.held.acquire(thread, lock, mode, |_| ());
        self.update(thread, &effect);
    }

    #[inline]
    pub(super) fn release(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        let effect = self.held.release(thread, lock, mode);
        self.update(thread, &effect);
    }

    /// A `wait` or a `woken`.
    #[inline(never)]
    pub(super) fn wait(&mut self, batch: &Batch, event: Event) {
        let (thread, woken) = (event.thread(), event.op() == Op::Woken);
        // A wait does not come inside another one, and a wake-up has its wait.
        let waiting = self.held.waiting(thread).map(|waiting| (waiting.cond, waiting.lock));
        self.odd |= waiting != woken.then(|| (event.cond(), batch.extra(event).lock));
        self.nested |= woken && self.holds_one(thread);
        if let Some(effect) = self.held.step(batch, event, |_| ()) {
            self.odd |= !woken && !effect.gives;
            self.update(thread, &effect);
        }
    }

    #[inline]
    fn update(&mut self, thread: ThreadId, effect: &Effect<()>) {
        self.protections[thread.index()].update(&mut self.sets, effect);
        let owners = &mut self.owners[effect.lock.index()];
        match effect.exclusive {
            Change::Opens(()) => {
                *owners += 1;
                self.odd |= *owners > 1;
            }
            Change::Closes(()) => *owners -= 1,
            Change::ClosesInitial => self.odd = true,
            Change::None => {}
        }
        self.odd |= effect.shared == Change::ClosesInitial;
    }
}
