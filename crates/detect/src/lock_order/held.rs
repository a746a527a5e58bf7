//! What threads hold: every lock with its node in the lock tree of its thread.

use super::report::LockMode::{Exclusive, Shared};
use super::tree::{Forest, Key, TakenAt};
use event::{Batch, Event, Id, LockId, Op, SiteId, ThreadId};
use sync::{Change, HeldLocks};

/// Locks nested deeper than this stay out of the tree: the release of an inner lock looks through what is held, and
/// every path of the tree is a set of locks.
const DEEPEST: usize = 128;

/// What is kept with a lock that is held.
#[derive(Clone, Copy, Debug)]
struct Taken {
    key: Key,
    /// Its node, or that of the lock below if it has none: shared inside exclusive, or no room.
    node: u32,
    /// It is nested too deep, and so is all that is taken after it.
    too_deep: bool,
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
    asked: Option<Asked>,
}

/// All threads.
#[derive(Clone, Default, Debug)]
pub(super) struct LocksInTrees {
    held: HeldLocks<Taken>,
    threads: Vec<Thread>,
}

impl LocksInTrees {
    pub(super) fn grow(&mut self, threads: usize) {
        self.threads.resize(threads.max(self.threads.len()), Thread::default());
    }

    /// The root of the tree of a thread.
    fn root(&mut self, forest: &mut Forest, thread: ThreadId) -> u32 {
        *self.threads[thread.index()].root.get_or_insert_with(|| forest.root(thread))
    }

    /// The node of what a thread has taken last; `None` if that is nested too deep.
    #[inline]
    fn top(&mut self, forest: &mut Forest, thread: ThreadId) -> Option<u32> {
        match self.held.newest(thread) {
            Some(newest) if newest.data.too_deep => None,
            Some(newest) => Some(newest.data.node),
            None => Some(self.root(forest, thread)),
        }
    }

    /// An event that opens sections: an acquire, or the wake-up of a thread, which asks for its lock as any other.
    #[inline]
    pub(super) fn acquire(&mut self, forest: &mut Forest, batch: &Batch, event: Event, taken_at: TakenAt) {
        let (op, thread) = (event.op(), event.thread());
        let lock = if op == Op::Woken { batch.extra(event).lock } else { event.lock() };
        if self.threads[thread.index()].asked.is_some() {
            self.answer(forest, thread, Some(lock));
        }
        let mut below = self.top(forest, thread).filter(|_| self.held.count(thread) < DEEPEST);
        let mut exclusively = self.held.holds(thread, lock, Exclusive);
        self.held.step(batch, event, |mode| {
            let key = Key { lock, site: event.site(), mode, blocking: op.blocks() };
            // A thread that holds a lock exclusively does not ask to share it.
            let silent = mode == Shared && exclusively;
            exclusively |= mode == Exclusive;
            let Some(node) = below.as_mut().filter(|_| !silent) else {
                forest.unrecorded += u64::from(below.is_none());
                return Taken { key, node: below.unwrap_or(0), too_deep: below.is_none() };
            };
            match forest.child(*node, key) {
                Some(child) => {
                    forest.take(child, taken_at, false);
                    *node = child;
                }
                None => forest.unrecorded += 1,
            }
            Taken { key, node: *node, too_deep: false }
        });
    }

    /// An event that closes sections: a release, or a wait.
    #[inline]
    pub(super) fn release(&mut self, forest: &mut Forest, batch: &Batch, event: Event) {
        let thread = event.thread();
        if self.threads[thread.index()].asked.is_some() {
            self.answer(forest, thread, None);
        }
        let newest = self.held.newest(thread).map(|newest| (newest.lock, newest.mode));
        let Some(effect) = self.held.step(batch, event, |_| Taken::NEVER) else { return };
        let is_inner = |mode, change| matches!(change, Change::Closes(_)) && newest != Some((effect.lock, mode));
        if effect.changes().into_iter().any(|(mode, change)| is_inner(mode, change)) {
            self.rebuild(forest, thread);
        }
    }

    /// A lock below others was given back: the rest is another path of the tree.
    #[cold]
    fn rebuild(&mut self, forest: &mut Forest, thread: ThreadId) {
        let mut node = self.root(forest, thread);
        let mut exclusive: Vec<LockId> = Vec::new();
        let mut has_room = true;
        self.held.change_data(thread, |lock, mode, taken| {
            if taken.too_deep {
                return false;
            }
            let silent = mode == Shared && exclusive.contains(&lock);
            if mode == Exclusive {
                exclusive.push(lock);
            }
            // If there is no room for one, there is none for those above it: to look for each would only take time.
            if has_room && !silent {
                match forest.child(node, taken.key) {
                    Some(child) => node = child,
                    None => has_room = false,
                }
            }
            forest.unrecorded += u64::from(!has_room);
            taken.node = node;
            true
        });
    }

    pub(super) fn request(&mut self, forest: &mut Forest, event: Event, taken_at: TakenAt) {
        self.answer(forest, event.thread(), None);
        self.root(forest, event.thread());
        let asked = Asked { lock: event.lock(), site: event.site(), taken_at };
        self.threads[event.thread().index()].asked = Some(asked);
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
        if self.held.holds(thread, lock, Exclusive) {
            return;
        }
        let key = Key { lock, site, mode: Exclusive, blocking: true };
        match self.top(forest, thread).and_then(|top| forest.child(top, key)) {
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

impl Taken {
    /// Stands for a section that opens where none does.
    const NEVER: Taken = Taken {
        key: Key { lock: LockId(0), site: SiteId(0), mode: Exclusive, blocking: false },
        node: 0,
        too_deep: false,
    };
}
