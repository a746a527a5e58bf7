//! Sections of locks in a window: they exclude each other, and failed try-locks stay inside those that made them fail.

use crate::builder::{ChainPosition, StructureBuilder};
use crate::event_structure::EventStructure;
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
    /// The clock of the try-locks that failed because of it.
    failed: VectorClock,
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
    /// Locks of which more than one thread has sections. The others need no rules.
    contended: FxHashSet<LockId>,
    sections: BTreeMap<LockId, BTreeMap<ThreadId, SectionNumbers>>,
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
        let mut own = |lock: LockId, thread: ThreadId| {
            if *owner.entry(lock).or_insert(thread) != thread {
                contended.insert(lock);
            }
        };
        let mut locks = Locks {
            open: FxHashMap::default(),
            contended: FxHashSet::default(),
            sections: BTreeMap::new(),
            locks: window.trace.names.space(Space::Lock).len(),
        };
        for (lock, thread, exclusive) in window.start.sections.open() {
            own(lock, thread);
            let opener = VectorClock::default();
            locks.open.entry(lock).or_default().push(OpenSection {
                thread,
                exclusive,
                opener,
                failed: VectorClock::default(),
            });
            locks.numbers(lock, thread).of_kind(exclusive).push((0, u32::MAX));
        }
        let mut sections = window.start.sections.clone();
        for (_, event) in window.events() {
            if let Some((lock, _)) = lock_of(sections.step(window.trace.batch, event)) {
                own(lock, event.thread());
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
        lock_of(effect).is_some_and(|(lock, _)| self.contended.contains(&lock))
    }

    pub(crate) fn before(&mut self, effect: Effect, thread: ThreadId, builder: &mut StructureBuilder) {
        effect.parts().into_iter().for_each(|part| self.before_part(part, thread, builder));
    }

    fn before_part(&mut self, effect: Effect, thread: ThreadId, builder: &mut StructureBuilder) {
        match effect {
            Effect::Fail(lock) => {
                for open in because_of(self.open.get_mut(&lock), thread) {
                    builder.join(thread, &open.opener);
                }
            }
            Effect::Close(lock) | Effect::CloseShared(lock) => {
                let exclusive = matches!(effect, Effect::Close(_));
                let own = self.open.get(&lock).into_iter().flatten();
                for open in own.filter(|open| open.thread == thread && open.exclusive == exclusive) {
                    builder.join(thread, &open.failed);
                }
            }
            _ => {}
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
                for open in because_of(self.open.get_mut(&lock), thread) {
                    open.failed.join(clock);
                }
            }
            Effect::Open(lock) | Effect::OpenShared(lock) => {
                let exclusive = matches!(effect, Effect::Open(_));
                let open = OpenSection { thread, exclusive, opener: clock.clone(), failed: VectorClock::default() };
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
                if let Some(open) = self.open.get_mut(&lock) {
                    open.retain(|open| open.thread != thread || open.exclusive != exclusive);
                }
                let Some(position) = position else { return };
                let numbers = self.numbers(lock, thread).of_kind(exclusive);
                // A section that is closed already stays as it is.
                if let Some(last) = numbers.last_mut().filter(|last| last.1 == u32::MAX) {
                    last.1 = position.number;
                }
            }
        }
    }

    pub(crate) fn finish(self, structure: &mut EventStructure) {
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
