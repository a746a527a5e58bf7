//! Cycles of requests: simple cycles of the lock graph, the shortest first, for which there are requests of different
//! threads that can all be waiting at the same time.
//!
//! Each cycle is found from its edge with the fewest requests: what is compatible with that one is soon known, whereas
//! paths of edges that every thread takes can be extended for long and never come back.

use super::LockOrderOptions;
use super::graph::{Edge, LockGraph, Request};
use super::report::{LockCycle, LockOrderReport, LockRequest};
use super::tree::Forest;
use event::{Id, LockId};
use std::ops::Range;

/// The search recurses once per thread of a cycle.
const LONGEST: usize = 256;

const FAR: u32 = u32::MAX;

/// The search was cut short.
struct Exhausted;

pub(super) struct Search<'a> {
    graph: &'a LockGraph,
    forest: &'a Forest,
    most: usize,
    steps: u64,
    report: LockOrderReport,
    /// The edges from each lock.
    from: Vec<Range<usize>>,
    /// The edges by their number of requests.
    rank: Vec<u32>,
    /// The locks that are held while each lock is asked for, with the highest rank of these edges.
    into: Vec<Vec<(LockId, u32)>>,
    /// The rank of the first edge of the path.
    least: u32,
    /// The edges of the cycle so far, and requests of theirs that are compatible.
    path: Vec<usize>,
    chosen: Vec<usize>,
    on_path: Vec<bool>,
    /// How many edges of higher rank lead back to the first lock; which locks these are.
    back: Vec<u32>,
    reached: Vec<LockId>,
    /// The cycles found, as edges.
    found: Vec<(Vec<usize>, LockCycle)>,
    /// There are paths that a longer cycle might take.
    longer: bool,
}

impl<'a> Search<'a> {
    pub(super) fn new(graph: &'a LockGraph, forest: &'a Forest, options: &LockOrderOptions) -> Search<'a> {
        let in_components = graph.components.iter().flat_map(|component| &component.locks);
        let in_edges = graph.edges.iter().flat_map(|edge| [&edge.key.from, &edge.key.to]);
        let locks = in_components.chain(in_edges).map(|lock| lock.index() + 1).max().unwrap_or(0);
        let mut from = vec![0..0; locks];
        let mut begin = 0;
        for edges in graph.edges.chunk_by(|a, b| a.key.from == b.key.from) {
            from[edges[0].key.from.index()] = begin..begin + edges.len();
            begin += edges.len();
        }
        let mut into = vec![Vec::new(); locks];
        for edge in graph.edges.chunk_by(|a, b| (a.key.from, a.key.to) == (b.key.from, b.key.to)) {
            into[edge[0].key.to.index()].push((edge[0].key.from, 0));
        }
        let mut by_requests: Vec<usize> = (0..graph.edges.len()).collect();
        by_requests.sort_by_key(|&edge| graph.edges[edge].requests.len());
        let mut rank = vec![0; graph.edges.len()];
        (0..).zip(by_requests).for_each(|(number, edge)| rank[edge] = number);
        for (edge, &rank) in graph.edges.iter().zip(&rank) {
            let into = &mut into[edge.key.to.index()];
            // They are in the order of the locks, as the edges are.
            if let Ok(place) = into.binary_search_by_key(&edge.key.from, |known| known.0) {
                into[place].1 = into[place].1.max(rank);
            }
        }
        Search {
            graph,
            forest,
            most: options.cycles,
            steps: options.steps,
            report: LockOrderReport::default(),
            from,
            rank,
            into,
            least: 0,
            path: Vec::new(),
            chosen: Vec::new(),
            on_path: vec![false; locks],
            back: vec![FAR; locks],
            reached: Vec::new(),
            found: Vec::new(),
            longer: false,
        }
    }

    /// Looks for cycles of up to so many threads.
    pub(super) fn run(mut self, upto: Option<usize>) -> LockOrderReport {
        self.report.searched = 1;
        self.report.complete = self.lengths(upto).is_ok_and(|all| all);
        self.found.sort_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
        self.report.cycles = self.found.into_iter().map(|found| found.1).collect();
        self.report
    }

    /// One length after the other; whether these are all that were asked for.
    fn lengths(&mut self, upto: Option<usize>) -> Result<bool, Exhausted> {
        let possible = self.graph.components.iter().map(|component| component.longest).max().unwrap_or(0).max(2);
        for length in 2..=upto.unwrap_or(LONGEST).min(LONGEST) {
            self.longer = false;
            self.all_of(length)?;
            self.report.searched = length;
            if !self.longer || length == possible {
                return Ok(true);
            }
        }
        Ok(upto.is_some_and(|upto| upto <= LONGEST))
    }

    fn all_of(&mut self, length: usize) -> Result<(), Exhausted> {
        if length == 2 {
            self.upgrades()?;
        }
        let graph = self.graph;
        for component in graph.components.iter().filter(|component| component.longest >= length) {
            for &start in &component.locks {
                for first in self.edges(start) {
                    self.begin(start, first, length)?;
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, many: u64) -> Result<(), Exhausted> {
        self.steps = self.steps.checked_sub(many).ok_or(Exhausted)?;
        Ok(())
    }

    fn edges(&self, lock: LockId) -> Range<usize> {
        self.from.get(lock.index()).cloned().unwrap_or_default()
    }

    /// Finds the cycles of which this edge is the one of the lowest rank.
    fn begin(&mut self, start: LockId, first: usize, length: usize) -> Result<(), Exhausted> {
        let to = self.graph.edges[first].key.to;
        self.least = self.rank[first];
        // Upgrades are edges from a lock to itself.
        if to == start {
            return Ok(());
        }
        self.measure(start, length)?;
        if self.back[to.index()] == FAR || !self.choose(first)? {
            return Ok(());
        }
        self.path.push(first);
        self.on_path[to.index()] = true;
        let result = self.extend(start, to, length);
        self.on_path[to.index()] = false;
        self.path.clear();
        self.chosen.clear();
        result
    }

    /// How many edges of higher rank it is at least back to the start, if so few that a cycle can be of this length.
    fn measure(&mut self, start: LockId, length: usize) -> Result<(), Exhausted> {
        for lock in self.reached.drain(..) {
            self.back[lock.index()] = FAR;
        }
        self.back[start.index()] = 0;
        self.reached.push(start);
        let mut next = 0;
        while let Some(&lock) = self.reached.get(next) {
            next += 1;
            let back = self.back[lock.index()] + 1;
            if back as usize >= length {
                self.longer = true;
                break;
            }
            for &(before, rank) in &self.into[lock.index()] {
                if rank > self.least && self.back[before.index()] == FAR {
                    self.back[before.index()] = back;
                    self.reached.push(before);
                }
            }
            self.step(1 + self.into[lock.index()].len() as u64 / 16)?;
        }
        Ok(())
    }

    /// Goes on from the last lock of the path.
    fn extend(&mut self, start: LockId, last: LockId, length: usize) -> Result<(), Exhausted> {
        let graph = self.graph;
        for index in self.edges(last) {
            self.step(1)?;
            let edge = &graph.edges[index];
            let to = edge.key.to;
            let closes = to == start;
            if self.rank[index] <= self.least
                || to == last
                || self.back[to.index()] == FAR
                || (!closes && self.on_path[to.index()])
            {
                continue;
            }
            if closes != (self.path.len() + 1 == length) {
                self.longer |= !closes;
                continue;
            }
            if self.path.len() + 1 + self.back[to.index()] as usize > length {
                self.longer = true;
                continue;
            }
            let waits = self.path.last().is_none_or(|&before| blocks(&graph.edges[before], edge));
            if !waits || !self.choose(index)? {
                continue;
            }
            self.path.push(index);
            let result = if closes {
                if blocks(edge, &graph.edges[self.path[0]]) {
                    self.report();
                }
                Ok(())
            } else {
                self.on_path[to.index()] = true;
                let result = self.extend(start, to, length);
                self.on_path[to.index()] = false;
                result
            };
            self.path.pop();
            self.chosen.truncate(self.path.len());
            result?;
        }
        Ok(())
    }

    /// Chooses a request of another edge that is compatible with those of the path; for which, if need be, others are
    /// chosen.
    fn choose(&mut self, edge: usize) -> Result<bool, Exhausted> {
        let graph = self.graph;
        if let Some(request) = self.next_fit(&graph.edges[edge].requests, 0)? {
            self.chosen.push(request);
            return Ok(true);
        }
        let before = std::mem::take(&mut self.chosen);
        self.path.push(edge);
        let found = self.choose_anew();
        self.path.pop();
        if !matches!(found, Ok(true)) {
            self.chosen = before;
        }
        found
    }

    /// The first request, from one on, that is compatible with all that are chosen.
    fn next_fit(&mut self, requests: &[Request], from: usize) -> Result<Option<usize>, Exhausted> {
        let graph = self.graph;
        let mut steps = 1;
        let fit = (from..requests.len()).find(|&request| {
            let chosen = self.path.iter().zip(&self.chosen);
            let cost = graph.cost(&requests[request]);
            chosen.rev().all(|(&edge, &other)| {
                steps += cost;
                graph.compatible(&requests[request], &graph.edges[edge].requests[other])
            })
        });
        self.step(steps)?;
        Ok(fit)
    }

    /// Chooses requests for all the path, by trying.
    fn choose_anew(&mut self) -> Result<bool, Exhausted> {
        let mut next = 0;
        loop {
            let requests = &self.graph.edges[self.path[self.chosen.len()]].requests;
            match self.next_fit(requests, next)? {
                Some(request) => {
                    self.chosen.push(request);
                    if self.chosen.len() == self.path.len() {
                        return Ok(true);
                    }
                    next = 0;
                }
                None => match self.chosen.pop() {
                    Some(request) => next = request + 1,
                    None => return Ok(false),
                },
            }
        }
    }

    /// Two threads that share a lock and both ask to have it alone: the one cycle around a single lock.
    fn upgrades(&mut self) -> Result<(), Exhausted> {
        let graph = self.graph;
        let upgrades: Vec<usize> =
            (0..graph.edges.len()).filter(|&edge| graph.edges[edge].key.from == graph.edges[edge].key.to).collect();
        for (k, &one) in upgrades.iter().enumerate() {
            for &other in &upgrades[k..] {
                if graph.edges[one].key.from != graph.edges[other].key.from {
                    break;
                }
                self.step(1)?;
                (self.path, self.chosen) = (vec![one, other], Vec::new());
                let found = self.choose_anew();
                if matches!(found, Ok(true)) {
                    self.report();
                }
                self.path.clear();
                self.chosen.clear();
                found?;
            }
        }
        Ok(())
    }

    fn report(&mut self) {
        if self.found.len() >= self.most {
            self.report.left_out += 1;
            return;
        }
        let edges = &self.graph.edges;
        let mut around: Vec<(usize, usize)> = self.path.iter().copied().zip(self.chosen.iter().copied()).collect();
        let least = (0..around.len()).min_by_key(|&k| (edges[around[k].0].key.from, k)).unwrap_or(0);
        around.rotate_left(least);
        let requests = around.iter().map(|&(edge, request)| self.request(&edges[edge].requests[request])).collect();
        let path = around.into_iter().map(|(edge, _)| edge).collect();
        self.found.push((path, LockCycle { requests }));
    }

    fn request(&self, request: &Request) -> LockRequest {
        let mut above: Vec<u32> = self.forest.above(request.node).collect();
        above.reverse();
        let node = &self.forest.nodes[request.node as usize];
        LockRequest {
            thread: request.thread,
            lock: node.key.lock,
            mode: node.key.mode,
            site: node.key.site,
            stack: request.occurrence.stack,
            event: request.occurrence.event,
            holds: above.iter().position(|&held| held == request.holder).unwrap_or(0),
            held: above.into_iter().map(|held| self.forest.held(held)).collect(),
            count: node.count,
            unanswered: request.occurrence.unanswered,
        }
    }
}

/// Whether the request of an edge waits for the holder of the next one.
fn blocks(edge: &Edge, next: &Edge) -> bool {
    edge.key.to_mode.excludes(next.key.from_mode)
}
