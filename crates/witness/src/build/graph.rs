//! A graph of direct predecessors, and a topological order of it that is near to the recorded order.

use crate::sections::NONE;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The nodes are events, by their offset in the region, and *gates*, which stand for a set of nodes. Gates keep the
/// number of edges linear where many events follow many others.
pub(super) struct Graph {
    events: u32,
    /// By node: the number of its direct predecessors, and one more if it is excluded.
    indegrees: Vec<u32>,
    /// By node: the last edge that begins there, or [`NONE`].
    heads: Vec<u32>,
    /// The node where the edge ends, and the edge before that begins at the same node.
    edges: Vec<(u32, u32)>,
    /// By gate: the event for which it was made. It is recorded after the gate's predecessors, and not after its
    /// successors.
    gates: Vec<u32>,
}

/// When an essential event comes that overtakes others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Overtaking {
    /// After all other events that were recorded before it: the overtaken events are late.
    Late,
    /// Right before the events that it overtakes, together with its predecessors: it is early.
    Early,
}

impl Graph {
    pub(super) fn new(events: usize) -> Graph {
        Graph {
            events: events as u32,
            indegrees: vec![0; events],
            heads: vec![NONE; events],
            edges: Vec::new(),
            gates: Vec::new(),
        }
    }

    /// Makes `before` a predecessor of `after`, unless `before` is [`NONE`].
    pub(super) fn add_edge(&mut self, before: u32, after: u32) {
        if before == NONE {
            return;
        }
        let head = &mut self.heads[before as usize];
        self.edges.push((after, *head));
        *head = self.edges.len() as u32 - 1;
        self.indegrees[after as usize] += 1;
    }

    /// Excludes an event, and so its successors, from the order.
    pub(super) fn exclude(&mut self, event: u32) {
        self.indegrees[event as usize] += 1;
    }

    /// A node that comes when all of these have come, for successors from event `now` on: the only one of them, or a
    /// gate.
    pub(super) fn all_of(&mut self, nodes: &[u32], now: u32) -> u32 {
        match *nodes {
            [] => NONE,
            [node] => node,
            _ => {
                let gate = self.indegrees.len() as u32;
                self.indegrees.push(0);
                self.heads.push(NONE);
                self.gates.push(now);
                for &node in nodes {
                    self.add_edge(node, gate);
                }
                gate
            }
        }
    }

    /// The priority of each node; the least comes first. The essential events come each with the earliest recorded of
    /// the essential events from it on. The edges between them must not be in the graph yet.
    pub(super) fn priorities(&self, overtaking: Overtaking, essential: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
        let mut priority: Vec<u32> = (0..self.events).collect();
        if overtaking == Overtaking::Late {
            return priority;
        }
        priority.resize(self.indegrees.len(), NONE);
        for (event, earliest) in essential {
            priority[event as usize] = earliest;
        }
        // Successors before predecessors: a gate comes right before the event for which it was made.
        let mut gates = self.gates.len();
        for event in (0..self.events).rev() {
            self.inherit(event, &mut priority);
            while gates > 0 && self.gates[gates - 1] == event {
                gates -= 1;
                self.inherit(self.events + gates as u32, &mut priority);
            }
        }
        priority
    }

    /// Lowers the priority of a node to the least of its successors'.
    fn inherit(&self, node: u32, priority: &mut [u32]) {
        let mut edge = self.heads[node as usize];
        while edge != NONE {
            let (after, next) = self.edges[edge as usize];
            edge = next;
            priority[node as usize] = priority[node as usize].min(priority[after as usize]);
        }
    }

    /// Emits all events that can come before `last`, by priority, and then `last`, if it can come.
    pub(super) fn sort(&self, priority: &[u32], last: Option<u32>, mut emit: impl FnMut(u32)) {
        let mut indegrees = self.indegrees.clone();
        let entry = |event: u32| Reverse((priority[event as usize], event));
        let free = (0..self.events).filter(|&event| indegrees[event as usize] == 0 && Some(event) != last);
        let mut ready: BinaryHeap<Reverse<(u32, u32)>> = free.map(entry).collect();
        let mut came = Vec::new();
        while let Some(Reverse((_, event))) = ready.pop() {
            emit(event);
            came.push(event);
            while let Some(node) = came.pop() {
                let mut edge = self.heads[node as usize];
                while edge != NONE {
                    let (after, next) = self.edges[edge as usize];
                    edge = next;
                    let indegrees = &mut indegrees[after as usize];
                    *indegrees -= 1;
                    if *indegrees == 0 && after >= self.events {
                        came.push(after);
                    } else if *indegrees == 0 && Some(after) != last {
                        ready.push(entry(after));
                    }
                }
            }
        }
        if let Some(last) = last.filter(|&last| indegrees[last as usize] == 0) {
            emit(last);
        }
    }
}
