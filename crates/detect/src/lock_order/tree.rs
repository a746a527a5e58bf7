//! Lock trees: per thread, the nesting in which it takes locks (figures 8 and 9 of the GoodLock paper).
//!
//! A path from the root is what the thread holds, in the order it was taken. A node is known by the lock, how and where
//! it is taken; so a tree stops growing when the thread does nothing new, and the trees are all the memory there is.

use super::report::{HeldLock, LockMode};
use event::{LockId, SiteId, StackId, ThreadId};
use rustc_hash::FxHashMap;

/// How a lock is taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct Key {
    pub(super) lock: LockId,
    pub(super) site: SiteId,
    pub(super) mode: LockMode,
    /// A try never waits.
    pub(super) blocking: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) parent: u32,
    pub(super) key: Key,
    pub(super) thread: ThreadId,
    /// 0 for a root.
    pub(super) depth: u16,
    /// The call stack of the first time.
    stack: StackId,
    /// How often it was taken; 0 if it is only what was left when a lock above it was given back.
    pub(super) count: u64,
    /// The event of the first time.
    first: u64,
    /// The last segment in which it was asked for.
    segment: u32,
}

/// The first request of a node in a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurrence {
    pub(super) node: u32,
    pub(super) segment: u32,
    pub(super) event: u64,
    pub(super) stack: StackId,
    pub(super) unanswered: bool,
}

/// When and where something is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct TakenAt {
    pub(super) event: u64,
    pub(super) segment: u32,
    pub(super) stack: StackId,
}

const NO_SEGMENT: u32 = u32::MAX;

/// The trees of all threads.
#[derive(Clone, Debug)]
pub(super) struct Forest {
    pub(super) nodes: Vec<Node>,
    children: FxHashMap<(u32, Key), u32>,
    /// Requests of threads that held something, in recorded order.
    pub(super) occurrences: Vec<Occurrence>,
    /// The most nodes, and the most occurrences.
    most: usize,
    /// What found no room.
    pub(super) unrecorded: u64,
}

impl Forest {
    pub(super) fn new(most: usize) -> Forest {
        let most = most.min(1 << 31);
        Forest { nodes: Vec::new(), children: FxHashMap::default(), occurrences: Vec::new(), most, unrecorded: 0 }
    }

    fn add(&mut self, parent: u32, thread: ThreadId, key: Key, depth: u16) -> u32 {
        let (stack, segment) = (StackId(0), NO_SEGMENT);
        self.nodes.push(Node { parent, key, thread, depth, stack, count: 0, first: 0, segment });
        (self.nodes.len() - 1) as u32
    }

    /// A tree of its own for a thread.
    pub(super) fn root(&mut self, thread: ThreadId) -> u32 {
        let itself = self.nodes.len() as u32;
        self.add(itself, thread, Key::default(), 0)
    }

    /// The child for a lock, added if it is new; `None` if there is no more room.
    #[inline]
    pub(super) fn child(&mut self, parent: u32, key: Key) -> Option<u32> {
        if let Some(&child) = self.children.get(&(parent, key)) {
            return Some(child);
        }
        self.new_child(parent, key)
    }

    #[cold]
    fn new_child(&mut self, parent: u32, key: Key) -> Option<u32> {
        if self.nodes.len() >= self.most {
            return None;
        }
        let Node { thread, depth, .. } = self.nodes[parent as usize];
        let child = self.add(parent, thread, key, depth + 1);
        self.children.insert((parent, key), child);
        Some(child)
    }

    /// The lock of this node is taken, or asked for, by a thread that holds the locks above it.
    #[inline]
    pub(super) fn take(&mut self, node: u32, taken_at: TakenAt, unanswered: bool) {
        let taken = &mut self.nodes[node as usize];
        if taken.count == 0 {
            (taken.first, taken.stack) = (taken_at.event, taken_at.stack);
        }
        taken.count += 1;
        // A thread's segments follow each other: another one than the last is a new one.
        if taken.depth > 1 && taken.key.blocking && (taken.segment != taken_at.segment || unanswered) {
            taken.segment = taken_at.segment;
            let TakenAt { event, segment, stack } = taken_at;
            if self.occurrences.len() < self.most {
                self.occurrences.push(Occurrence { node, segment, event, stack, unanswered });
            } else {
                self.unrecorded += 1;
            }
        }
    }

    /// The nodes above this one, without the root, the nearest first.
    pub(super) fn above(&self, node: u32) -> impl Iterator<Item = u32> {
        let mut at = node;
        std::iter::from_fn(move || {
            at = self.nodes[at as usize].parent;
            (self.nodes[at as usize].depth > 0).then_some(at)
        })
    }

    pub(super) fn held(&self, node: u32) -> HeldLock {
        let Node { key, stack, .. } = self.nodes[node as usize];
        HeldLock { lock: key.lock, mode: key.mode, site: key.site, stack }
    }

    /// The trees as they are to be shown, by thread.
    pub(super) fn trees(&self) -> Vec<LockTree> {
        // Children come after their parents: from the end, every node is whole when its parent takes it.
        let mut parts: Vec<Vec<LockNode>> = vec![Vec::new(); self.nodes.len()];
        let mut trees = Vec::new();
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let mut children = std::mem::take(&mut parts[index]);
            children.reverse();
            if node.depth == 0 {
                trees.push(LockTree { thread: node.thread, locks: children });
            } else if node.count > 0 || !children.is_empty() {
                let Node { key: Key { lock, site, mode, blocking }, count, first, stack, .. } = *node;
                let first = (count > 0).then_some(first);
                parts[node.parent as usize].push(LockNode {
                    lock,
                    mode,
                    blocking,
                    site,
                    stack,
                    count,
                    first,
                    inside: children,
                });
            }
        }
        trees.sort_by_key(|tree| tree.thread);
        trees
    }
}

/// How a thread nests its locks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockTree {
    /// The thread.
    pub thread: ThreadId,
    /// What it takes while it holds nothing.
    pub locks: Vec<LockNode>,
}

/// A lock, taken by a thread that holds the locks above it in its tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockNode {
    /// The lock.
    pub lock: LockId,
    /// How it is taken.
    pub mode: LockMode,
    /// The thread would wait for it; `false`: it only tried.
    pub blocking: bool,
    /// Where it is taken.
    pub site: SiteId,
    /// The call stack of the first time, 0 if not recorded.
    pub stack: StackId,
    /// How often it was taken so. 0: it was taken under other locks, which were then given back before it.
    pub count: u64,
    /// The event of the first time.
    pub first: Option<u64>,
    /// What was taken while it was held.
    pub inside: Vec<LockNode>,
}
