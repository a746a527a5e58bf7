//! A pass over what the prefilter left: variables that are handed over need no search.
//!
//! A program that hands data over (by a queue, a flag, a reference count) accesses a variable without a lock, first in
//! one thread and then in another, and what lets the other thread find it keeps the two apart: it has read what the
//! first thread wrote afterwards. That holds in every run of the model (`must_order.rs`), so two accesses that this
//! order or a common lock keeps apart need no search. Drop barriers are no accesses here: no search claims a race of
//! one; they order. One pass, batch by batch; what it remembers, it remembers for each thread and variable,
//! until the variable is freed.
//!
//! A pass can also keep to the edges that `hb` has ([`Handovers::ordered`]): reads of variables without a race,
//! atomics that synchronise as the language says, and drop barriers as reads see them. What these edges keep apart,
//! `hb` has nothing to say of, not even behind another race, and it needs no search either.

use super::Filtered;
use super::accesses::Accesses;
use super::locks::Locks;
use super::must_order::{MustOrder, Point};
use super::phases::Access;
use event::{Batch, Event, Names, Op, Order, Space, Value, VarId};
use rustc_hash::FxHashMap;
use sync::{LockMode, Sections, Wakeups};

/// How much is remembered. With less, less is ruled out.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// With more threads nothing is ruled out: clocks would cost too much.
    pub threads: usize,
    /// Drop barriers of a variable.
    pub drop_barriers: usize,
    /// Threads and kinds of accesses of a variable that are distinguished; with more it may race.
    pub accesses: usize,
    /// Words of all rows of what threads knew, 4 bytes each; of more, the oldest are forgotten.
    pub words: usize,
    /// Sections of a thread and lock, at least one: what was handed over is mostly taken soon.
    pub sections: usize,
    /// Sections in all; if there are more, each thread and lock has the last one only.
    pub all_sections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { threads: 512, drop_barriers: 16, accesses: 64, words: 1 << 20, sections: 16, all_sections: 1 << 16 }
    }
}

/// Releases of one sequence that are kept.
const MOST_RELEASES: usize = 16;

/// After so many events it is asked whether to go on.
const LOOK: usize = 1 << 16;

/// No slot yet.
const NEW: u32 = u32::MAX;
/// Freed, and not allocated since.
const FREED: u32 = u32::MAX - 1;

/// What is known of a variable while it is used.
#[derive(Default, Debug)]
struct Slot {
    accesses: Accesses,
    /// Its last write.
    written: Point,
    /// It has drop barriers.
    pinned: bool,
    /// The release sequence of its last atomic write. Only looked at if edges must be those of `hb`.
    releases: Vec<Point>,
}

/// Looks through a trace that the prefilter has seen, batch by batch.
#[derive(Debug)]
pub struct Handovers<'f> {
    filtered: &'f Filtered,
    limits: Limits,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// By variable: its slot.
    of_var: Vec<u32>,
    races: Vec<bool>,
    /// By variable: it has a `pin`, so that reads of it come after something else than a write.
    barriers: Vec<bool>,
    /// By slot: drop barriers, at most one of each kind by each thread.
    pins: FxHashMap<u32, Vec<(Op, Point)>>,
    order: MustOrder,
    locks: Locks,
    sections: Sections<u32>,
    wakeups: Wakeups<Point>,
    /// Edges are those that `hb` has, too.
    ordered: bool,
    /// Nothing can be ruled out.
    given_up: bool,
}

const fn acquires(order: Order) -> bool {
    matches!(order, Order::Acquire | Order::AcqRel | Order::SeqCst)
}

const fn releases(order: Order) -> bool {
    matches!(order, Order::Release | Order::AcqRel | Order::SeqCst)
}

impl<'f> Handovers<'f> {
    /// Before the first event of a trace that the prefilter has seen to its end.
    pub fn new(filtered: &'f Filtered) -> Handovers<'f> {
        Handovers::with(Limits::default(), filtered)
    }

    /// Likewise, within these limits.
    pub fn with(limits: Limits, filtered: &'f Filtered) -> Handovers<'f> {
        Handovers {
            filtered,
            limits,
            slots: Vec::new(),
            free: Vec::new(),
            of_var: Vec::new(),
            races: Vec::new(),
            barriers: Vec::new(),
            pins: FxHashMap::default(),
            order: MustOrder::new(limits),
            locks: Locks::default(),
            sections: Sections::new(),
            wakeups: Wakeups::new(),
            ordered: false,
            given_up: !filtered.sound,
        }
    }

    /// Keeps to edges that `hb` has, too: of what is ruled out then, it finds nothing.
    #[must_use]
    pub fn ordered(self) -> Handovers<'f> {
        Handovers { ordered: true, ..self }
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        if self.begin(names) {
            self.events(batch, batch.first, &batch.events);
        }
    }

    /// Takes the next events, which are of this batch, and the first of which has this number.
    pub(super) fn events(&mut self, batch: &Batch, first: u64, events: &[Event]) {
        for (at, &event) in (first..).zip(events) {
            self.event(batch, at, event);
        }
    }

    /// Takes a whole trace; whether it has seen it to the end, and was not stopped.
    pub fn trace(&mut self, names: &Names, trace: &Batch, mut stop: impl FnMut() -> bool) -> bool {
        if self.begin(names) {
            for (number, events) in trace.events.chunks(LOOK).enumerate() {
                if stop() {
                    return false;
                }
                self.events(trace, trace.first + (number * LOOK) as u64, events);
            }
        }
        true
    }

    /// Makes room for what has these names. Whether there is anything to do.
    pub(super) fn begin(&mut self, names: &Names) -> bool {
        let threads = names.space(Space::Thread).len();
        self.given_up |= threads > self.limits.threads;
        if self.given_up {
            return false;
        }
        let (vars, locks) = (names.space(Space::Var).len(), names.space(Space::Lock).len());
        self.of_var.resize(vars.max(self.of_var.len()), NEW);
        self.races.resize(vars.max(self.races.len()), false);
        self.barriers.resize(vars.max(self.barriers.len()), false);
        self.order.grow(threads, locks);
        self.locks.grow(threads, locks);
        true
    }

    #[inline]
    fn event(&mut self, batch: &Batch, at: u64, event: Event) {
        let thread = event.thread().0 as usize;
        self.given_up |= !self.order.step(thread);
        match event.op() {
            Op::Read => self.read(batch, event, Access::PLAIN),
            Op::Write => self.write(event, Access::PLAIN),
            Op::AtomicLoad | Op::AtomicStore | Op::AtomicRmw if self.ordered => self.synchronise(batch, event),
            Op::AtomicLoad => self.read(batch, event, Access::ATOMIC),
            Op::AtomicStore => self.write(event, Access::ATOMIC),
            Op::AtomicRmw => {
                let slot = self.access(event, Access::WRITE | Access::ATOMIC);
                // What it read is not recorded: it needs the write that it saw.
                let written = self.slots[slot as usize].written;
                self.order.need(thread, written);
                self.slots[slot as usize].written = self.order.point(thread);
            }
            Op::Free => {
                let slot = self.access(event, Access::WRITE | Access::PLAIN);
                self.forget(event, slot, FREED);
            }
            Op::Alloc => match self.of_var[event.object() as usize] {
                NEW => {}
                FREED => self.of_var[event.object() as usize] = NEW,
                slot => self.forget(event, slot, NEW),
            },
            op @ (Op::Pin | Op::ReadPin) => {
                self.barriers[event.object() as usize] |= op == Op::Pin;
                // One that speaks of another event is left out: that only makes the order smaller.
                if batch.extra(event).value == Value::Int(i64::from(self.order.count(thread)) - 1) {
                    self.pin(op, event);
                }
            }
            Op::Fork => self.order.fork(thread, event.child().0 as usize),
            Op::Join => self.order.join(thread, event.child().0 as usize),
            Op::Post => self.order.post(thread, event.object()),
            Op::Await => self.order.awaits(thread, event.object()),
            Op::Notify | Op::NotifyAll => {
                let order = &mut self.order;
                self.wakeups.notify(at, event, || order.point(thread), |_, _| ());
            }
            Op::Wait => {
                self.wakeups.wait(batch, at, event, |_, _| ());
                self.wait(batch, event);
            }
            Op::Woken => {
                if let Some(pair) = self.wakeups.woken(batch, event, |_, _| ()) {
                    self.order.need(thread, pair.data);
                }
                self.wait(batch, event);
            }
            Op::Acquire | Op::TryAcquire => self.acquire(event, LockMode::Exclusive),
            Op::ReadAcquire => self.acquire(event, LockMode::Shared),
            Op::Release => self.release(event, LockMode::Exclusive),
            Op::ReadRelease => self.release(event, LockMode::Shared),
            _ => {}
        }
    }

    #[inline]
    fn read(&mut self, batch: &Batch, event: Event, kind: u8) {
        let slot = self.access(event, Access::READ | kind);
        let written = self.slots[slot as usize].written;
        // A read that races orders what follows it in this run only: `hb` must not rely on it.
        let accidental = self.ordered && self.races[event.object() as usize];
        // With a value it may see another write of the same one.
        if !batch.extra(event).value.is_known() && !accidental {
            self.order.need(event.thread().0 as usize, written);
        }
    }

    /// An atomic access, as the language orders it.
    fn synchronise(&mut self, batch: &Batch, event: Event) {
        let (op, thread) = (event.op(), event.thread().0 as usize);
        let (reads, writes) = (op != Op::AtomicStore, op != Op::AtomicLoad);
        let kind = if writes { Access::WRITE } else { Access::READ };
        let slot = self.access(event, kind | Access::ATOMIC);
        let extra = batch.extra(event);
        let Handovers { slots, order, .. } = self;
        let slot = &mut slots[slot as usize];
        if reads && acquires(extra.order) && (writes || !extra.value.is_known()) {
            slot.releases.iter().for_each(|&point| order.need(thread, point));
        }
        if writes {
            // Plain reads of it learn nothing.
            slot.written = Point::default();
            // A read-modify-write continues the sequence; one that acquires knows all of it.
            if op == Op::AtomicStore || acquires(extra.order) && releases(extra.order) {
                slot.releases.clear();
            }
            if releases(extra.order) {
                slot.releases.retain(|point| !point.is_of(event.thread()));
                if slot.releases.len() < MOST_RELEASES {
                    slot.releases.push(order.point(thread));
                }
            }
        }
    }

    #[inline]
    fn write(&mut self, event: Event, kind: u8) {
        let slot = self.access(event, Access::WRITE | kind) as usize;
        self.slots[slot].written = self.order.point(event.thread().0 as usize);
        self.slots[slot].releases.clear();
    }

    /// Notes an access, and gives the slot of its variable. What the access itself needs comes later: it can be next
    /// before that.
    #[inline]
    fn access(&mut self, event: Event, kind: u8) -> u32 {
        let var = event.object() as usize;
        let slot = self.slot(event);
        if self.slots[slot as usize].pinned {
            self.hold_back(event, slot);
        }
        if !self.races[var] && self.filtered.may_race(event.var()) {
            let protecting = self.locks.protecting(event.thread(), kind & Access::WRITE != 0);
            let access = Access { thread: event.thread().0, kind, locks: protecting };
            let accesses = &mut self.slots[slot as usize].accesses;
            self.races[var] =
                accesses.add(access, &self.order, &mut self.locks.sets) || accesses.kinds() > self.limits.accesses;
        }
        slot
    }

    #[inline]
    fn slot(&mut self, event: Event) -> u32 {
        let var = event.object() as usize;
        match self.of_var[var] {
            slot if slot < FREED => slot,
            before => self.take(var, before),
        }
    }

    /// A drop barrier that speaks of itself.
    #[inline(never)]
    fn pin(&mut self, op: Op, event: Event) {
        let slot = self.slot(event);
        let point = self.order.point(event.thread().0 as usize);
        self.slots[slot as usize].pinned = true;
        let pins = self.pins.entry(slot).or_default();
        if let Some((_, pin)) = pins.iter_mut().find(|(kind, pin)| *kind == op && pin.is_of(event.thread())) {
            *pin = point;
        } else if pins.len() < self.limits.drop_barriers {
            pins.push((op, point));
        }
    }

    /// An access comes after the drop barriers of its variable, and cannot be next before.
    #[inline(never)]
    fn hold_back(&mut self, event: Event, slot: u32) {
        let (op, ordered) = (event.op(), self.ordered);
        for (kind, pin) in self.pins.get(&slot).into_iter().flatten() {
            if kind.holds_back(op) && (!ordered || *kind == Op::Pin && op.reads()) {
                self.order.need(event.thread().0 as usize, *pin);
            }
        }
        if ordered && !op.only_reads() {
            self.slots[slot as usize].pinned = false;
            self.pins.remove(&slot);
        }
    }

    /// A slot for a variable.
    #[inline(never)]
    fn take(&mut self, var: usize, before: u32) -> u32 {
        // The `free` and what comes behind it may meet; what was known of the `free` is gone.
        self.races[var] |= before == FREED;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        self.of_var[var] = slot;
        slot
    }

    /// A variable's memory is given back, or new.
    fn forget(&mut self, event: Event, slot: u32, then: u32) {
        self.slots[slot as usize].accesses.clear();
        self.slots[slot as usize].written = Point::default();
        self.slots[slot as usize].releases.clear();
        if std::mem::take(&mut self.slots[slot as usize].pinned) {
            self.pins.remove(&slot);
        }
        self.of_var[event.object() as usize] = then;
        self.free.push(slot);
    }

    fn acquire(&mut self, event: Event, mode: LockMode) {
        self.locks.acquire(event.thread(), event.lock(), mode);
        let effect = self.sections.acquire(event.thread(), event.lock(), mode, |_| 0);
        self.order.lock(event.thread(), &effect);
    }

    fn release(&mut self, event: Event, mode: LockMode) {
        self.locks.release(event.thread(), event.lock(), mode);
        let effect = self.sections.release(event.thread(), event.lock(), mode);
        self.order.lock(event.thread(), &effect);
    }

    fn wait(&mut self, batch: &Batch, event: Event) {
        self.locks.wait(batch, event);
        if let Some(effect) = self.sections.step(batch, event, |_| 0) {
            self.order.lock(event.thread(), &effect);
        }
    }

    /// By variable: whether reads of it come after drop barriers.
    pub(super) fn barriers(&self) -> &[bool] {
        &self.barriers
    }

    /// Whether nothing can be ruled out.
    pub(super) fn has_given_up(&self) -> bool {
        self.given_up
    }

    /// What is left: variables of which some race may be predicted. All else is as the prefilter says.
    pub fn finish(self) -> Filtered {
        let Handovers { filtered, mut races, given_up, .. } = self;
        if given_up {
            return filtered.clone();
        }
        for (var, races) in (0..).zip(&mut races) {
            *races &= filtered.may_race(VarId(var));
        }
        Filtered { any_races: races.contains(&true), races, ..filtered.clone() }
    }
}
