//! `weak-hb` and `maximal`: sections of one lock exclude each other, and a failed try-lock stays in those that made
//! it fail.

use super::places::{Latest, Places};
use super::refused::{Broken, Rule};
use crate::sections::{NONE, Sections, effect, lock_of};
use event::{Batch, Event, Names, Op, Space};
use std::collections::{BTreeMap, HashMap};

/// How many sections of a lock are open.
#[derive(Clone, Copy, Default)]
struct Open {
    exclusive: u32,
    shared: u32,
}

/// The locks of a trace.
pub(super) struct Locks {
    /// By event: what it does to the sections of its lock.
    effects: Vec<u8>,
    open: Vec<Open>,
    /// By thread and lock: those of them that were open from the beginning.
    from_beginning: HashMap<(u32, u32), Open>,
}

impl Locks {
    /// Finds the sections, and checks that failed try-locks are inside theirs.
    pub(super) fn new(names: &Names, trace: &Batch, places: &mut Places) -> Locks {
        let count = names.space(Space::Lock).len();
        let mut effects = vec![0; trace.events.len()];
        let mut open = vec![Open::default(); count];
        let mut from_beginning: HashMap<(u32, u32), Open> = HashMap::new();
        let mut failures = Failures::new(trace);
        let mut sections = Sections::default();
        for (at, &event) in (0u32..).zip(&trace.events) {
            let Some(lock) = lock_of(trace, event) else { continue };
            let step = sections.step(trace, at, event);
            effects[at as usize] = step.effect;
            if step.effect & effect::FROM_BEGINNING != 0 {
                let own = from_beginning.entry((event.thread().0, lock)).or_default();
                for open in [&mut open[lock as usize], own] {
                    open.exclusive += u32::from(step.effect & effect::CLOSES != 0);
                    open.shared += u32::from(step.effect & effect::CLOSES_SHARED != 0);
                }
            }
            if let Some(failed) = failures.locks.get_mut(&lock) {
                let fails = event.op() == Op::TryFail;
                if fails {
                    failed.fail(at, places);
                }
                for (closes, opened) in [(effect::CLOSES, step.opened), (effect::CLOSES_SHARED, step.opened_shared)] {
                    if step.effect & closes != 0 {
                        failed.close(at, opened, places);
                    }
                }
                if step.effect & (effect::OPENS | effect::OPENS_SHARED) != 0 {
                    failed.open(at, places);
                }
            }
        }
        Locks { effects, open, from_beginning }
    }

    /// What an event does to the sections of its lock.
    pub(super) fn effect(&self, at: u32) -> u8 {
        self.effects[at as usize]
    }

    /// The next event of the schedule, which stands behind the earlier ones of its thread.
    #[inline]
    pub(super) fn step(&mut self, trace: &Batch, at: u32, event: Event, schedule: &[u64], places: &mut Places) {
        let does = self.effects[at as usize];
        if does != 0 {
            self.act(trace, at, event, schedule, places);
        }
    }

    fn act(&mut self, trace: &Batch, at: u32, event: Event, schedule: &[u64], places: &mut Places) {
        let does = self.effects[at as usize];
        let has = |bit: u8| u32::from(does & bit != 0);
        let Some(lock) = lock_of(trace, event) else { return };
        let key = (event.thread().0, lock);
        if does & (effect::OPENS | effect::OPENS_SHARED) != 0 {
            let early = self.from_beginning.get(&key).copied().unwrap_or_default();
            let open = &self.open[lock as usize];
            let exclusive = open.exclusive - has(effect::OWN) - early.exclusive;
            let shared = open.shared - has(effect::OWN_SHARED) - early.shared;
            if exclusive > 0 || (shared > 0 && does & effect::OPENS != 0) {
                let any = does & effect::OPENS != 0;
                let broken = match self.holder(trace, event.thread().0, lock, any, schedule, places) {
                    NONE => Broken::HeldFromBeginning,
                    since => Broken::Held { since: places.index(since) },
                };
                places.refuse(at, broken);
                return;
            }
        }
        if does & effect::FROM_BEGINNING != 0
            && let Some(own) = self.from_beginning.get_mut(&key)
        {
            own.exclusive -= has(effect::CLOSES);
            own.shared -= has(effect::CLOSES_SHARED);
        }
        let open = &mut self.open[lock as usize];
        open.exclusive = open.exclusive + has(effect::OPENS) - has(effect::CLOSES);
        open.shared = open.shared + has(effect::OPENS_SHARED) - has(effect::CLOSES_SHARED);
    }

    /// The event of another thread that opened a section of this lock (an exclusive one, unless `any`) which this
    /// schedule leaves open; [`NONE`] if there is none.
    #[cold]
    fn holder(&self, trace: &Batch, thread: u32, lock: u32, any: bool, schedule: &[u64], places: &Places) -> u32 {
        self.open_sections(trace, schedule, places)
            .into_iter()
            .filter(|&((t, l, shared), _)| t != thread && l == lock && (any || !shared))
            .map(|(_, since)| since)
            .min()
            .unwrap_or(NONE)
    }

    /// The sections that a schedule leaves open, of those that it opened: thread, lock and whether shared, with the
    /// event that opened it.
    pub(super) fn open_sections(
        &self,
        trace: &Batch,
        schedule: &[u64],
        places: &Places,
    ) -> BTreeMap<(u32, u32, bool), u32> {
        let mut open = BTreeMap::new();
        for at in schedule.iter().map(|&index| places.offset(index)) {
            let does = self.effects[at as usize];
            let event = trace.events[at as usize];
            let Some(lock) = lock_of(trace, event).filter(|_| does != 0) else { continue };
            let thread = event.thread().0;
            for (opens, closes, shared) in
                [(effect::OPENS, effect::CLOSES, false), (effect::OPENS_SHARED, effect::CLOSES_SHARED, true)]
            {
                if does & opens != 0 {
                    open.insert((thread, lock, shared), at);
                }
                if does & closes != 0 && does & effect::FROM_BEGINNING == 0 {
                    open.remove(&(thread, lock, shared));
                }
            }
        }
        open
    }
}

/// The failed try-locks of each lock that has some.
struct Failures {
    locks: HashMap<u32, Failed>,
}

/// A lock with failed try-locks, in the recorded order.
///
/// A thread's own sections need no look: its own order keeps its failures where they are.
#[derive(Default)]
struct Failed {
    /// Opening events of the sections open now, by their places.
    open: std::collections::BTreeSet<Latest>,
    /// Failures whose place is later than those of all failures recorded after them.
    failures: Vec<(u32, Latest)>,
}

impl Failures {
    fn new(trace: &Batch) -> Failures {
        let failed = trace.events.iter().filter(|event| event.op() == Op::TryFail);
        Failures { locks: failed.map(|event| (event.object(), Failed::default())).collect() }
    }
}

impl Failed {
    fn open(&mut self, at: u32, places: &Places) {
        self.open.insert(places.of(at));
    }

    fn fail(&mut self, at: u32, places: &mut Places) {
        if let Some(&latest) = self.open.last() {
            places.need(at, latest, Rule::FailedInside);
        }
        let here = places.of(at);
        while self.failures.pop_if(|(_, failure)| !failure.is_after(here)).is_some() {}
        self.failures.push((at, here));
    }

    /// Closes the section that the event opened.
    fn close(&mut self, at: u32, opened: u32, places: &mut Places) {
        let from = match opened {
            NONE => 0,
            _ => self.failures.partition_point(|&(failure, _)| failure < opened),
        };
        if let Some(&(_, failure)) = self.failures.get(from) {
            places.need(at, failure, Rule::FailedBefore);
        }
        if opened != NONE {
            self.open.remove(&places.of(opened));
        }
    }
}
