//! Accesses of a variable that no common lock keeps apart: warnings.
//!
//! **Follows** Savage, Burrows, Nelson, Sobalvarro, Anderson, *Eraser*, TOCS 15(4), 1997, in what counts as protection
//! (locks held at both accesses, at writes exclusively) and in its forgiveness of a variable's first thread; and
//! O'Callahan, Choi, *Hybrid dynamic data race detection*, PPoPP'03, in that an order which the program makes by other
//! means than locks protects, too: forks, joins, posts and awaits, which every run keeps.
//!
//! **Deviates**: pairs of accesses are looked at, not one set of candidates for a variable. So each warning has two
//! accesses that really hold no common lock, and three that hold two of three locks each are no warning. `free` is no
//! access: that memory is freed where it was used tells nothing of locks. `alloc` begins a new life. Locks are counted
//! (re-entrant ones are held until the outermost release; a `wait` gives its lock up and the `woken` takes it back).
//! Atomic accesses are kept apart from each other, not from plain ones.
//!
//! **May miss** races of the first thread's accesses before a second thread came, with reads and with accesses under a
//! lock (the variable may have been handed over); of variables accessed in more ways than are kept of one
//! (`MOST_WAYS`), and under more locks at once than a set is kept of (both are counted:
//! [`Races::taken_for_one`]).
//!
//! **Raises false alarms**: conditions, semaphores, atomics, and queues under a lock that hand a variable over protect
//! nothing here. That is why what it finds is a warning, and never more.
//!
//! Most variables need none of this: [`Screen`] is a cheap pass that says which do, where a trace can be read
//! twice.

mod guards;
mod screen;

pub use screen::{Candidates, Screen};

use crate::kept_order::ThreadSegment;
use crate::locksets::{LockSets, SetId};
use crate::race::{Access, Log, Races};
use event::{Batch, Event, Names, Op, SiteId, Space, ThreadId, VarId};
use guards::Guards;

/// Races kept if not said otherwise.
const MOST_RACES: usize = 10_000;
/// Events whose variables are fetched together.
const TOGETHER: usize = 64;

/// Races kept of the same two sites.
const MOST_ALIKE: usize = 100;

/// Ways in which a variable is accessed that are kept; of more, those that were not used for longest are forgotten.
const MOST_WAYS: usize = 32;

/// How an access is made.
const WRITE: u8 = 1;
const ATOMIC: u8 = 2;
/// Before any other thread came to the variable.
const FIRST: u8 = 4;

/// The last access that was made in one way: by one thread, under the same locks, of the same kind. Those before it in
/// this way are before it in every run, so it stands for all of them.
#[derive(Clone, Copy, Default, Debug)]
struct Way {
    event: u64,
    at: ThreadSegment,
    site: SiteId,
    /// The locks that protect it.
    protecting: u32,
    /// The locks that its thread held in either mode.
    held: u32,
    kind: u8,
}

impl Way {
    fn is_like(&self, other: &Way) -> bool {
        (self.at.thread, self.protecting, self.kind) == (other.at.thread, other.protecting, other.kind)
    }

    /// Whether an earlier way is needless beside this one: all that is to be kept apart from it is to be kept apart
    /// from this one, too.
    fn covers(&self, earlier: &Way, sets: &mut LockSets) -> bool {
        let gained = !earlier.kind & self.kind;
        let lost = earlier.kind & !self.kind;
        self.at.thread == earlier.at.thread
            && gained & (ATOMIC | FIRST) == 0
            && lost & WRITE == 0
            && sets.meet(SetId::from_word(self.protecting), SetId::from_word(earlier.protecting)).word()
                == self.protecting
    }
}

#[derive(Clone, Copy, Default, Debug)]
struct Var {
    /// The way of the last access. No thread has come if its segment is 0.
    last: Way,
    /// The list of the other ways, from 1 on.
    others: u32,
    /// A second thread has come.
    shared: bool,
    /// The last access has a partner.
    racy: bool,
}

/// Finds variables without a common lock, batch by batch.
#[derive(Debug)]
pub struct Lockset {
    /// All variables, or the candidates.
    vars: Vec<Var>,
    candidates: Option<Candidates>,
    others: Vec<Vec<Way>>,
    guards: Guards,
    log: Log,
    forgotten: u64,
    /// Nothing is used after it was freed, so what is freed can be forgotten.
    forgets_freed: bool,
    /// Lists of `others` that are not used.
    unused: Vec<u32>,
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
            candidates: None,
            others: Vec::new(),
            guards: Guards::default(),
            log: Log::new(races).with_alike(MOST_ALIKE),
            forgotten: 0,
            forgets_freed: false,
            unused: Vec::new(),
        }
    }

    /// Looks only at these variables.
    #[must_use]
    pub fn of(self, candidates: Candidates) -> Self {
        let vars = vec![Var::default(); candidates.count()];
        Lockset { vars, candidates: Some(candidates), ..self }
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        self.guards.grow(names);
        if self.candidates.is_none() {
            self.vars.resize(names.space(Space::Var).len(), Var::default());
        }
        for (number, events) in batch.events.chunks(TOGETHER).enumerate() {
            if self.candidates.is_none() {
                self.fetch(events);
            }
            for (index, &event) in (batch.first + (number * TOGETHER) as u64..).zip(events) {
                let op = event.op();
                if op.is_access() && self.passes_over(event.var()) {
                    continue;
                }
                match op {
                    Op::Read => self.access(event, index, 0),
                    Op::Write => self.access(event, index, WRITE),
                    Op::AtomicLoad => self.access(event, index, ATOMIC),
                    Op::AtomicStore | Op::AtomicRmw => self.access(event, index, WRITE | ATOMIC),
                    Op::Free if self.forgets_freed => self.forget(event),
                    Op::Free => {}
                    Op::Alloc => self.renew(event),
                    _ => self.guards.step(batch, event),
                }
            }
        }
    }

    /// Looks at the variables of the next events: all come from memory at once, and not one after the other.
    fn fetch(&self, events: &[Event]) {
        let vars = events.iter().filter_map(|event| self.vars.get(event.object() as usize));
        std::hint::black_box(vars.fold(0, |all, var| all ^ var.last.held));
    }

    /// Whether a variable is not looked at.
    #[inline]
    fn passes_over(&self, var: VarId) -> bool {
        self.candidates.as_ref().is_some_and(|candidates| candidates.place(var).is_none())
    }

    /// Where a variable is kept, if it is looked at.
    #[inline]
    fn place(&self, event: Event) -> Option<usize> {
        match &self.candidates {
            Some(candidates) => candidates.place(event.var()),
            None => Some(event.object() as usize),
        }
    }

    /// What was found.
    pub fn finish(self) -> Races {
        Races { taken_for_one: self.guards.sets.unkept + self.forgotten, ..self.log.finish() }
    }

    #[inline]
    fn access(&mut self, event: Event, index: u64, kind: u8) {
        let Some(place) = self.place(event) else { return };
        let var = &mut self.vars[place];
        let held = self.guards.protecting(event.thread(), false).word();
        let protecting = self.guards.protecting(event.thread(), kind & WRITE != 0).word();
        let at = self.guards.now(event.thread());
        let is_first = !var.shared && (var.last.at.segment == 0 || var.last.at.thread == at.thread);
        let kind = if is_first { kind | FIRST } else { kind };
        let now = Way { event: index, at, site: event.site(), protecting, held, kind };
        let again = now.is_like(&var.last) && var.last.at == at;
        if var.last.at.segment == 0 || again && !var.racy {
            // As the access before: nothing has changed since.
            var.last = now;
        } else {
            self.compare(place, event.var(), now, is_first);
        }
    }

    /// An access in another way than the one before.
    #[inline(never)]
    fn compare(&mut self, place: usize, variable: VarId, now: Way, is_first: bool) {
        let var = &mut self.vars[place];
        let Guards { order, sets, .. } = &mut self.guards;
        var.shared |= !is_first;
        let before = std::mem::replace(&mut var.last, now);
        if !before.is_like(&now) {
            if var.others == 0 {
                var.others = self.unused.pop().unwrap_or_else(|| {
                    self.others.push(Vec::new());
                    self.others.len() as u32
                });
            }
            let others = &mut self.others[var.others as usize - 1];
            others.retain(|way| !before.covers(way, sets));
            if now.covers(&before, sets) {
                // What it stands for, the way of this access does.
            } else if others.len() < MOST_WAYS {
                others.push(before);
            } else if let Some(oldest) = others.iter_mut().min_by_key(|way| way.event) {
                *oldest = before;
                self.forgotten += 1;
            }
        }
        var.racy = false;
        if is_first || var.others == 0 {
            return;
        }
        let mut partner: Option<Way> = None;
        for way in &self.others[var.others as usize - 1] {
            if partner.is_none_or(|latest| latest.event < way.event)
                && way.at.thread != now.at.thread
                && may_conflict(way.kind, now)
                && !order.is_before(way.at, now.at.thread)
                && sets.meet(SetId::from_word(way.protecting), SetId::from_word(now.protecting)) == SetId::EMPTY
            {
                partner = Some(*way);
            }
        }
        let Some(partner) = partner else { return };
        var.racy = true;
        let access = |way: Way| Access {
            event: way.event,
            thread: ThreadId(way.at.thread),
            site: way.site,
            locks: sets.members(SetId::from_word(way.held)),
        };
        self.log.racy(variable, (partner.site, now.site), || (access(partner), access(now)));
    }

    /// Nothing is used after it was freed, in the whole trace: what is freed needs no memory.
    pub fn forget_freed(&mut self) {
        self.forgets_freed = true;
    }

    /// The variable is not used any more.
    fn forget(&mut self, event: Event) {
        let Some(place) = self.place(event) else { return };
        let others = self.vars[place].others;
        if others > 0 {
            self.others[others as usize - 1].clear();
            self.unused.push(others);
        }
        self.vars[place] = Var::default();
    }

    /// The variable is new.
    fn renew(&mut self, event: Event) {
        let Some(place) = self.place(event) else { return };
        let others = self.vars[place].others;
        if others > 0 {
            self.others[others as usize - 1].clear();
        }
        self.vars[place] = Var { others, ..Var::default() };
    }
}

/// Whether accesses of these kinds by different threads are to be kept apart. The first thread's accesses before
/// another came need not be from reads and from accesses under a lock: it may have handed the variable over.
fn may_conflict(earlier: u8, later: Way) -> bool {
    let handed_over = later.kind & WRITE == 0 || later.protecting != SetId::EMPTY.word();
    (earlier | later.kind) & WRITE != 0 && earlier & later.kind & ATOMIC == 0 && !(earlier & FIRST != 0 && handed_over)
}
