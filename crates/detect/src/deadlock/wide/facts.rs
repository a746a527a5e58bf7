//! What a trace has of wide requests: the requests, alike ones together, who grants what, and who forks whom.

use super::super::requests::{Taken, taken};
use crate::hang::WaitsFor;
use crate::lock_order::LockMode;
use event::{Batch, Event, Id, LatchId, Names, Op, SemId, SiteId, Space, ThreadId, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use sync::HeldLocks;

/// Bounds the memory of held locks of all requests together.
const MOST_HELD: usize = 1 << 22;

/// Requests that are alike: of one thread, for one object, at one site, with the same locks held.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Request {
    pub(super) thread: ThreadId,
    pub(super) wants: WaitsFor,
    /// How it wants a lock.
    pub(super) mode: LockMode,
    pub(super) site: SiteId,
    /// In the order of the locks.
    pub(super) held: Box<[Taken]>,
}

impl Request {
    /// How its thread holds a lock there.
    pub(super) fn holds(&self, lock: event::LockId) -> Option<Taken> {
        self.held.binary_search_by_key(&lock, |hold| hold.0).ok().map(|place| self.held[place])
    }

    /// Whether another request waits for a lock that the thread of this one holds.
    pub(super) fn keeps_from(&self, other: &Request) -> bool {
        match other.wants {
            WaitsFor::Lock(lock) => self.holds(lock).is_some_and(|hold| hold.1.excludes(other.mode)),
            _ => false,
        }
    }
}

/// Events of one kind by thread, those of each in order.
pub(super) type ByThread = Vec<(ThreadId, Vec<u32>)>;

/// All of it.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) list: Vec<Request>,
    /// The events that are requests, in order, each with the number of what it is like.
    pub(super) events: Vec<(u32, u32)>,
    /// The wide ones that another thread can wait for, in order.
    pub(super) wide: Vec<u32>,
    /// By object that is waited for: who grants it.
    pub(super) grants: FxHashMap<WaitsFor, ByThread>,
    /// By semaphore that is waited for: who decrements it.
    pub(super) downs: FxHashMap<SemId, ByThread>,
    /// By thread: who forks it, and where.
    pub(super) forks: FxHashMap<ThreadId, Vec<(ThreadId, u32)>>,
    /// By semaphore that is waited for: its initial count.
    pub(super) counts: FxHashMap<SemId, i64>,
    /// By latch-like object that is waited for: how many posts an await needs.
    pub(super) needs: FxHashMap<LatchId, i64>,
    /// `req` and `jreq` with which their threads end.
    pub(super) unanswered: FxHashSet<u32>,
    /// Requests that found no room.
    pub(super) unrecorded: u64,
}

/// A wide request, before it is known what its thread holds.
struct Wide {
    event: u32,
    wants: WaitsFor,
    /// Its thread may do something later that others wait for.
    grants: bool,
}

impl Facts {
    /// Looks at a trace. `window`: only requests that a window of this size has together with a wide one matter.
    pub(super) fn new(names: &Names, batch: &Batch, window: usize) -> Facts {
        let mut facts = Facts::default();
        let mut wide = facts.wide_requests(names, batch);
        facts.leave_out_granted_from_outside(names, batch, &mut wide);
        if wide.is_empty() {
            return facts;
        }
        facts.granters(batch, &wide);
        facts.requests(names, batch, &wide, window);
        facts
    }

    /// Whether some window has something to look for.
    pub(super) fn wanted(&self, range: Range<usize>) -> bool {
        let from = self.wide.partition_point(|&event| (event as usize) < range.start);
        self.wide.get(from).is_some_and(|&event| (event as usize) < range.end)
    }

    /// The wide requests, from the end of the trace backwards: the next event of a thread is known then.
    fn wide_requests(&mut self, names: &Names, batch: &Batch) -> Vec<Wide> {
        let threads = names.space(Space::Thread).len();
        let mut next: Vec<Option<Event>> = vec![None; threads];
        let mut grants = vec![false; threads];
        let mut paired: Option<FxHashSet<u64>> = None;
        let mut wide = Vec::new();
        for (at, &event) in batch.events.iter().enumerate().rev() {
            let at = at as u32;
            let (op, thread) = (event.op(), event.thread().index());
            if op.is_drop_barrier() {
                continue;
            }
            let answered = |op| next[thread].is_none_or(|next| next.op() == op && next.object() == event.object());
            let wants = match op {
                Op::JoinRequest if answered(Op::Join) => Some(WaitsFor::Thread(ThreadId(event.object()))),
                Op::AwaitRequest if answered(Op::Await) => Some(WaitsFor::Latch(LatchId(event.object()))),
                Op::DownRequest if answered(Op::Down) => Some(WaitsFor::Semaphore(SemId(event.object()))),
                Op::Wait => {
                    let paired = paired.get_or_insert_with(|| {
                        sync::wakeups(batch).iter().map(|pair| pair.wait - batch.first).collect()
                    });
                    let waits = next[thread].is_none() || paired.contains(&u64::from(at));
                    waits.then(|| WaitsFor::Condition(event.cond()))
                }
                _ => None,
            };
            if matches!(op, Op::Request | Op::JoinRequest) && next[thread].is_none() {
                self.unanswered.insert(at);
            }
            wide.extend(wants.map(|wants| Wide { event: at, wants, grants: grants[thread] }));
            grants[thread] |= matches!(op, Op::Post | Op::Up | Op::Notify | Op::NotifyAll | Op::Fork);
            next[thread] = Some(event);
        }
        wide.reverse();
        wide
    }

    /// Objects that something grants which the trace does not show; and what `#! init` says of the others.
    fn leave_out_granted_from_outside(&mut self, names: &Names, batch: &Batch, wide: &mut Vec<Wide>) {
        for request in wide.iter() {
            match request.wants {
                WaitsFor::Semaphore(sem) => drop(self.counts.insert(sem, 0)),
                WaitsFor::Latch(latch) => drop(self.needs.insert(latch, 1)),
                _ => {}
            }
        }
        if self.counts.is_empty() && self.needs.is_empty() {
            return;
        }
        let mut used: FxHashMap<(Space, u32), u32> = FxHashMap::default();
        for (at, event) in (0u32..).zip(&batch.events) {
            match event.op().space() {
                Some(Space::Sem) if !event.op().counts() => {}
                Some(space @ (Space::Sem | Space::Latch)) => {
                    used.entry((space, event.object())).or_insert(at);
                }
                _ => {}
            }
        }
        for init in &batch.inits {
            let name = names.str(init.name);
            let number = |space: Space| {
                let number = names.space(space).find(name.as_bytes())?;
                let first = used.get(&(space, number)).copied().unwrap_or(u32::MAX);
                Some(number).filter(|_| init.before <= first)
            };
            let given = if let Value::Int(given) = init.value { Some(given.max(0)) } else { None };
            if let Some(count) = number(Space::Sem).and_then(|sem| self.counts.get_mut(&SemId(sem))) {
                *count = given.unwrap_or(0);
            }
            if let Some(need) = number(Space::Latch).and_then(|latch| self.needs.get_mut(&LatchId(latch))) {
                *need = given.unwrap_or(1);
            }
        }
        let mut counts = self.counts.clone();
        let mut posted: FxHashSet<u32> = FxHashSet::default();
        let mut outside: FxHashSet<WaitsFor> = FxHashSet::default();
        for event in &batch.events {
            match event.op() {
                Op::Post => drop(posted.insert(event.object())),
                Op::Await if !posted.contains(&event.object()) => {
                    outside.insert(WaitsFor::Latch(event.latch()));
                }
                op if op.counts() => {
                    if let Some(count) = counts.get_mut(&event.sem()) {
                        if op == Op::Down && *count <= 0 {
                            outside.insert(WaitsFor::Semaphore(event.sem()));
                        }
                        *count = count.saturating_add(if op == Op::Up { 1 } else { -1 });
                    }
                }
                _ => {}
            }
        }
        wide.retain(|request| !outside.contains(&request.wants));
        self.leave_out_granted(batch, wide);
    }

    /// Requests of latch-like objects that are granted in every prefix which they are next after: an earlier await of
    /// their thread needs as many posts already. (A barrier whose phases share objects has many of these.)
    fn leave_out_granted(&self, batch: &Batch, wide: &mut Vec<Wide>) {
        if self.needs.is_empty() {
            return;
        }
        let mut posts: FxHashMap<LatchId, i64> = FxHashMap::default();
        // By thread and object: the posts before its last await.
        let mut awaited: FxHashMap<(ThreadId, LatchId), i64> = FxHashMap::default();
        let mut granted: FxHashSet<u32> = FxHashSet::default();
        for (at, event) in (0u32..).zip(&batch.events) {
            match event.op() {
                Op::Post => *posts.entry(event.latch()).or_default() += 1,
                Op::Await => {
                    let count = posts.get(&event.latch()).copied().unwrap_or(0);
                    awaited.insert((event.thread(), event.latch()), count);
                }
                Op::AwaitRequest => {
                    let needs = self.needs.get(&event.latch());
                    let count = awaited.get(&(event.thread(), event.latch()));
                    if needs.zip(count).is_some_and(|(needs, count)| count >= needs) {
                        granted.insert(at);
                    }
                }
                _ => {}
            }
        }
        wide.retain(|request| !granted.contains(&request.event));
    }

    fn granters(&mut self, batch: &Batch, wide: &[Wide]) {
        let wanted: FxHashSet<WaitsFor> =
            wide.iter().map(|request| request.wants).filter(|wants| !matches!(wants, WaitsFor::Thread(_))).collect();
        let mut grants: FxHashMap<(WaitsFor, ThreadId), Vec<u32>> = FxHashMap::default();
        let mut downs: FxHashMap<(SemId, ThreadId), Vec<u32>> = FxHashMap::default();
        for (at, event) in (0u32..).zip(&batch.events) {
            let wants = match event.op() {
                Op::Post => WaitsFor::Latch(event.latch()),
                Op::Up | Op::Down => WaitsFor::Semaphore(event.sem()),
                Op::Notify | Op::NotifyAll => WaitsFor::Condition(event.cond()),
                Op::Fork => {
                    self.forks.entry(event.child()).or_default().push((event.thread(), at));
                    continue;
                }
                _ => continue,
            };
            if !wanted.contains(&wants) {
                continue;
            }
            let list = match event.op() {
                Op::Down => downs.entry((event.sem(), event.thread())).or_default(),
                _ => grants.entry((wants, event.thread())).or_default(),
            };
            list.push(at);
        }
        for ((wants, thread), events) in grants {
            self.grants.entry(wants).or_default().push((thread, events));
        }
        for ((sem, thread), events) in downs {
            self.downs.entry(sem).or_default().push((thread, events));
        }
        for list in self.grants.values_mut().chain(self.downs.values_mut()) {
            list.sort_unstable_by_key(|entry| entry.0);
        }
        self.keep_forks();
    }

    /// Keeps the forks of threads that grant something, and of those that fork such.
    fn keep_forks(&mut self) {
        let mut concerned: Vec<ThreadId> = self.grants.values().flatten().map(|granter| granter.0).collect();
        let mut kept: FxHashSet<ThreadId> = FxHashSet::default();
        while let Some(thread) = concerned.pop() {
            if kept.insert(thread) {
                concerned.extend(self.forks.get(&thread).into_iter().flatten().map(|fork| fork.0));
            }
        }
        self.forks.retain(|thread, _| kept.contains(thread));
    }

    /// All requests that some window has together with a wide one that another thread can wait for.
    fn requests(&mut self, names: &Names, batch: &Batch, wide: &[Wide], window: usize) {
        let mut joined = vec![false; names.space(Space::Thread).len()];
        for request in wide {
            if let WaitsFor::Thread(thread) = request.wants {
                joined[thread.index()] = true;
            }
        }
        let mut held: HeldLocks<SiteId> = HeldLocks::new();
        let mut known: FxHashMap<Request, u32> = FxHashMap::default();
        let mut room = MOST_HELD;
        let mut next = wide.iter().peekable();
        // The last wide request behind us, and the next one.
        let mut behind: Option<u32> = None;
        for (at, &event) in (0u32..).zip(&batch.events) {
            let asks = next.next_if(|request| request.event == at);
            if asks.is_some() {
                behind = Some(at);
            }
            let near = |other: u32| (other.abs_diff(at) as usize) < window;
            let lock = match event.op() {
                Op::Acquire | Op::ReadAcquire | Op::Request
                    if behind.is_some_and(near) || next.peek().is_some_and(|request| near(request.event)) =>
                {
                    held.request(event).map(|mode| (WaitsFor::Lock(event.lock()), mode))
                }
                _ => None,
            };
            // A wait gives its lock up.
            let is_wait = event.op() == Op::Wait;
            if is_wait {
                held.step(batch, event, |_| event.site());
            }
            if let Some((wants, mode)) = lock.or(asks.map(|request| (request.wants, LockMode::Exclusive))) {
                let request = Request {
                    thread: event.thread(),
                    wants,
                    mode,
                    site: event.site(),
                    held: taken(held.of(event.thread())),
                };
                if let Some(asks) = asks
                    && (asks.grants || !request.held.is_empty() || joined[event.thread().index()])
                {
                    self.wide.push(at);
                }
                self.add(at, request, &mut known, &mut room);
            }
            if !is_wait {
                held.step(batch, event, |_| event.site());
            }
        }
    }

    fn add(&mut self, at: u32, request: Request, known: &mut FxHashMap<Request, u32>, room: &mut usize) {
        let number = match known.get(&request) {
            Some(&number) => number,
            None if *room <= request.held.len() => {
                self.unrecorded += 1;
                return;
            }
            None => {
                *room -= request.held.len() + 1;
                self.list.push(request.clone());
                known.insert(request, self.list.len() as u32 - 1);
                self.list.len() as u32 - 1
            }
        };
        self.events.push((at, number));
    }
}
