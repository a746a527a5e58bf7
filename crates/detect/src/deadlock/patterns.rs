//! Abstract deadlock patterns: cycles of abstract requests of different threads, each asking for a lock that the next
//! one holds, the shortest first.

use super::requests::{Abstract, Requests};
use crate::lock_order::components;
use event::{Id, LockId, SiteId, ThreadId};

/// The search recurses once per thread of a cycle.
const LONGEST: usize = 64;

const FAR: u32 = u32::MAX;

/// A cycle of abstract requests, by their numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pattern {
    pub(super) requests: Vec<u32>,
}

/// A thread, the lock that it holds and that it asks for, and where: what makes a deadlock the same.
pub(super) type Identity = Vec<(ThreadId, LockId, SiteId, LockId, SiteId)>;

impl Pattern {
    fn parts<'r>(&'r self, requests: &'r Requests) -> impl Iterator<Item = &'r Abstract> {
        self.requests.iter().map(|&number| &requests.list[number as usize])
    }

    /// What makes it the same deadlock as another.
    pub(super) fn identity(&self, requests: &Requests) -> Identity {
        let parts: Vec<&Abstract> = self.parts(requests).collect();
        let part = |k: usize| {
            let asked = parts[(k + parts.len() - 1) % parts.len()].lock;
            let site = parts[k].holds(asked).map_or(SiteId(0), |hold| hold.2);
            (parts[k].thread, asked, site, parts[k].lock, parts[k].site)
        };
        let mut identity: Identity = (0..parts.len()).map(part).collect();
        let least = (0..identity.len()).min_by_key(|&k| identity[k].0).unwrap_or(0);
        identity.rotate_left(least);
        identity
    }

    /// Of each thread its requests, in order.
    pub(super) fn instances(&self, requests: &Requests) -> Vec<Vec<u64>> {
        self.parts(requests).map(|part| part.events.iter().map(|event| u64::from(event.0)).collect()).collect()
    }

    /// How far apart the first requests of each thread are.
    pub(super) fn spread(&self, requests: &Requests) -> u32 {
        let first = || self.parts(requests).filter_map(|part| part.events.first()).map(|event| event.0);
        first().max().unwrap_or(0) - first().min().unwrap_or(0)
    }

    /// The requests, if the trace ends with this cycle.
    pub(super) fn unanswered(&self, requests: &Requests) -> Option<Vec<u64>> {
        self.parts(requests).map(|part| part.unanswered.map(u64::from)).collect()
    }
}

/// The search was cut short.
struct Exhausted;

/// Finds the patterns of some abstract requests.
pub(super) struct Patterns<'a> {
    requests: &'a Requests,
    /// These, in order.
    some: &'a [u32],
    most: usize,
    steps: u64,
    /// By lock: who holds it while asking for a lock from which a cycle may lead back.
    holders: Vec<Vec<u32>>,
    /// By lock: the locks held while it is asked for.
    into: Vec<Vec<u32>>,
    path: Vec<u32>,
    /// By lock: how many requests more it takes at least until a lock is asked for that the first one holds.
    back: Vec<u32>,
    reached: Vec<u32>,
    longer: bool,
    found: Vec<Pattern>,
    /// So many patterns of one length may begin with one request.
    share: usize,
    /// So many there may be until then.
    upto: usize,
}

/// Patterns, and whether they are all.
pub(super) struct FoundPatterns {
    pub(super) patterns: Vec<Pattern>,
    pub(super) all: bool,
}

impl<'a> Patterns<'a> {
    /// At most so many, within so many steps, of the abstract requests with these numbers, which are in order.
    pub(super) fn find(requests: &'a Requests, some: &'a [u32], most: usize, steps: u64) -> FoundPatterns {
        let mut search = Patterns::new(requests, some, most, steps);
        let all = matches!(search.lengths(), Ok(true));
        if all || search.found.len() < most {
            return FoundPatterns { patterns: search.found, all };
        }
        // Too many: rather a few of each request, with those after it that are next to it, than all of a few.
        let mut search =
            Patterns { share: (most / some.len().max(1)).max(1), ..Patterns::new(requests, some, most, steps) };
        let _ = search.lengths();
        FoundPatterns { patterns: search.found, all: false }
    }

    fn new(requests: &'a Requests, some: &'a [u32], most: usize, steps: u64) -> Patterns<'a> {
        let list = || some.iter().map(|&number| (number, &requests.list[number as usize]));
        let ends = |request: &Abstract| request.held.iter().map(|hold| hold.0).chain([request.lock]).max();
        let locks = list().filter_map(|(_, request)| ends(request)).max().map_or(0, |lock| lock.index() + 1);
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for (_, request) in list() {
            edges.extend(request.held.iter().map(|hold| (hold.0.0, request.lock.0)));
        }
        edges.sort_unstable();
        edges.dedup();
        let mut component = vec![0; locks];
        for (number, nodes) in components(locks, &edges).into_iter().enumerate() {
            nodes.into_iter().for_each(|lock| component[lock as usize] = number);
        }
        let mut holders = vec![Vec::new(); locks];
        for (number, request) in list() {
            for hold in &request.held {
                if component[hold.0.index()] == component[request.lock.index()] {
                    holders[hold.0.index()].push(number);
                }
            }
        }
        let mut into = vec![Vec::new(); locks];
        for (from, to) in edges.into_iter().filter(|&(from, to)| component[from as usize] == component[to as usize]) {
            into[to as usize].push(from);
        }
        Patterns {
            requests,
            some,
            most,
            steps,
            holders,
            into,
            path: Vec::new(),
            back: vec![FAR; locks],
            reached: Vec::new(),
            longer: false,
            found: Vec::new(),
            share: usize::MAX,
            upto: usize::MAX,
        }
    }

    /// One length after the other; whether these are all.
    fn lengths(&mut self) -> Result<bool, Exhausted> {
        let mut threads: Vec<ThreadId> =
            self.some.iter().map(|&number| self.requests.list[number as usize].thread).collect();
        threads.sort_unstable();
        threads.dedup();
        for length in 2..=threads.len().min(LONGEST) {
            self.longer = false;
            for &first in self.some {
                self.measure(first, length)?;
                if self.back[self.requests.list[first as usize].lock.index()] != FAR {
                    self.path.push(first);
                    self.upto = self.found.len().saturating_add(self.share);
                    self.extend(length)?;
                    self.path.pop();
                }
            }
            if !self.longer {
                return Ok(true);
            }
        }
        Ok(threads.len() <= LONGEST)
    }

    fn step(&mut self, many: usize) -> Result<(), Exhausted> {
        self.steps = self.steps.checked_sub(many as u64).ok_or(Exhausted)?;
        Ok(())
    }

    fn measure(&mut self, first: u32, length: usize) -> Result<(), Exhausted> {
        for lock in self.reached.drain(..) {
            self.back[lock as usize] = FAR;
        }
        for hold in &self.requests.list[first as usize].held {
            self.back[hold.0.index()] = 0;
            self.reached.push(hold.0.0);
        }
        let mut next = 0;
        while let Some(&lock) = self.reached.get(next) {
            next += 1;
            let back = self.back[lock as usize] + 1;
            if back as usize >= length {
                self.longer = true;
                break;
            }
            for &before in &self.into[lock as usize] {
                if self.back[before as usize] == FAR {
                    self.back[before as usize] = back;
                    self.reached.push(before);
                }
            }
            self.step(1 + self.into[lock as usize].len())?;
        }
        self.step(1)
    }

    /// Goes on from the last request of the path. The first has the least number.
    fn extend(&mut self, length: usize) -> Result<(), Exhausted> {
        let requests = self.requests;
        let part = |number: u32| &requests.list[number as usize];
        let (first, last) = (self.path[0], self.path[self.path.len() - 1]);
        let asked = part(last).lock;
        if self.path.len() == length {
            self.longer = true;
            if part(first).holds(asked).is_some_and(|hold| hold.1.excludes(part(last).mode)) {
                self.report()?;
            }
            return Ok(());
        }
        let left = length - self.path.len();
        let behind = self.holders[asked.index()].partition_point(|&number| number <= first);
        for place in behind..self.holders[asked.index()].len() {
            if self.found.len() >= self.upto {
                break;
            }
            let number = self.holders[asked.index()][place];
            self.step(1)?;
            let next = part(number);
            let back = self.back[next.lock.index()];
            if back == FAR || back as usize + 1 > left {
                self.longer |= back != FAR;
                continue;
            }
            let blocks = next.holds(asked).is_some_and(|hold| hold.1.excludes(part(last).mode));
            if !blocks || !self.path.iter().all(|&other| requests.compatible(part(other), next)) {
                continue;
            }
            self.step(self.path.len())?;
            self.path.push(number);
            self.extend(length)?;
            self.path.pop();
        }
        Ok(())
    }

    fn report(&mut self) -> Result<(), Exhausted> {
        if self.found.len() >= self.most {
            return Err(Exhausted);
        }
        self.found.push(Pattern { requests: self.path.clone() });
        Ok(())
    }
}
