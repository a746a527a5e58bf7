//! What threads hold: every lock with its node in the lock tree of its thread.

use super::report::LockMode::{Exclusive, Shared};
use super::tree::{Forest, Key, TakenAt};
use event::{Batch, Event, Id, LockId, SiteId, ThreadId};
use sync::{Change, LockMode, Sections};

/// Locks nested deeper than this stay out of the tree: the release of an inner lock looks through what is held, and
/// every path of the tree is a set of locks.
const DEEPEST: usize = 128;

/// A lock on the path of a thread.
#[derive(Clone, Copy, Debug)]
struct Taken {
    key: Key,
    /// Its node, or that of the lock below if it has none: shared inside exclusive, or no room.
    node: u32,
}

/// A request that was not answered yet.
#[derive(Clone, Copy, Debug)]
struct Asked {
    lock: LockId,
    site: SiteId,
    taken_at: TakenAt,
}

#[derive(Clone, Default, Debug)]
struct Thread {
    /// Known when the thread first takes or asks for a lock.
    root: Option<u32>,
    /// What it holds, in the order in which it was taken. A lock held in both modes is here twice.
    path: Vec<Taken>,
    /// How many more it holds: those that are nested too deep, and what was taken after them.
    too_deep: u32,
    asked: Option<Asked>,
}

impl Thread {
    #[inline]
    fn root(&mut self, forest: &mut Forest, thread: ThreadId) -> u32 {
        *self.root.get_or_insert_with(|| forest.root(thread))
    }

    /// The node of what the thread has taken last.
    #[inline]
    fn top(&mut self, forest: &mut Forest, thread: ThreadId) -> u32 {
        match self.path.last() {
            Some(last) => last.node,
            None => self.root(forest, thread),
        }
    }

    fn holds_exclusively(&self, lock: LockId) -> bool {
        self.path.iter().any(|taken| (taken.key.lock, taken.key.mode) == (lock, Exclusive))
    }

    #[inline]
    fn take(&mut self, forest: &mut Forest, thread: ThreadId, key: Key, taken_at: TakenAt) {
        if self.path.len() >= DEEPEST || self.too_deep > 0 {
            forest.unrecorded += 1;
            self.too_deep += 1;
            return;
        }
        let mut node = self.top(forest, thread);
        // A thread that holds a lock exclusively does not ask to share it.
        if key.mode == Exclusive || !self.holds_exclusively(key.lock) {
            match forest.child(node, key) {
                Some(child) => {
                    forest.take(child, taken_at, false);
                    node = child;
                }
                None => forest.unrecorded += 1,
            }
        }
        self.path.push(Taken { key, node });
    }

    #[inline]
    fn give(&mut self, forest: &mut Forest, thread: ThreadId, lock: LockId, mode: LockMode) {
        match self.path.last() {
            Some(last) if (last.key.lock, last.key.mode) == (lock, mode) => drop(self.path.pop()),
            _ => self.give_inner(forest, thread, lock, mode),
        }
    }

    /// A lock below others is given back: the rest is another path of the tree.
    #[cold]
    fn give_inner(&mut self, forest: &mut Forest, thread: ThreadId, lock: LockId, mode: LockMode) {
        let is_it = |taken: &Taken| (taken.key.lock, taken.key.mode) == (lock, mode);
        let Some(index) = self.path.iter().rposition(is_it) else {
            self.too_deep = self.too_deep.saturating_sub(1);
            return;
        };
        self.path.remove(index);
        let rest = self.path.split_off(index);
        for (k, &Taken { key, .. }) in rest.iter().enumerate() {
            let mut node = self.top(forest, thread);
            if key.mode == Exclusive || !self.holds_exclusively(key.lock) {
                let Some(child) = forest.child(node, key) else {
                    // If there is no room for one, there is none for those above it: to look for each would only take
                    // time.
                    forest.unrecorded += (rest.len() - k) as u64;
                    self.path.extend(rest[k..].iter().map(|taken| Taken { node, ..*taken }));
                    return;
                };
                node = child;
            }
            self.path.push(Taken { key, node });
        }
    }
}

/// All threads.
#[derive(Clone, Default, Debug)]
pub(super) struct LocksInTrees {
    sections: Sections,
    threads: Vec<Thread>,
}

impl LocksInTrees {
    pub(super) fn grow(&mut self, threads: usize) {
        self.threads.resize(threads.max(self.threads.len()), Thread::default());
    }

    /// An event that opens sections: an acquire, or the wake-up of a thread, which asks for its lock as any other.
    #[inline]
    pub(super) fn acquire(&mut self, forest: &mut Forest, batch: &Batch, event: Event, taken_at: TakenAt) {
        let Some(effect) = self.sections.step(batch, event, |_| ()) else { return };
        let (id, lock) = (event.thread(), effect.lock);
        if self.threads[id.index()].asked.is_some() {
            self.answer(forest, id, Some(lock));
        }
        let thread = &mut self.threads[id.index()];
        let key = |mode| Key { lock, site: event.site(), mode, blocking: event.op().blocks() };
        if effect.exclusive.opens() {
            thread.take(forest, id, key(Exclusive), taken_at);
        }
        if effect.shared.opens() {
            thread.take(forest, id, key(Shared), taken_at);
        }
    }

    /// An event that closes sections: a release, or a wait.
    #[inline]
    pub(super) fn release(&mut self, forest: &mut Forest, batch: &Batch, event: Event) {
        let id = event.thread();
        if self.threads[id.index()].asked.is_some() {
            self.answer(forest, id, None);
        }
        let Some(effect) = self.sections.step(batch, event, |_| ()) else { return };
        let thread = &mut self.threads[id.index()];
        if effect.exclusive == Change::Closes(()) {
            thread.give(forest, id, effect.lock, Exclusive);
        }
        if effect.shared == Change::Closes(()) {
            thread.give(forest, id, effect.lock, Shared);
        }
    }

    pub(super) fn request(&mut self, forest: &mut Forest, event: Event, taken_at: TakenAt) {
        self.answer(forest, event.thread(), None);
        let thread = &mut self.threads[event.thread().index()];
        thread.root(forest, event.thread());
        thread.asked = Some(Asked { lock: event.lock(), site: event.site(), taken_at });
    }

    /// A request with a time limit that ran out was no blocking one.
    pub(super) fn failed(&mut self, forest: &mut Forest, event: Event) {
        self.answer(forest, event.thread(), Some(event.lock()));
    }

    /// The thread goes on. If it does so with the lock that it asked for, that is the request; if not, it once waited.
    fn answer(&mut self, forest: &mut Forest, thread: ThreadId, answer: Option<LockId>) {
        if let Some(asked) = self.threads[thread.index()].asked.take()
            && answer != Some(asked.lock)
        {
            self.ask(forest, thread, asked, false);
        }
    }

    fn ask(&mut self, forest: &mut Forest, thread: ThreadId, asked: Asked, unanswered: bool) {
        let Asked { lock, site, taken_at } = asked;
        if self.sections.get(thread, lock, Exclusive).is_some() {
            return;
        }
        let top = self.threads[thread.index()].top(forest, thread);
        match forest.child(top, Key { lock, site, mode: Exclusive, blocking: true }) {
            Some(node) => forest.take(node, taken_at, unanswered),
            None => forest.unrecorded += 1,
        }
    }

    /// The trace ends.
    pub(super) fn end(&mut self, forest: &mut Forest) {
        for thread in (0..self.threads.len()).map(ThreadId::from_index) {
            if let Some(asked) = self.threads[thread.index()].asked.take() {
                self.ask(forest, thread, asked, true);
            }
        }
    }
}
