//! Variables without a common lock: warnings.
//!
//! **Follows** Savage, Burrows, Nelson, Sobalvarro, Anderson, *Eraser*, TOCS 15(4), 1997, with its state machine:
//! *virgin*, *exclusive* (one thread so far), *shared* (several, that only read since the second came),
//! *shared-modified*. The first access by a second thread starts the refinement: from then on the candidate locks of a
//! variable are those held at every access, at writes those held exclusively (reader locks protect reads only). Every
//! access that finds or leaves the variable shared-modified and without a candidate is a warning.
//!
//! **Deviates**: locks are counted (re-entrant ones are held until the outermost release; a `wait` gives its lock up
//! and the `woken` takes it back). Atomic accesses are as if under a lock of their own variable: they need no other
//! among themselves, but with plain accesses they do. `alloc` makes the variable virgin, `free` is a write.
//!
//! **May miss** races while a variable is exclusive or shared (the second thread's accesses are taken for a hand-over),
//! and variables accessed under more locks at once than a set is kept of ([`Races::taken_for_one`]).
//!
//! **Raises false alarms**: fork and join, conditions, latches and semaphores protect nothing here. That is why what it
//! finds is a warning, and never more.
//!
//! **Counts beside RAPID's** (racy events / sites, RAPID's in brackets): account 9/3 (10/3), mergesort 54/3 (56/3),
//! twostage 19/4 (30/5), clean 370/5 (380/6), bubblesort 1293/6 (1355/7), readerswriters 2801/11 (6415/18). RAPID has
//! no states: each thread holds a lock of its own, each read one more, and the candidates are what was held at all
//! accesses from the first on. So it forgives a first thread nothing (a variable set up without a lock, then always
//! used under one, is racy from its second thread on), and it counts the read with which a second thread comes. With
//! that rule put in place of Eraser's its numbers come out exactly; `tests/corpus.rs` does that.

use crate::locksets::{LockSets, Protection, SetId};
use crate::race::{Access, Log, Races};
use event::{Batch, Event, Id, Names, Op, SiteId, Space, ThreadId};
use sync::Sections;

/// Races kept if not said otherwise.
const MOST_RACES: usize = 10_000;
/// Events whose variables are fetched together.
const TOGETHER: usize = 64;

/// Races kept of the same two sites.
const MOST_ALIKE: usize = 100;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum State {
    #[default]
    Virgin,
    Exclusive,
    Shared,
    Modified,
}

/// An access, as it is remembered.
#[derive(Clone, Copy, Default, Debug)]
struct Mark {
    event: u64,
    thread: ThreadId,
    site: SiteId,
    locks: u32,
}

#[derive(Clone, Copy, Default, Debug)]
struct Var {
    state: State,
    /// All accesses since the refinement began were atomic.
    atomic: bool,
    candidates: u32,
    last: Mark,
    /// The last access by another thread than that of `last`.
    other: Mark,
}

/// Finds variables without a common lock, batch by batch.
#[derive(Debug)]
pub struct Lockset {
    vars: Vec<Var>,
    /// By thread.
    protections: Vec<Protection>,
    locks: Sections,
    sets: LockSets,
    log: Log,
}

impl Default for Lockset {
    fn default() -> Self {
        Lockset::new()
    }
}

impl Lockset {
    /// Before the first event; keeps at most 10 000 warnings.
    pub fn new() -> Self {
        Lockset::keeping(MOST_RACES)
    }

    /// Before the first event; keeps at most so many warnings, and of the same two sites at most 100.
    pub fn keeping(races: usize) -> Self {
        Lockset {
            vars: Vec::new(),
            protections: Vec::new(),
            locks: Sections::new(),
            sets: LockSets::default(),
            log: Log::new(races).with_alike(MOST_ALIKE),
        }
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        self.vars.resize(names.space(Space::Var).len(), Var::default());
        self.protections.resize(names.space(Space::Thread).len(), Protection::default());
        for (index, &event) in (batch.first..).zip(&batch.events) {
            if (index - batch.first).is_multiple_of(TOGETHER as u64) {
                self.fetch(&batch.events[(index - batch.first) as usize..]);
            }
            match event.op() {
                Op::Read | Op::AtomicLoad => self.access(event, index, false),
                Op::Write | Op::AtomicStore | Op::AtomicRmw | Op::Free => self.access(event, index, true),
                Op::Alloc => self.vars[event.object() as usize] = Var::default(),
                _ => self.hold(batch, event),
            }
        }
    }

    /// Looks at the variables of the next events: all come from memory at once, and not one after the other.
    fn fetch(&self, events: &[Event]) {
        let vars = events.iter().take(TOGETHER).filter_map(|event| self.vars.get(event.object() as usize));
        std::hint::black_box(vars.fold(0, |all, var| all ^ var.candidates));
    }

    /// What was found.
    pub fn finish(self) -> Races {
        Races { taken_for_one: self.sets.unkept, ..self.log.finish() }
    }

    #[inline]
    fn access(&mut self, event: Event, index: u64, write: bool) {
        let var = &mut self.vars[event.object() as usize];
        let protection = &self.protections[event.thread().index()];
        let held = protection.reads.id();
        let mark = Mark { event: index, thread: event.thread(), site: event.site(), locks: held.word() };
        let before = std::mem::replace(&mut var.last, mark);
        match var.state {
            State::Virgin => {
                var.state = State::Exclusive;
                return;
            }
            State::Exclusive if before.thread == mark.thread => return,
            State::Exclusive => {
                (var.candidates, var.atomic) = (SetId::ALL.word(), true);
                var.state = if write { State::Modified } else { State::Shared };
            }
            State::Shared if write => var.state = State::Modified,
            State::Shared | State::Modified => {}
        }
        if before.thread != mark.thread {
            var.other = before;
        }
        let protecting = if write { protection.writes.id() } else { held };
        let candidates = self.sets.meet(SetId::from_word(var.candidates), protecting);
        var.candidates = candidates.word();
        var.atomic &= event.op().is_atomic();
        if var.state == State::Modified && candidates == SetId::EMPTY && !var.atomic {
            let access = |mark: Mark| Access {
                event: mark.event,
                thread: mark.thread,
                site: mark.site,
                locks: self.sets.members(SetId::from_word(mark.locks)),
            };
            let other = var.other;
            self.log.racy(event.var(), (other.site, mark.site), || (access(other), access(mark)));
        }
    }

    /// What changes the locks that a thread holds.
    #[inline]
    fn hold(&mut self, batch: &Batch, event: Event) {
        if let Some(effect) = self.locks.step(batch, event, |_| ()) {
            self.protections[event.thread().index()].update(&mut self.sets, &effect);
        }
    }
}
