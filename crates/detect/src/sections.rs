//! Sections of locks in the recorded run: who opens and closes them, and which are open behind each event.
//!
//! Of nested pairs of one thread only the outermost counts; `wait` closes, `woken` opens again.

use event::{Event, Op};
use rustc_hash::FxHashMap;

/// Stands for an event, section or list that there is not.
pub(crate) const NONE: u32 = u32::MAX;

/// A section of a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) lock: u32,
    pub(crate) lane: u32,
    /// The event that opens it.
    pub(crate) open: u32,
    /// The event that closes it, or [`NONE`].
    pub(crate) close: u32,
    pub(crate) shared: bool,
}

/// What a lock event does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Act {
    /// Opens this section.
    Opens(u32),
    /// Closes this section.
    Closes(u32),
    /// Closes a section, shared or not, that was open from the beginning.
    ClosesEarly(bool),
}

#[derive(Clone, Copy)]
struct Depth {
    levels: [u32; 2],
    sections: [u32; 2],
}

impl Default for Depth {
    fn default() -> Self {
        Depth { levels: [0; 2], sections: [NONE; 2] }
    }
}

struct Waiting {
    cond: u32,
    lock: u32,
    levels: [u32; 2],
}

/// A section in the list of those that are open.
#[derive(Clone, Copy, Debug)]
struct Held {
    section: u32,
    below: u32,
}

/// Lists of open sections, which share their tails.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    nodes: Vec<Held>,
}

/// A section that is closed out of order is taken out of a list that is no longer than this; in longer ones it stays,
/// and is passed over, so that no trace can make every release copy a long list.
const MOST_COPIED: usize = 64;

impl Holds {
    /// The sections of a list, the one opened last first. Some may be closed already.
    #[inline]
    pub(crate) fn list(&self, mut list: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::from_fn(move || {
            let node = self.nodes.get(list as usize)?;
            list = node.below;
            Some(node.section)
        })
    }

    fn push(&mut self, list: u32, section: u32) -> u32 {
        self.nodes.push(Held { section, below: list });
        self.nodes.len() as u32 - 1
    }

    fn remove(&mut self, list: u32, section: u32) -> u32 {
        let mut above = Vec::new();
        let mut at = list;
        while let Some(&node) = self.nodes.get(at as usize) {
            if node.section == section {
                return above.into_iter().rev().fold(node.below, |list, section| self.push(list, section));
            }
            if above.len() == MOST_COPIED {
                break;
            }
            above.push(node.section);
            at = node.below;
        }
        list
    }
}

/// Follows the recorded run.
#[derive(Default)]
pub(crate) struct Sections {
    pub(crate) all: Vec<Section>,
    pub(crate) holds: Holds,
    depths: FxHashMap<(u32, u32), Depth>,
    waiting: FxHashMap<u32, Waiting>,
    /// By lane: the list of its open sections, and how many these are.
    open: Vec<(u32, u32)>,
}

/// The lock that an event acts on, if it can open or close a section, or is `tfail`.
#[inline]
pub(crate) fn lock_of(event: Event, lock_of_wait: impl FnOnce() -> u32) -> Option<u32> {
    match event.op() {
        Op::Acquire | Op::Release | Op::ReadAcquire | Op::ReadRelease | Op::TryAcquire | Op::TryFail => {
            Some(event.object())
        }
        Op::Wait | Op::Woken => Some(lock_of_wait()),
        _ => None,
    }
}

const EXCLUSIVE: usize = 0;
const SHARED: usize = 1;

impl Sections {
    /// The list of sections that a lane has open now.
    #[inline]
    pub(crate) fn held(&self, lane: u32) -> u32 {
        self.open.get(lane as usize).map_or(NONE, |open| open.0)
    }

    /// Whether a lane has none open.
    pub(crate) fn holds_none(&self, lane: u32) -> bool {
        self.open.get(lane as usize).is_none_or(|open| open.1 == 0)
    }

    /// What the next event, which acts on this lock, opens or closes.
    pub(crate) fn step(&mut self, at: u32, event: Event, lane: u32, lock: u32, acts: &mut Vec<Act>) {
        acts.clear();
        let thread = event.thread().0;
        if self.open.len() <= lane as usize {
            self.open.resize(lane as usize + 1, (NONE, 0));
        }
        let mut depth = self.depths.get(&(thread, lock)).copied().unwrap_or_default();
        match event.op() {
            Op::Acquire | Op::TryAcquire => self.enter(&mut depth, EXCLUSIVE, 1, (at, lane, lock), acts),
            Op::ReadAcquire => self.enter(&mut depth, SHARED, 1, (at, lane, lock), acts),
            Op::Release => self.leave(&mut depth, EXCLUSIVE, 1, at, acts),
            Op::ReadRelease => self.leave(&mut depth, SHARED, 1, at, acts),
            Op::Wait => {
                let levels = depth.levels;
                for kind in [EXCLUSIVE, SHARED] {
                    if levels[kind] > 0 {
                        self.leave(&mut depth, kind, levels[kind], at, acts);
                    }
                }
                self.waiting.insert(thread, Waiting { cond: event.object(), lock, levels });
            }
            Op::Woken => {
                let wait = self.waiting.remove(&thread).filter(|w| w.cond == event.object() && w.lock == lock);
                // A thread that says it woke has the lock, even if its wait is not recorded.
                let levels = wait.map(|wait| wait.levels).filter(|&levels| levels != [0, 0]).unwrap_or([1, 0]);
                for kind in [EXCLUSIVE, SHARED] {
                    if levels[kind] > 0 {
                        self.enter(&mut depth, kind, levels[kind], (at, lane, lock), acts);
                    }
                }
            }
            _ => return,
        }
        self.depths.insert((thread, lock), depth);
    }

    fn enter(
        &mut self,
        depth: &mut Depth,
        kind: usize,
        levels: u32,
        (at, lane, lock): (u32, u32, u32),
        acts: &mut Vec<Act>,
    ) {
        if depth.levels[kind] == 0 {
            let number = self.all.len() as u32;
            self.all.push(Section { lock, lane, open: at, close: NONE, shared: kind == SHARED });
            depth.sections[kind] = number;
            let (list, count) = &mut self.open[lane as usize];
            *list = self.holds.push(*list, number);
            *count += 1;
            acts.push(Act::Opens(number));
        }
        depth.levels[kind] = depth.levels[kind].saturating_add(levels);
    }

    fn leave(&mut self, depth: &mut Depth, kind: usize, levels: u32, at: u32, acts: &mut Vec<Act>) {
        if depth.levels[kind] == 0 {
            acts.push(Act::ClosesEarly(kind == SHARED));
            return;
        }
        depth.levels[kind] -= levels;
        if depth.levels[kind] == 0 {
            let number = depth.sections[kind];
            let section = &mut self.all[number as usize];
            section.close = at;
            let (list, count) = &mut self.open[section.lane as usize];
            *list = self.holds.remove(*list, number);
            *count -= 1;
            acts.push(Act::Closes(number));
        }
    }
}
