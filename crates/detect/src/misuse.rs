//! Locks and memory used as they must not be: what the recorded run shows by itself.
//!
//! **Claims** (docs/detectors.md defines them): a lock given back by a thread that does not hold it; a thread that asks for a
//! lock it holds, and waits for itself when the trace ends; an access of memory that was freed; and what a recorder noted.
//!
//! **May miss** what the trace does not have: a lock that nobody took before may have been held from the beginning.

use crate::Place;
use event::{Batch, CondId, Event, Id, LockId, Names, Op, SiteId, Space, StrId, ThreadId, Value, VarId};
use rustc_hash::FxHashMap;

/// The internal event by which a recorder notes a misuse that only it can see: what, and the name of the lock.
pub const LABEL: &str = "foretrace.misuse";

/// Misuses that are kept if not said otherwise, and events of unlocks.
const MOST: usize = 10_000;

/// What was misused, and how.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum What {
    /// A lock was given back by a thread that does not hold it; where another one took it, if it is held.
    Unlock(LockId, Option<Place>),
    /// A thread asked for a lock that it took there, and the trace ends so.
    WaitsForItself(LockId, Place),
    /// Memory was accessed, or freed again, after it was freed there.
    AfterFree(VarId, Place),
    /// A recorder noted this, of what has this name.
    Noted(StrId, StrId),
}

/// A misuse, and how many more there are of the same objects at the same sites.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Misuse {
    /// What was misused.
    pub what: What,
    /// The event that did.
    pub at: Place,
    /// The operation.
    pub op: Op,
    /// More of the same.
    pub more: u64,
}

/// What was found.
#[derive(Clone, Default, Debug)]
pub struct Misused {
    /// In the order of their first events.
    pub misuses: Vec<Misuse>,
    /// Misuses beyond those kept.
    pub left_out: u64,
    /// The events of [`What::Unlock`], the first of them, in order.
    pub unlocks: Vec<u64>,
}

/// How often a thread holds a lock, and where it took it: exclusively, as a reader.
#[derive(Clone, Copy, Default, Debug)]
struct Depth {
    exclusive: u32,
    shared: u32,
    since: Option<Place>,
    shared_since: Option<Place>,
}

impl Depth {
    /// Where the section was opened that its thread waits for, if it asks for the lock.
    fn open(&self) -> Option<Place> {
        if self.exclusive > 0 { self.since } else { self.shared_since.filter(|_| self.shared > 0) }
    }
}

#[derive(Clone, Copy, Default, Debug)]
struct Lock {
    /// Somebody took it, in either way; exclusively.
    taken: bool,
    exclusively: bool,
    /// The last that took it exclusively and has it still.
    holder: Option<Place>,
}

/// Finds misuses, batch by batch.
#[derive(Default, Debug)]
pub struct Misuses {
    locks: Vec<Lock>,
    held: FxHashMap<(LockId, ThreadId), Depth>,
    waiting: FxHashMap<ThreadId, (CondId, LockId, Depth)>,
    /// By thread: a request that is its last event so far.
    asking: FxHashMap<ThreadId, (LockId, Place)>,
    /// By variable, a bit each, so that most accesses cost one look.
    is_freed: Vec<u64>,
    freed: FxHashMap<VarId, Place>,
    /// Where misuses of the same objects at the same sites are in the list.
    known: FxHashMap<(What, SiteId, Op), usize>,
    found: Misused,
}

impl Misuses {
    /// Before the first event.
    pub fn new() -> Misuses {
        Misuses::default()
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        self.locks.resize(names.space(Space::Lock).len(), Lock::default());
        self.is_freed.resize(names.space(Space::Var).len().div_ceil(64), 0);
        let noted = names.space(Space::Label).find(LABEL.as_bytes());
        for (index, &event) in (batch.first..).zip(&batch.events) {
            if !self.asking.is_empty() {
                self.asking.remove(&event.thread());
            }
            match event.op() {
                Op::Read | Op::Write | Op::AtomicLoad | Op::AtomicStore | Op::AtomicRmw => self.access(event, index),
                Op::Internal if Some(event.object()) == noted => self.note(batch, event, index),
                _ => self.rare(batch, event, index),
            }
        }
    }

    /// The misuses so far, in the order in which they were found.
    pub fn misuses(&self) -> &[Misuse] {
        &self.found.misuses
    }

    /// What was found, at the end of the trace.
    pub fn finish(mut self) -> Misused {
        let mut asking: Vec<(LockId, Place)> = self.asking.values().copied().collect();
        asking.sort_unstable_by_key(|(_, place)| place.event);
        for (lock, at) in asking {
            if let Some(since) = self.held.get(&(lock, at.thread)).and_then(Depth::open) {
                self.found(What::WaitsForItself(lock, since), at, Op::Request);
            }
        }
        self.found.misuses.sort_by_key(|misuse| misuse.at.event);
        self.found
    }

    #[inline]
    fn access(&mut self, event: Event, index: u64) {
        let var = event.var();
        if self.is_freed[var.index() / 64] >> (var.index() % 64) & 1 == 1
            && let Some(&free) = self.freed.get(&var)
        {
            self.found(What::AfterFree(var, free), Place::new(event, index), event.op());
        }
    }

    fn rare(&mut self, batch: &Batch, event: Event, index: u64) {
        let (thread, place) = (event.thread(), Place::new(event, index));
        match event.op() {
            Op::Acquire | Op::TryAcquire => self.take(event.lock(), place, 1, 0),
            Op::ReadAcquire => self.take(event.lock(), place, 0, 1),
            Op::Release | Op::ReadRelease => self.release(event, place),
            Op::Request => _ = self.asking.insert(thread, (event.lock(), place)),
            Op::Wait => {
                let lock = batch.extra(event).lock;
                let given_up = self.held.remove(&(lock, thread)).unwrap_or_default();
                self.freed_by(lock, thread);
                self.waiting.insert(thread, (event.cond(), lock, given_up));
            }
            Op::Woken => {
                let lock = batch.extra(event).lock;
                let waited = self.waiting.remove(&thread);
                let back = waited.filter(|&(cond, of, given)| {
                    (cond, of) == (event.cond(), lock) && given.exclusive.saturating_add(given.shared) > 0
                });
                let (exclusive, shared) = back.map_or((1, 0), |(_, _, given)| (given.exclusive, given.shared));
                self.take(lock, place, exclusive, shared);
            }
            Op::Alloc => {
                self.is_freed[event.var().index() / 64] &= !(1 << (event.var().index() % 64));
                self.freed.remove(&event.var());
            }
            Op::Free => {
                self.access(event, index);
                self.is_freed[event.var().index() / 64] |= 1 << (event.var().index() % 64);
                self.freed.insert(event.var(), place);
            }
            _ => {}
        }
    }

    fn take(&mut self, lock: LockId, at: Place, exclusive: u32, shared: u32) {
        let depth = self.held.entry((lock, at.thread)).or_default();
        let state = &mut self.locks[lock.index()];
        if exclusive > 0 && depth.exclusive == 0 {
            depth.since = Some(at);
            state.holder = Some(at);
        }
        if shared > 0 && depth.shared == 0 {
            depth.shared_since = Some(at);
        }
        depth.exclusive = depth.exclusive.saturating_add(exclusive);
        depth.shared = depth.shared.saturating_add(shared);
        state.taken = true;
        state.exclusively |= exclusive > 0;
    }

    fn release(&mut self, event: Event, at: Place) {
        let (lock, shared) = (event.lock(), event.op() == Op::ReadRelease);
        let state = self.locks[lock.index()];
        let depth = self.held.entry((lock, at.thread)).or_default();
        let held = if shared { &mut depth.shared } else { &mut depth.exclusive };
        let is_held = *held > 0;
        *held = held.saturating_sub(1);
        let depth = *depth;
        if depth.exclusive == 0 {
            self.freed_by(lock, at.thread);
            if depth.shared == 0 {
                self.held.remove(&(lock, at.thread));
            }
        }
        // What nobody took may have been held from the beginning.
        if !is_held && if shared { state.exclusively } else { state.taken } {
            let holder = state.holder.filter(|holder| holder.thread != at.thread);
            if self.found.unlocks.len() < MOST {
                self.found.unlocks.push(at.event);
            }
            self.found(What::Unlock(lock, holder), at, event.op());
        }
    }

    /// A thread has a lock no more.
    fn freed_by(&mut self, lock: LockId, thread: ThreadId) {
        let holder = &mut self.locks[lock.index()].holder;
        *holder = holder.filter(|holder| holder.thread != thread);
    }

    fn note(&mut self, batch: &Batch, event: Event, index: u64) {
        let text = |at: usize| match batch.args(event).get(at) {
            Some(&Value::Str(id)) => id,
            _ => StrId(0),
        };
        self.found(What::Noted(text(0), text(1)), Place::new(event, index), event.op());
    }

    #[cold]
    fn found(&mut self, what: What, at: Place, op: Op) {
        // The same objects at the same sites are one, whichever events they are.
        let anywhere = |place: Place| Place { event: 0, thread: ThreadId(0), ..place };
        let same = match what {
            What::Unlock(lock, holder) => What::Unlock(lock, holder.map(anywhere)),
            What::WaitsForItself(lock, since) => What::WaitsForItself(lock, anywhere(since)),
            What::AfterFree(var, free) => What::AfterFree(var, anywhere(free)),
            What::Noted(..) => what,
        };
        match self.known.get(&(same, at.site, op)) {
            Some(&known) => self.found.misuses[known].more += 1,
            None if self.found.misuses.len() < MOST => {
                self.known.insert((same, at.site, op), self.found.misuses.len());
                self.found.misuses.push(Misuse { what, at, op, more: 0 });
            }
            None => self.found.left_out += 1,
        }
    }
}
