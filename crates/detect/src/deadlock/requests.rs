//! Abstract requests: what a thread holds, what it asks for, and where; with all events that are such a request.

use crate::lock_order::{LockMode, SegmentOrder, Segments};
use event::{Batch, LockId, Names, Op, SiteId, Space, ThreadId};
use rustc_hash::FxHashMap;
use sync::{HeldLocks, Hold};

/// Bounds the memory of held locks of all abstract requests together.
const MOST_HELD: usize = 1 << 24;
/// Forks and joins are looked at if requests are in no more segments than this.
const MOST_SEGMENTS: usize = 1 << 14;
/// Two abstract requests with more pairs of segments than this are not compared.
const MOST_PAIRS: usize = 1 << 12;

/// Of locks nested deeper than this only the first are looked at: every request looks through what is held.
const DEEPEST: usize = 128;

/// A lock held, how, and where it was taken. Of a lock held both ways only the exclusive hold is here.
pub(super) type Taken = (LockId, LockMode, SiteId);

/// What distinguishes abstract requests.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    thread: ThreadId,
    lock: LockId,
    mode: LockMode,
    site: SiteId,
    /// In the order of the locks.
    held: Box<[Taken]>,
}

/// An abstract request.
#[derive(Clone, Debug)]
pub(super) struct Abstract {
    pub(super) thread: ThreadId,
    pub(super) lock: LockId,
    pub(super) mode: LockMode,
    pub(super) site: SiteId,
    pub(super) held: Box<[Taken]>,
    /// The events, in order, and the segment that each is in.
    pub(super) events: Vec<(u32, u32)>,
    /// The last of them, if the trace ends without an answer to it.
    pub(super) unanswered: Option<u32>,
    /// The different segments.
    segments: Vec<u32>,
}

impl Abstract {
    /// How it holds a lock, and where it took it.
    pub(super) fn holds(&self, lock: LockId) -> Option<Taken> {
        self.held.binary_search_by_key(&lock, |hold| hold.0).ok().map(|place| self.held[place])
    }
}

/// All requests of threads that hold something.
#[derive(Debug)]
pub(super) struct Requests {
    pub(super) list: Vec<Abstract>,
    order: Option<SegmentOrder>,
    /// Requests that found no room.
    pub(super) unrecorded: u64,
}

impl Requests {
    pub(super) fn new(names: &Names, batch: &Batch) -> Requests {
        let threads = names.space(Space::Thread).len();
        let mut locks: HeldLocks<SiteId> = HeldLocks::new();
        let mut segments = Segments::default();
        let mut known: FxHashMap<Key, usize> = FxHashMap::default();
        let mut list: Vec<Abstract> = Vec::new();
        let (mut room, mut unrecorded) = (MOST_HELD, 0);
        // By thread: an abstract request that nothing of the thread came after.
        let mut last: Vec<Option<usize>> = vec![None; threads];
        for (at, &event) in (0u32..).zip(&batch.events) {
            last[event.thread().0 as usize] = None;
            match event.op() {
                Op::Acquire | Op::ReadAcquire | Op::Request => {
                    if locks.count(event.thread()) > 0
                        && let Some(mode) = locks.request(event)
                    {
                        let (thread, lock, site) = (event.thread(), event.lock(), event.site());
                        let key = Key { thread, lock, mode, site, held: taken(locks.of(event.thread())) };
                        unrecorded += u64::from(locks.count(thread) > DEEPEST);
                        let number = match known.get(&key) {
                            Some(&number) => number,
                            None if room < key.held.len() => {
                                unrecorded += 1;
                                locks.step(batch, event, |_| event.site());
                                continue;
                            }
                            None => {
                                room -= key.held.len();
                                list.push(Abstract::new(&key));
                                known.insert(key, list.len() - 1);
                                list.len() - 1
                            }
                        };
                        list[number].events.push((at, segments.current(thread)));
                        last[thread.0 as usize] = Some(number).filter(|_| event.op() == Op::Request);
                    }
                }
                Op::Fork => segments.fork(event.thread(), event.child()),
                Op::Join => segments.join(event.thread(), event.child()),
                _ => {}
            }
            locks.step(batch, event, |_| event.site());
        }
        for number in last.into_iter().flatten() {
            list[number].unanswered = list[number].events.last().map(|request| request.0);
        }
        let order = order(&mut list, &segments);
        Requests { list, order, unrecorded }
    }

    /// All events that are requests, in order, each with the number of its abstract request.
    pub(super) fn in_order(&self) -> Vec<(u32, u32)> {
        let all =
            (0u32..).zip(&self.list).flat_map(|(number, request)| request.events.iter().map(move |e| (e.0, number)));
        let mut all: Vec<(u32, u32)> = all.collect();
        all.sort_unstable();
        all
    }

    /// Whether forks and joins let events in these segments be next at the same time.
    pub(super) fn concurrent(&self, a: u32, b: u32) -> bool {
        self.order.as_ref().is_none_or(|order| order.concurrent(a, b))
    }

    /// Whether two threads can be at such requests at the same time, as far as forks, joins and the locks held go.
    pub(super) fn compatible(&self, a: &Abstract, b: &Abstract) -> bool {
        if a.thread == b.thread || !can_be_held(&a.held, &b.held) {
            return false;
        }
        let pairs = a.segments.len().saturating_mul(b.segments.len());
        pairs > MOST_PAIRS || a.segments.iter().any(|&x| b.segments.iter().any(|&y| self.concurrent(x, y)))
    }
}

impl Abstract {
    fn new(key: &Key) -> Abstract {
        let Key { thread, lock, mode, site, .. } = *key;
        let (events, segments) = (Vec::new(), Vec::new());
        Abstract { thread, lock, mode, site, held: key.held.clone(), events, unanswered: None, segments }
    }
}

/// Of each lock, in their order, the hold that excludes most.
pub(super) fn taken<'a>(held: impl Iterator<Item = &'a Hold<SiteId>>) -> Box<[Taken]> {
    let mut taken: Vec<Taken> = held.take(DEEPEST).map(|hold| (hold.lock, hold.mode, hold.data)).collect();
    taken.sort_unstable_by_key(|taken| (taken.0, taken.1 == LockMode::Shared));
    taken.dedup_by_key(|taken| taken.0);
    taken.into()
}

/// Whether two threads can hold these at the same time.
pub(super) fn can_be_held(a: &[Taken], b: &[Taken]) -> bool {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        if x.0 == y.0 && x.1.excludes(y.1) {
            return false;
        }
        if x.0 <= y.0 {
            a.next();
        } else {
            b.next();
        }
    }
    true
}

/// The order of the segments of all requests, which become places in it; `None` if they are too many.
fn order(list: &mut [Abstract], segments: &Segments) -> Option<SegmentOrder> {
    let mut some: Vec<u32> = list.iter().flat_map(|request| &request.events).map(|event| event.1).collect();
    some.sort_unstable();
    some.dedup();
    if some.len() > MOST_SEGMENTS {
        return None;
    }
    for request in list {
        for event in &mut request.events {
            event.1 = some.binary_search(&event.1).unwrap_or(0) as u32;
        }
        request.segments = request.events.iter().map(|event| event.1).collect();
        request.segments.dedup();
    }
    Some(segments.order(&some))
}
