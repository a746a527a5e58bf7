//! The lock graph (section 3 of the JPaX paper): from every lock held to every lock asked for meanwhile, as far as it
//! lies on a cycle; with the requests of each edge, and what they hold as gate locks.

use super::components::components;
use super::report::LockMode;
use super::segments::{SegmentOrder, Segments};
use super::tree::{Forest, Occurrence};
use event::{Id, LockId, SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Bounds of memory. What is beyond them is counted.
const MOST_REQUESTS: usize = 1 << 20;
const MOST_SEGMENTS: usize = 1 << 14;
/// Members of all sets of locks held together.
const MOST_MEMBERS: usize = 1 << 24;
/// Requests of one edge that differ in thread, gate locks or segment: beyond so many they are much alike.
const MOST_ALIKE: usize = 1000;

/// What distinguishes edges. They are ordered by the locks first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct EdgeKey {
    pub(super) from: LockId,
    pub(super) to: LockId,
    pub(super) from_mode: LockMode,
    pub(super) to_mode: LockMode,
    pub(super) from_site: SiteId,
    pub(super) to_site: SiteId,
}

/// A request of an edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) thread: ThreadId,
    /// The set of locks held.
    held: u32,
    /// Its segment, as a place in the order; the number of the segment until that is known.
    segment: u32,
    /// Its node in the forest, and the one of the lock held.
    pub(super) node: u32,
    pub(super) holder: u32,
    pub(super) occurrence: Occurrence,
}

#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) key: EdgeKey,
    pub(super) requests: Vec<Request>,
}

/// A set of locks with their modes, in order, and a summary: sets that share a lock share a bit.
#[derive(Debug)]
struct LockSet {
    locks: Box<[(LockId, LockMode)]>,
    bits: u64,
}

impl LockSet {
    fn new(locks: Box<[(LockId, LockMode)]>) -> LockSet {
        let bits = locks.iter().fold(0, |bits, held| bits | 1 << (held.0.0 % 64));
        LockSet { locks, bits }
    }

    /// About how long it takes to compare it, in steps.
    fn cost(&self) -> u64 {
        1 + self.locks.len() as u64 / 8
    }

    /// Whether two threads can hold these at the same time.
    fn compatible(&self, other: &LockSet) -> bool {
        if self.bits & other.bits == 0 {
            return true;
        }
        let (mut a, mut b) = (self.locks.iter().peekable(), other.locks.iter().peekable());
        while let (Some(&&(x, mode)), Some(&&(y, other))) = (a.peek(), b.peek()) {
            if x == y && mode.excludes(other) {
                return false;
            }
            if x <= y {
                a.next()
            } else {
                b.next()
            };
        }
        true
    }
}

/// Locks that reach each other.
#[derive(Debug)]
pub(super) struct Component {
    /// In order.
    pub(super) locks: Vec<LockId>,
    /// No cycle in it has more locks and threads.
    pub(super) longest: usize,
}

/// The part of the lock graph that lies on cycles.
#[derive(Debug)]
pub(super) struct LockGraph {
    /// In the order of their keys.
    pub(super) edges: Vec<Edge>,
    /// Where there may be cycles.
    pub(super) components: Vec<Component>,
    sets: Vec<LockSet>,
    order: SegmentOrder,
    /// What found no room.
    pub(super) unrecorded: u64,
}

impl LockGraph {
    pub(super) fn new(forest: &Forest, segments: &Segments) -> LockGraph {
        let (_, possible) = cyclic(nested(forest));
        let mut builder = Builder { forest, edges: BTreeMap::new(), sets: Sets::default(), requests: 0, unrecorded: 0 };
        for &occurrence in &forest.occurrences {
            builder.add(occurrence, &possible);
        }
        let mut edges: Vec<Edge> =
            builder.edges.into_iter().map(|(key, requests)| Edge { key, requests: requests.list }).collect();
        let mut some: Vec<u32> = edges.iter().flat_map(|edge| &edge.requests).map(|request| request.segment).collect();
        some.sort_unstable();
        some.dedup();
        some.truncate(MOST_SEGMENTS);
        for edge in &mut edges {
            edge.requests.retain_mut(|request| match some.binary_search(&request.segment) {
                Ok(place) => {
                    request.segment = place as u32;
                    true
                }
                Err(_) => {
                    builder.unrecorded += 1;
                    false
                }
            });
            // A deadlock that happened is the best example; then what came first.
            edge.requests.sort_by_key(|request| (!request.occurrence.unanswered, request.occurrence.event));
        }
        edges.retain(|edge| !edge.requests.is_empty());
        let (components, component) = cyclic(edges.iter().map(|edge| (edge.key.from.0, edge.key.to.0)).collect());
        edges.retain(|edge| edge.key.from == edge.key.to || component.same(edge.key.from, edge.key.to));
        let mut threads = vec![FxHashSet::default(); components.len()];
        for edge in &edges {
            if let Some(number) = component.number_of(edge.key.to) {
                threads[number as usize].extend(edge.requests.iter().map(|request| request.thread));
            }
        }
        let components = components
            .into_iter()
            .zip(threads)
            .map(|(locks, threads)| Component { longest: locks.len().min(threads.len()), locks })
            .collect();
        let order = segments.order(&some);
        LockGraph { edges, components, sets: builder.sets.list, order, unrecorded: builder.unrecorded }
    }

    /// About how long it takes to compare a request with another, in steps.
    #[inline]
    pub(super) fn cost(&self, request: &Request) -> u64 {
        self.sets[request.held as usize].cost()
    }

    /// Whether two threads can be at these requests at the same time, as far as forks, joins and the locks held go.
    #[inline]
    pub(super) fn compatible(&self, a: &Request, b: &Request) -> bool {
        a.thread != b.thread
            && self.sets[a.held as usize].compatible(&self.sets[b.held as usize])
            && self.order.concurrent(a.segment, b.segment)
    }
}

/// From each lock to those taken right inside it. Whatever is held when a lock is asked for reaches that lock by these,
/// so cycles of the lock graph are in their components; and there are no more of them than nodes.
fn nested(forest: &Forest) -> Vec<(u32, u32)> {
    let lock = |node: u32| forest.nodes[node as usize].key.lock.0;
    let inner = forest.nodes.iter().filter(|node| node.depth > 1);
    inner.map(|node| (lock(node.parent), node.key.lock.0)).collect()
}

/// Which component each lock is in, if it is in one of more than one lock.
struct Membership(Vec<u32>);

impl Membership {
    fn number_of(&self, lock: LockId) -> Option<u32> {
        self.0.get(lock.index()).copied().filter(|&number| number != u32::MAX)
    }

    fn same(&self, a: LockId, b: LockId) -> bool {
        self.number_of(a).is_some_and(|number| self.number_of(b) == Some(number))
    }
}

/// The components of a graph of locks with more than one lock.
fn cyclic(mut pairs: Vec<(u32, u32)>) -> (Vec<Vec<LockId>>, Membership) {
    pairs.sort_unstable();
    pairs.dedup();
    let locks = pairs.iter().map(|pair| pair.0.max(pair.1) as usize + 1).max().unwrap_or(0);
    let mut component = vec![u32::MAX; locks];
    let mut cyclic: Vec<Vec<LockId>> = components(locks, &pairs)
        .into_iter()
        .filter(|locks| locks.len() > 1)
        .map(|locks| locks.into_iter().map(LockId).collect())
        .collect();
    cyclic.iter_mut().for_each(|locks| locks.sort_unstable());
    cyclic.sort_unstable();
    for (number, locks) in (0..).zip(&cyclic) {
        locks.iter().for_each(|lock| component[lock.index()] = number);
    }
    (cyclic, Membership(component))
}

#[derive(Default)]
struct Sets {
    list: Vec<LockSet>,
    known: FxHashMap<Box<[(LockId, LockMode)]>, u32>,
    members: usize,
}

impl Sets {
    /// The number of a set, if there is room for it.
    fn intern(&mut self, locks: Vec<(LockId, LockMode)>) -> Option<u32> {
        if let Some(&known) = self.known.get(locks.as_slice()) {
            return Some(known);
        }
        self.members += locks.len();
        if self.members > MOST_MEMBERS {
            return None;
        }
        let (number, locks) = (self.list.len() as u32, locks.into_boxed_slice());
        self.known.insert(locks.clone(), number);
        self.list.push(LockSet::new(locks));
        Some(number)
    }
}

#[derive(Default)]
struct Requests {
    list: Vec<Request>,
    /// Thread, locks held and segment: where each stands in the list.
    known: FxHashMap<(ThreadId, u32, u32), usize>,
}

struct Builder<'a> {
    forest: &'a Forest,
    edges: BTreeMap<EdgeKey, Requests>,
    sets: Sets,
    requests: usize,
    unrecorded: u64,
}

impl Builder<'_> {
    fn add(&mut self, occurrence: Occurrence, possible: &Membership) {
        let node = &self.forest.nodes[occurrence.node as usize];
        let to = node.key.lock;
        let lock = |node: u32| self.forest.nodes[node as usize].key.lock;
        let on_cycle = |from: LockId| from == to || possible.same(from, to);
        // If a lock further up is on a cycle with this one, so is all that is between them.
        if !on_cycle(lock(node.parent)) {
            return;
        }
        if self.requests >= MOST_REQUESTS {
            self.unrecorded += 1;
            return;
        }
        let above: Vec<u32> = self.forest.above(occurrence.node).collect();
        let mut locks: Vec<_> = above.iter().map(|&above| self.forest.held(above)).map(|h| (h.lock, h.mode)).collect();
        // A lock that is held both ways is held alone.
        locks.sort_unstable_by_key(|&(lock, mode)| (lock, std::cmp::Reverse(mode)));
        locks.dedup_by_key(|held| held.0);
        let Some(held) = self.sets.intern(locks) else {
            self.unrecorded += 1;
            return;
        };
        for (k, &holder) in above.iter().enumerate() {
            let from = self.forest.held(holder);
            // Shared below, exclusive above: the exclusive one, nearer, is the one that counts.
            let again = above[..k].iter().any(|&nearer| lock(nearer) == from.lock);
            if again || !on_cycle(from.lock) {
                continue;
            }
            let key = EdgeKey {
                from: from.lock,
                to,
                from_mode: from.mode,
                to_mode: node.key.mode,
                from_site: from.site,
                to_site: node.key.site,
            };
            let (thread, segment) = (node.thread, occurrence.segment);
            self.put(key, Request { thread, held, segment, node: occurrence.node, holder, occurrence });
        }
    }

    fn put(&mut self, key: EdgeKey, request: Request) {
        let requests = self.edges.entry(key).or_default();
        let alike = (request.thread, request.held, request.segment);
        if let Some(&known) = requests.known.get(&alike) {
            if request.occurrence.unanswered {
                requests.list[known] = request;
            }
        } else if requests.list.len() < MOST_ALIKE && self.requests < MOST_REQUESTS {
            requests.known.insert(alike, requests.list.len());
            requests.list.push(request);
            self.requests += 1;
        } else {
            self.unrecorded += 1;
        }
    }
}
