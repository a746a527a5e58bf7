//! An order of the events that grows edge by edge, and can be taken back.
//!
//! Each event has a row: how many events of each chain come before it (or are it). A new edge is passed on to all that
//! come after, at once; what changes is written down, so that going back costs what going on cost.

use crate::facts::{Chains, Facts};
use crate::must::Rows;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No prefix can be like this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Contradiction;

const END: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Edge {
    from: u32,
    to: u32,
    /// The edge before it from the same event.
    next: u32,
}

/// How much was written down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    trail: usize,
    edges: usize,
    counts: usize,
}

/// The order, and the set of events that the prefix has in any case.
pub(crate) struct Order {
    pub(crate) rows: Rows,
    /// By chain: events that the prefix must have.
    pub(crate) set: Vec<u32>,
    /// By chain: how many it can have at most.
    pub(crate) most: Vec<u32>,
    /// Edges that every question has: by event, the events of other chains that come after it.
    always: Vec<u32>,
    always_ends: Vec<u32>,
    edges: Vec<Edge>,
    heads: Vec<u32>,
    trail: Vec<(u32, u32)>,
    counts: Vec<Count>,
    queue: BinaryHeap<Reverse<u32>>,
    /// Events whose rows changed, or that came into the set, since the last look.
    pub(crate) changed: Vec<u32>,
    is_changed: Vec<bool>,
    /// Something came into the set, or can no longer come, since the last look.
    pub(crate) grew: bool,
    fixed: u32,
    /// Joins of rows so far.
    pub(crate) work: u64,
}

/// An old count of the set, or of the most.
#[derive(Clone, Copy)]
struct Count {
    chain: u32,
    old: u32,
    is_most: bool,
}

impl Order {
    /// With these edges from the beginning; the rows know them already.
    pub(crate) fn new(facts: &Facts, rows: Rows, always: impl Iterator<Item = (u32, u32)>) -> Order {
        let events = rows.counts.len() / rows.width.max(1);
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); events];
        for (from, to) in always {
            lists[(from - facts.fixed) as usize].push(to);
        }
        let mut ends = Vec::with_capacity(events);
        let mut flat = Vec::new();
        for list in lists {
            flat.extend(list);
            ends.push(flat.len() as u32);
        }
        Order {
            set: vec![0; rows.width],
            most: vec![0; rows.width],
            always: flat,
            always_ends: ends,
            edges: Vec::new(),
            heads: vec![END; events],
            trail: Vec::new(),
            counts: Vec::new(),
            queue: BinaryHeap::new(),
            changed: Vec::new(),
            is_changed: vec![false; events],
            grew: false,
            fixed: facts.fixed,
            work: 0,
            rows,
        }
    }

    /// Whether `a` comes before `b`, or is it.
    #[inline]
    pub(crate) fn le(&self, chains: &Chains, a: u32, b: u32) -> bool {
        self.rows.counts[self.rows.start(b) + chains.of(a)] > chains.position(a)
    }

    /// Whether the prefix must have an event.
    #[inline]
    pub(crate) fn has(&self, chains: &Chains, event: u32) -> bool {
        self.set[chains.of(event)] > chains.position(event)
    }

    /// Whether the prefix can have an event.
    pub(crate) fn can_have(&self, event: u32) -> bool {
        self.rows.of(event).iter().zip(&self.most).all(|(count, most)| count <= most)
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { trail: self.trail.len(), edges: self.edges.len(), counts: self.counts.len() }
    }

    /// Takes back what came since.
    pub(crate) fn back(&mut self, mark: Mark) {
        for (at, old) in self.trail.drain(mark.trail..).rev() {
            self.rows.counts[at as usize] = old;
        }
        for edge in self.edges.drain(mark.edges..).rev() {
            self.heads[(edge.from - self.fixed) as usize] = edge.next;
        }
        for count in self.counts.drain(mark.counts..).rev() {
            let counts = if count.is_most { &mut self.most } else { &mut self.set };
            counts[count.chain as usize] = count.old;
        }
        self.forget_changes();
    }

    /// Forgets what changed.
    pub(crate) fn forget_changes(&mut self) {
        for event in self.changed.drain(..) {
            self.is_changed[(event - self.fixed) as usize] = false;
        }
        self.grew = false;
    }

    /// Takes one of the changed events.
    pub(crate) fn take_changed(&mut self) -> Option<u32> {
        let event = self.changed.pop()?;
        self.is_changed[(event - self.fixed) as usize] = false;
        Some(event)
    }

    /// An event is worth a look.
    pub(crate) fn note(&mut self, event: u32) {
        let noted = &mut self.is_changed[(event - self.fixed) as usize];
        if !*noted {
            *noted = true;
            self.changed.push(event);
        }
    }

    /// A new question: how many events of each chain there can be, and what the prefix has in any case.
    pub(crate) fn begin(&mut self, most: &[u32], contains: &[u32]) -> Result<(), Contradiction> {
        self.most.copy_from_slice(most);
        self.set.fill(0);
        for &event in contains {
            let start = self.rows.start(event);
            for (has, &count) in self.set.iter_mut().zip(&self.rows.counts[start..start + self.rows.width]) {
                *has = count.max(*has);
            }
        }
        let fits = self.set.iter().zip(&self.most).all(|(has, most)| has <= most);
        if fits { Ok(()) } else { Err(Contradiction) }
    }

    /// Every event of the set is worth a look.
    pub(crate) fn note_all(&mut self, chains: &Chains) {
        for chain in 0..self.rows.width {
            for position in 0..self.set[chain] {
                self.note(chains.events[chain][position as usize]);
            }
        }
    }

    /// The prefix has an event, and all before it.
    fn include(&mut self, chains: &Chains, event: u32) -> Result<(), Contradiction> {
        let start = self.rows.start(event);
        for chain in 0..self.rows.width {
            let count = self.rows.counts[start + chain];
            let has = self.set[chain];
            if count > has {
                if count > self.most[chain] {
                    return Err(Contradiction);
                }
                self.counts.push(Count { chain: chain as u32, old: has, is_most: false });
                self.set[chain] = count;
                self.grew = true;
                for position in has..count {
                    self.note(chains.events[chain][position as usize]);
                }
            }
        }
        Ok(())
    }

    /// The prefix cannot have an event.
    fn exclude(&mut self, chains: &Chains, event: u32) -> Result<(), Contradiction> {
        let (chain, position) = (chains.of(event), chains.position(event));
        if self.set[chain] > position {
            return Err(Contradiction);
        }
        if self.most[chain] > position {
            self.counts.push(Count { chain: chain as u32, old: self.most[chain], is_most: true });
            self.most[chain] = position;
            self.grew = true;
        }
        Ok(())
    }

    /// If the prefix has `b`, it has `a` before it.
    pub(crate) fn add(&mut self, chains: &Chains, a: u32, b: u32) -> Result<(), Contradiction> {
        self.add_all(chains, [(a, b)].into_iter())
    }

    /// Adds many pairs at once: what follows is passed on only when all are there.
    pub(crate) fn add_all(
        &mut self,
        chains: &Chains,
        pairs: impl Iterator<Item = (u32, u32)>,
    ) -> Result<(), Contradiction> {
        self.queue.clear();
        let before = self.edges.len();
        for (a, b) in pairs {
            self.insert(chains, a, b)?;
        }
        // The first recorded one next: most edges lead on in recorded order, so that few events change twice.
        while let Some(Reverse(event)) = self.queue.pop() {
            while self.queue.peek() == Some(&Reverse(event)) {
                self.queue.pop();
            }
            self.pass_on(chains, event)?;
        }
        if self.edges.len() > before { self.close(chains) } else { Ok(()) }
    }

    fn insert(&mut self, chains: &Chains, a: u32, b: u32) -> Result<(), Contradiction> {
        if self.most[chains.of(b)] <= chains.position(b) || (a != b && self.le(chains, a, b)) {
            return Ok(());
        }
        if a == b || self.le(chains, b, a) || !self.can_have(a) {
            return self.exclude(chains, b);
        }
        let head = &mut self.heads[(a - self.fixed) as usize];
        self.edges.push(Edge { from: a, to: b, next: *head });
        *head = self.edges.len() as u32 - 1;
        self.join(chains, a, b)
    }

    /// All that come after an event learn what it knows.
    fn pass_on(&mut self, chains: &Chains, event: u32) -> Result<(), Contradiction> {
        let chain = chains.of(event);
        let next = chains.position(event) + 1;
        if next < self.most[chain] {
            self.join(chains, event, chains.events[chain][next as usize])?;
        }
        let number = (event - self.fixed) as usize;
        let from = if number == 0 { 0 } else { self.always_ends[number - 1] };
        for at in from..self.always_ends[number] {
            self.join(chains, event, self.always[at as usize])?;
        }
        let mut edge = self.heads[number];
        while edge != END {
            let Edge { to, next, .. } = self.edges[edge as usize];
            self.join(chains, event, to)?;
            edge = next;
        }
        Ok(())
    }

    /// `b` learns what `a` knows.
    fn join(&mut self, chains: &Chains, a: u32, b: u32) -> Result<(), Contradiction> {
        let (chain, position) = (chains.of(b), chains.position(b));
        if position >= self.most[chain] {
            return Ok(());
        }
        self.work += 1;
        let (from, to) = (self.rows.start(a), self.rows.start(b));
        if self.rows.counts[from + chain] > position {
            return self.exclude(chains, b);
        }
        let mut changed = false;
        for chain in 0..self.rows.width {
            let count = self.rows.counts[from + chain];
            let old = self.rows.counts[to + chain];
            if count > old {
                self.trail.push(((to + chain) as u32, old));
                self.rows.counts[to + chain] = count;
                changed = true;
            }
        }
        if changed {
            self.note(b);
            self.queue.push(Reverse(b));
        }
        Ok(())
    }

    /// The set has all that comes before its events.
    fn close(&mut self, chains: &Chains) -> Result<(), Contradiction> {
        for chain in 0..self.rows.width {
            if let Some(last) = self.set[chain].checked_sub(1) {
                self.include(chains, chains.events[chain][last as usize])?;
            }
        }
        Ok(())
    }
}
