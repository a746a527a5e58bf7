//! A cheap first pass: which variables can race at all, and which patterns a trace can have.
//!
//! A variable *may race* unless this pass shows that no two conflicting accesses of it can be next at the same time in
//! any run. The accesses of a variable fall into phases. All accesses of a phase come after all of the phases before,
//! by forks and joins or by `alloc`, which every run keeps. Within a phase the accesses are by one thread, or only
//! reads, or only atomic, or under a common lock that writers hold exclusively. What a thread holds depends on its own
//! events only, so no order of the other threads changes that.
//!
//! A `pin` counts as a write at its place, a `rpin` as a read: they stand for accesses that the recorder has dropped.
//! So `hb`, which orders by drop barriers and by what is read from where, loses no edge if the accesses of variables
//! that cannot race are left out: locks, forks and joins give the same order.
//!
//! What this pass cannot rule out stays: where a thread holds more locks than a set has, where a phase has more threads
//! than are kept, and all of a trace with problems.

mod accesses;
mod handover;
mod locks;
mod masked;
mod must_order;
mod narrow;
mod phases;
mod waiters;

use crate::hang::WaitsFor;
use crate::kept_order::KeptOrder;
use crate::lockset::Candidates;
use crate::misuse::LABEL;
pub use handover::{Handovers, Limits};
pub use masked::{each_masked, each_part};
pub use narrow::{Narrow, Narrowed};

use event::{Batch, Event, Id, Names, Op, Space, Value, VarId};
use locks::Locks;
use phases::{Access, HAD_ATOMIC, MAY_RACE, Phases, Var};
use sync::LockMode;
use waiters::Waiters;

/// Events whose variables are fetched together.
const TOGETHER: usize = 64;

/// So few variables are in a near cache anyway.
const NEAR: usize = 1 << 12;

/// No place yet.
const NEW: u32 = u32::MAX;
/// Freed, and not allocated since.
const FREED: u32 = u32::MAX - 1;

/// Looks through a trace, batch by batch.
#[derive(Default, Debug)]
pub struct Prefilter {
    /// By variable: its place in `vars`, or that it has none.
    places: Vec<u32>,
    /// By variable: what is known of it for good.
    marks: Vec<u8>,
    /// Those in use. Programs free memory, and names are not used again.
    vars: Vec<Var>,
    unused: Vec<u32>,
    phases: Phases,
    order: KeptOrder,
    locks: Locks,
    /// By thread: how many events it has so far.
    counts: Vec<u64>,
    /// By thread: its last event so far.
    last: Vec<Option<Event>>,
    waits: bool,
    waiters: Waiters,
    blocks: bool,
    used_after_free: bool,
    noted: bool,
}

impl Prefilter {
    /// Before the first event.
    pub fn new() -> Prefilter {
        Prefilter::default()
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        let threads = names.space(Space::Thread).len();
        let vars = names.space(Space::Var).len().max(self.places.len());
        self.places.resize(vars, NEW);
        self.marks.resize(vars, 0);
        self.counts.resize(threads.max(self.counts.len()), 0);
        self.last.resize(threads.max(self.last.len()), None);
        self.order.grow(threads);
        self.waiters.grow(threads);
        self.locks.grow(threads, names.space(Space::Lock).len());
        self.noted |= names.space(Space::Label).find(LABEL.as_bytes()).is_some();
        for events in batch.events.chunks(TOGETHER) {
            if self.places.len() > NEAR {
                let places = events.iter().filter_map(|event| self.places.get(event.object() as usize));
                let vars = places.filter_map(|&place| self.vars.get(place as usize));
                std::hint::black_box(vars.fold(0, |all, var| all ^ var.locks));
            }
            for &event in events {
                self.event(batch, event);
            }
        }
    }

    #[inline]
    fn event(&mut self, batch: &Batch, event: Event) {
        let thread = event.thread().index();
        match event.op() {
            Op::Read => self.access(event, Access::READ | Access::PLAIN),
            Op::Write => self.access(event, Access::WRITE | Access::PLAIN),
            Op::AtomicLoad => self.access(event, Access::READ | Access::ATOMIC),
            Op::AtomicStore | Op::AtomicRmw => self.access(event, Access::WRITE | Access::ATOMIC),
            Op::Free => {
                self.access(event, Access::WRITE | Access::PLAIN);
                self.free(event.object() as usize);
            }
            Op::Alloc => self.renew(event.object() as usize),
            op @ (Op::Pin | Op::ReadPin) => {
                let own = batch.extra(event).value == Value::Int(self.counts[thread] as i64);
                if own {
                    let kind = if op == Op::Pin { Access::WRITE } else { Access::READ };
                    self.access(event, kind | Access::PLAIN);
                } else {
                    self.marks[event.object() as usize] |= MAY_RACE;
                }
            }
            Op::Fork => {
                self.order.fork(thread, event.child().index());
                self.waiters.grants(thread);
            }
            Op::Join => self.order.join(thread, event.child().index()),
            Op::Begin | Op::End => self.blocks = true,
            Op::Request => self.locks.request(event.thread()),
            Op::JoinRequest => {
                self.waiters.joins(event.child().index());
                self.waiters.waits(thread, self.locks.holds_one(event.thread()));
            }
            Op::AwaitRequest | Op::DownRequest => self.waiters.waits(thread, self.locks.holds_one(event.thread())),
            Op::Post | Op::Up | Op::Notify | Op::NotifyAll => self.waiters.grants(thread),
            Op::Acquire | Op::TryAcquire => self.locks.acquire(event.thread(), event.lock(), LockMode::Exclusive),
            Op::Release => self.locks.release(event.thread(), event.lock(), LockMode::Exclusive),
            Op::ReadAcquire => self.locks.acquire(event.thread(), event.lock(), LockMode::Shared),
            Op::ReadRelease => self.locks.release(event.thread(), event.lock(), LockMode::Shared),
            Op::Wait | Op::Woken => {
                self.locks.wait(batch, event);
                if event.op() == Op::Wait {
                    self.waits = true;
                    self.waiters.waits(thread, self.locks.holds_one(event.thread()));
                }
            }
            _ => {}
        }
        self.counts[thread] += 1;
        self.last[thread] = Some(event);
    }

    #[inline]
    fn access(&mut self, event: Event, kind: u8) {
        let protecting = self.locks.protecting(event.thread(), kind & Access::WRITE != 0);
        let access = Access { thread: event.thread().0, kind, locks: protecting };
        let place = match self.places[event.object() as usize] {
            place if place < FREED => place,
            _ => self.place(event.object() as usize),
        };
        let var = &mut self.vars[place as usize];
        self.phases.access(var, access, &self.order, &mut self.locks.sets);
    }

    /// A place for a variable.
    #[inline(never)]
    fn place(&mut self, var: usize) -> u32 {
        if self.places[var] == FREED {
            self.used_after_free = true;
            // What came before the `free` is forgotten.
            self.marks[var] |= MAY_RACE;
        }
        let place = self.unused.pop().unwrap_or_else(|| {
            self.vars.push(Var::default());
            self.vars.len() as u32 - 1
        });
        self.places[var] = place;
        place
    }

    /// A variable is freed, and has a place.
    fn free(&mut self, var: usize) {
        let place = std::mem::replace(&mut self.places[var], FREED);
        self.marks[var] |= self.vars[place as usize].marks();
        self.vars[place as usize].forget();
        self.unused.push(place);
    }

    /// A variable's memory is new.
    fn renew(&mut self, var: usize) {
        match self.places[var] {
            NEW => {}
            FREED => self.places[var] = NEW,
            place => self.vars[place as usize].renew(),
        }
    }

    /// Whether it is known by now that some thread waits, asks for a lock while it holds one, or is in a block: then
    /// there is something to search other runs for, races aside.
    pub fn is_searched(&self) -> bool {
        self.waits || self.waiters.awaited || self.blocks || self.locks.nested
    }

    /// What could not be ruled out. `sound`: the trace has no problems; else nothing is ruled out.
    pub fn finish(self, sound: bool) -> Filtered {
        let sound = sound && !self.order.odd && !self.locks.odd;
        let of_place = |place: u32| self.vars.get(place as usize).map_or(0, Var::marks);
        let marks = self.places.iter().zip(&self.marks).map(|(&place, marks)| marks | of_place(place));
        let bit = |bit: u8| -> Vec<bool> { marks.clone().map(|marks| !sound || marks & bit != 0).collect() };
        let races = bit(MAY_RACE);
        let atomic = bit(HAD_ATOMIC);
        Filtered {
            sound,
            any_races: !sound || races.contains(&true),
            races,
            atomic,
            unordered: None,
            candidates: None,
            waits: !sound || self.waits,
            awaited_waits: !sound || self.waiters.awaited,
            blocks: !sound || self.blocks,
            nested: !sound || self.locks.nested,
            hangs: !sound || self.last.iter().flatten().any(|&last| WaitsFor::after(last).is_some()),
            misuses: !sound || self.used_after_free || self.noted || self.locks.asks_itself,
        }
    }
}

/// What a trace can have: what the prefilter could not rule out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filtered {
    /// The trace has no problems, and nothing in it that cannot happen.
    sound: bool,
    races: Vec<bool>,
    atomic: Vec<bool>,
    any_races: bool,
    /// What `hb` may find, if that is known.
    unordered: Option<Unordered>,
    /// What `lockset` may warn of, if it is known.
    candidates: Option<Candidates>,
    /// Some thread waits on a condition.
    pub waits: bool,
    /// Some thread waits for something else than a lock, while others may wait for it.
    pub awaited_waits: bool,
    /// There are blocks.
    pub blocks: bool,
    /// Some thread asks for a lock while it holds one.
    pub nested: bool,
    /// The last event of some thread is a wait.
    pub hangs: bool,
    /// Something can be misused: memory is used after it was freed, a recorder noted something, a thread asks for what
    /// it holds, or the trace has problems.
    pub misuses: bool,
}

/// Variables of which `hb` may find something.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Unordered {
    /// There are some.
    any: bool,
    /// By variable: it is one of them, or its drop barriers order others.
    seen: Vec<bool>,
}

impl Filtered {
    /// Nothing is ruled out.
    pub fn all() -> Filtered {
        Prefilter::new().finish(false)
    }

    /// Whether there is something to search other runs for, races aside.
    pub fn is_searched(&self) -> bool {
        self.waits || self.awaited_waits || self.blocks || self.nested
    }

    /// Whether there is something to look for in the recorded run.
    pub fn any(&self) -> bool {
        let Filtered { any_races, waits, awaited_waits, blocks, nested, hangs, misuses, .. } = *self;
        any_races || waits || awaited_waits || blocks || nested || hangs || misuses
    }

    /// Whether some variable may race.
    pub fn any_races(&self) -> bool {
        self.any_races
    }

    /// Whether a variable may race. Of others, `lockset` does not warn, either.
    #[inline]
    pub fn may_race(&self, var: VarId) -> bool {
        self.any_races && self.races.get(var.index()).is_none_or(|&may_race| may_race)
    }

    /// Whether `hb` may find something.
    pub fn any_unordered(&self) -> bool {
        self.any_races && self.unordered.as_ref().is_none_or(|unordered| unordered.any)
    }

    /// Whether `hb` must see a variable's accesses: it may find something there, or they order others.
    #[inline]
    pub fn orders_or_races(&self, var: VarId) -> bool {
        let races = || match &self.unordered {
            Some(unordered) => unordered.seen.get(var.index()).is_none_or(|&seen| seen),
            None => self.may_race(var),
        };
        self.any_races && (races() || self.atomic.get(var.index()).is_none_or(|&atomic| atomic))
    }

    /// The variables that `lockset` may warn of, if that is known.
    pub fn candidates(&self) -> Option<&Candidates> {
        self.candidates.as_ref()
    }
}
