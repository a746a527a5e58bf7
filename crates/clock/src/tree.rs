//! Tree clocks: vector clocks that remember from whom each entry was learnt, and so skip what is already known.
//!
//! After Mathur, Tunç, Pavlogiannis, Viswanathan, *A Tree Clock Data Structure for Causal Orderings in Concurrent
//! Executions*, ASPLOS'22. A node is a thread u with its time (`clk`). That v is a child of u with attachment time
//! `aclk` says: thread u, at its local time `aclk`, knew v at v's time. Children stand in descending order of `aclk`.
//! A join walks the other tree from its root and leaves out
//!
//! * the subtree of a node whose time is already known (*direct monotonicity*: who knows u at its time knows all that
//!   u knew then, which is its subtree), and
//! * the rest of the children of u from the first one that is known and was attached no later than the time at which
//!   we already knew u (*indirect monotonicity*: we then know all that u knew at that attachment time).
//!
//! Here the nodes lie in flat arrays. What costs is not the memory but the branches that cannot be predicted, so the
//! links are made such that no link needs a case of its own: see [`Node`].

use crate::{Clock, Time, TimeOverflow, VectorClock, entries};
use event::ThreadId;
use std::cell::Cell;

/// The number of a node: its thread's number plus 1, since node 0 is no node but takes the writes meant for none.
type NodeId = u32;

const NIL: NodeId = 0;

/// A node's place in the tree, in four words: `aclk` (the parent's local time at which it learnt this node's time),
/// `next` (the sibling attached before this one), `head` (the child attached last), and `back`: which word of the array
/// is the link to this node, the `next` of a sibling or the `head` of its parent. A node is in the tree if its time is
/// not 0.
type Node = [u32; WORDS];

const WORDS: usize = 4;
const ACLK: usize = 0;
const NEXT: usize = 1;
const HEAD: usize = 2;
const BACK: usize = 3;

/// A tree clock. It needs the discipline of [`Clock`].
///
/// To update one node takes as long as to go over about a hundred entries of a [`VectorClock`] (`benches/clocks.rs`). So
/// it wins where a join or copy brings news of no thread but one (locks that one thread takes again and again), with any
/// number of threads; where it brings news of ten, only above some thousand threads; and where all threads hear of each
/// other all the time, never.
///
/// A clone of a thread clock is again a thread clock; two of them for one thread must not both be incremented.
#[derive(Clone, Default, Debug)]
pub struct TreeClock {
    /// `clk` of each node, apart from the links so that a lookup reads nothing else.
    times: Vec<Time>,
    nodes: Vec<Node>,
    root: NodeId,
    /// Whether this is a thread clock. In a copy, a join would claim that the root's thread had learnt something.
    owned: bool,
}

thread_local! {
    /// Nodes still to be grafted, each with its parent; kept between calls for its memory only.
    static STACK: Cell<Vec<[NodeId; 2]>> = const { Cell::new(Vec::new()) };
}

fn node_of(thread: ThreadId) -> NodeId {
    thread.0 + 1
}

fn thread_of(node: NodeId) -> ThreadId {
    ThreadId(node - 1)
}

impl TreeClock {
    /// Makes room for nodes below `len`.
    #[inline]
    fn grow(&mut self, len: usize) {
        if self.times.len() < len {
            self.times.resize(len, 0);
            self.nodes.resize(len, [0; WORDS]);
        }
    }

    #[inline]
    fn time(&self, node: NodeId) -> Time {
        self.times.get(node as usize).copied().unwrap_or(0)
    }

    /// Takes a node with its subtree off its parent. The root, and a node not in the tree, are linked from nowhere:
    /// word 0, which nobody reads.
    #[inline]
    fn detach(&mut self, node: NodeId) {
        let [_, next, _, back] = self.nodes[node as usize];
        self.nodes.as_flattened_mut()[back as usize] = next;
        self.nodes[next as usize][BACK] = back;
    }

    /// Makes a detached node, with its subtree, the first child of `parent`.
    #[inline]
    fn attach(&mut self, node: NodeId, parent: NodeId, aclk: Time) {
        let next = std::mem::replace(&mut self.nodes[parent as usize][HEAD], node);
        self.nodes[next as usize][BACK] = node * WORDS as u32 + NEXT as u32;
        let head = self.nodes[node as usize][HEAD];
        self.nodes[node as usize] = [aclk, next, head, parent * WORDS as u32 + HEAD as u32];
    }

    /// Brings the subtree of `top` up to what it is in `other`, where `top` itself is already up to date and in its
    /// place, and `known` is its time from before. `stray` is a node that must find its place even if its time is known:
    /// the former root, in a copy.
    ///
    /// Updated children of a node are treated in ascending order of `aclk`, so that each can become the first child.
    /// They all come before the old children: what was attached at a time at which the node was known is known.
    fn graft(&mut self, other: &TreeClock, top: NodeId, mut known: Time, stray: NodeId) {
        let (clk, nodes) = (&other.times[..], &other.nodes[..]);
        let mut stack = STACK.take();
        if stack.len() < clk.len() {
            stack.resize(clk.len(), [NIL; 2]);
        }
        let (mut at, mut depth) = (top, 0);
        loop {
            let mut child = nodes[at as usize][HEAD];
            while child != NIL {
                let [aclk, next, ..] = nodes[child as usize];
                let news = (self.times[child as usize] < clk[child as usize]) | (child == stray);
                // Written in any case: whether there is news is hard to predict, a branch would cost more.
                stack[depth] = [child, at];
                depth += usize::from(news);
                if !news & (aclk <= known) {
                    break;
                }
                child = next;
            }
            if depth == 0 {
                break;
            }
            depth -= 1;
            let [node, parent] = stack[depth];
            at = node;
            self.detach(node);
            known = std::mem::replace(&mut self.times[node as usize], clk[node as usize]);
            self.attach(node, parent, nodes[node as usize][ACLK]);
        }
        STACK.set(stack);
    }
}

impl Clock for TreeClock {
    fn of_thread(thread: ThreadId) -> Self {
        let root = node_of(thread);
        let mut clock = TreeClock { root, owned: true, ..TreeClock::default() };
        clock.grow(root as usize + 1);
        clock.times[root as usize] = 1;
        clock
    }

    #[inline]
    fn times(&self) -> &[Time] {
        self.times.get(1..).unwrap_or(&[])
    }

    #[inline]
    fn get(&self, thread: ThreadId) -> Time {
        self.time(node_of(thread))
    }

    /// # Panics
    /// If this is not the clock of that thread.
    #[inline]
    fn increment(&mut self, owner: ThreadId) -> Result<(), TimeOverflow> {
        assert!(self.owned && self.root == node_of(owner), "only a thread's own clock is incremented");
        let time = &mut self.times[self.root as usize];
        *time = time.checked_add(1).ok_or(TimeOverflow(owner))?;
        Ok(())
    }

    /// # Panics
    /// If there is something to learn and this is not a thread clock, or `other` knows more of the owner than it does.
    #[inline]
    fn join(&mut self, other: &Self) {
        let (top, root) = (other.root, self.root);
        let (news, known) = (other.time(top), self.time(top));
        if news <= known {
            return;
        }
        assert!(self.owned && top != root, "only a thread's own clock is joined into");
        self.grow(other.times.len());
        self.detach(top);
        self.times[top as usize] = news;
        self.attach(top, root, self.times[root as usize]);
        self.graft(other, top, known, NIL);
    }

    /// Without knowledge of who learnt what from whom, all that is new hangs on the root, which knows it from now on.
    ///
    /// # Panics
    /// As [`join`](Clock::join).
    fn join_flat(&mut self, gathered: &VectorClock) {
        if entries::le(gathered.times(), self.times()) {
            return;
        }
        let (root, now) = (self.root, self.time(self.root));
        assert!(self.owned && gathered.get(thread_of(root)) <= now, "only a thread's own clock is joined into");
        self.grow(gathered.times().len() + 1);
        for (node, &time) in (1..).zip(gathered.times()) {
            if time > self.times[node as usize] {
                self.detach(node);
                self.times[node as usize] = time;
                self.attach(node, root, now);
            }
        }
    }

    #[inline]
    fn gather_into(&self, gathered: &mut VectorClock) {
        if self.root != NIL && self.time(self.root) > gathered.get(thread_of(self.root)) {
            gathered.join_times(self.times());
        }
    }

    /// # Panics
    /// If this is a thread clock.
    #[inline]
    fn copy_from(&mut self, other: &Self) {
        assert!(!self.owned, "a thread's own clock is not overwritten");
        self.times.clone_from(&other.times);
        self.nodes.clone_from(&other.nodes);
        self.root = other.root;
    }

    /// # Panics
    /// If this is a thread clock.
    #[inline]
    fn monotone_copy(&mut self, other: &Self) {
        debug_assert!(self.le(other));
        let (top, stray) = (other.root, self.root);
        if stray == NIL || top == NIL {
            self.copy_from(other);
            return;
        }
        assert!(!self.owned, "a thread's own clock is not overwritten");
        self.grow(other.times.len());
        let known = std::mem::replace(&mut self.times[top as usize], other.times[top as usize]);
        if top == stray {
            self.graft(other, top, known, NIL);
        } else {
            self.detach(top);
            let head = self.nodes[top as usize][HEAD];
            self.nodes[top as usize] = [0, NIL, head, 0];
            self.root = top;
            self.graft(other, top, known, stray);
        }
    }

    #[inline]
    fn copy_check_monotone(&mut self, other: &Self) {
        if self.le(other) {
            self.monotone_copy(other);
        } else {
            self.copy_from(other);
        }
    }

    /// By the discipline, one entry decides: who knows the root at its time knows all that the root knew.
    #[inline]
    fn le(&self, other: &Self) -> bool {
        self.time(self.root) <= other.time(self.root)
    }

    /// # Panics
    /// If this is a thread clock.
    fn clear(&mut self) {
        self.copy_from(&TreeClock::default());
    }
}

/// One node as the tests see it.
#[cfg(test)]
pub(crate) struct Placed {
    pub(crate) thread: ThreadId,
    pub(crate) clk: Time,
    /// The parent and the attachment time; `None` for the root.
    pub(crate) parent: Option<(ThreadId, Time)>,
}

#[cfg(test)]
impl TreeClock {
    /// All nodes reached from the root, parents first, siblings in their order. Panics if the links are not a tree's.
    pub(crate) fn walk(&self) -> Vec<Placed> {
        let mut found: Vec<Placed> = Vec::new();
        if self.root == NIL {
            return found;
        }
        let [_, next, _, back] = self.nodes[self.root as usize];
        assert_eq!((next, back), (NIL, 0), "the root has no parent and no siblings");
        found.push(Placed { thread: thread_of(self.root), clk: self.time(self.root), parent: None });
        let mut done = 0;
        while done < found.len() {
            let parent = found[done].thread;
            let mut link = node_of(parent) as usize * WORDS + HEAD;
            loop {
                let child = self.nodes.as_flattened()[link];
                if child == NIL {
                    break;
                }
                let [aclk, _, _, back] = self.nodes[child as usize];
                assert_eq!(back as usize, link, "links go both ways");
                assert!(found.len() + 1 < self.nodes.len(), "a thread is in the tree twice");
                found.push(Placed { thread: thread_of(child), clk: self.time(child), parent: Some((parent, aclk)) });
                link = child as usize * WORDS + NEXT;
            }
            done += 1;
        }
        found
    }
}
