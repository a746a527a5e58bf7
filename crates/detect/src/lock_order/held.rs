//! What a thread holds: every lock with its depth and its node in the thread's lock tree.

use super::report::LockMode::{self, Exclusive, Shared};
use super::tree::{Forest, Key, Moment};
use event::{LockId, SiteId, ThreadId};
use rustc_hash::FxHashMap;

/// Locks nested deeper than this stay out of the tree: every acquisition looks through what is held, and every path of
/// the tree is a set of locks.
const DEEPEST: usize = 128;

#[derive(Clone, Copy, Debug)]
struct Held {
    key: Key,
    depth: u32,
    /// Its node, or that of the lock below if it has none: shared inside exclusive, or no room.
    node: u32,
}

/// A request that was not answered yet.
#[derive(Clone, Copy, Debug)]
struct Asked {
    lock: LockId,
    site: SiteId,
    moment: Moment,
}

/// One thread.
#[derive(Clone, Debug)]
pub(super) struct ThreadLocks {
    root: u32,
    /// In the order they were taken. A lock held both ways is here twice.
    held: Vec<Held>,
    /// What waits gave up: how often exclusive, how often shared.
    given_up: FxHashMap<LockId, (u32, u32)>,
    asked: Option<Asked>,
    too_deep: FxHashMap<(LockId, LockMode), u32>,
}

impl ThreadLocks {
    pub(super) fn new(forest: &mut Forest, thread: ThreadId) -> ThreadLocks {
        let root = forest.root(thread);
        let (given_up, too_deep) = (FxHashMap::default(), FxHashMap::default());
        ThreadLocks { root, held: Vec::new(), given_up, asked: None, too_deep }
    }

    fn find(&self, lock: LockId, mode: LockMode) -> Option<usize> {
        self.held.iter().rposition(|held| held.key.lock == lock && held.key.mode == mode)
    }

    fn top(&self) -> u32 {
        self.held.last().map_or(self.root, |held| held.node)
    }

    #[inline]
    pub(super) fn acquire(&mut self, forest: &mut Forest, key: Key, moment: Moment) {
        if self.asked.is_some() {
            self.settle(forest, Some(key.lock));
        }
        self.take(forest, key, 1, moment);
    }

    fn take(&mut self, forest: &mut Forest, key: Key, depth: u32, moment: Moment) {
        if let Some(again) = self.find(key.lock, key.mode) {
            self.held[again].depth += depth;
            return;
        }
        // Whoever holds a lock alone need not ask to share it.
        let silent = key.mode == Shared && self.find(key.lock, Exclusive).is_some();
        if self.held.len() >= DEEPEST || !self.too_deep.is_empty() {
            forest.unrecorded += 1;
            *self.too_deep.entry((key.lock, key.mode)).or_default() += depth;
            return;
        }
        let mut node = self.top();
        if !silent {
            match forest.child(node, key) {
                Some(child) => {
                    forest.take(child, moment, false);
                    node = child;
                }
                None => forest.unrecorded += 1,
            }
        }
        self.held.push(Held { key, depth, node });
    }

    #[inline]
    pub(super) fn release(&mut self, forest: &mut Forest, lock: LockId, mode: LockMode) {
        if self.asked.is_some() {
            self.settle(forest, None);
        }
        match self.held.last_mut() {
            Some(last) if last.key.lock == lock && last.key.mode == mode => {
                last.depth -= 1;
                if last.depth == 0 {
                    self.held.pop();
                }
            }
            _ => self.release_inside(forest, lock, mode),
        }
    }

    #[cold]
    fn release_inside(&mut self, forest: &mut Forest, lock: LockId, mode: LockMode) {
        if let Some(depth) = self.too_deep.get_mut(&(lock, mode)) {
            *depth -= 1;
            if *depth == 0 {
                self.too_deep.remove(&(lock, mode));
            }
        } else if let Some(index) = self.find(lock, mode) {
            self.held[index].depth -= 1;
            if self.held[index].depth == 0 {
                self.remove(forest, index);
            }
        }
    }

    /// A lock below others is given back: the rest is another path of the tree.
    fn remove(&mut self, forest: &mut Forest, index: usize) -> u32 {
        let depth = self.held.remove(index).depth;
        for k in index..self.held.len() {
            let mut node = if k == 0 { self.root } else { self.held[k - 1].node };
            let key = self.held[k].key;
            let silent = key.mode == Shared
                && self.held[..k].iter().any(|held| held.key.lock == key.lock && held.key.mode == Exclusive);
            if !silent {
                let Some(child) = forest.child(node, key) else {
                    // No room for the first is none for those above it: to look for each of them would only take time.
                    let rest = &mut self.held[k..];
                    forest.unrecorded += rest.len() as u64;
                    rest.iter_mut().for_each(|held| held.node = node);
                    break;
                };
                node = child;
            }
            self.held[k].node = node;
        }
        depth
    }

    pub(super) fn wait(&mut self, forest: &mut Forest, lock: LockId) {
        self.settle(forest, None);
        let mut depth = |mode| {
            let deep = self.too_deep.remove(&(lock, mode)).unwrap_or(0);
            deep + self.find(lock, mode).map_or(0, |index| self.remove(forest, index))
        };
        let given = (depth(Exclusive), depth(Shared));
        // What it did not hold it did not give up: then it wakes as without a wait.
        if given == (0, 0) {
            self.given_up.remove(&lock);
        } else {
            self.given_up.insert(lock, given);
        }
    }

    /// A thread that wakes asks for its lock as any other, with the locks it kept in its hands.
    pub(super) fn woken(&mut self, forest: &mut Forest, lock: LockId, site: SiteId, moment: Moment) {
        self.settle(forest, Some(lock));
        // Without its wait in the trace, it takes the lock as an acquire does.
        let (exclusive, shared) = self.given_up.remove(&lock).unwrap_or((1, 0));
        for (mode, depth) in [(Exclusive, exclusive), (Shared, shared)] {
            if depth > 0 {
                self.take(forest, Key { lock, site, mode, blocking: true }, depth, moment);
            }
        }
    }

    pub(super) fn request(&mut self, forest: &mut Forest, lock: LockId, site: SiteId, moment: Moment) {
        self.settle(forest, None);
        self.asked = Some(Asked { lock, site, moment });
    }

    /// A request with a time limit that ran out was no blocking one.
    pub(super) fn failed(&mut self, forest: &mut Forest, lock: LockId) {
        self.settle(forest, Some(lock));
    }

    /// The thread goes on. If it does so with the lock that it asked for, that is the request; if not, it once waited.
    fn settle(&mut self, forest: &mut Forest, answer: Option<LockId>) {
        if let Some(asked) = self.asked.take_if(|asked| answer != Some(asked.lock)) {
            self.ask(forest, asked, false);
        }
        self.asked = None;
    }

    fn ask(&mut self, forest: &mut Forest, asked: Asked, unanswered: bool) {
        let Asked { lock, site, moment } = asked;
        if self.find(lock, Exclusive).is_some() {
            return;
        }
        match forest.child(self.top(), Key { lock, site, mode: Exclusive, blocking: true }) {
            Some(node) => forest.take(node, moment, unanswered),
            None => forest.unrecorded += 1,
        }
    }

    /// The trace ends.
    pub(super) fn end(&mut self, forest: &mut Forest) {
        if let Some(asked) = self.asked.take() {
            self.ask(forest, asked, true);
        }
    }
}
