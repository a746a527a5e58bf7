//! The simplest witness of an observed race: the recorded run, in which the first access and all that needs it are held
//! back until the second access is next.
//!
//! **Follows** the theorem behind schedulable happens-before (Mathur, Kini, Viswanathan, OOPSLA'18; see `hb`): what is
//! not ordered after the first access can be replayed in recorded order, every read seeing what it saw. So the witness
//! is found along the recorded run, from the first access to the second, with a few marks per object and no copy of the
//! trace. `sync_preserving` looks for the least set of events instead, and needs the whole trace for it.
//!
//! **Deviates** where a precise answer would need what came before the first access: a `woken` is held back after any
//! held-back notify of its condition, a `down` after any held-back `up` of its semaphore.
//!
//! **May miss** races whose second access comes after the first by an order that `hb` does not count (a relaxed store
//! that it saw, a failed try-lock), or by one of those deviations. `sync_preserving` may still find a witness.
//!
//! **Raises no false alarm**: `witness::HeldBackCheck` judges what is kept.

use event::{Batch, Event, Op};

/// What was held back of an object, as bits.
mod held {
    pub(super) const FORK: u8 = 1;
    pub(super) const STOPPED: u8 = 2;
    pub(super) const ACCESS: u8 = 1;
    pub(super) const LAST_WRITE: u8 = 2;
    pub(super) const LIFETIME: u8 = 4;
    pub(super) const OPEN: u8 = 1;
    pub(super) const CLOSE: u8 = 2;
    pub(super) const SHARED_CLOSE: u8 = 4;
    pub(super) const FAILURE: u8 = 8;
    pub(super) const SIGNAL: u8 = 1;
}

/// By object: what was held back.
#[derive(Default, Debug)]
struct Marks(Vec<u8>);

impl Marks {
    #[inline]
    fn has(&self, object: u32, marks: u8) -> bool {
        self.0.get(object as usize).is_some_and(|held| held & marks != 0)
    }

    fn add(&mut self, object: u32, marks: u8) {
        if self.0.len() <= object as usize {
            self.0.resize(object as usize + 1, 0);
        }
        self.0[object as usize] |= marks;
    }

    #[inline]
    fn remove(&mut self, object: u32, marks: u8) {
        if let Some(held) = self.0.get_mut(object as usize) {
            *held &= !marks;
        }
    }
}

/// Goes along the recorded run from the first access of a race on.
#[derive(Default, Debug)]
pub struct HeldBack {
    threads: Marks,
    vars: Marks,
    locks: Marks,
    latches: Marks,
    semaphores: Marks,
    conditions: Marks,
    begun: bool,
}

impl HeldBack {
    /// Before the first access.
    pub fn new() -> HeldBack {
        HeldBack::default()
    }

    /// The next event, which `batch` has; the very first is the one to hold back. Whether it is in the witness.
    #[inline]
    pub fn step(&mut self, batch: &Batch, event: Event) -> bool {
        let kept = self.begun && self.is_free(batch, event);
        self.begun = true;
        if kept {
            if event.op().writes() || event.op().bounds_lifetime() {
                self.vars.remove(event.object(), held::LAST_WRITE);
            }
        } else {
            self.hold_back(batch, event);
        }
        kept
    }

    /// Whether a thread goes on.
    pub fn goes_on(&self, thread: event::ThreadId) -> bool {
        !self.threads.has(thread.0, held::FORK | held::STOPPED)
    }

    /// Whether nothing that an event needs was held back.
    #[inline]
    fn is_free(&self, batch: &Batch, event: Event) -> bool {
        let (op, object) = (event.op(), event.object());
        if !self.goes_on(event.thread()) {
            return false;
        }
        let needs_to = |marks: &Marks, bits| !marks.has(object, bits);
        match op {
            Op::Read | Op::AtomicLoad | Op::AtomicRmw => needs_to(&self.vars, held::LIFETIME | held::LAST_WRITE),
            Op::Write | Op::AtomicStore => needs_to(&self.vars, held::LIFETIME),
            Op::Alloc | Op::Free => needs_to(&self.vars, held::LIFETIME | held::ACCESS),
            Op::Join => needs_to(&self.threads, held::FORK | held::STOPPED),
            Op::Await => needs_to(&self.latches, held::SIGNAL),
            Op::Down => needs_to(&self.semaphores, held::SIGNAL),
            Op::TryFail => needs_to(&self.locks, held::OPEN),
            Op::ReadAcquire => needs_to(&self.locks, held::CLOSE),
            Op::Woken => {
                let lock = batch.extra(event).lock.0;
                needs_to(&self.conditions, held::SIGNAL) && !self.locks.has(lock, held::CLOSE | held::SHARED_CLOSE)
            }
            Op::Wait => !self.locks.has(batch.extra(event).lock.0, held::FAILURE),
            _ if op.opens_section() => needs_to(&self.locks, held::CLOSE | held::SHARED_CLOSE),
            _ if op.closes_section() => needs_to(&self.locks, held::FAILURE),
            _ => true,
        }
    }

    fn hold_back(&mut self, batch: &Batch, event: Event) {
        let (op, object) = (event.op(), event.object());
        self.threads.add(event.thread().0, held::STOPPED);
        if op.is_access() {
            let write = if op.writes() { held::LAST_WRITE } else { 0 };
            let lifetime = if op.bounds_lifetime() { held::LIFETIME } else { 0 };
            self.vars.add(object, held::ACCESS | write | lifetime);
        }
        match op {
            Op::Fork => self.threads.add(object, held::FORK),
            Op::Post => self.latches.add(object, held::SIGNAL),
            Op::Up => self.semaphores.add(object, held::SIGNAL),
            Op::Notify | Op::NotifyAll => self.conditions.add(object, held::SIGNAL),
            Op::Release => self.locks.add(object, held::CLOSE),
            Op::ReadRelease => self.locks.add(object, held::SHARED_CLOSE),
            Op::Wait => self.locks.add(batch.extra(event).lock.0, held::CLOSE | held::SHARED_CLOSE),
            Op::Woken => self.locks.add(batch.extra(event).lock.0, held::OPEN),
            Op::TryFail => self.locks.add(object, held::FAILURE),
            _ if op.opens_section() => self.locks.add(object, held::OPEN),
            _ => {}
        }
    }
}
