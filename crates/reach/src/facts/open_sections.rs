//! By chain and count of its events: which sections that matter are open then, as lists that share their tails.

use super::{NONE, Runs};

/// A section in a list.
#[derive(Clone, Copy)]
struct Node {
    section: u32,
    close: u32,
    below: u32,
}

/// A section that is closed out of order is taken out of a list in which it has no more than so many above it; deeper
/// it stays, and is passed over until many such are there, so that no trace can make every release copy a long list.
const MOST_COPIED: usize = 64;

/// The lists.
pub(crate) struct OpenSections {
    nodes: Vec<Node>,
    /// By chain: after so many events this list is that of the open ones, up to the next entry.
    changes: Vec<Vec<(u32, u32)>>,
}

impl OpenSections {
    pub(crate) fn new(runs: &Runs, chains: usize) -> OpenSections {
        let mut events: Vec<Vec<(u32, bool, u32)>> = vec![Vec::new(); chains];
        for (number, place) in (0u32..).zip(&runs.places).filter(|(_, place)| place.lock != NONE) {
            events[place.chain as usize].push((place.open, true, number));
            if place.close != NONE {
                events[place.chain as usize].push((place.close, false, number));
            }
        }
        let mut held = OpenSections { nodes: Vec::new(), changes: Vec::with_capacity(chains) };
        for mut events in events {
            events.sort_unstable();
            let mut changes = vec![(0, NONE)];
            let mut list = NONE;
            let (mut open, mut passed_over) = (0usize, 0usize);
            for (count, opens, section) in events {
                if opens {
                    list = held.push(list, section, runs.places[section as usize].close);
                    open += 1;
                } else {
                    open = open.saturating_sub(1);
                    match held.remove(list, section) {
                        Some(rest) => list = rest,
                        None => passed_over += 1,
                    }
                }
                // As many were closed since the last time as are copied now.
                if passed_over > open + MOST_COPIED {
                    let all: Vec<u32> = Open { nodes: &held.nodes, next: list, count }.collect();
                    let push = |list, section: u32| held.push(list, section, runs.places[section as usize].close);
                    list = all.into_iter().rev().fold(NONE, push);
                    passed_over = 0;
                }
                match changes.last_mut() {
                    Some(last) if last.0 == count => last.1 = list,
                    _ => changes.push((count, list)),
                }
            }
            held.changes.push(changes);
        }
        held
    }

    fn push(&mut self, below: u32, section: u32, close: u32) -> u32 {
        self.nodes.push(Node { section, close, below });
        self.nodes.len() as u32 - 1
    }

    /// The list without a section, unless that is too deep in it.
    fn remove(&mut self, list: u32, section: u32) -> Option<u32> {
        let mut above = Vec::new();
        let mut at = list;
        while let Some(&node) = self.nodes.get(at as usize) {
            if node.section == section {
                let above = above.into_iter().rev();
                return Some(above.fold(node.below, |list, node: Node| self.push(list, node.section, node.close)));
            }
            if above.len() == MOST_COPIED {
                break;
            }
            above.push(node);
            at = node.below;
        }
        None
    }

    /// The sections of a chain that are open after so many of its events, the one opened last first.
    #[inline]
    pub(crate) fn after(&self, chain: usize, count: u32) -> Open<'_> {
        let changes = &self.changes[chain];
        let at = changes.partition_point(|(from, _)| *from <= count);
        Open { nodes: &self.nodes, next: changes[at - 1].1, count }
    }
}

/// Open sections.
#[derive(Clone)]
pub(crate) struct Open<'h> {
    nodes: &'h [Node],
    next: u32,
    count: u32,
}

impl Iterator for Open<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        loop {
            let node = self.nodes.get(self.next as usize)?;
            self.next = node.below;
            if node.close > self.count {
                return Some(node.section);
            }
        }
    }
}
