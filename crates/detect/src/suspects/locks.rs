//! What threads hold along the recorded run.

use crate::locksets::{Held, LockSets, SetId};
use event::{CondId, Id, LockId, ThreadId};
use rustc_hash::FxHashMap;

/// Who holds a lock exclusively, and how often; depth 0: nobody.
#[derive(Clone, Copy, Default, Debug)]
struct Owner {
    thread: ThreadId,
    depth: u32,
}

#[derive(Default, Debug)]
struct Thread {
    /// Locks held in either way, and exclusively.
    held: Held,
    exclusive: Held,
    waiting: Option<(CondId, LockId, [u32; 2])>,
}

/// All threads and locks.
#[derive(Default, Debug)]
pub(super) struct Locks {
    threads: Vec<Thread>,
    owners: Vec<Owner>,
    shared: FxHashMap<(LockId, ThreadId), u32>,
    pub(super) sets: LockSets,
    /// Some thread asked for a lock while it held one.
    pub(super) nested: bool,
    /// Some thread asked for a lock, in words of the trace, while it held one: maybe that one.
    pub(super) asks_itself: bool,
    /// Something happened that cannot.
    pub(super) odd: bool,
}

impl Locks {
    pub(super) fn grow(&mut self, threads: usize, locks: usize) {
        self.threads.resize_with(threads.max(self.threads.len()), Thread::default);
        self.owners.resize(locks.max(self.owners.len()), Owner::default());
    }

    /// The locks that protect an access: a write only those held exclusively.
    #[inline]
    pub(super) fn protecting(&self, thread: ThreadId, write: bool) -> SetId {
        let thread = &self.threads[thread.index()];
        if write { thread.exclusive.id() } else { thread.held.id() }
    }

    fn asks(&mut self, thread: ThreadId) {
        self.nested |= self.threads[thread.index()].held.id() != SetId::EMPTY;
    }

    pub(super) fn request(&mut self, thread: ThreadId) {
        self.asks(thread);
        self.asks_itself |= self.threads[thread.index()].held.id() != SetId::EMPTY;
    }

    pub(super) fn acquire(&mut self, thread: ThreadId, lock: LockId) {
        self.asks(thread);
        self.take(thread, lock, 1);
    }

    fn take(&mut self, thread: ThreadId, lock: LockId, depth: u32) {
        let owner = &mut self.owners[lock.index()];
        if owner.depth > 0 {
            self.odd |= owner.thread != thread;
            owner.depth = owner.depth.saturating_add(depth);
            return;
        }
        *owner = Owner { thread, depth };
        let own = &mut self.threads[thread.index()];
        own.exclusive.take(&mut self.sets, lock);
        if self.shared.is_empty() || !self.shared.contains_key(&(lock, thread)) {
            own.held.take(&mut self.sets, lock);
        }
    }

    pub(super) fn release(&mut self, thread: ThreadId, lock: LockId) {
        let owner = &mut self.owners[lock.index()];
        if owner.depth == 0 || owner.thread != thread {
            self.odd = true;
            return;
        }
        owner.depth -= 1;
        if owner.depth == 0 {
            self.given(thread, lock);
        }
    }

    /// The thread has the lock no more exclusively.
    fn given(&mut self, thread: ThreadId, lock: LockId) {
        let own = &mut self.threads[thread.index()];
        own.exclusive.give(&mut self.sets, lock);
        if self.shared.is_empty() || !self.shared.contains_key(&(lock, thread)) {
            own.held.give(&mut self.sets, lock);
        }
    }

    pub(super) fn read_acquire(&mut self, thread: ThreadId, lock: LockId) {
        self.asks(thread);
        self.read_take(thread, lock, 1);
    }

    fn is_owner(&self, thread: ThreadId, lock: LockId) -> bool {
        let owner = self.owners[lock.index()];
        owner.depth > 0 && owner.thread == thread
    }

    fn read_take(&mut self, thread: ThreadId, lock: LockId, more: u32) {
        let is_owner = self.is_owner(thread, lock);
        let depth = self.shared.entry((lock, thread)).or_default();
        if *depth == 0 && !is_owner {
            self.threads[thread.index()].held.take(&mut self.sets, lock);
        }
        *depth = depth.saturating_add(more);
    }

    pub(super) fn read_release(&mut self, thread: ThreadId, lock: LockId) {
        let Some(depth) = self.shared.get_mut(&(lock, thread)) else {
            self.odd = true;
            return;
        };
        *depth -= 1;
        if *depth == 0 {
            self.read_given(thread, lock);
        }
    }

    /// The thread has the lock no more shared.
    fn read_given(&mut self, thread: ThreadId, lock: LockId) {
        self.shared.remove(&(lock, thread));
        if !self.is_owner(thread, lock) {
            self.threads[thread.index()].held.give(&mut self.sets, lock);
        }
    }

    pub(super) fn wait(&mut self, thread: ThreadId, cond: CondId, lock: LockId) {
        let mut depths = [0; 2];
        if self.is_owner(thread, lock) {
            depths[0] = std::mem::take(&mut self.owners[lock.index()].depth);
            self.given(thread, lock);
        }
        if let Some(&depth) = self.shared.get(&(lock, thread)) {
            depths[1] = depth;
            self.read_given(thread, lock);
        }
        self.odd |= depths == [0; 2];
        self.odd |= self.threads[thread.index()].waiting.replace((cond, lock, depths)).is_some();
    }

    pub(super) fn woken(&mut self, thread: ThreadId, cond: CondId, lock: LockId) {
        self.asks(thread);
        let waited = self.threads[thread.index()].waiting.take();
        let Some((_, _, depths)) = waited.filter(|&(of, with, _)| (of, with) == (cond, lock)) else {
            self.odd = true;
            return;
        };
        if depths[0] > 0 {
            self.take(thread, lock, depths[0]);
        }
        if depths[1] > 0 {
            self.read_take(thread, lock, depths[1]);
        }
    }
}
