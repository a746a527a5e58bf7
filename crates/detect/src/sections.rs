//! Sections of locks in the recorded run: who opens and closes them, and which are open behind each event.
//!
//! Of nested pairs of one thread only the outermost counts; `wait` closes, `woken` opens again.

use event::{Batch, Event};
use sync::{Change, LockMode};

/// Stands for an event, section or list that there is not.
pub(crate) const NONE: u32 = u32::MAX;

/// A section of a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) lock: u32,
    pub(crate) chain: u32,
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

/// A section in the list of those that are open.
#[derive(Clone, Copy, Debug)]
struct ListNode {
    section: u32,
    below: u32,
}

/// Lists of open sections, which share their tails.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    nodes: Vec<ListNode>,
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
        self.nodes.push(ListNode { section, below: list });
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
    /// With each open section its number.
    open_now: sync::Sections<u32>,
    /// By chain: the list of its open sections, and how many these are.
    open: Vec<(u32, u32)>,
}

impl Sections {
    /// The list of sections that a chain has open now.
    #[inline]
    pub(crate) fn held(&self, chain: u32) -> u32 {
        self.open.get(chain as usize).map_or(NONE, |open| open.0)
    }

    /// Whether a chain has none open.
    pub(crate) fn holds_none(&self, chain: u32) -> bool {
        self.open.get(chain as usize).is_none_or(|open| open.1 == 0)
    }

    /// What the next event opens or closes.
    pub(crate) fn step(&mut self, batch: &Batch, at: u32, event: Event, chain: u32, acts: &mut Vec<Act>) {
        acts.clear();
        let all = &mut self.all;
        let effect = self.open_now.step(batch, event, |mode| {
            let shared = mode == LockMode::Shared;
            all.push(Section { lock: 0, chain, open: at, close: NONE, shared });
            all.len() as u32 - 1
        });
        let Some(effect) = effect else { return };
        if self.open.len() <= chain as usize {
            self.open.resize(chain as usize + 1, (NONE, 0));
        }
        for (mode, change) in effect.changes() {
            match change {
                Change::None => {}
                Change::ClosesInitial => acts.push(Act::ClosesEarly(mode == LockMode::Shared)),
                Change::Opens(number) => {
                    self.all[number as usize].lock = effect.lock.0;
                    let (list, count) = &mut self.open[chain as usize];
                    *list = self.holds.push(*list, number);
                    *count += 1;
                    acts.push(Act::Opens(number));
                }
                Change::Closes(number) => {
                    let section = &mut self.all[number as usize];
                    section.close = at;
                    let (list, count) = &mut self.open[section.chain as usize];
                    *list = self.holds.remove(*list, number);
                    *count -= 1;
                    acts.push(Act::Closes(number));
                }
            }
        }
    }
}
