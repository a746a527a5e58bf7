//! The region of a schedule that is not as recorded.

use super::NoSchedule;
use super::graph::{Graph, Overtaking};
use super::predecessors::Predecessors;
use crate::moved::fewest_moved;
use event::{Batch, Causality, Names};

/// The events from the first essential one that is out of order.
pub(super) struct Region<'a> {
    start: u64,
    /// The first event after the region: from there on all is as recorded, or it is the one after all listed events.
    pub(super) end: u64,
    /// The essential events of the region, in their order.
    essential: &'a [u64],
    /// By event of the region: whether it is one of these.
    listed: Vec<bool>,
    /// The last event of the schedule, if the schedule ends with the region.
    last: Option<u64>,
}

impl<'a> Region<'a> {
    /// The region of these essential events, the first of which is out of order at `start`; `latest` is the last
    /// recorded of them.
    pub(super) fn new(
        start: u64,
        latest: u64,
        essential: &'a [u64],
        is_essential: &dyn Fn(u64) -> bool,
    ) -> Result<Region<'a>, NoSchedule> {
        let mut listed = vec![false; (latest + 1 - start) as usize];
        for &event in essential {
            match event.checked_sub(start).map(|offset| &mut listed[offset as usize]) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(NoSchedule::Listed(event)),
            }
        }
        let mut region = Region { start, end: latest + 1, essential, listed, last: essential.last().copied() };
        let left_out = (start..).zip(&region.listed).any(|(event, &listed)| !listed && is_essential(event));
        if left_out {
            return Ok(region);
        }
        // No event is left out, so after the last overtaken event all is as recorded.
        let mut greatest = 0;
        let in_order = |&event: &u64| {
            let overtakes = event > greatest;
            greatest = greatest.max(event);
            overtakes
        };
        let in_order: Vec<bool> = essential.iter().map(in_order).collect();
        let tail = in_order.iter().rev().take_while(|&&in_order| in_order).count();
        let overtaken = &essential[..essential.len() - tail];
        if let (Some(latest), 1..) = (overtaken.iter().max(), tail) {
            region.essential = overtaken;
            region.end = latest + 1;
            region.last = None;
            region.listed.truncate((region.end - start) as usize);
        }
        Ok(region)
    }

    fn node(&self, event: u64) -> u32 {
        (event - self.start) as u32
    }

    /// An order of the events of the region.
    pub(super) fn sort(
        &self,
        model: Causality,
        names: &Names,
        trace: &Batch,
        is_essential: &dyn Fn(u64) -> bool,
    ) -> Result<Vec<u64>, NoSchedule> {
        let mut graph = Graph::new(self.listed.len());
        let mut needs = Predecessors::new(model, names, trace);
        let offset = |event: u64| (event - trace.first) as usize;
        for (at, &event) in (0u32..).zip(&trace.events[..offset(self.start)]) {
            needs.skip(at, event);
        }
        for (index, &listed) in (self.start..self.end).zip(&self.listed) {
            let (at, node) = (offset(index), self.node(index));
            needs.add(&mut graph, at as u32, node, trace.events[at]);
            if !listed && is_essential(index) {
                graph.exclude(node);
            }
        }
        let orders = [Overtaking::Late, Overtaking::Early]
            .map(|overtaking| graph.priorities(overtaking, self.earliest().into_iter()));
        for pair in self.essential.windows(2) {
            graph.add_edge(self.node(pair[0]), self.node(pair[1]));
        }
        let [late, early] = orders.map(|priority| self.sorted(&graph, &priority));
        let (late, early) = (late?, early?);
        let thread = |index: u64| trace.events[offset(index)].thread();
        let figures = |region: &[u64]| {
            let before = (self.start > trace.first).then(|| self.start - 1);
            let behind = self.last.is_none().then_some(self.end);
            let all: Vec<_> = before.iter().chain(region).chain(&behind).map(|&index| thread(index)).collect();
            let switches = all.windows(2).filter(|pair| pair[0] != pair[1]).count();
            (fewest_moved(region), switches)
        };
        Ok(if figures(&early) < figures(&late) { early } else { late })
    }

    /// The essential events, each with the earliest recorded of those from it on.
    fn earliest(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<_> = self.essential.iter().map(|&event| (self.node(event), self.node(event))).collect();
        for k in (1..all.len()).rev() {
            all[k - 1].1 = all[k - 1].1.min(all[k].1);
        }
        all
    }

    fn sorted(&self, graph: &Graph, priority: &[u32]) -> Result<Vec<u64>, NoSchedule> {
        let mut sorted = Vec::with_capacity(self.listed.len());
        graph.sort(priority, self.last.map(|last| self.node(last)), |node| sorted.push(self.start + u64::from(node)));
        let mut reached = self.essential.iter().copied().peekable();
        for event in &sorted {
            reached.next_if_eq(event);
        }
        reached.next().map_or(Ok(sorted), |event| Err(NoSchedule::MissingPredecessor(event)))
    }
}
