//! Which locks each thread holds along the recorded run.

use crate::effect::{Change, Effect, LockMode};
use event::{Batch, CondId, Event, Id, LockId, Op, ThreadId};
use rustc_hash::FxHashMap;

/// Stands for a hold that there is not.
const NONE: u32 = u32::MAX;

/// A section that is open: a thread holds a lock in one mode.
#[derive(Clone, Copy, Debug)]
pub struct Hold<T> {
    /// The thread.
    pub thread: ThreadId,
    /// The lock.
    pub lock: LockId,
    /// How it is held. A lock held in both modes has two holds.
    pub mode: LockMode,
    /// How many releases close the section.
    pub depth: u32,
    /// What the user of the tracker keeps with it.
    pub data: T,
    /// The thread held the lock in the other mode when this section opened, and still does.
    inside: bool,
    /// The thread's holds that were taken before and after this one, or [`NONE`]. A free entry has the next free one
    /// as `newer`.
    older: u32,
    newer: u32,
}

/// A wait that goes on, and what it gave up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The condition.
    pub cond: CondId,
    /// The lock.
    pub lock: LockId,
    /// How deep the lock was held, by mode.
    pub depths: [u32; 2],
}

#[derive(Clone, Debug)]
struct Thread {
    oldest: u32,
    newest: u32,
    /// How many locks it holds.
    locks: u32,
    waiting: Option<Waiting>,
}

impl Thread {
    const NEW: Thread = Thread { oldest: NONE, newest: NONE, locks: 0, waiting: None };
}

/// The locks that each thread holds, with data of the user's for each open section.
#[derive(Clone, Debug)]
pub struct HeldLocks<T = ()> {
    /// Open sections, and free entries.
    holds: Vec<Hold<T>>,
    /// The first free entry.
    free: u32,
    /// By lock: one of its holds, or [`NONE`]. Most locks are held by one thread in one mode.
    locks: Vec<u32>,
    /// All other holds.
    others: FxHashMap<(LockId, ThreadId, LockMode), u32>,
    threads: Vec<Thread>,
}

impl<T> Default for HeldLocks<T> {
    fn default() -> Self {
        let (holds, locks, threads) = (Vec::new(), Vec::new(), Vec::new());
        HeldLocks { holds, free: NONE, locks, others: FxHashMap::default(), threads }
    }
}

impl<T: Copy> HeldLocks<T> {
    /// Before the first event: no thread holds anything.
    pub fn new() -> HeldLocks<T> {
        HeldLocks::default()
    }

    /// Takes the next event of the recorded order, and says what it does to the sections of its lock; `None` if it can
    /// do nothing to them. `data` is asked for what to keep with each section that opens.
    #[inline]
    pub fn step(&mut self, batch: &Batch, event: Event, data: impl FnMut(LockMode) -> T) -> Option<Effect<T>> {
        let thread = event.thread();
        Some(match event.op() {
            Op::Acquire | Op::TryAcquire => self.acquire(thread, event.lock(), LockMode::Exclusive, data),
            Op::ReadAcquire => self.acquire(thread, event.lock(), LockMode::Shared, data),
            Op::Release => self.release(thread, event.lock(), LockMode::Exclusive),
            Op::ReadRelease => self.release(thread, event.lock(), LockMode::Shared),
            Op::Wait => self.wait(thread, event.cond(), batch.extra(event).lock),
            Op::Woken => self.woken(thread, event.cond(), batch.extra(event).lock, data),
            _ => return None,
        })
    }

    /// An acquire of a lock.
    #[inline]
    pub fn acquire(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        mode: LockMode,
        data: impl FnMut(LockMode) -> T,
    ) -> Effect<T> {
        let (change, takes) = self.enter(thread, lock, mode, 1, data);
        Effect::of(lock, mode, change, takes, false)
    }

    /// A release of a lock.
    #[inline]
    pub fn release(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) -> Effect<T> {
        let at = self.find(thread, lock, mode);
        let Some(hold) = self.holds.get_mut(at as usize) else {
            return Effect::of(lock, mode, Change::ClosesInitial, false, false);
        };
        hold.depth -= 1;
        if hold.depth > 0 {
            return Effect::of(lock, mode, Change::None, false, false);
        }
        let data = hold.data;
        let gives = self.remove(at);
        Effect::of(lock, mode, Change::Closes(data), false, gives)
    }

    /// A wait gives the lock up at every depth.
    fn wait(&mut self, thread: ThreadId, cond: CondId, lock: LockId) -> Effect<T> {
        let mut effect = Effect::of(lock, LockMode::Shared, Change::None, false, false);
        let mut depths = [0; 2];
        for mode in LockMode::BOTH {
            let at = self.find(thread, lock, mode);
            if let Some(hold) = self.holds.get(at as usize) {
                depths[mode.index()] = hold.depth;
                *effect.change(mode) = Change::Closes(hold.data);
                effect.gives |= self.remove(at);
            }
        }
        self.thread(thread).waiting = Some(Waiting { cond, lock, depths });
        effect
    }

    /// A wake-up takes back what its wait gave up.
    fn woken(
        &mut self,
        thread: ThreadId,
        cond: CondId,
        lock: LockId,
        mut data: impl FnMut(LockMode) -> T,
    ) -> Effect<T> {
        let waited = self.thread(thread).waiting.take();
        let depths = waited.filter(|waited| (waited.cond, waited.lock) == (cond, lock)).map(|waited| waited.depths);
        // A thread that wakes has the lock, even if the trace does not say that it had it before.
        let depths = depths.filter(|&depths| depths != [0; 2]).unwrap_or([1, 0]);
        let mut effect = Effect::of(lock, LockMode::Shared, Change::None, false, false);
        for mode in LockMode::BOTH {
            if depths[mode.index()] > 0 {
                let (change, takes) = self.enter(thread, lock, mode, depths[mode.index()], &mut data);
                *effect.change(mode) = change;
                effect.takes |= takes;
            }
        }
        effect
    }

    /// Takes a lock so many times; whether the thread did not hold it before, in either mode.
    #[inline]
    fn enter(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        mode: LockMode,
        depth: u32,
        mut data: impl FnMut(LockMode) -> T,
    ) -> (Change<T>, bool) {
        let at = self.find(thread, lock, mode);
        if let Some(hold) = self.holds.get_mut(at as usize) {
            hold.depth = hold.depth.saturating_add(depth);
            return (Change::None, false);
        }
        let data = data(mode);
        let inside = self.find(thread, lock, mode.other()) != NONE;
        let state = self.thread(thread);
        state.locks += u32::from(!inside);
        let older = state.newest;
        let at = self.insert(Hold { thread, lock, mode, depth, data, inside, older, newer: NONE });
        self.threads[thread.index()].newest = at;
        match self.holds.get_mut(older as usize) {
            Some(older) => older.newer = at,
            None => self.threads[thread.index()].oldest = at,
        }
        if self.locks.len() <= lock.index() {
            self.locks.resize(lock.index() + 1, NONE);
        }
        let first = &mut self.locks[lock.index()];
        if *first == NONE {
            *first = at;
        } else {
            self.others.insert((lock, thread, mode), at);
        }
        (Change::Opens(data), !inside)
    }

    /// Removes a hold; whether the thread holds the lock no more, in either mode.
    #[inline]
    fn remove(&mut self, at: u32) -> bool {
        let Hold { thread, lock, mode, older, newer, .. } = self.holds[at as usize];
        match self.holds.get_mut(older as usize) {
            Some(older) => older.newer = newer,
            None => self.threads[thread.index()].oldest = newer,
        }
        match self.holds.get_mut(newer as usize) {
            Some(newer) => newer.older = older,
            None => self.threads[thread.index()].newest = older,
        }
        let first = &mut self.locks[lock.index()];
        if *first == at {
            *first = NONE;
        } else {
            self.others.remove(&(lock, thread, mode));
        }
        self.holds[at as usize].newer = self.free;
        self.free = at;
        let other = self.find(thread, lock, mode.other());
        match self.holds.get_mut(other as usize) {
            Some(other) => other.inside = false,
            None => self.threads[thread.index()].locks -= 1,
        }
        other == NONE
    }

    fn insert(&mut self, hold: Hold<T>) -> u32 {
        let at = self.free;
        match self.holds.get_mut(at as usize) {
            Some(free) => {
                self.free = free.newer;
                *free = hold;
                at
            }
            None => {
                self.holds.push(hold);
                self.holds.len() as u32 - 1
            }
        }
    }

    /// The place of a hold, or [`NONE`].
    #[inline]
    fn find(&self, thread: ThreadId, lock: LockId, mode: LockMode) -> u32 {
        let first = self.locks.get(lock.index()).copied().unwrap_or(NONE);
        match self.holds.get(first as usize) {
            Some(hold) if hold.thread == thread && hold.mode == mode => first,
            _ if self.others.is_empty() => NONE,
            _ => self.others.get(&(lock, thread, mode)).copied().unwrap_or(NONE),
        }
    }

    #[inline]
    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, Thread::NEW);
        }
        &mut self.threads[thread.index()]
    }

    /// The section of a lock that a thread has open in this mode.
    #[inline]
    pub fn get(&self, thread: ThreadId, lock: LockId, mode: LockMode) -> Option<&Hold<T>> {
        self.holds.get(self.find(thread, lock, mode) as usize)
    }

    /// How an event asks for its lock, if it is a request (docs/detectors.md, "Deadlocks"). Ask before its step.
    pub fn request(&self, event: Event) -> Option<LockMode> {
        let mode = match event.op() {
            Op::Acquire | Op::Request => LockMode::Exclusive,
            Op::ReadAcquire => LockMode::Shared,
            _ => return None,
        };
        self.get(event.thread(), event.lock(), mode).is_none().then_some(mode)
    }

    /// How many locks a thread holds.
    #[inline]
    pub fn count(&self, thread: ThreadId) -> usize {
        self.threads.get(thread.index()).map_or(0, |thread| thread.locks as usize)
    }

    /// The open sections of a thread, in the order in which they were opened.
    pub fn sections(&self, thread: ThreadId) -> impl Iterator<Item = &Hold<T>> {
        let mut at = self.threads.get(thread.index()).map_or(NONE, |thread| thread.oldest);
        std::iter::from_fn(move || {
            let hold = self.holds.get(at as usize)?;
            at = hold.newer;
            Some(hold)
        })
    }

    /// The locks that a thread holds, each once, in the order in which they were taken: [`HeldLocks::count`] of them.
    /// Of a lock held in both modes this is the section that was opened first.
    pub fn locks(&self, thread: ThreadId) -> impl Iterator<Item = &Hold<T>> {
        self.sections(thread).filter(|hold| !hold.inside)
    }

    /// The section that a thread has opened last.
    #[inline]
    pub fn newest(&self, thread: ThreadId) -> Option<&Hold<T>> {
        self.holds.get(self.threads.get(thread.index())?.newest as usize)
    }

    /// The open sections of all threads, thread by thread.
    pub fn all(&self) -> impl Iterator<Item = &Hold<T>> {
        (0..self.threads.len()).flat_map(|thread| self.sections(ThreadId::from_index(thread)))
    }

    /// Changes the data of the open sections of a thread, in the order in which they were opened, as long as `change`
    /// returns true.
    pub fn change_data(&mut self, thread: ThreadId, mut change: impl FnMut(LockId, LockMode, &mut T) -> bool) {
        let mut at = self.threads.get(thread.index()).map_or(NONE, |thread| thread.oldest);
        while let Some(hold) = self.holds.get_mut(at as usize) {
            if !change(hold.lock, hold.mode, &mut hold.data) {
                return;
            }
            at = hold.newer;
        }
    }

    /// The wait of a thread that no `woken` has followed yet.
    pub fn waiting(&self, thread: ThreadId) -> Option<&Waiting> {
        self.threads.get(thread.index())?.waiting.as_ref()
    }
}

impl<T> Effect<T> {
    #[inline]
    fn of(lock: LockId, mode: LockMode, change: Change<T>, takes: bool, gives: bool) -> Effect<T> {
        let (exclusive, shared) = match mode {
            LockMode::Exclusive => (change, Change::None),
            LockMode::Shared => (Change::None, change),
        };
        Effect { lock, exclusive, shared, takes, gives }
    }

    #[inline]
    fn change(&mut self, mode: LockMode) -> &mut Change<T> {
        match mode {
            LockMode::Exclusive => &mut self.exclusive,
            LockMode::Shared => &mut self.shared,
        }
    }
}
