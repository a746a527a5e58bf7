//! Rules that depend on the cut, or on the path to it: exclusion, counts, lost notifies, values that reads see.
//!
//! A cut is given as the number of events taken of each chain. Each event has a *guard*, a condition on the cut before
//! it, and an *action*, which reads and changes the *context* of the path: for each notify that can come too early
//! whether it did, and for each variable with reads to come which write they would see. Paths with equal cuts and equal
//! contexts have equal continuations, so a search may merge them.

use crate::event_structure::{ChainPrefix, RelevantEvent};

/// A condition on the cut before an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Guard {
    None,
    /// No other atomic set of the variable's lifetime is open.
    Set {
        lifetime: u32,
        own: u32,
    },
    /// No other thread has a section of the lock open.
    Exclusive {
        lock: u32,
        chain: u32,
    },
    /// No other thread has an exclusive section of the lock open.
    Shared {
        lock: u32,
        chain: u32,
    },
    /// None of these prefixes, a range of [`Rules::closing`], is in the cut: the sections that made a try-lock fail are
    /// not closed.
    Fails {
        from: u32,
        to: u32,
    },
    /// The count of the semaphore is above zero.
    Down {
        semaphore: u32,
    },
}

/// What an event demands of the context, and how it changes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    None,
    /// A notify that may come before a wait that it is to end: a range of [`Rules::notifies`].
    Notify {
        from: u32,
        to: u32,
    },
    /// A wake-up: comes only if its notify was not lost.
    Woken {
        slot: u32,
    },
    /// Writes a value of this class. `order`: the number of the write in the recorded order of the variable, from 1.
    Write {
        slot: u32,
        class: u32,
        order: u32,
    },
    /// May see only values of the classes in this entry of [`Rules::accepted`].
    Read {
        slot: u32,
        accepted: u32,
    },
    /// Reads and writes at once (`armw`).
    ReadWrite {
        slot: u32,
        accepted: u32,
        class: u32,
        order: u32,
    },
}

/// The atomic sets that the events of a chain open.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Openers {
    pub(crate) chain: u32,
    /// The number of the event, and its set; in the order of the chain.
    pub(crate) sets: Vec<(u32, u32)>,
}

/// The sections of a lock in one chain: each begins with event `.0` and ends with event `.1`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct ChainSections {
    pub(crate) chain: u32,
    pub(crate) exclusive: Vec<(u32, u32)>,
    pub(crate) shared: Vec<(u32, u32)>,
}

/// The events of a chain that change a semaphore.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct ChainCounts {
    pub(crate) chain: u32,
    pub(crate) ups: Vec<u32>,
    pub(crate) downs: Vec<u32>,
}

/// The writes of a variable in one chain: number of the event, number of the write in recorded order, class.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct ChainWrites {
    pub(crate) chain: u32,
    pub(crate) writes: Vec<(u32, u32, u32)>,
}

/// What a path remembers beside its cut: pairs of a slot and its value, sorted by slot.
///
/// A slot with its default value has no entry. By default a notify is not lost, and the reads to come see, of the
/// writes in the cut, the one recorded last. Close to the recorded run nearly all slots have their default.
pub type Context = Vec<(u32, u32)>;

/// The rules of all events of a structure.
#[derive(Clone, Default, Debug)]
pub struct Rules {
    /// By lifetime of a variable: the events that open its atomic sets.
    pub(crate) openers: Vec<Vec<Openers>>,
    /// By atomic set: it is complete in cuts that contain these prefixes.
    pub(crate) complete: Vec<Vec<ChainPrefix>>,
    /// By lock: its sections.
    pub(crate) locks: Vec<Vec<ChainSections>>,
    /// Prefixes that end with the event that closes a section in which a try-lock failed.
    pub(crate) closing: Vec<ChainPrefix>,
    /// By semaphore: its count at the start, and the events that change it.
    pub(crate) semaphores: Vec<(i64, Vec<ChainCounts>)>,
    /// The slot of a notify, and the wait before which it is lost.
    pub(crate) notifies: Vec<(u32, ChainPrefix)>,
    /// Sets of classes that reads accept, each sorted.
    pub(crate) accepted: Vec<Vec<u32>>,
    /// By slot: the last read of the variable in each chain. Slots of notifies have none.
    pub(crate) reads: Vec<Vec<ChainPrefix>>,
    /// By slot: the writes of the variable. Slots of notifies have none.
    pub(crate) writes: Vec<Vec<ChainWrites>>,
}

/// Whether the context of a path admits an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// It does. The context now is that after the event.
    Yes,
    /// It does not.
    No,
    /// The event is a read that would see another value than recorded: it can come, but only as the last event.
    Terminal,
}

/// Whether a cut with `taken` events of a chain leaves one of these sections of the chain open.
fn is_open(sections: &[(u32, u32)], taken: u32) -> bool {
    let begun = sections.partition_point(|&(open, _)| open <= taken);
    begun > 0 && sections[begun - 1].1 > taken
}

impl Rules {
    /// Adds a slot to the context: for a variable with its last reads and its writes, for a notify without any.
    pub(crate) fn add_slot(&mut self, reads: Vec<ChainPrefix>, writes: Vec<ChainWrites>) -> u32 {
        self.reads.push(reads);
        self.writes.push(writes);
        self.reads.len() as u32 - 1
    }

    /// The number of slots of the context.
    pub fn slots(&self) -> usize {
        self.reads.len()
    }

    /// Whether the guard of an event holds in a cut that contains its predecessors.
    pub fn allows(&self, event: &RelevantEvent, cut: &[u32]) -> bool {
        match event.guard {
            Guard::None => true,
            Guard::Set { lifetime, own } => self.openers[lifetime as usize].iter().all(|openers| {
                let begun = openers.sets.partition_point(|&(number, _)| number <= cut[openers.chain as usize]);
                begun == 0 || {
                    let set = openers.sets[begun - 1].1;
                    set == own || self.complete[set as usize].iter().all(|prefix| prefix.is_within(cut))
                }
            }),
            Guard::Exclusive { lock, chain } => {
                let others = self.locks[lock as usize].iter().filter(|sections| sections.chain != chain);
                others.into_iter().all(|sections| {
                    let taken = cut[sections.chain as usize];
                    !is_open(&sections.exclusive, taken) && !is_open(&sections.shared, taken)
                })
            }
            Guard::Shared { lock, chain } => {
                let others = self.locks[lock as usize].iter().filter(|sections| sections.chain != chain);
                others.into_iter().all(|sections| !is_open(&sections.exclusive, cut[sections.chain as usize]))
            }
            Guard::Fails { from, to } => {
                !self.closing[from as usize..to as usize].iter().any(|closed| closed.is_within(cut))
            }
            Guard::Down { semaphore } => {
                let (start, chains) = &self.semaphores[semaphore as usize];
                let count = |numbers: &[u32], taken| numbers.partition_point(|&number| number <= taken) as i64;
                let change = |chain: &ChainCounts| {
                    let taken = cut[chain.chain as usize];
                    count(&chain.ups, taken) - count(&chain.downs, taken)
                };
                chains.iter().map(change).fold(*start, i64::saturating_add) > 0
            }
        }
    }

    /// Applies the action of an event that comes next after a cut. If the context does not admit it, it is unchanged.
    pub fn apply(&self, event: &RelevantEvent, chain: u32, cut: &[u32], context: &mut Context) -> Admission {
        match event.action {
            Action::None => {}
            Action::Notify { from, to } => {
                for (slot, wait) in &self.notifies[from as usize..to as usize] {
                    if !wait.is_within(cut) {
                        set(context, *slot, Some(1));
                    }
                }
            }
            Action::Woken { slot } => {
                if get(context, slot) == Some(1) {
                    return Admission::No;
                }
            }
            Action::Write { slot, class, order } => self.write(slot, class, order, chain, cut, context),
            Action::Read { slot, accepted } => {
                if !self.accepts(accepted, slot, cut, context) {
                    return Admission::Terminal;
                }
                if !self.is_read_later(slot, chain, cut) {
                    set(context, slot, None);
                }
            }
            Action::ReadWrite { slot, accepted, class, order } => {
                if !self.accepts(accepted, slot, cut, context) {
                    return Admission::No;
                }
                self.write(slot, class, order, chain, cut, context);
            }
        }
        Admission::Yes
    }

    /// Of the writes in a cut, the one recorded last: its number and its class. 0 and 0 for the initial value.
    fn default_write(&self, slot: u32, cut: &[u32]) -> (u32, u32) {
        let last = |chain: &ChainWrites| {
            let taken = chain.writes.partition_point(|&(number, ..)| number <= cut[chain.chain as usize]);
            taken.checked_sub(1).map(|at| (chain.writes[at].1, chain.writes[at].2))
        };
        self.writes[slot as usize].iter().filter_map(last).max().unwrap_or_default()
    }

    fn accepts(&self, accepted: u32, slot: u32, cut: &[u32], context: &Context) -> bool {
        let class = get(context, slot).unwrap_or_else(|| self.default_write(slot, cut).1);
        self.accepted[accepted as usize].binary_search(&class).is_ok()
    }

    fn write(&self, slot: u32, class: u32, order: u32, chain: u32, cut: &[u32], context: &mut Context) {
        let default = self.default_write(slot, cut).max((order, class)).1;
        let deviates = class != default && self.is_read_later(slot, chain, cut);
        set(context, slot, deviates.then_some(class));
    }

    /// Whether reads of the variable are still to come after the next event of a chain.
    fn is_read_later(&self, slot: u32, chain: u32, cut: &[u32]) -> bool {
        self.reads[slot as usize].iter().any(|last| {
            // The cut does not contain that event yet.
            let taken = cut[last.chain as usize] + u32::from(last.chain == chain);
            taken < last.count
        })
    }
}

fn get(context: &Context, slot: u32) -> Option<u32> {
    context.binary_search_by_key(&slot, |&(slot, _)| slot).ok().map(|at| context[at].1)
}

fn set(context: &mut Context, slot: u32, value: Option<u32>) {
    match (context.binary_search_by_key(&slot, |&(slot, _)| slot), value) {
        (Ok(at), Some(value)) => context[at].1 = value,
        (Ok(at), None) => {
            context.remove(at);
        }
        (Err(at), Some(value)) => context.insert(at, (slot, value)),
        (Err(_), None) => {}
    }
}
