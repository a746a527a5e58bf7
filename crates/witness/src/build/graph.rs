//! Which events need which, and an order of them that is as near to the recorded one as it can be.

use crate::sections::NONE;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Needs between nodes: events by their offset in the region, and gates, which only stand for a set of them.
pub(super) struct Graph {
    events: u32,
    /// By node: how many needs of it are not fulfilled.
    waits: Vec<u32>,
    /// By node: its last edge.
    heads: Vec<u32>,
    /// Who needs it, and the edge before.
    edges: Vec<(u32, u32)>,
    /// By gate: an event that is not before any that needs the gate, and behind all that the gate needs.
    gates: Vec<u32>,
}

/// When events come that could come at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turns {
    /// The earliest recorded comes first: an essential event that comes early does so after all that was recorded
    /// before it, and those that it overtakes are late.
    Late,
    /// The same, but an essential event that comes early, and what it needs, comes right before those that it
    /// overtakes.
    Early,
}

impl Graph {
    pub(super) fn new(events: usize) -> Graph {
        Graph {
            events: events as u32,
            waits: vec![0; events],
            heads: vec![NONE; events],
            edges: Vec::new(),
            gates: Vec::new(),
        }
    }

    /// `after` needs `before`, if there is such a node.
    pub(super) fn need(&mut self, before: u32, after: u32) {
        if before == NONE {
            return;
        }
        let head = &mut self.heads[before as usize];
        self.edges.push((after, *head));
        *head = self.edges.len() as u32 - 1;
        self.waits[after as usize] += 1;
    }

    /// The event never comes.
    pub(super) fn exclude(&mut self, event: u32) {
        self.waits[event as usize] += 1;
    }

    /// A node that comes when all of these came, for the event `now` and later ones: one of them, if it is the only
    /// one, else a gate.
    pub(super) fn all_of(&mut self, nodes: &[u32], now: u32) -> u32 {
        match *nodes {
            [] => NONE,
            [node] => node,
            _ => {
                let gate = self.waits.len() as u32;
                self.waits.push(0);
                self.heads.push(NONE);
                self.gates.push(now);
                for &node in nodes {
                    self.need(node, gate);
                }
                gate
            }
        }
    }

    /// The turn of each event, without the order of the essential ones, which are given with the earliest event that
    /// any essential event from there on has.
    pub(super) fn turns(&self, turns: Turns, essential: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
        let mut turn: Vec<u32> = (0..self.events).collect();
        if turns == Turns::Late {
            return turn;
        }
        turn.resize(self.waits.len(), NONE);
        for (event, earliest) in essential {
            turn[event as usize] = earliest;
        }
        // Whoever needs a node stands behind it: gates stand right before the event that they were made for.
        let mut gates = self.gates.len();
        for event in (0..self.events).rev() {
            self.inherit(event, &mut turn);
            while gates > 0 && self.gates[gates - 1] == event {
                gates -= 1;
                self.inherit(self.events + gates as u32, &mut turn);
            }
        }
        turn
    }

    /// A node comes at the turn of whoever needs it, if that is earlier than its own.
    fn inherit(&self, node: u32, turn: &mut [u32]) {
        let mut edge = self.heads[node as usize];
        while edge != NONE {
            let (after, next) = self.edges[edge as usize];
            edge = next;
            turn[node as usize] = turn[node as usize].min(turn[after as usize]);
        }
    }

    /// All events that can come before `last`, by their turns, then `last`; without it if it cannot come.
    pub(super) fn sort(&self, turn: &[u32], last: Option<u32>, mut emit: impl FnMut(u32)) {
        let mut waits = self.waits.clone();
        let place = |event: u32| Reverse((turn[event as usize], event));
        let free = (0..self.events).filter(|&event| waits[event as usize] == 0 && Some(event) != last);
        let mut ready: BinaryHeap<Reverse<(u32, u32)>> = free.map(place).collect();
        let mut came = Vec::new();
        while let Some(Reverse((_, event))) = ready.pop() {
            emit(event);
            came.push(event);
            while let Some(node) = came.pop() {
                let mut edge = self.heads[node as usize];
                while edge != NONE {
                    let (after, next) = self.edges[edge as usize];
                    edge = next;
                    let waits = &mut waits[after as usize];
                    *waits -= 1;
                    if *waits == 0 && after >= self.events {
                        came.push(after);
                    } else if *waits == 0 && Some(after) != last {
                        ready.push(place(after));
                    }
                }
            }
        }
        if let Some(last) = last.filter(|&last| waits[last as usize] == 0) {
            emit(last);
        }
    }
}
