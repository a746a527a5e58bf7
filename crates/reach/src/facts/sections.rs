//! Critical sections of the recorded run: of nested pairs of one thread only the outermost counts.

use event::{Batch, Event, LockId, ThreadId};
use sync::{Change, LockMode};

/// Stands for an event, section or chain that there is not.
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

/// Follows the recorded run.
#[derive(Default)]
pub(crate) struct Sections {
    pub(crate) all: Vec<Section>,
    /// With each open section its number.
    open: sync::Sections<u32>,
}

impl Sections {
    /// The next event of the recorded run.
    pub(crate) fn step(&mut self, trace: &Batch, at: u32, event: Event) -> Effect {
        let mut result = Effect::default();
        let (thread, first) = (event.thread(), self.all.len());
        let all = &mut self.all;
        let section =
            |mode, open, close| Section { lock: LockId(0), thread, shared: mode == LockMode::Shared, open, close };
        let effect = self.open.step(trace, event, |mode| {
            all.push(section(mode, at, NONE));
            all.len() as u32 - 1
        });
        let Some(effect) = effect else { return result };
        for (mode, change) in effect.changes() {
            match change {
                Change::None => {}
                Change::Opens(number) => result.opens[mode.index()] = number,
                Change::Closes(number) => {
                    self.all[number as usize].close = at;
                    result.closes[mode.index()] = number;
                }
                Change::ClosesInitial => {
                    result.closes[mode.index()] = self.all.len() as u32;
                    self.all.push(section(mode, NONE, at));
                }
            }
        }
        self.all[first..].iter_mut().for_each(|section| section.lock = effect.lock);
        result
    }
}
