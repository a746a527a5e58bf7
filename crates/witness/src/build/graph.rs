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
}

impl Graph {
    pub(super) fn new(events: usize) -> Graph {
        Graph { events: events as u32, waits: vec![0; events], heads: vec![NONE; events], edges: Vec::new() }
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

    /// A node that comes when all of these came: one of them, if it is the only one, else a gate.
    pub(super) fn all_of(&mut self, nodes: &[u32]) -> u32 {
        match *nodes {
            [] => NONE,
            [node] => node,
            _ => {
                let gate = self.waits.len() as u32;
                self.waits.push(0);
                self.heads.push(NONE);
                for &node in nodes {
                    self.need(node, gate);
                }
                gate
            }
        }
    }

    /// All events that can come before `last`, the earliest recorded first among those that can, then `last`. `false`
    /// at the end if that cannot come.
    pub(super) fn sort(mut self, last: u32, mut emit: impl FnMut(u32)) -> bool {
        let free = (0..self.events).filter(|&event| self.waits[event as usize] == 0 && event != last);
        let mut ready: BinaryHeap<Reverse<u32>> = free.map(Reverse).collect();
        let mut gates = Vec::new();
        while let Some(Reverse(event)) = ready.pop() {
            emit(event);
            gates.push(event);
            while let Some(node) = gates.pop() {
                let mut edge = self.heads[node as usize];
                while edge != NONE {
                    let (after, next) = self.edges[edge as usize];
                    edge = next;
                    let waits = &mut self.waits[after as usize];
                    *waits -= 1;
                    if *waits == 0 && after >= self.events {
                        gates.push(after);
                    } else if *waits == 0 && after != last {
                        ready.push(Reverse(after));
                    }
                }
            }
        }
        let comes = self.waits[last as usize] == 0;
        if comes {
            emit(last);
        }
        comes
    }
}
