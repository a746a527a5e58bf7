//! Transactions that may still be on a cycle, and which running blocks come before each of them.
//!
//! All edges lead into the transaction of the event that happens now. So a transaction that ended gets no new
//! predecessors of its own, and can come to be on a cycle only through a running block that comes before it. Of every
//! transaction it is enough to know the set of running blocks before it, closed transitively: an edge from Z to a
//! running block T closes a cycle if and only if T is in Z's set. A transaction that ended and has no running block
//! before it is forgotten: its references die.

use super::report::Spot;
use rustc_hash::FxHashMap;

/// The place of a running block in the sets; free again when it ends.
pub(super) type Slot = u32;
const NO_SLOT: Slot = Slot::MAX;
/// Nodes from which on equal ones are made one.
const MANY: usize = 1 << 12;
/// What nodes may know of the blocks before them, all together: about 200 MB.
pub(super) const MOST_KNOWN: usize = 1 << 22;
/// A cycle longer than this is reported in part.
const MOST_HOPS: usize = 1 << 10;

/// A transaction, as long as it matters. The default matters never.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub(super) struct Node {
    index: u32,
    /// The n-th transaction with this index.
    age: u32,
}

/// An event, and the transaction it is of.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Mark {
    pub(super) node: Node,
    pub(super) spot: Spot,
}

/// How a block came to be before a transaction: the last conflict on the way.
#[derive(Clone, Copy, Debug)]
struct Why {
    slot: Slot,
    from: Mark,
    to: Spot,
}

#[derive(Clone, Debug)]
struct Data {
    slot: Slot,
    why: Vec<Why>,
}

/// All transactions that matter.
#[derive(Debug)]
pub(super) struct Graph {
    ages: Vec<u32>,
    data: Vec<Data>,
    free: Vec<u32>,
    /// Words of a set.
    words: usize,
    /// Running blocks before each node: `words` words each.
    sets: Vec<u64>,
    /// By slot: the nodes that have, or had, it in their sets.
    followers: Vec<Vec<Node>>,
    /// By slot: the block that has it.
    blocks: Vec<Node>,
    free_slots: Vec<Slot>,
    /// How many nodes there may be before equal ones are made one.
    room: usize,
    /// Entries of `why`, all together.
    known: usize,
}

impl Default for Graph {
    fn default() -> Self {
        // The default node is no transaction: it is dead from the beginning.
        Graph {
            ages: vec![1],
            data: vec![Data { slot: NO_SLOT, why: Vec::new() }],
            free: Vec::new(),
            words: 1,
            sets: vec![0],
            followers: Vec::new(),
            blocks: Vec::new(),
            free_slots: Vec::new(),
            room: MANY,
            known: 0,
        }
    }
}

impl Graph {
    /// Whether the transaction may still be on a cycle.
    #[inline]
    pub(super) fn matters(&self, node: Node) -> bool {
        self.ages[node.index as usize] == node.age
    }

    #[inline]
    fn set(&self, node: Node) -> &[u64] {
        let at = node.index as usize * self.words;
        &self.sets[at..at + self.words]
    }

    fn has(&self, node: Node, slot: Slot) -> bool {
        self.set(node)[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    /// Whether the transaction is a block that runs.
    pub(super) fn runs(&self, node: Node) -> bool {
        self.matters(node) && self.data[node.index as usize].slot != NO_SLOT
    }

    /// A block begins, after the thread's transaction before it.
    pub(super) fn begin(&mut self, after: Node) -> Node {
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.followers.push(Vec::new());
            self.blocks.push(Node::default());
            self.blocks.len() as Slot - 1
        });
        if self.blocks.len() > self.words * 64 {
            self.widen();
        }
        let node = self.like(after);
        self.data[node.index as usize].slot = slot;
        self.blocks[slot as usize] = node;
        node
    }

    /// A block ends. It may go on to matter.
    pub(super) fn end(&mut self, node: Node) {
        let slot = std::mem::replace(&mut self.data[node.index as usize].slot, NO_SLOT);
        let mut followers = std::mem::take(&mut self.followers[slot as usize]);
        for follower in followers.drain(..) {
            if !self.matters(follower) {
                continue;
            }
            let at = follower.index as usize;
            self.sets[at * self.words + slot as usize / 64] &= !(1 << (slot % 64));
            let why = &mut self.data[at].why;
            let before = why.len();
            why.retain(|why| why.slot != slot);
            self.known -= before - why.len();
            self.forget_if_idle(follower);
        }
        self.followers[slot as usize] = followers;
        self.free_slots.push(slot);
        self.forget_if_idle(node);
    }

    fn forget_if_idle(&mut self, node: Node) {
        if self.data[node.index as usize].slot == NO_SLOT && self.set(node).iter().all(|&word| word == 0) {
            self.forget(node);
        }
    }

    fn forget(&mut self, node: Node) {
        let age = &mut self.ages[node.index as usize];
        *age += 1;
        let why = &mut self.data[node.index as usize].why;
        self.known -= why.len();
        why.clear();
        // An index that was used as often as can be counted is not used again.
        if *age != u32::MAX {
            self.free.push(node.index);
        }
    }

    /// Whether the block comes before the transaction, or is it.
    pub(super) fn reaches(&self, block: Node, node: Node) -> bool {
        block == node || self.has(node, self.data[block.index as usize].slot)
    }

    /// Whether an edge adds nothing: all that comes before its source comes before the target.
    #[inline]
    fn knows(&self, target: Node, source: Node) -> bool {
        let slot = self.data[source.index as usize].slot;
        let own = |word: usize| if slot as usize / 64 == word { 1 << (slot % 64) } else { 0 };
        let known = |word: usize| if self.matters(target) { self.set(target)[word] } else { 0 };
        self.set(source).iter().enumerate().all(|(word, &bits)| (bits | own(word)) & !known(word) == 0)
    }

    /// An edge into a running block that closes no cycle.
    pub(super) fn enter(&mut self, block: Node, from: Mark, to: Spot) {
        if self.knows(block, from.node) {
            return;
        }
        let news = self.news(block, from.node);
        let slot = self.data[block.index as usize].slot;
        let mut new = vec![0; self.words];
        news.iter().for_each(|slot| new[*slot as usize / 64] |= 1 << (slot % 64));
        self.learn(block, &news, |_| (from, to));
        let mut followers = std::mem::take(&mut self.followers[slot as usize]);
        // No transaction comes to follow the block meanwhile: the block does not come before itself.
        followers.retain(|&node| self.matters(node));
        for &node in &followers {
            // Most know it all, which a few words tell.
            if self.set(node).iter().zip(&new).all(|(known, new)| new & !known == 0) {
                continue;
            }
            if let Some(&Why { from, to, .. }) = self.data[node.index as usize].why.iter().find(|why| why.slot == slot)
            {
                let news: Vec<Slot> = news.iter().copied().filter(|&slot| !self.has(node, slot)).collect();
                self.learn(node, &news, |_| (from, to));
            }
        }
        self.followers[slot as usize] = followers;
    }

    /// An edge into a single event, which comes after the thread's transaction before: its node, the same one if the
    /// same blocks come before both, because then they always will.
    pub(super) fn step(&mut self, after: Node, from: Mark, to: Spot) -> Node {
        if self.knows(after, from.node) {
            return after;
        }
        let node = self.like(after);
        let news = self.news(node, from.node);
        self.learn(node, &news, |_| (from, to));
        node
    }

    /// The blocks before the source, or it itself, that do not come before the target yet.
    fn news(&self, target: Node, source: Node) -> Vec<Slot> {
        let own = Some(self.data[source.index as usize].slot).filter(|&slot| slot != NO_SLOT);
        let before = self.data[source.index as usize].why.iter().map(|why| why.slot);
        before.chain(own).filter(|&slot| !self.has(target, slot)).collect()
    }

    fn learn(&mut self, node: Node, news: &[Slot], why: impl Fn(Slot) -> (Mark, Spot)) {
        let at = node.index as usize;
        for &slot in news {
            let (from, to) = why(slot);
            self.sets[at * self.words + slot as usize / 64] |= 1 << (slot % 64);
            self.data[at].why.push(Why { slot, from, to });
            self.known += 1;
            self.followers[slot as usize].push(node);
        }
    }

    /// A new node, with the same blocks before it.
    fn like(&mut self, model: Node) -> Node {
        let index = self.free.pop().unwrap_or_else(|| {
            self.ages.push(0);
            self.data.push(Data { slot: NO_SLOT, why: Vec::new() });
            self.sets.resize(self.ages.len() * self.words, 0);
            self.ages.len() as u32 - 1
        });
        let node = Node { index, age: self.ages[index as usize] };
        let at = index as usize * self.words;
        self.sets[at..at + self.words].fill(0);
        if self.matters(model) {
            let why = self.data[model.index as usize].why.clone();
            for why in why {
                self.learn(node, &[why.slot], |_| (why.from, why.to));
            }
        }
        node
    }

    /// The conflicts on the way from a running block to a transaction that it comes before, in order; all but the first
    /// few may be missing if there are very many, or transactions were made one.
    pub(super) fn way(&self, block: Node, mut to: Node) -> (Vec<[Spot; 2]>, bool) {
        let slot = self.data[block.index as usize].slot;
        let mut hops = Vec::new();
        while to != block {
            let why = self.data[to.index as usize].why.iter().find(|why| why.slot == slot);
            match why.filter(|why| self.matters(why.from.node) && hops.len() < MOST_HOPS) {
                Some(why) => {
                    hops.push([why.from.spot, why.to]);
                    to = why.from.node;
                }
                None => {
                    hops.reverse();
                    return (hops, false);
                }
            }
        }
        hops.reverse();
        (hops, true)
    }

    /// Sets need another word.
    #[cold]
    fn widen(&mut self) {
        let words = self.words * 2;
        let mut sets = vec![0; self.ages.len() * words];
        for (new, old) in sets.chunks_mut(words).zip(self.sets.chunks(self.words)) {
            new[..old.len()].copy_from_slice(old);
        }
        (self.words, self.sets) = (words, sets);
    }

    /// Whether there are so many nodes that equal ones should be made one, or they know too much.
    #[inline]
    pub(super) fn is_crowded(&self) -> bool {
        self.ages.len() - self.free.len() > self.room || self.known > MOST_KNOWN
    }

    /// How many blocks run.
    pub(super) fn running(&self) -> usize {
        self.blocks.len() - self.free_slots.len()
    }

    /// What all nodes together know, in entries.
    pub(super) fn known(&self) -> usize {
        self.known
    }

    /// Forgets running blocks, those that most transactions follow first, until nodes know half of what they may. Gives
    /// how many.
    pub(super) fn forget_blocks(&mut self) -> u64 {
        let mut forgotten = 0;
        while self.known > MOST_KNOWN / 2 {
            let most = (0..self.followers.len()).max_by_key(|&slot| self.followers[slot].len());
            let Some(block) = most.map(|slot| self.blocks[slot]).filter(|&block| self.runs(block)) else { break };
            self.end(block);
            forgotten += 1;
        }
        forgotten
    }

    /// Makes those one that ended and have the same blocks before them, for they will always have: gives what each
    /// becomes. `marks`: how many places will have to be looked at, which must not be often.
    pub(super) fn merge(&mut self, marks: usize) -> FxHashMap<Node, Node> {
        let mut first: FxHashMap<Vec<u64>, Node> = FxHashMap::default();
        let mut becomes = FxHashMap::default();
        for index in 1..self.ages.len() as u32 {
            let node = Node { index, age: self.ages[index as usize] };
            if self.data[index as usize].slot != NO_SLOT || self.data[index as usize].why.is_empty() {
                continue;
            }
            let kept = *first.entry(self.set(node).to_vec()).or_insert(node);
            if kept != node {
                becomes.insert(node, kept);
                self.forget(node);
            }
        }
        for slot in 0..self.followers.len() {
            let mut followers = std::mem::take(&mut self.followers[slot]);
            followers.retain(|&node| self.matters(node));
            self.followers[slot] = followers;
        }
        self.room = MANY.max(2 * (self.ages.len() - self.free.len())).max(marks / 4);
        becomes
    }
}
