//! An order of a set of events in which reversed sections come last of their locks.
//!
//! Everything else keeps its recorded order where that matters: conflicting accesses, sections of a lock, events of a
//! condition or a semaphore. What is recorded before the first reversed section stays as it is; the rest is gone
//! through in recorded order, again and again, and each event taken as soon as it can come. If none can, there is no
//! such order.

use super::NONE;
use super::closure::Closure;
use super::index::Index;
use event::{Op, Space};

/// Counts of the events of an object, by kind: those of one kind need no order among each other, unless they are
/// strict.
type Counts = [u32; 3];
/// Reads, and openings of shared sections.
const SHARED: u8 = 0;
/// Writes that no read of the set sees.
const UNSEEN: u8 = 1;
/// Everything else.
const STRICT: u8 = 2;

/// How many of the events counted keep their order with one of this kind.
#[inline]
fn ordered(counts: Counts, kind: u8) -> u32 {
    let all: u32 = counts.iter().sum();
    if kind == STRICT { all } else { all - counts[kind as usize] }
}

/// Who has a lock.
#[derive(Clone, Copy, Debug)]
struct Holder {
    exclusive: u32,
    shared: u32,
}

/// To find one order, events are looked at so often.
const MOST_STEPS: u64 = 1 << 26;

const FREE: Holder = Holder { exclusive: NONE, shared: 0 };

/// Memory for orders, used again.
#[derive(Debug)]
pub(super) struct Reorder {
    region: Vec<u32>,
    /// By place in the region: how many events of its object come before it.
    needed: Vec<u32>,
    kinds: Vec<u8>,
    /// By variable: the place of the last write of the region, or [`NONE`].
    writes: Vec<u32>,
    /// By space and object.
    counts: [Vec<Counts>; 4],
    holders: Vec<Holder>,
    /// Locks that some thread took.
    taken: Vec<u32>,
    done: Vec<u32>,
    /// By chain: how many of its events the set has.
    cut: Vec<u32>,
    pending: Vec<u32>,
    order: Vec<u32>,
    /// How many events were looked at.
    pub(super) steps: u64,
    /// The last order was not found because that took too long.
    pub(super) gave_up: bool,
    /// Where the reversed sections open, in order.
    reversed: Vec<u32>,
}

const VAR: usize = 0;
const LOCK: usize = 1;
const CONDITION: usize = 2;
const SEMAPHORE: usize = 3;

/// The kinds of objects that order their events.
fn space(op: Op) -> Option<usize> {
    match op {
        Op::Acquire | Op::ReadAcquire | Op::TryAcquire => Some(LOCK),
        Op::Wait | Op::Woken | Op::Notify | Op::NotifyAll => Some(CONDITION),
        Op::Up | Op::Down => Some(SEMAPHORE),
        _ if op.space() == Some(Space::Var) && !op.is_drop_barrier() => Some(VAR),
        _ => None,
    }
}

/// The kind of an operation; writes may turn out to be seen.
fn kind(op: Op) -> u8 {
    match op {
        Op::Read | Op::AtomicLoad | Op::ReadAcquire => SHARED,
        Op::Write | Op::AtomicStore => UNSEEN,
        _ => STRICT,
    }
}

impl Reorder {
    pub(super) fn new(index: &Index<'_>, objects: [usize; 4]) -> Reorder {
        Reorder {
            region: Vec::new(),
            needed: Vec::new(),
            kinds: Vec::new(),
            writes: vec![NONE; objects[0]],
            counts: objects.map(|count| vec![[0; 3]; count]),
            holders: vec![FREE; objects[LOCK]],
            taken: Vec::new(),
            done: vec![0; index.chains()],
            cut: Vec::new(),
            pending: Vec::new(),
            order: Vec::new(),
            steps: 0,
            gave_up: false,
            reversed: Vec::new(),
        }
    }

    /// Whether there is an order of all events of the set.
    pub(super) fn find(&mut self, index: &Index<'_>, set: &Closure, reversed: &[u32]) -> bool {
        self.gave_up = false;
        self.reversed.clear();
        self.reversed.extend(reversed.iter().map(|&number| index.sections[number as usize].open));
        self.reversed.sort_unstable();
        let first = self.first(index);
        self.gather(index, set, first);
        self.sort(index);
        self.count(index);
        let found = self.begin(index, set, first) && self.run(index);
        self.forget(index);
        found
    }

    /// The order that was found, of the events from the first reversed section on. The number is where that opens; what
    /// is recorded before comes first, in recorded order.
    pub(super) fn order(&self, index: &Index<'_>) -> (u32, &[u32]) {
        (self.first(index), &self.order)
    }

    fn first(&self, index: &Index<'_>) -> u32 {
        self.reversed.first().copied().unwrap_or(index.events.len() as u32)
    }

    /// Whether an event opens a reversed section.
    fn is_reversed(&self, at: u32) -> bool {
        self.reversed.binary_search(&at).is_ok()
    }

    /// The events of the set from the first reversed section on.
    fn gather(&mut self, index: &Index<'_>, set: &Closure, first: u32) {
        let cut = set.cut();
        self.cut.clear();
        self.cut.extend_from_slice(cut);
        let end = (0..cut.len() as u32).map(|chain| set.last(chain)).filter(|&last| last != NONE).max();
        let end = end.map_or(first, |end| end + 1).max(first);
        self.steps += u64::from(end - first);
        self.region.clear();
        self.region
            .extend((first..end).filter(|&at| index.position[at as usize] < cut[index.chain[at as usize] as usize]));
    }

    /// The kinds of events. The last write of the set before a read is its recorded writer.
    fn sort(&mut self, index: &Index<'_>) {
        self.kinds.clear();
        for (k, &at) in (0..).zip(&self.region) {
            let event = index.events[at as usize];
            let op = event.op();
            self.kinds.push(kind(op));
            if space(op) != Some(VAR) {
                continue;
            }
            let write = &mut self.writes[event.object() as usize];
            if op.reads()
                && let Some(kind) = self.kinds.get_mut(*write as usize)
            {
                *kind = STRICT;
            }
            if !op.only_reads() {
                *write = k;
            }
        }
    }

    /// How many events of its object each event must wait for.
    fn count(&mut self, index: &Index<'_>) {
        self.needed.clear();
        for (&at, &kind) in self.region.iter().zip(&self.kinds) {
            let event = index.events[at as usize];
            let needed = match space(event.op()) {
                None => 0,
                Some(LOCK) if !opens(index, at) || self.is_reversed(at) => 0,
                Some(space) => {
                    let counts = &mut self.counts[space][event.object() as usize];
                    let needed = ordered(*counts, kind);
                    counts[kind as usize] += 1;
                    needed
                }
            };
            self.needed.push(needed);
        }
        // A reversed section waits for all others.
        for (k, &at) in self.region.iter().enumerate() {
            let event = index.events[at as usize];
            if space(event.op()) == Some(LOCK) && self.is_reversed(at) {
                self.needed[k] = ordered(self.counts[LOCK][event.object() as usize], self.kinds[k]);
            }
        }
        self.forget_counts(index);
    }

    fn forget_counts(&mut self, index: &Index<'_>) {
        for &at in &self.region {
            let event = index.events[at as usize];
            if let Some(space) = space(event.op()) {
                self.counts[space][event.object() as usize] = [0; 3];
                if space == VAR {
                    self.writes[event.object() as usize] = NONE;
                }
            }
        }
    }

    fn forget(&mut self, index: &Index<'_>) {
        self.forget_counts(index);
        for lock in self.taken.drain(..) {
            self.holders[lock as usize] = FREE;
        }
    }

    /// The state where the recorded order is left; whether no two sections exclude each other there.
    fn begin(&mut self, index: &Index<'_>, set: &Closure, first: u32) -> bool {
        for chain in 0..index.chains() as u32 {
            let events = index.chain_events(chain);
            let count = (events.partition_point(|&at| at < first) as u32).min(set.cut()[chain as usize]);
            self.done[chain as usize] = count;
            let Some(&last) = events[..count as usize].last() else { continue };
            for number in index.holds.list(index.held[last as usize]) {
                let section = &index.sections[number as usize];
                self.steps += 1;
                if section.close <= last {
                    continue;
                }
                self.taken.push(section.lock);
                let holder = &mut self.holders[section.lock as usize];
                if section.shared {
                    holder.shared += 1;
                } else if holder.exclusive == NONE {
                    holder.exclusive = chain;
                } else {
                    return false;
                }
            }
        }
        true
    }

    /// Takes events until all are taken, or none can be.
    fn run(&mut self, index: &Index<'_>) -> bool {
        self.order.clear();
        self.pending.clear();
        self.pending.extend(0..self.region.len() as u32);
        let mut pending = std::mem::take(&mut self.pending);
        let most = self.steps + MOST_STEPS;
        while !pending.is_empty() {
            self.steps += pending.len() as u64;
            self.gave_up = self.steps > most;
            if self.gave_up {
                break;
            }
            let before = pending.len();
            pending.retain(|&k| !self.take(index, k as usize));
            if pending.len() == before {
                break;
            }
        }
        let all = pending.is_empty();
        self.pending = pending;
        all
    }

    /// Takes an event, if it can come now.
    #[inline]
    fn take(&mut self, index: &Index<'_>, k: usize) -> bool {
        let at = self.region[k];
        let chain = index.chain[at as usize];
        let position = index.position[at as usize];
        if self.done[chain as usize] != position {
            return false;
        }
        let row = index.predecessors[at as usize];
        let learns = position == 0 || index.predecessors[index.last(chain, position) as usize] != row;
        if learns {
            let others = index.clocks.row(row).iter().zip(&self.done).enumerate();
            if others.into_iter().any(|(other, (&needed, &done))| other != chain as usize && needed > done) {
                return false;
            }
        }
        let event = index.events[at as usize];
        let op = event.op();
        let place = space(op).filter(|&space| space != LOCK || opens(index, at));
        if let Some(space) = place
            && ordered(self.counts[space][event.object() as usize], self.kinds[k]) < self.needed[k]
        {
            return false;
        }
        if op.opens_section() && !self.open(index, at, chain) {
            return false;
        }
        if op.closes_section() && !index.failed.is_empty() && self.is_waited_in(index, at, chain, position) {
            return false;
        }
        if op.closes_section() {
            self.close(index, at, chain, position);
        }
        if let Some(space) = place
            && !(space == LOCK && self.is_reversed(at))
        {
            self.counts[space][event.object() as usize][self.kinds[k] as usize] += 1;
        }
        self.done[chain as usize] += 1;
        self.order.push(at);
        true
    }

    /// Opens the sections that an event opens, if no section of another thread excludes them.
    fn open(&mut self, index: &Index<'_>, at: u32, chain: u32) -> bool {
        let opened = || {
            let list = index.holds.list(index.held[at as usize]).take(2);
            list.map(|number| &index.sections[number as usize]).filter(|section| section.open == at)
        };
        for section in opened() {
            let holder = self.holders[section.lock as usize];
            let own = || index.open_before(at).filter(|own| own.shared && own.lock == section.lock).count() as u32;
            let excluded = holder.exclusive != NONE && holder.exclusive != chain;
            if excluded || (!section.shared && holder.shared > 0 && holder.shared > own()) {
                return false;
            }
        }
        for section in opened() {
            self.taken.push(section.lock);
            let holder = &mut self.holders[section.lock as usize];
            if section.shared {
                holder.shared += 1;
            } else {
                holder.exclusive = chain;
            }
        }
        true
    }

    /// A try-lock of the set that failed in a section which this event closes has yet to come.
    fn is_waited_in(&mut self, index: &Index<'_>, at: u32, chain: u32, position: u32) -> bool {
        let last = index.last(chain, position);
        let list = if last == NONE { NONE } else { index.held[last as usize] };
        index.holds.list(list).map(|number| &index.sections[number as usize]).filter(|s| s.close == at).any(|section| {
            let Some(all) = index.failed.get(&section.lock) else { return false };
            let inside = &all[all.partition_point(|&failed| failed < section.open)..];
            let inside = &inside[..inside.partition_point(|&failed| failed < at)];
            self.steps += inside.len() as u64;
            inside.iter().any(|&failed| {
                let (chain, position) = (index.chain[failed as usize] as usize, index.position[failed as usize]);
                position < self.cut[chain] && position >= self.done[chain]
            })
        })
    }

    fn close(&mut self, index: &Index<'_>, at: u32, chain: u32, position: u32) {
        let last = index.last(chain, position);
        let list = if last == NONE { NONE } else { index.held[last as usize] };
        for number in index.holds.list(list) {
            self.steps += 1;
            let section = &index.sections[number as usize];
            if section.close == at {
                let holder = &mut self.holders[section.lock as usize];
                if section.shared {
                    holder.shared -= 1;
                } else {
                    holder.exclusive = NONE;
                }
            }
        }
    }
}

/// Whether an event opens a section.
#[inline]
fn opens(index: &Index<'_>, at: u32) -> bool {
    index.holds.list(index.held[at as usize]).next().is_some_and(|number| index.sections[number as usize].open == at)
}
