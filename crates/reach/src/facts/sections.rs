//! Critical sections of the recorded run: of nested pairs of one thread only the outermost counts.

use event::{Batch, Event, LockId, Op, ThreadId};
use rustc_hash::FxHashMap;

/// Stands for an event, section or lane that there is not.
pub(crate) const NONE: u32 = u32::MAX;

/// A stretch of a thread in which it has a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Section {
    pub(crate) lock: LockId,
    pub(crate) thread: ThreadId,
    pub(crate) shared: bool,
    /// The event that opens it; [`NONE`]: open from the beginning.
    pub(crate) open: u32,
    /// The event that closes it; [`NONE`]: never closed.
    pub(crate) close: u32,
}

/// The sections that an event opens and closes: the exclusive one, and the shared one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Effect {
    pub(crate) opens: [u32; 2],
    pub(crate) closes: [u32; 2],
}

impl Default for Effect {
    fn default() -> Self {
        Effect { opens: [NONE; 2], closes: [NONE; 2] }
    }
}

/// How deep one thread is in one lock, exclusively and shared, and in which sections.
#[derive(Clone, Copy, Default)]
struct Depth {
    levels: [u32; 2],
    section: [u32; 2],
}

/// What a wait gave up.
struct Waiting {
    cond: u32,
    lock: LockId,
    levels: [u32; 2],
}

/// Follows the recorded run.
#[derive(Default)]
pub(crate) struct Sections {
    pub(crate) all: Vec<Section>,
    depths: FxHashMap<(ThreadId, LockId), Depth>,
    waiting: FxHashMap<ThreadId, Waiting>,
}

/// The lock of an event that can open or close a section, or of a `tfail`.
pub(crate) fn lock_of(trace: &Batch, event: Event) -> Option<LockId> {
    match event.op() {
        Op::Acquire | Op::Release | Op::ReadAcquire | Op::ReadRelease | Op::TryAcquire | Op::TryFail => {
            Some(event.lock())
        }
        Op::Wait | Op::Woken => Some(trace.extra(event).lock),
        _ => None,
    }
}

impl Sections {
    /// The next event of the recorded run.
    pub(crate) fn step(&mut self, trace: &Batch, at: u32, event: Event) -> Effect {
        let mut effect = Effect::default();
        let Some(lock) = lock_of(trace, event) else { return effect };
        let thread = event.thread();
        let depth = self.depths.entry((thread, lock)).or_default();
        let mut levels = [0u32; 2];
        let mut opens = false;
        match event.op() {
            Op::Acquire | Op::TryAcquire => (levels[0], opens) = (1, true),
            Op::ReadAcquire => (levels[1], opens) = (1, true),
            Op::Release => levels[0] = 1,
            Op::ReadRelease => levels[1] = 1,
            Op::Wait => {
                levels = depth.levels;
                self.waiting.insert(thread, Waiting { cond: event.object(), lock, levels });
            }
            Op::Woken => {
                let wait = self.waiting.remove(&thread).filter(|w| w.cond == event.object() && w.lock == lock);
                // A thread that says it woke has the lock, even if its wait is not recorded.
                levels = wait.map(|wait| wait.levels).filter(|&levels| levels != [0; 2]).unwrap_or([1, 0]);
                opens = true;
            }
            _ => return effect,
        }
        for (kind, levels) in levels.into_iter().enumerate().filter(|&(_, levels)| levels > 0) {
            let shared = kind == 1;
            let held = &mut depth.levels[kind];
            if opens {
                if *held == 0 {
                    effect.opens[kind] = self.all.len() as u32;
                    depth.section[kind] = self.all.len() as u32;
                    self.all.push(Section { lock, thread, shared, open: at, close: NONE });
                }
                *held += levels;
            } else if *held == 0 {
                effect.closes[kind] = self.all.len() as u32;
                self.all.push(Section { lock, thread, shared, open: NONE, close: at });
            } else {
                *held -= levels;
                if *held == 0 {
                    effect.closes[kind] = depth.section[kind];
                    self.all[depth.section[kind] as usize].close = at;
                }
            }
        }
        effect
    }
}
