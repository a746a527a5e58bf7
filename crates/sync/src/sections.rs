//! Which sections of locks are open along the recorded run: the outermost acquire opens one, the last release closes
//! it.

use crate::effect::{Change, Effect, LockMode};
use event::{Batch, CondId, Event, Id, LockId, Op, ThreadId};
use rustc_hash::FxHashMap;

/// A section of a lock, or room for one.
#[derive(Clone, Copy, Debug)]
struct Section<T> {
    /// The thread and mode that it is of, as [`holder`] says; [`FREE`]: it is not open.
    holder: u32,
    /// How many releases close it.
    depth: u32,
    data: T,
}

const FREE: u32 = u32::MAX;

/// A thread and a mode in a word. (Thread ids share a word with the operation in events, so a bit is left.)
#[inline]
fn holder(thread: ThreadId, mode: LockMode) -> u32 {
    thread.0 << 1 | mode as u32
}

impl<T: Default> Default for Section<T> {
    fn default() -> Self {
        Section { holder: FREE, depth: 0, data: T::default() }
    }
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

/// The open sections of all locks, with data of the user's for each of them.
#[derive(Clone, Default, Debug)]
pub struct Sections<T = ()> {
    /// By lock: one of its open sections. Most locks are held by one thread in one mode.
    locks: Vec<Section<T>>,
    /// All other open sections, by mode.
    others: FxHashMap<(LockId, ThreadId), [Section<T>; 2]>,
    /// By thread.
    waiting: Vec<Option<Waiting>>,
}

impl<T: Copy + Default> Sections<T> {
    /// Before the first event: nothing is open.
    pub fn new() -> Sections<T> {
        Sections::default()
    }

    /// Takes the next event of the recorded order, and says what it does to the sections of its lock; `None` if it can
    /// do nothing to them. `data` is asked for what to keep with each section that opens.
    #[inline]
    pub fn step(&mut self, batch: &Batch, event: Event, data: impl FnMut(LockMode) -> T) -> Option<Effect<T>> {
        let (op, thread) = (event.op(), event.thread());
        let mode = if op.is_shared() { LockMode::Shared } else { LockMode::Exclusive };
        Some(if op.takes_lock() {
            self.acquire(thread, event.lock(), mode, data)
        } else if op.gives_lock() {
            self.release(thread, event.lock(), mode)
        } else if op == Op::Wait {
            self.wait(thread, event.cond(), batch.extra(event).lock)
        } else if op == Op::Woken {
            self.woken(thread, event.cond(), batch.extra(event).lock, data)
        } else {
            return None;
        })
    }

    /// An acquire of a lock.
    #[inline]
    pub fn acquire(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        mode: LockMode,
        mut data: impl FnMut(LockMode) -> T,
    ) -> Effect<T> {
        if let Some(section) = self.locks.get_mut(lock.index()) {
            if section.holder == FREE && self.others.is_empty() {
                let data = data(mode);
                *section = Section { holder: holder(thread, mode), depth: 1, data };
                return Effect::new(lock, mode, Change::Opens(data), true, false);
            }
            if section.holder == holder(thread, mode) {
                section.depth = section.depth.saturating_add(1);
                return Effect::new(lock, mode, Change::None, false, false);
            }
        }
        let (change, takes) = self.enter(thread, lock, mode, 1, data);
        Effect::new(lock, mode, change, takes, false)
    }

    /// A release of a lock.
    #[inline]
    pub fn release(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) -> Effect<T> {
        match self.locks.get_mut(lock.index()) {
            Some(section) if section.holder == holder(thread, mode) && self.others.is_empty() => {
                section.depth -= 1;
                if section.depth > 0 {
                    return Effect::new(lock, mode, Change::None, false, false);
                }
                section.holder = FREE;
                Effect::new(lock, mode, Change::Closes(section.data), false, true)
            }
            _ => self.leave(thread, lock, mode),
        }
    }

    /// Takes a lock so many times; whether the thread did not hold it before, in either mode.
    #[inline(never)]
    fn enter(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        mode: LockMode,
        depth: u32,
        mut data: impl FnMut(LockMode) -> T,
    ) -> (Change<T>, bool) {
        if let Some(section) = self.find(thread, lock, mode) {
            section.depth = section.depth.saturating_add(depth);
            return (Change::None, false);
        }
        if self.locks.len() <= lock.index() {
            self.locks.resize(lock.index() + 1, Section::default());
        }
        let data = data(mode);
        let takes = self.find(thread, lock, mode.other()).is_none();
        let section = Section { holder: holder(thread, mode), depth, data };
        if self.locks[lock.index()].holder == FREE {
            self.locks[lock.index()] = section;
        } else {
            self.others.entry((lock, thread)).or_default()[mode.index()] = section;
        }
        (Change::Opens(data), takes)
    }

    /// Gives a lock back once.
    #[inline(never)]
    fn leave(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) -> Effect<T> {
        let Some(section) = self.find(thread, lock, mode) else {
            return Effect::new(lock, mode, Change::ClosesInitial, false, false);
        };
        section.depth -= 1;
        if section.depth > 0 {
            return Effect::new(lock, mode, Change::None, false, false);
        }
        section.holder = FREE;
        let data = section.data;
        let gives = self.is_given(thread, lock, mode.other());
        Effect::new(lock, mode, Change::Closes(data), false, gives)
    }

    /// Whether a thread that has closed a section does not hold its lock in the other mode, either.
    fn is_given(&mut self, thread: ThreadId, lock: LockId, other: LockMode) -> bool {
        if let Some(others) = self.others.get(&(lock, thread))
            && others.iter().all(|section| section.holder == FREE)
        {
            self.others.remove(&(lock, thread));
        }
        self.find(thread, lock, other).is_none()
    }

    /// A wait gives the lock up at every depth.
    fn wait(&mut self, thread: ThreadId, cond: CondId, lock: LockId) -> Effect<T> {
        let mut effect = Effect::new(lock, LockMode::Shared, Change::None, false, false);
        let mut depths = [0; 2];
        for mode in LockMode::BOTH {
            if let Some(section) = self.find(thread, lock, mode) {
                depths[mode.index()] = std::mem::take(&mut section.depth);
                section.holder = FREE;
                *effect.change_mut(mode) = Change::Closes(section.data);
                effect.gives = self.is_given(thread, lock, mode.other());
            }
        }
        if self.waiting.len() <= thread.index() {
            self.waiting.resize(thread.index() + 1, None);
        }
        self.waiting[thread.index()] = Some(Waiting { cond, lock, depths });
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
        let waited = self.waiting.get_mut(thread.index()).and_then(Option::take);
        let depths = waited.filter(|waited| (waited.cond, waited.lock) == (cond, lock)).map(|waited| waited.depths);
        // A thread that wakes has the lock, even if the trace does not say that it had it before.
        let depths = depths.filter(|&depths| depths != [0; 2]).unwrap_or([1, 0]);
        let mut effect = Effect::new(lock, LockMode::Shared, Change::None, false, false);
        for mode in LockMode::BOTH {
            if depths[mode.index()] > 0 {
                let (change, takes) = self.enter(thread, lock, mode, depths[mode.index()], &mut data);
                *effect.change_mut(mode) = change;
                effect.takes |= takes;
            }
        }
        effect
    }

    fn find(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) -> Option<&mut Section<T>> {
        let holder = holder(thread, mode);
        match self.locks.get_mut(lock.index()) {
            Some(section) if section.holder == holder => Some(section),
            _ if self.others.is_empty() => None,
            _ => {
                let section = &mut self.others.get_mut(&(lock, thread))?[mode.index()];
                (section.holder == holder).then_some(section)
            }
        }
    }

    /// The data and the depth of the section of a lock that a thread has open in this mode.
    #[inline]
    pub fn get(&self, thread: ThreadId, lock: LockId, mode: LockMode) -> Option<(T, u32)> {
        let holder = holder(thread, mode);
        let section = match self.locks.get(lock.index()) {
            Some(section) if section.holder == holder => section,
            _ if self.others.is_empty() => return None,
            _ => self.others.get(&(lock, thread)).map(|others| &others[mode.index()])?,
        };
        (section.holder == holder).then_some((section.data, section.depth))
    }

    /// How an event asks for its lock, if it is a request (docs/detectors.md, "Deadlocks"). Ask before its step.
    pub fn request(&self, event: Event) -> Option<LockMode> {
        let op = event.op();
        let mode = if op.is_shared() { LockMode::Shared } else { LockMode::Exclusive };
        (op.asks_for_lock() && self.get(event.thread(), event.lock(), mode).is_none()).then_some(mode)
    }

    /// The wait of a thread that no `woken` has followed yet.
    #[inline]
    pub fn waiting(&self, thread: ThreadId) -> Option<&Waiting> {
        self.waiting.get(thread.index())?.as_ref()
    }
}
