//! "Sections" in `weak-hb` and `maximal`: sections of one lock exclude each other, and a try-lock that failed comes
//! only inside the sections that made it fail.

use super::positions::{Latest, Positions};
use super::refusal::{Reason, Rule};
use crate::sections::{NONE, Sections, effect, lock_of};
use event::{Batch, Event, Names, Op, Space};
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    /// By lock with failed try-locks.
    failures: HashMap<u32, Failed>,
}

impl LockCheck {
    /// Finds the sections in the recorded run, and checks that failed try-locks come after theirs are opened.
    pub(super) fn new(names: &Names, trace: &Batch, positions: &mut Positions) -> LockCheck {
        let count = names.space(Space::Lock).len();
        let mut effects = vec![0; trace.events.len()];
        let mut open = vec![OpenSections::default(); count];
        let mut from_beginning: HashMap<(u32, u32), OpenSections> = HashMap::new();
        let failed = trace.events.iter().filter(|event| event.op() == Op::TryFail);
        let mut failures: HashMap<u32, Failed> = failed.map(|event| (event.object(), Failed::default())).collect();
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
            if let Some(failed) = failures.get_mut(&lock) {
                if event.op() == Op::TryFail {
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
        LockCheck { effects, open, from_beginning, failures }
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
        } else if event.op() == Op::TryFail
            && let Some(close) = self.failures.get(&event.object()).and_then(|failed| failed.closed_around(at))
        {
            positions.refuse(at, Reason::MaySucceed { close: positions.index(close) });
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
        if let Some(failed) = self.failures.get_mut(&lock) {
            failed.now_closed(at);
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

/// A lock with failed try-locks, along the recorded run and then along the schedule.
///
/// It does not matter whose sections are open: program order already keeps a failure inside its own thread's sections.
#[derive(Default)]
struct Failed {
    /// The events that opened the sections that are open now in the recorded run, by their positions.
    open: BTreeSet<Latest>,
    /// By event that closes sections: the first event after the opening of each, or 0 for open from the beginning.
    closers: HashMap<u32, Vec<u32>>,
    /// The sections closed in the schedule, as recorded: from the first event after the opening to the closing one. Of
    /// two sections the one that is opened earlier and closed later stands for both: so both ends grow.
    closed: BTreeMap<u32, u32>,
}

impl Failed {
    fn open(&mut self, at: u32, positions: &Positions) {
        self.open.insert(positions.get(at));
    }

    fn fail(&mut self, at: u32, positions: &mut Positions) {
        if let Some(&latest) = self.open.last() {
            positions.require(at, latest, Rule::FailedInside);
        }
    }

    /// Closes the section that the event `opened` opened, in the recorded run.
    fn close(&mut self, at: u32, opened: u32, positions: &Positions) {
        let from = if opened == NONE { 0 } else { opened + 1 };
        self.closers.entry(at).or_default().push(from);
        if opened != NONE {
            self.open.remove(&positions.get(opened));
        }
    }

    /// The event comes in the schedule, and with it the end of the sections that it closes.
    fn now_closed(&mut self, at: u32) {
        for &from in self.closers.get(&at).into_iter().flatten() {
            if self.closed.range(..=from).next_back().is_some_and(|(_, &close)| close >= at) {
                continue;
            }
            while let Some((&later, _)) = self.closed.range(from..).next().filter(|(_, close)| **close <= at) {
                self.closed.remove(&later);
            }
            self.closed.insert(from, at);
        }
    }

    /// An event that has closed a section in which this try-lock failed.
    fn closed_around(&self, failure: u32) -> Option<u32> {
        self.closed.range(..=failure).next_back().map(|(_, &close)| close).filter(|&close| close > failure)
    }
}
