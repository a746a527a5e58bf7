//! Sections of locks in a window: they exclude each other, and try-locks fail only inside those that made them fail.

use crate::builder::{ChainPosition, StructureBuilder};
use crate::event_structure::{ChainPrefix, EventStructure};
use crate::rules::{ChainSections, Guard};
use crate::sections::Effect;
use crate::window::Window;
use clock::VectorClock;
use event::{Id, LockId, Space, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A section that is open in the recorded run.
struct OpenSection {
    thread: ThreadId,
    exclusive: bool,
    /// The clock of the event that opened it.
    opener: VectorClock,
    /// The try-locks that failed because of it.
    failed: Vec<ChainPosition>,
}

/// The sections of a thread: the numbers of the events that open and close them.
#[derive(Clone, Default)]
struct SectionNumbers {
    exclusive: Vec<(u32, u32)>,
    shared: Vec<(u32, u32)>,
}

impl SectionNumbers {
    fn of_kind(&mut self, exclusive: bool) -> &mut Vec<(u32, u32)> {
        if exclusive { &mut self.exclusive } else { &mut self.shared }
    }
}

/// The locks of a window.
pub(crate) struct Locks {
    open: FxHashMap<LockId, Vec<OpenSection>>,
    /// Locks of which more than one thread has sections, or fails to take one. The others need no rules.
    contended: FxHashSet<LockId>,
    sections: BTreeMap<LockId, BTreeMap<ThreadId, SectionNumbers>>,
    /// A try-lock that failed, by chain and number, and an event that closes one of the sections that made it fail.
    closing: Vec<((u32, u32), ChainPrefix)>,
    locks: usize,
}

fn lock_of(effect: Effect) -> Option<(LockId, bool)> {
    match effect {
        Effect::Open(lock) | Effect::Close(lock) | Effect::OpenBoth(lock) | Effect::CloseBoth(lock) => {
            Some((lock, true))
        }
        Effect::OpenShared(lock) | Effect::CloseShared(lock) => Some((lock, false)),
        Effect::None | Effect::Fail(_) => None,
    }
}

impl Locks {
    pub(crate) fn new(window: &Window<'_>) -> Locks {
        let mut owner: FxHashMap<LockId, ThreadId> = FxHashMap::default();
        let mut contended = FxHashSet::default();
        let mut own = |lock: LockId, thread: ThreadId, takes: bool| {
            let first = if takes { Some(*owner.entry(lock).or_insert(thread)) } else { owner.get(&lock).copied() };
            if first.is_some_and(|first| first != thread) {
                contended.insert(lock);
            }
        };
        let mut locks = Locks {
            open: FxHashMap::default(),
            contended: FxHashSet::default(),
            sections: BTreeMap::new(),
            closing: Vec::new(),
            locks: window.trace.names.space(Space::Lock).len(),
        };
        for (lock, thread, exclusive) in window.start.sections.open() {
            own(lock, thread, true);
            let opener = VectorClock::default();
            let open = OpenSection { thread, exclusive, opener, failed: Vec::new() };
            locks.open.entry(lock).or_default().push(open);
            locks.numbers(lock, thread).of_kind(exclusive).push((0, u32::MAX));
        }
        let mut sections = window.start.sections.clone();
        for (_, event) in window.events() {
            let effect = sections.step(window.trace.batch, event);
            if let Some((lock, _)) = lock_of(effect) {
                own(lock, event.thread(), true);
            } else if let Effect::Fail(lock) = effect {
                own(lock, event.thread(), false);
            }
        }
        locks.contended = contended;
        locks
    }

    fn numbers(&mut self, lock: LockId, thread: ThreadId) -> &mut SectionNumbers {
        self.sections.entry(lock).or_default().entry(thread).or_default()
    }

    /// Whether the rules speak of an event with this effect.
    pub(crate) fn has_rule(&self, effect: Effect) -> bool {
        match (lock_of(effect), effect) {
            (Some((lock, _)), _) | (None, Effect::Fail(lock)) => self.contended.contains(&lock),
            _ => false,
        }
    }

    pub(crate) fn before(&mut self, effect: Effect, thread: ThreadId, builder: &mut StructureBuilder) {
        effect.parts().into_iter().for_each(|part| self.before_part(part, thread, builder));
    }

    fn before_part(&mut self, effect: Effect, thread: ThreadId, builder: &mut StructureBuilder) {
        if let Effect::Fail(lock) = effect {
            for open in because_of(self.open.get_mut(&lock), thread) {
                builder.join(thread, &open.opener);
            }
        }
    }

    pub(crate) fn after(
        &mut self,
        effect: Effect,
        thread: ThreadId,
        position: Option<ChainPosition>,
        builder: &mut StructureBuilder,
    ) {
        effect.parts().into_iter().for_each(|part| self.after_part(part, thread, position, builder));
    }

    fn after_part(
        &mut self,
        effect: Effect,
        thread: ThreadId,
        position: Option<ChainPosition>,
        builder: &mut StructureBuilder,
    ) {
        let clock = builder.clock(thread);
        match effect {
            Effect::None | Effect::OpenBoth(_) | Effect::CloseBoth(_) => {}
            Effect::Fail(lock) => {
                let Some(position) = position else { return };
                for open in because_of(self.open.get_mut(&lock), thread).filter(|open| open.thread != thread) {
                    open.failed.push(position);
                }
            }
            Effect::Open(lock) | Effect::OpenShared(lock) => {
                let exclusive = matches!(effect, Effect::Open(_));
                let open = OpenSection { thread, exclusive, opener: clock.clone(), failed: Vec::new() };
                self.open.entry(lock).or_default().push(open);
                let Some(position) = position.filter(|_| self.contended.contains(&lock)) else { return };
                self.numbers(lock, thread).of_kind(exclusive).push((position.number, u32::MAX));
                builder.event_mut(position).guard = if exclusive {
                    Guard::Exclusive { lock: lock.0, chain: position.chain }
                } else {
                    Guard::Shared { lock: lock.0, chain: position.chain }
                };
            }
            Effect::Close(lock) | Effect::CloseShared(lock) => {
                let exclusive = matches!(effect, Effect::Close(_));
                let is_closed = |open: &mut OpenSection| open.thread == thread && open.exclusive == exclusive;
                let closed = self.open.get_mut(&lock).into_iter().flat_map(|open| open.extract_if(.., is_closed));
                let failed: Vec<ChainPosition> = closed.flat_map(|open| open.failed).collect();
                let Some(position) = position else { return };
                let close = ChainPrefix { chain: position.chain, count: position.number };
                self.closing.extend(failed.into_iter().map(|failed| ((failed.chain, failed.number), close)));
                let numbers = self.numbers(lock, thread).of_kind(exclusive);
                // A section that is closed already stays as it is.
                if let Some(last) = numbers.last_mut().filter(|last| last.1 == u32::MAX) {
                    last.1 = position.number;
                }
            }
        }
    }

    pub(crate) fn finish(mut self, structure: &mut EventStructure) {
        self.closing.sort_unstable_by_key(|&(failed, close)| (failed, close.chain, close.count));
        for closing in self.closing.chunk_by(|one, other| one.0 == other.0) {
            let from = structure.rules.closing.len() as u32;
            structure.rules.closing.extend(closing.iter().map(|&(_, close)| close));
            let (chain, number) = closing[0].0;
            let to = structure.rules.closing.len() as u32;
            structure.chains[chain as usize].events[number as usize - 1].guard = Guard::Fails { from, to };
        }
        structure.rules.locks = vec![Vec::new(); self.locks];
        for (lock, threads) in self.sections {
            if !self.contended.contains(&lock) {
                continue;
            }
            for (chain, by) in (0..).zip(&structure.chains) {
                if let Some(SectionNumbers { exclusive, shared }) = threads.get(&by.thread).cloned() {
                    structure.rules.locks[lock.index()].push(ChainSections { chain, exclusive, shared });
                }
            }
        }
    }
}

/// The sections that made a try-lock of this thread fail: those of other threads, or else its own.
fn because_of(open: Option<&mut Vec<OpenSection>>, thread: ThreadId) -> impl Iterator<Item = &mut OpenSection> {
    let open = open.map(Vec::as_mut_slice).unwrap_or_default();
    let others = open.iter().any(|open| open.thread != thread);
    open.iter_mut().filter(move |open| (open.thread != thread) == others)
}
