//! Which locks each thread holds along the recorded run, in the order in which it took them.

use crate::effect::{Change, Effect, LockMode};
use crate::sections::{Sections, Waiting};
use event::{Batch, Event, Id, LockId, ThreadId};

/// Stands for a hold that there is not.
const NONE: u32 = u32::MAX;

/// A lock that a thread holds in one mode: a section that is open. A lock held in both modes has two holds.
#[derive(Clone, Copy, Debug)]
pub struct Hold<T> {
    /// The thread.
    pub thread: ThreadId,
    /// The lock.
    pub lock: LockId,
    /// How it is held.
    pub mode: LockMode,
    /// What the user of the tracker keeps with it.
    pub data: T,
    /// The thread held the lock in the other mode when this section opened, and still does.
    inside: bool,
    /// The thread's holds that were taken before and after this one, or [`NONE`]. A free entry has the next free one
    /// as `newer`.
    older: u32,
    newer: u32,
}

/// The list of the holds of a thread.
#[derive(Clone, Copy, Debug)]
struct HoldList {
    oldest: u32,
    newest: u32,
    /// How many locks it holds.
    locks: u32,
}

impl Default for HoldList {
    fn default() -> Self {
        HoldList { oldest: NONE, newest: NONE, locks: 0 }
    }
}

/// [`Sections`] that also list what each thread holds.
#[derive(Clone, Debug)]
pub struct HeldLocks<T = ()> {
    /// With the place of each section in the lists.
    sections: Sections<u32>,
    lists: Lists<T>,
}

impl<T> Default for HeldLocks<T> {
    fn default() -> Self {
        let lists = Lists { holds: Vec::new(), free: NONE, threads: Vec::new() };
        HeldLocks { sections: Sections::default(), lists }
    }
}

impl<T: Copy> HeldLocks<T> {
    /// Before the first event: no thread holds anything.
    pub fn new() -> HeldLocks<T> {
        HeldLocks::default()
    }

    /// Takes the next event of the recorded order, as [`Sections::step`] does. The effect has no data: it stays here.
    #[inline]
    pub fn step(&mut self, batch: &Batch, event: Event, data: impl FnMut(LockMode) -> T) -> Option<Effect> {
        let (op, thread) = (event.op(), event.thread());
        let mode = if op.is_shared() { LockMode::Shared } else { LockMode::Exclusive };
        if op.takes_lock() {
            Some(self.acquire(thread, event.lock(), mode, data))
        } else if op.gives_lock() {
            Some(self.release(thread, event.lock(), mode))
        } else if op.has_lock_argument() {
            self.wait(batch, event, data)
        } else {
            None
        }
    }

    /// An acquire of a lock.
    #[inline]
    pub fn acquire(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        mode: LockMode,
        mut data: impl FnMut(LockMode) -> T,
    ) -> Effect {
        let lists = &mut self.lists;
        let effect = self.sections.acquire(thread, lock, mode, |mode| lists.push(thread, lock, mode, data(mode)));
        let change = self.apply(effect.change(mode), effect.takes);
        Effect::new(lock, mode, change, effect.takes, false)
    }

    /// A release of a lock.
    #[inline]
    pub fn release(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) -> Effect {
        let effect = self.sections.release(thread, lock, mode);
        let change = self.apply(effect.change(mode), effect.gives);
        Effect::new(lock, mode, change, false, effect.gives)
    }

    /// A `wait` or a `woken`.
    #[inline(never)]
    fn wait(&mut self, batch: &Batch, event: Event, mut data: impl FnMut(LockMode) -> T) -> Option<Effect> {
        let (thread, lock) = (event.thread(), batch.extra(event).lock);
        let lists = &mut self.lists;
        let effect = self.sections.step(batch, event, |mode| lists.push(thread, lock, mode, data(mode)))?;
        // Of two sections that open, the shared one is inside; of two that close, both go.
        let both_open = effect.exclusive.opens() && effect.shared.opens();
        let shared = self.apply(effect.shared, effect.gives || (effect.takes && !both_open));
        let exclusive = self.apply(effect.exclusive, effect.gives || effect.takes);
        let (takes, gives) = (effect.takes, effect.gives);
        Some(Effect { lock, exclusive, shared, takes, gives })
    }

    /// Brings the list of a thread up to date; `alone`: the thread does not hold the lock in the other mode.
    #[inline]
    fn apply(&mut self, change: Change<u32>, alone: bool) -> Change<()> {
        match change {
            Change::None => Change::None,
            Change::ClosesInitial => Change::ClosesInitial,
            Change::Opens(at) => {
                if !alone {
                    self.set_inside(at, true);
                }
                Change::Opens(())
            }
            Change::Closes(at) => {
                if !alone {
                    self.outlives(at);
                }
                self.lists.remove(at);
                Change::Closes(())
            }
        }
    }

    /// A hold counts as a lock of its thread, unless it is inside another one of the same lock.
    fn set_inside(&mut self, at: u32, inside: bool) {
        let hold = &mut self.lists.holds[at as usize];
        if hold.inside != inside {
            hold.inside = inside;
            let locks = &mut self.lists.threads[hold.thread.index()].locks;
            *locks = if inside { *locks - 1 } else { *locks + 1 };
        }
    }

    /// A hold ends, and the thread still holds the lock in the other mode.
    #[cold]
    fn outlives(&mut self, at: u32) {
        let Hold { thread, lock, mode, .. } = self.lists.holds[at as usize];
        if let Some((other, _)) = self.sections.get(thread, lock, mode.other()) {
            self.set_inside(other, false);
        }
    }

    /// Whether a thread holds a lock in this mode.
    #[inline]
    pub fn holds(&self, thread: ThreadId, lock: LockId, mode: LockMode) -> bool {
        self.sections.get(thread, lock, mode).is_some()
    }

    /// The data and the depth of what a thread holds of a lock in this mode.
    #[inline]
    pub fn get(&self, thread: ThreadId, lock: LockId, mode: LockMode) -> Option<(T, u32)> {
        self.sections.get(thread, lock, mode).map(|(at, depth)| (self.lists.holds[at as usize].data, depth))
    }

    /// How an event asks for its lock, as [`Sections::request`] does.
    pub fn request(&self, event: Event) -> Option<LockMode> {
        self.sections.request(event)
    }

    /// The wait of a thread that no `woken` has followed yet.
    pub fn waiting(&self, thread: ThreadId) -> Option<&Waiting> {
        self.sections.waiting(thread)
    }

    /// How many locks a thread holds.
    #[inline]
    pub fn count(&self, thread: ThreadId) -> usize {
        self.lists.thread(thread).locks as usize
    }

    /// What a thread holds, in the order in which it was taken.
    pub fn of(&self, thread: ThreadId) -> impl Iterator<Item = &Hold<T>> {
        let mut at = self.lists.thread(thread).oldest;
        std::iter::from_fn(move || {
            let hold = self.lists.holds.get(at as usize)?;
            at = hold.newer;
            Some(hold)
        })
    }

    /// The locks that a thread holds, each once, in the order in which they were taken: [`HeldLocks::count`] of them.
    /// Of a lock held in both modes this is the hold that was taken first.
    pub fn locks(&self, thread: ThreadId) -> impl Iterator<Item = &Hold<T>> {
        self.of(thread).filter(|hold| !hold.inside)
    }

    /// What all threads hold, thread by thread.
    pub fn all(&self) -> impl Iterator<Item = &Hold<T>> {
        (0..self.lists.threads.len()).flat_map(|thread| self.of(ThreadId::from_index(thread)))
    }
}

/// The holds of each thread as a list, linked both ways.
#[derive(Clone, Debug)]
struct Lists<T> {
    /// Holds, and free entries.
    holds: Vec<Hold<T>>,
    /// The first free entry.
    free: u32,
    threads: Vec<HoldList>,
}

impl<T: Copy> Lists<T> {
    #[inline]
    fn thread(&self, thread: ThreadId) -> HoldList {
        self.threads.get(thread.index()).copied().unwrap_or_default()
    }

    /// Adds a hold as the newest of its thread; its place.
    #[inline]
    fn push(&mut self, thread: ThreadId, lock: LockId, mode: LockMode, data: T) -> u32 {
        if self.threads.len() <= thread.index() {
            self.make_room(thread);
        }
        let list = &mut self.threads[thread.index()];
        let older = list.newest;
        list.locks += 1;
        let hold = Hold { thread, lock, mode, data, inside: false, older, newer: NONE };
        let mut at = self.free;
        match self.holds.get_mut(at as usize) {
            Some(free) => {
                self.free = free.newer;
                *free = hold;
            }
            None => {
                at = self.holds.len() as u32;
                self.holds.push(hold);
            }
        }
        list.newest = at;
        match self.holds.get_mut(older as usize) {
            Some(older) => older.newer = at,
            None => list.oldest = at,
        }
        at
    }

    #[cold]
    fn make_room(&mut self, thread: ThreadId) {
        self.threads.resize(thread.index() + 1, HoldList::default());
    }

    #[inline]
    fn remove(&mut self, at: u32) {
        let hold = &mut self.holds[at as usize];
        let Hold { thread, inside, older, newer, .. } = *hold;
        hold.newer = self.free;
        self.free = at;
        let list = &mut self.threads[thread.index()];
        list.locks -= u32::from(!inside);
        match self.holds.get_mut(older as usize) {
            Some(older) => older.newer = newer,
            None => list.oldest = newer,
        }
        match self.holds.get_mut(newer as usize) {
            Some(newer) => newer.older = older,
            None => list.newest = older,
        }
    }
}
