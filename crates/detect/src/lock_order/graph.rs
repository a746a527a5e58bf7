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
const MOST_PAIRS: usize = 1 << 24;
const MOST_REQUESTS: usize = 1 << 20;
const MOST_SEGMENTS: usize = 1 << 14;
/// Requests of one edge that differ in thread, gate locks or segment: beyond so many they are much alike.
const MOST_ALIKE: usize = 1000;

/// What tells edges apart. They are ordered by the locks first.
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
        let mut unrecorded = 0;
        let (components, component) = cyclic(forest, &mut unrecorded);
        let mut builder = Builder { forest, edges: BTreeMap::new(), sets: Sets::default(), requests: 0, unrecorded };
        for &occurrence in &forest.occurrences {
            builder.add(occurrence, &component);
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
        let mut threads = vec![FxHashSet::default(); components.len()];
        for edge in &edges {
            if let Some(&number) = component.get(edge.key.to.index()).filter(|&&number| number != u32::MAX) {
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

    /// Whether two threads can be at these requests at the same time, as far as forks, joins and the locks held go.
    #[inline]
    pub(super) fn compatible(&self, a: &Request, b: &Request) -> bool {
        a.thread != b.thread
            && self.sets[a.held as usize].compatible(&self.sets[b.held as usize])
            && self.order.concurrent(a.segment, b.segment)
    }
}

/// The components of the lock graph with more than one lock, and which of them each lock is in.
fn cyclic(forest: &Forest, unrecorded: &mut u64) -> (Vec<Vec<LockId>>, Vec<u32>) {
    let mut pairs: FxHashSet<(u32, u32)> = FxHashSet::default();
    let mut last = None;
    for occurrence in &forest.occurrences {
        if last.replace(occurrence.node) == Some(occurrence.node) {
            continue;
        }
        let to = forest.nodes[occurrence.node as usize].key.lock;
        for above in forest.above(occurrence.node) {
            let from = forest.nodes[above as usize].key.lock;
            if from != to && pairs.len() < MOST_PAIRS {
                pairs.insert((from.0, to.0));
            } else if from != to && !pairs.contains(&(from.0, to.0)) {
                *unrecorded += 1;
            }
        }
    }
    let mut pairs: Vec<(u32, u32)> = pairs.into_iter().collect();
    pairs.sort_unstable();
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
    (cyclic, component)
}

#[derive(Default)]
struct Sets {
    list: Vec<LockSet>,
    known: FxHashMap<Box<[(LockId, LockMode)]>, u32>,
}

impl Sets {
    fn intern(&mut self, locks: Vec<(LockId, LockMode)>) -> u32 {
        let locks = locks.into_boxed_slice();
        *self.known.entry(locks.clone()).or_insert_with(|| {
            self.list.push(LockSet::new(locks));
            (self.list.len() - 1) as u32
        })
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
    fn add(&mut self, occurrence: Occurrence, component: &[u32]) {
        let node = &self.forest.nodes[occurrence.node as usize];
        let to = node.key.lock;
        let of = |lock: LockId| component.get(lock.index()).copied().unwrap_or(u32::MAX);
        let on_cycle = |from: LockId| from == to || (of(from) == of(to) && of(to) != u32::MAX);
        let above: Vec<u32> = self.forest.above(occurrence.node).collect();
        let lock = |node: u32| self.forest.nodes[node as usize].key.lock;
        if !above.iter().any(|&above| on_cycle(lock(above))) {
            return;
        }
        let mut locks: Vec<_> = above.iter().map(|&above| self.forest.held(above)).map(|h| (h.lock, h.mode)).collect();
        // A lock that is held both ways is held alone.
        locks.sort_unstable_by_key(|&(lock, mode)| (lock, std::cmp::Reverse(mode)));
        locks.dedup_by_key(|held| held.0);
        let held = self.sets.intern(locks);
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
