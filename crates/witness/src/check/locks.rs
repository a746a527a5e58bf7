//! "Sections" in `weak-hb` and `maximal`: sections of one lock exclude each other, and a failed try-lock stays inside
//! the sections that made it fail.

use super::positions::{Latest, Positions};
use super::refusal::{Reason, Rule};
use crate::sections::{NONE, Sections, effect, lock_of};
use event::{Batch, Event, Names, Op, Space};
use std::collections::{BTreeMap, HashMap};

/// The numbers of open sections of a lock.
#[derive(Clone, Copy, Default)]
struct OpenSections {
    exclusive: u32,
    shared: u32,
}

/// The open sections of all locks along the schedule.
pub(super) struct LockCheck {
    /// By event: what it does to the sections of its lock.
    effects: Vec<u8>,
    open: Vec<OpenSections>,
    /// By thread and lock: open sections that were open from the beginning.
    from_beginning: HashMap<(u32, u32), OpenSections>,
}

impl LockCheck {
    /// Finds the sections in the recorded run, and checks that failed try-locks stay inside theirs.
    pub(super) fn new(names: &Names, trace: &Batch, positions: &mut Positions) -> LockCheck {
        let count = names.space(Space::Lock).len();
        let mut effects = vec![0; trace.events.len()];
        let mut open = vec![OpenSections::default(); count];
        let mut from_beginning: HashMap<(u32, u32), OpenSections> = HashMap::new();
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
                    failed.fail(at, positions);
                }
                for (closes, opened) in [(effect::CLOSES, step.opened), (effect::CLOSES_SHARED, step.opened_shared)] {
                    if step.effect & closes != 0 {
                        failed.close(at, opened, positions);
                    }
                }
                if step.effect & (effect::OPENS | effect::OPENS_SHARED) != 0 {
                    failed.open(at, positions);
                }
            }
        }
        LockCheck { effects, open, from_beginning }
    }

    /// What an event does to the sections of its lock, as bits of [`effect`].
    pub(super) fn effect(&self, at: u32) -> u8 {
        self.effects[at as usize]
    }

    /// Takes the next event of the schedule, after the earlier events of its thread.
    #[inline]
    pub(super) fn step(&mut self, trace: &Batch, at: u32, event: Event, schedule: &[u64], positions: &mut Positions) {
        let does = self.effects[at as usize];
        if does != 0 {
            self.apply(trace, at, event, schedule, positions);
        }
    }

    fn apply(&mut self, trace: &Batch, at: u32, event: Event, schedule: &[u64], positions: &mut Positions) {
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
                let reason = match self.holder(trace, event.thread().0, lock, any, schedule, positions) {
                    NONE => Reason::HeldFromBeginning,
                    since => Reason::Held { since: positions.index(since) },
                };
                positions.refuse(at, reason);
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

    /// The event of another thread that opened a section of a lock (an exclusive one, unless `any`) that is open after
    /// a schedule; [`NONE`] if there is none.
    #[cold]
    fn holder(&self, trace: &Batch, thread: u32, lock: u32, any: bool, schedule: &[u64], positions: &Positions) -> u32 {
        self.open_sections(trace, schedule, positions)
            .into_iter()
            .filter(|&((t, l, shared), _)| t != thread && l == lock && (any || !shared))
            .map(|(_, since)| since)
            .min()
            .unwrap_or(NONE)
    }

    /// The sections that events of a schedule open and none of its events closes. By thread, lock and whether shared:
    /// the event that opens it.
    pub(super) fn open_sections(
        &self,
        trace: &Batch,
        schedule: &[u64],
        positions: &Positions,
    ) -> BTreeMap<(u32, u32, bool), u32> {
        let mut open = BTreeMap::new();
        for at in schedule.iter().map(|&index| positions.offset(index)) {
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

/// A lock with failed try-locks, along the recorded run.
///
/// It does not matter whose sections are open: program order already keeps a failure inside its own thread's sections.
#[derive(Default)]
struct Failed {
    /// The events that opened the sections that are open now, by their positions.
    open: std::collections::BTreeSet<Latest>,
    /// Failures with a later position than all failures recorded after them.
    failures: Vec<(u32, Latest)>,
}

impl Failures {
    fn new(trace: &Batch) -> Failures {
        let failed = trace.events.iter().filter(|event| event.op() == Op::TryFail);
        Failures { locks: failed.map(|event| (event.object(), Failed::default())).collect() }
    }
}

impl Failed {
    fn open(&mut self, at: u32, positions: &Positions) {
        self.open.insert(positions.get(at));
    }

    fn fail(&mut self, at: u32, positions: &mut Positions) {
        if let Some(&latest) = self.open.last() {
            positions.require(at, latest, Rule::FailedInside);
        }
        let here = positions.get(at);
        while self.failures.pop_if(|(_, failure)| !failure.is_after(here)).is_some() {}
        self.failures.push((at, here));
    }

    /// Closes the section that the event `opened` opened.
    fn close(&mut self, at: u32, opened: u32, positions: &mut Positions) {
        let from = match opened {
            NONE => 0,
            _ => self.failures.partition_point(|&(failure, _)| failure < opened),
        };
        if let Some(&(_, failure)) = self.failures.get(from) {
            positions.require(at, failure, Rule::FailedBefore);
        }
        if opened != NONE {
            self.open.remove(&positions.get(opened));
        }
    }
}
