//! Locks and memory used as they must not be: what the recorded run shows by itself.
//!
//! **Claims** (docs/detectors.md defines them): a lock given back by a thread that does not hold it; a thread that asks
//! for a lock it holds, and waits for itself when the trace ends; an access of memory that was freed; and what a
//! recorder noted.
//!
//! **May miss** what the trace does not have: a lock that no thread took before may have been held from the beginning.

use crate::Place;
use event::{Batch, Event, Id, LockId, Names, Op, SiteId, Space, StrId, ThreadId, Value, VarId};
use rustc_hash::FxHashMap;
use sync::{Change, LockMode, Sections};

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

#[derive(Clone, Copy, Default, Debug)]
struct Lock {
    /// Some thread took it, in either mode; exclusively.
    taken: bool,
    exclusively: bool,
    /// The last that took it exclusively and has it still.
    holder: Option<Place>,
}

/// Finds misuses, batch by batch.
#[derive(Default, Debug)]
pub struct Misuses {
    locks: Vec<Lock>,
    /// With each section the event that opened it.
    sections: Sections<Place>,
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
            let since = |mode| self.sections.get(at.thread, lock, mode).map(|(since, _)| since);
            if let Some(since) = since(LockMode::Exclusive).or_else(|| since(LockMode::Shared)) {
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
            Op::Request => _ = self.asking.insert(thread, (event.lock(), place)),
            Op::Alloc => {
                self.is_freed[event.var().index() / 64] &= !(1 << (event.var().index() % 64));
                self.freed.remove(&event.var());
            }
            Op::Free => {
                self.access(event, index);
                self.is_freed[event.var().index() / 64] |= 1 << (event.var().index() % 64);
                self.freed.insert(event.var(), place);
            }
            _ => self.lock(batch, event, place),
        }
    }

    /// An event that can open or close sections.
    fn lock(&mut self, batch: &Batch, event: Event, at: Place) {
        let Some(effect) = self.sections.step(batch, event, |_| at) else { return };
        let lock = &mut self.locks[effect.lock.index()];
        let before = *lock;
        lock.taken |= effect.exclusive.opens() || effect.shared.opens();
        match effect.exclusive {
            Change::Opens(_) => (lock.exclusively, lock.holder) = (true, Some(at)),
            Change::Closes(_) => lock.holder = lock.holder.filter(|holder| holder.thread != at.thread),
            Change::None | Change::ClosesInitial => {}
        }
        // A lock that no thread took before may have been held from the beginning.
        if (effect.exclusive == Change::ClosesInitial && before.taken)
            || (effect.shared == Change::ClosesInitial && before.exclusively)
        {
            if self.found.unlocks.len() < MOST {
                self.found.unlocks.push(at.event);
            }
            let holder = before.holder.filter(|holder| holder.thread != at.thread);
            self.found(What::Unlock(effect.lock, holder), at, event.op());
        }
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
        // Misuses of the same objects at the same sites are one misuse, whichever events they are.
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
