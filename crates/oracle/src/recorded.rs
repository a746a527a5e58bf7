//! What docs/causality.md finds in the recorded run: sections, pairs of notify and wake-up, atomic sets, writers.

use event::{Batch, Names, Op, Value, Wake};
use std::collections::{BTreeMap, HashMap};

/// One event, with all that the definitions refer to.
#[derive(Clone, Debug)]
pub struct RecordedEvent {
    /// Its thread.
    pub thread: u32,
    /// Its number in its thread, from 0.
    pub nth: usize,
    /// Its operation.
    pub op: Op,
    /// Its object.
    pub object: u32,
    /// The lock of a lock operation, a `wait` or a `woken`; for a notify the lock with the name of its condition.
    pub lock: Option<u32>,
    /// The value that was read or written; for a `pin` its n.
    pub value: Value,
    /// Why a `woken` came.
    pub wake: Wake,
}

impl RecordedEvent {
    /// An access of x is `r`, `w`, `ald`, `ast`, `armw`, `alloc` or `free`.
    pub fn accesses(&self) -> Option<u32> {
        let access = self.reads() || self.writes() || self.bounds_lifetime();
        access.then_some(self.object)
    }

    /// `r`, `ald`, and the reading half of `armw`.
    pub fn reads(&self) -> bool {
        matches!(self.op, Op::Read | Op::AtomicLoad | Op::AtomicRmw)
    }

    /// `w`, `ast`, and the writing half of `armw`.
    pub fn writes(&self) -> bool {
        matches!(self.op, Op::Write | Op::AtomicStore | Op::AtomicRmw)
    }

    /// `alloc` and `free`.
    pub fn bounds_lifetime(&self) -> bool {
        matches!(self.op, Op::Alloc | Op::Free)
    }

    /// `wait`, `woken`, `notify` or `notifyall`: its condition.
    pub fn condition(&self) -> Option<u32> {
        matches!(self.op, Op::Wait | Op::Woken | Op::Notify | Op::NotifyAll).then_some(self.object)
    }

    /// `up` or `down`: its semaphore.
    pub fn semaphore(&self) -> Option<u32> {
        matches!(self.op, Op::Up | Op::Down).then_some(self.object)
    }
}

/// A critical section of a thread.
#[derive(Clone, Debug)]
pub struct Section {
    /// The lock.
    pub lock: u32,
    /// The thread.
    pub thread: u32,
    /// Whether it is shared.
    pub shared: bool,
    /// The event that opens it; `None` if it is open from the beginning.
    pub opens: Option<usize>,
    /// The event that closes it; `None` if it is never closed.
    pub closes: Option<usize>,
}

/// An atomic set of `weak-hb`.
#[derive(Clone, Debug)]
pub struct AtomicSet {
    /// The variable.
    pub variable: u32,
    /// The write that opens it. For an initial set: the lifetime boundary, or `None` at the beginning.
    pub opens: Option<usize>,
    /// The reads, and the `armw` that ends the set.
    pub members: Vec<usize>,
}

/// What a read sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writer {
    /// The value of this write.
    Write(usize),
    /// The initial value, or the one after the last lifetime boundary.
    Initial,
}

/// The recorded run.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its events.
    pub events: Vec<RecordedEvent>,
    /// Its sections.
    pub sections: Vec<Section>,
    /// By event: whether it is an `acq`, `tacq`, `rel`, `racq` or `rrel` inside a section of its own thread.
    pub without_effect: Vec<bool>,
    /// By `tfail`: the sections because of which it failed.
    pub failed_in: BTreeMap<usize, Vec<usize>>,
    /// By paired `woken`: its `wait` and its notify.
    pub woken_by: BTreeMap<usize, (usize, usize)>,
    /// The atomic sets.
    pub sets: Vec<AtomicSet>,
    /// The initial count of each semaphore that is used.
    pub counts: BTreeMap<u32, i64>,
    /// How many posts an await of each latch-like object needs.
    pub needs: BTreeMap<u32, i64>,
}

impl Recorded {
    /// Finds all this in a trace.
    pub fn new(names: &Names, batch: &Batch) -> Recorded {
        let events = plain(names, batch);
        let (sections, without_effect) = sections(&events);
        let failed_in = failed_in(&events, &sections);
        let woken_by = woken_by(&events);
        let sets = atomic_sets(&events);
        let given = |name: &str| {
            let init = batch.inits.iter().rfind(|init| names.str(init.name) == name);
            init.and_then(|init| if let Value::Int(n) = init.value { Some(n) } else { None })
        };
        let mut counts = BTreeMap::new();
        for semaphore in events.iter().filter_map(RecordedEvent::semaphore) {
            counts.insert(semaphore, given(names.get(event::Space::Sem, semaphore)).unwrap_or(0));
        }
        let mut needs = BTreeMap::new();
        for event in events.iter().filter(|event| event.op == Op::AwaitRequest) {
            needs.insert(event.object, given(names.get(event::Space::Latch, event.object)).unwrap_or(1));
        }
        Recorded { events, sections, without_effect, failed_in, woken_by, sets, counts, needs }
    }

    /// The last write of the variable, since its last lifetime boundary, in an order of events.
    pub fn last_write(&self, order: &[usize], variable: u32) -> Writer {
        let is_it = |&&e: &&usize| {
            self.events[e].accesses() == Some(variable) && (self.events[e].writes() || self.events[e].bounds_lifetime())
        };
        match order.iter().rev().find(is_it) {
            Some(&e) if self.events[e].writes() => Writer::Write(e),
            _ => Writer::Initial,
        }
    }

    /// What a read saw in the recorded order.
    pub fn recorded_writer(&self, read: usize) -> Writer {
        let before: Vec<usize> = (0..read).collect();
        self.last_write(&before, self.events[read].object)
    }
}

fn plain(names: &Names, batch: &Batch) -> Vec<RecordedEvent> {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    let mut events = Vec::new();
    for &event in &batch.events {
        let extra = batch.extra(event);
        let nth = counts.entry(event.thread().0).or_default();
        let lock = match event.op() {
            Op::Acquire | Op::Release | Op::ReadAcquire | Op::ReadRelease | Op::TryAcquire | Op::TryFail => {
                Some(event.lock().0)
            }
            Op::Wait | Op::Woken => Some(extra.lock.0),
            Op::Notify | Op::NotifyAll => names.space(event::Space::Lock).find(names.cond(event.cond()).as_bytes()),
            _ => None,
        };
        events.push(RecordedEvent {
            thread: event.thread().0,
            nth: *nth,
            op: event.op(),
            object: event.object(),
            lock,
            value: extra.value,
            wake: extra.wake,
        });
        *nth += 1;
    }
    events
}

/// Of nested `acq`/`rel` only the outermost pair counts; so with `racq`/`rrel`. A `wait` closes at every depth, and
/// `woken` takes the lock back at the same depth.
fn sections(events: &[RecordedEvent]) -> (Vec<Section>, Vec<bool>) {
    let mut sections: Vec<Section> = Vec::new();
    let mut without_effect = vec![false; events.len()];
    // By thread, lock and whether shared: the depth, and the number of the section.
    let mut held: BTreeMap<(u32, u32, bool), (usize, usize)> = BTreeMap::new();
    // By thread and lock: the depth that a wait gave up.
    let mut given_up: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for (e, event) in events.iter().enumerate() {
        let Some(lock) = event.lock else { continue };
        let thread = event.thread;
        let shared = matches!(event.op, Op::ReadAcquire | Op::ReadRelease);
        let key = (thread, lock, shared);
        let section = |opens, closes| Section { lock, thread, shared, opens, closes };
        match event.op {
            Op::Acquire | Op::TryAcquire | Op::ReadAcquire => match held.get_mut(&key) {
                Some((depth, _)) => {
                    *depth += 1;
                    without_effect[e] = true;
                }
                None => {
                    held.insert(key, (1, sections.len()));
                    sections.push(section(Some(e), None));
                }
            },
            Op::Release | Op::ReadRelease => match held.get_mut(&key) {
                Some((depth, _)) if *depth > 1 => {
                    *depth -= 1;
                    without_effect[e] = true;
                }
                Some(&mut (_, number)) => {
                    held.remove(&key);
                    sections[number].closes = Some(e);
                }
                None => sections.push(section(None, Some(e))),
            },
            Op::Wait => {
                if let Some((depth, number)) = held.remove(&key) {
                    sections[number].closes = Some(e);
                    given_up.insert((thread, lock), depth);
                }
            }
            Op::Woken => {
                let depth = given_up.remove(&(thread, lock)).unwrap_or(1);
                held.insert(key, (depth, sections.len()));
                sections.push(section(Some(e), None));
            }
            _ => {}
        }
    }
    (sections, without_effect)
}

/// The sections of its lock that are open in the recorded order then: those of other threads, if there are any, else
/// its own thread's.
fn failed_in(events: &[RecordedEvent], sections: &[Section]) -> BTreeMap<usize, Vec<usize>> {
    let mut failed_in = BTreeMap::new();
    for (e, event) in events.iter().enumerate().filter(|(_, event)| event.op == Op::TryFail) {
        let open = |s: &&usize| {
            let section = &sections[**s];
            Some(section.lock) == event.lock
                && section.opens.is_none_or(|o| o < e)
                && section.closes.is_none_or(|c| e < c)
        };
        let all: Vec<usize> = (0..sections.len()).collect();
        let open: Vec<usize> = all.iter().filter(open).copied().collect();
        let others: Vec<usize> = open.iter().copied().filter(|&s| sections[s].thread != event.thread).collect();
        failed_in.insert(e, if others.is_empty() { open } else { others });
    }
    failed_in
}

/// Each `woken(c)` that is not `=timeout` or `=spurious` is paired, in recorded order: with the earliest event after
/// its `wait` (and before itself) that is a `notifyall(c)`, or a `notify(c)` not paired yet.
fn woken_by(events: &[RecordedEvent]) -> BTreeMap<usize, (usize, usize)> {
    let mut woken_by: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (e, woken) in events.iter().enumerate() {
        if woken.op != Op::Woken || woken.wake != Wake::Notified {
            continue;
        }
        let is_its_wait = |&w: &usize| {
            events[w].op == Op::Wait && events[w].thread == woken.thread && events[w].object == woken.object
        };
        let Some(wait) = (0..e).rev().find(is_its_wait) else { continue };
        let wakes = |&n: &usize| {
            let notify = &events[n];
            notify.condition() == Some(woken.object)
                && match notify.op {
                    Op::NotifyAll => true,
                    Op::Notify => woken_by.values().all(|&(_, paired)| paired != n),
                    _ => false,
                }
        };
        if let Some(notify) = (wait + 1..e).find(wakes) {
            woken_by.insert(e, (wait, notify));
        }
    }
    woken_by
}

/// Between two lifetime boundaries each write opens a set; the following reads belong to it, until the next write, and
/// so does that write if it is an `armw`. What comes before the first write belongs to the initial set.
fn atomic_sets(events: &[RecordedEvent]) -> Vec<AtomicSet> {
    let mut sets = Vec::new();
    let mut variables: Vec<u32> = events.iter().filter_map(RecordedEvent::accesses).collect();
    variables.sort_unstable();
    variables.dedup();
    for variable in variables {
        let mut current = AtomicSet { variable, opens: None, members: Vec::new() };
        for (e, event) in events.iter().enumerate().filter(|(_, event)| event.accesses() == Some(variable)) {
            if event.reads() {
                current.members.push(e);
            }
            if event.writes() || event.bounds_lifetime() {
                let next = AtomicSet { variable, opens: Some(e), members: Vec::new() };
                sets.push(std::mem::replace(&mut current, next));
            }
        }
        sets.push(current);
    }
    sets
}
