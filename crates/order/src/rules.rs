//! Rules that depend on the cut, or on the path to it: exclusion, counts, lost notifies, values that reads see.
//!
//! A cut is given as the number of events taken of each chain. What a path must remember beside its cut is its
//! *context*: for each notify that might come too early whether it did, and for each variable with reads to come
//! which write they would see. Paths with equal cuts and equal contexts have the same future.

use crate::event_structure::{ChainPrefix, RelevantEvent};

/// What the cut before an event must be like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Guard {
    None,
    /// No other atomic set of the variable is open.
    Set {
        variable: u32,
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
    /// The semaphore is above zero.
    Down {
        semaphore: u32,
    },
}

/// What an event does to the context, or demands of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    None,
    /// Entries of [`Rules::notifies`].
    Notify {
        from: u32,
        to: u32,
    },
    /// Comes only if its notify was not lost.
    Woken {
        slot: u32,
    },
    /// Writes what is in this class. `order`: which write of the variable it is in recorded order, from 1.
    Write {
        slot: u32,
        class: u32,
        order: u32,
    },
    /// Sees only what is in these classes: an entry of [`Rules::accepted`].
    Read {
        slot: u32,
        accepted: u32,
    },
    /// Both.
    ReadWrite {
        slot: u32,
        accepted: u32,
        class: u32,
        order: u32,
    },
}

/// The atomic sets that the events of a chain open, by when.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Openers {
    pub(crate) chain: u32,
    /// The number of the event, and its set.
    pub(crate) sets: Vec<(u32, u32)>,
}

/// The sections of a lock in one chain: from taking event `.0` on until event `.1` is taken.
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

/// The writes of a variable in one chain: number of the event, which write in recorded order, class.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct ChainWrites {
    pub(crate) chain: u32,
    pub(crate) writes: Vec<(u32, u32, u32)>,
}

/// What a path remembers: of each slot, what is not as usual; by slot. It is usual that a notify is not lost, and
/// that reads to come see the write recorded last of those in the cut. Close to the recorded run nearly all is usual.
pub type Context = Vec<(u32, u32)>;

/// All rules of a structure.
#[derive(Clone, Default, Debug)]
pub struct Rules {
    /// By variable: who opens its sets.
    pub(crate) openers: Vec<Vec<Openers>>,
    /// By set: it is complete when these are taken.
    pub(crate) complete: Vec<Vec<ChainPrefix>>,
    pub(crate) locks: Vec<Vec<ChainSections>>,
    /// By semaphore: its count at the start, and who changes it.
    pub(crate) semaphores: Vec<(i64, Vec<ChainCounts>)>,
    /// Slots that a notify sets if the wait is not taken before it.
    pub(crate) notifies: Vec<(u32, ChainPrefix)>,
    /// Classes of writes that reads accept, in order.
    pub(crate) accepted: Vec<Vec<u32>>,
    /// By slot: the last read of the variable in each chain; empty for notifies.
    pub(crate) reads: Vec<Vec<ChainPrefix>>,
    /// By slot: the writes of the variable; empty for notifies.
    pub(crate) writes: Vec<Vec<ChainWrites>>,
}

/// Whether an event can come, as far as the context is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// It can; the context is as it must be after it.
    Yes,
    /// It cannot.
    No,
    /// It is a read that would see something else: it can only be the last.
    Terminal,
}

/// Whether the section begun last in a chain is open.
fn is_open(sections: &[(u32, u32)], taken: u32) -> bool {
    let begun = sections.partition_point(|&(open, _)| open <= taken);
    begun > 0 && sections[begun - 1].1 > taken
}

fn is_taken(predecessors: &[ChainPrefix], cut: &[u32]) -> bool {
    predecessors.iter().all(|prefix| cut[prefix.chain as usize] >= prefix.count)
}

impl Rules {
    /// Another slot.
    pub(crate) fn slot(&mut self, reads: Vec<ChainPrefix>, writes: Vec<ChainWrites>) -> u32 {
        self.reads.push(reads);
        self.writes.push(writes);
        self.reads.len() as u32 - 1
    }

    /// How many things a path may have to remember.
    pub fn slots(&self) -> usize {
        self.reads.len()
    }

    /// Whether an event, whose needs are taken, can come after a cut.
    pub fn allows(&self, event: &RelevantEvent, cut: &[u32]) -> bool {
        match event.guard {
            Guard::None => true,
            Guard::Set { variable, own } => self.openers[variable as usize].iter().all(|openers| {
                let begun = openers.sets.partition_point(|&(number, _)| number <= cut[openers.chain as usize]);
                begun == 0 || {
                    let set = openers.sets[begun - 1].1;
                    set == own || is_taken(&self.complete[set as usize], cut)
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

    /// Takes an event after a cut (which does not contain it): changes the context, if it can come.
    pub fn apply(&self, event: &RelevantEvent, chain: u32, cut: &[u32], context: &mut Context) -> Admission {
        match event.action {
            Action::None => {}
            Action::Notify { from, to } => {
                for (slot, wait) in &self.notifies[from as usize..to as usize] {
                    if cut[wait.chain as usize] < wait.count {
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

    /// The write recorded last of those in a cut: which one it is, and its class. Nothing written: the initial value.
    fn usual(&self, slot: u32, cut: &[u32]) -> (u32, u32) {
        let last = |chain: &ChainWrites| {
            let taken = chain.writes.partition_point(|&(number, ..)| number <= cut[chain.chain as usize]);
            taken.checked_sub(1).map(|at| (chain.writes[at].1, chain.writes[at].2))
        };
        self.writes[slot as usize].iter().filter_map(last).max().unwrap_or_default()
    }

    fn accepts(&self, accepted: u32, slot: u32, cut: &[u32], context: &Context) -> bool {
        let class = get(context, slot).unwrap_or_else(|| self.usual(slot, cut).1);
        self.accepted[accepted as usize].binary_search(&class).is_ok()
    }

    fn write(&self, slot: u32, class: u32, order: u32, chain: u32, cut: &[u32], context: &mut Context) {
        let usual = self.usual(slot, cut).max((order, class)).1;
        let unusual = class != usual && self.is_read_later(slot, chain, cut);
        set(context, slot, unusual.then_some(class));
    }

    /// Whether reads of the variable are still to come behind an event of a chain.
    fn is_read_later(&self, slot: u32, chain: u32, cut: &[u32]) -> bool {
        self.reads[slot as usize].iter().any(|last| {
            // The event itself is taken.
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
