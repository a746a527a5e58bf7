//! Data races of the recorded run, by schedulable happens-before with epochs.
//!
//! **Follows** Mathur, Kini, Viswanathan, *What Happens-After the First Race?*, OOPSLA'18 (SHB), with the epochs of
//! Flanagan and Freund, *FastTrack*, PLDI'09. The order is made of program order, fork and join, locks, and a plain
//! write before the plain reads that see it. An access is racy if some earlier conflicting access of another thread,
//! any one, not only the last, is not ordered before it; the edge from the write that it reads from does not count for
//! the read itself (test first, then join), but for all that follows.
//!
//! **Deviates** in the operations that the paper does not have:
//!
//! * A thread's fork comes before its join, even if it has no event between them.
//! * Locks: only the outermost of nested sections count. A shared release comes before later exclusive acquires, an
//!   exclusive one before later acquires of both kinds. A failed try-lock orders nothing.
//! * `wait` releases the lock at every depth, `woken` takes it back, and comes after the notify it is paired with (as
//!   in docs/causality.md).
//! * Every `post` comes before each later `await` of that latch. The n-th `up` of a semaphore comes before the
//!   (initial count + n)-th `down`, the one that it allows.
//! * Atomics, as in C11 with the release sequences of C++20: a load that acquires comes after the store or
//!   read-modify-write that it reads from, if that releases, and after those that it continues through
//!   read-modify-writes; with fences on either side, too. A relaxed access orders nothing by itself. Two atomic
//!   accesses do not race; an atomic and a plain one do. What an atomic access learns counts for itself: the edge is
//!   one of synchronisation. A plain access of the variable ends a release sequence; a plain read that sees an atomic
//!   store, and an atomic load that sees a plain write, learn nothing.
//! * A `pin` comes before later reads of its variable, up to the next write: a recorder has dropped writes there, which
//!   they may have seen. It orders no writes, and `rpin` nothing: reads that were dropped would not have (what they
//!   saw, their thread knows from before).
//! * `alloc` makes a new variable. `free` conflicts like a plain write, with what was before it and with what comes
//!   after it.
//!
//! And in how it counts time: see `clocks/mod.rs`, which needs no tree clocks, and `shadow.rs`, which says why one
//! mark for a variable's last accesses (FastTrack's epoch) loses nothing.
//!
//! **May miss** every race that another schedule of the same events would show, but in the recorded one is hidden by an
//! accidental order; pairs more than four billion events apart, or so far that what there is to remember between them
//! takes gigabytes ([`Races::forgot_before`]); and what only threads beyond the 4096 at a time, or ups of a semaphore
//! beyond the 65 536 that no `down` took yet, would show ([`Races::taken_for_one`]). An ordered access after `free` is
//! an error, but not a race. In a trace with problems (`foretrace check` lists them) the order is a guess.
//!
//! **Raises no false alarm**: by the paper's theorem, for a pair that is not ordered the events ordered before either
//! of them can be replayed in the recorded order, every read seeing what it saw; then both accesses are next. The edges
//! added above are those that a replay needs (locks exclude each other, a `down` has its `up`, a `woken` its notify).
//! Some that a replay needs are none of the language's memory model, and no edges here: from a write to a read of it
//! that does not synchronise with it (relaxed, or one of them atomic and the other not); from a failed try-lock to the
//! end of the section it failed in; between `alloc` or `free` and accesses that race with it already. A pair separated
//! only by those is unordered by the memory model, but may have no witness. (`tests/oracle/races.rs` holds the exact
//! statement against brute force.)

mod accesses;
mod atomics;
mod behind;
mod clocks;
mod objects;
mod shadow;
mod who;

use crate::locksets::{HeldSet, LockSets};
use crate::race::{Access, Log, Race, Races};
use accesses::TOGETHER;
use atomics::Fences;
use behind::BehindRaces;
use clocks::{Clocks, Gathered, Given, Thread, Time};
use event::{Batch, Event, Id, Init, Names, Op, Space, StrId, ThreadId, Value};
use objects::{Lock, Semaphore};
use rustc_hash::FxHashMap;
use shadow::{Mark, Reads, Var, Wide};
use sync::{Change, Effect, Fate, LockMode, Sections, Wakeups};

/// Races kept if not said otherwise.
const MOST_RACES: usize = 10_000;
/// Events whose times can be distinguished; then all is forgotten.
const MOST_TIMES: u32 = u32::MAX - 1;
/// Bytes of clocks and reads; then, too. What there is only one of for each variable, lock or thread does not count.
const MOST_BYTES: usize = 2 << 30;
/// Events between two looks at how many times and bytes are left.
const STRETCH: usize = 1 << 13;

/// Finds the races of the recorded run, batch by batch.
#[derive(Debug)]
pub struct Hb {
    clocks: Clocks,
    vars: Vec<Var>,
    wides: Vec<Wide>,
    reads: Reads,
    locks: Vec<Lock>,
    sections: Sections,
    /// With each notify what it gives to the thread that it wakes.
    wakeups: Wakeups<Given>,
    latches: Vec<Gathered>,
    semaphores: Vec<Semaphore>,
    /// Initial counts given so far, by name.
    counts: FxHashMap<StrId, i64>,
    threads: Vec<State>,
    sets: LockSets,
    log: Log,
    behind: BehindRaces,
    /// The event with time 1.
    base: u64,
    most_times: u32,
    most_bytes: usize,
    stretch: usize,
    /// Threads and ups that were not kept apart from others.
    taken_for_one: u64,
}

/// What a thread has beside its clock.
#[derive(Default, Debug)]
struct State {
    held: HeldSet,
    fences: Fences,
}

impl Default for Hb {
    fn default() -> Self {
        Hb::new()
    }
}

impl Hb {
    /// Before the first event; keeps at most 10 000 races.
    pub fn new() -> Self {
        Hb::keeping(MOST_RACES)
    }

    /// Before the first event; keeps at most so many races.
    pub fn keeping(races: usize) -> Self {
        Hb {
            clocks: Clocks::default(),
            vars: Vec::new(),
            wides: Vec::new(),
            reads: Reads::default(),
            locks: Vec::new(),
            sections: Sections::new(),
            wakeups: Wakeups::new(),
            latches: Vec::new(),
            semaphores: Vec::new(),
            counts: FxHashMap::default(),
            threads: Vec::new(),
            sets: LockSets::default(),
            log: Log::new(races),
            behind: BehindRaces::default(),
            base: 0,
            most_times: MOST_TIMES,
            most_bytes: MOST_BYTES,
            stretch: STRETCH,
            taken_for_one: 0,
        }
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        let count = |space| names.space(space).len();
        self.clocks.grow(count(Space::Thread));
        self.threads.resize_with(count(Space::Thread), State::default);
        self.vars.resize(count(Space::Var), Var::default());
        self.locks.resize_with(count(Space::Lock), Lock::default);
        self.latches.resize_with(count(Space::Latch), Gathered::default);
        self.semaphores.resize_with(count(Space::Sem), Semaphore::default);
        let mut from = 0;
        for &Init { before, name, value } in &batch.inits {
            self.events(names, batch, from, before as usize);
            from = before as usize;
            if let Value::Int(count) = value {
                self.counts.insert(name, count);
            }
        }
        self.events(names, batch, from, batch.events.len());
    }

    /// The races so far, in the order in which they were found.
    pub fn races(&self) -> &[Race] {
        self.log.races()
    }

    /// What was found.
    pub fn finish(self) -> Races {
        let taken_for_one = self.taken_for_one + self.clocks.sharing();
        let is_race = |variable, one, other| self.log.has(variable, (one, other));
        let (behind, behind_left_out) = self.behind.finish(is_race);
        Races { taken_for_one, behind, behind_left_out, ..self.log.finish() }
    }

    fn memory(&self) -> usize {
        self.clocks.memory() + self.reads.memory() + self.behind.memory()
    }

    fn events(&mut self, names: &Names, batch: &Batch, mut from: usize, to: usize) {
        while from < to {
            let first = batch.first + from as u64;
            let mut left = u64::from(self.most_times) - (first - self.base).min(u64::from(self.most_times));
            if left == 0 || self.memory() > self.most_bytes {
                self.forget(first);
                left = u64::from(self.most_times);
            }
            let end = from + (to - from).min(self.stretch).min(usize::try_from(left).unwrap_or(usize::MAX));
            let mut now = (first - self.base) as Time;
            let mut changes = [(0, 0); TOGETHER];
            for events in batch.events[from..end].chunks(TOGETHER) {
                self.fetch(events);
                let mut rest = events;
                loop {
                    let Hb { clocks, vars, reads, .. } = self;
                    let quick = accesses::quick(rest, now, clocks, vars, reads, &mut changes);
                    now += quick as Time;
                    let Some((&event, after)) = rest[quick..].split_first() else { break };
                    now += 1;
                    self.event(names, batch, event, now);
                    rest = after;
                }
            }
            from = end;
        }
    }

    /// Asks for the variables of some events, so that they come while others are awaited.
    #[inline]
    fn fetch(&self, events: &[Event]) {
        let wides = events.iter().filter_map(|event| self.vars.get(event.object() as usize)).map(|var| var.wide);
        // Pinned variables have a wide part that every read looks at.
        let parts = wides.map(|wide| self.wides.get((wide as usize).wrapping_sub(1)).map_or(0, Wide::fetch));
        std::hint::black_box(parts.fold(0, |all, part| all ^ part));
    }

    /// Any event.
    fn event(&mut self, names: &Names, batch: &Batch, event: Event, now: Time) {
        let mut me = self.clocks.thread(event.thread());
        if !me.has_begun() {
            me = self.begin(event.thread(), now);
        }
        if event.op().reads() {
            me = self.after_pins(event, me);
        }
        let mark = Mark { time: now, who: me.who, site: event.site() };
        match event.op() {
            Op::Read => self.racy_read(event, me, mark),
            Op::Write => self.racy_write(event, me, mark, true),
            _ => self.rare(names, batch, event, now),
        }
    }

    /// A read of a variable comes after its drop barriers.
    #[inline]
    fn after_pins(&mut self, event: Event, me: Thread) -> Thread {
        let wide = (self.vars[event.object() as usize].wide as usize).wrapping_sub(1);
        match self.wides.get(wide) {
            Some(wide) if !wide.drop_barriers.is_empty() => {
                self.clocks.learn_all(event.thread(), &wide.drop_barriers);
                self.clocks.thread(event.thread())
            }
            _ => me,
        }
    }

    /// The first event of a thread that was not forked, or one after another was in its slot.
    #[cold]
    fn begin(&mut self, thread: ThreadId, now: Time) -> Thread {
        self.make_room();
        self.clocks.enter(thread, now)
    }

    /// Makes room for one more slot.
    fn make_room(&mut self) {
        while !self.clocks.has_room() {
            let old = self.clocks.packing();
            let new = old.wider();
            self.clocks.set_packing(new);
            for var in &mut self.vars {
                old.repack(&mut var.write.who, new);
                old.repack(&mut var.read.who, new);
            }
            self.reads.repack(old, new);
            self.wides.iter_mut().for_each(|wide| wide.repack(old, new));
            self.behind.repack(old, new);
        }
    }

    /// An access is racy, if there is a partner. The number of the race; the greatest if it is not kept.
    #[inline]
    fn report(&mut self, event: Event, partner: Mark, mark: Mark) -> u32 {
        if partner.time == 0 {
            return u32::MAX;
        }
        let Hb { base, clocks, sets, log, .. } = self;
        let accesses = || (access(*base, clocks, sets, partner), access(*base, clocks, sets, mark));
        let race = log.racy(event.var(), (partner.site, mark.site), accesses);
        race.and_then(|race| u32::try_from(race).ok()).unwrap_or(u32::MAX)
    }

    /// Everything but plain accesses.
    #[inline(never)]
    fn rare(&mut self, names: &Names, batch: &Batch, event: Event, now: Time) {
        let (thread, object) = (event.thread(), event.object() as usize);
        let me = self.clocks.thread(thread);
        match event.op() {
            Op::Acquire | Op::TryAcquire => {
                let effect = self.sections.acquire(thread, event.lock(), LockMode::Exclusive, |_| ());
                self.lock(event, &effect, me, now);
            }
            Op::Release => {
                let effect = self.sections.release(thread, event.lock(), LockMode::Exclusive);
                self.lock(event, &effect, me, now);
            }
            Op::ReadAcquire => {
                let effect = self.sections.acquire(thread, event.lock(), LockMode::Shared, |_| ());
                self.lock(event, &effect, me, now);
            }
            Op::ReadRelease => {
                let effect = self.sections.release(thread, event.lock(), LockMode::Shared);
                self.lock(event, &effect, me, now);
            }
            Op::Wait | Op::Woken => {
                if let Some(effect) = self.sections.step(batch, event, |_| ()) {
                    self.lock(event, &effect, me, now);
                }
                self.condition(batch, event, me, now);
            }
            Op::Notify | Op::NotifyAll => self.condition(batch, event, me, now),
            Op::Fork => {
                self.make_room();
                self.clocks.fork(thread, event.child(), now);
            }
            Op::Join => {
                self.clocks.join(thread, event.child(), now);
                self.threads[object].fences.forget(&mut self.clocks);
            }
            Op::Post => {
                let given = me.given(now);
                self.clocks.gather(&mut self.latches[object], given);
            }
            Op::Await => self.clocks.learn_all(thread, &self.latches[object]),
            Op::Up | Op::Down => self.semaphore(names, event, me, now),
            Op::AtomicLoad | Op::AtomicStore | Op::AtomicRmw => self.atomic(batch, event, now),
            Op::Fence => {
                let fences = &mut self.threads[thread.index()].fences;
                fences.fence(&mut self.clocks, thread, batch.extra(event).order, now);
            }
            Op::Alloc => self.alloc(event.object()),
            Op::Free => {
                let mark = Mark { time: now, who: me.who, site: event.site() };
                self.racy_write(event, me, mark, false);
            }
            Op::Pin => {
                self.widen(event.object());
                let wide = self.vars[object].wide as usize - 1;
                self.clocks.gather(&mut self.wides[wide].drop_barriers, me.given(now));
            }
            _ => {}
        }
    }

    /// What an event does to sections, as threads learn it. Always inlined: for an operation of one mode, what is done
    /// about the other one goes.
    #[inline(always)]
    fn lock(&mut self, event: Event, effect: &Effect<()>, me: Thread, now: Time) {
        let (thread, lock) = (event.thread(), &mut self.locks[effect.lock.index()]);
        match effect.shared {
            Change::None => {}
            Change::Opens(()) => lock.read_acquire(&mut self.clocks, thread),
            Change::Closes(()) | Change::ClosesInitial => lock.read_release(&mut self.clocks, me, now),
        }
        match effect.exclusive {
            // A wait without the lock closes nothing, but its thread may have held the lock from the beginning.
            Change::None if event.op() == Op::Wait && !effect.gives => lock.release(&mut self.clocks, me, now),
            Change::None => {}
            Change::Opens(()) => lock.acquire(&mut self.clocks, thread),
            Change::Closes(()) | Change::ClosesInitial => lock.release(&mut self.clocks, me, now),
        }
        if effect.takes || effect.gives {
            let held = &mut self.threads[thread.index()].held;
            if effect.takes {
                held.take(&mut self.sets, effect.lock);
            } else {
                held.give(&mut self.sets, effect.lock);
            }
            self.clocks.set_locks(thread, held.id());
        }
    }

    /// A thread that a notify wakes learns what that gave.
    fn condition(&mut self, batch: &Batch, event: Event, me: Thread, now: Time) {
        let at = self.base + u64::from(now);
        let clocks = &mut self.clocks;
        self.wakeups.step_with(
            batch,
            at,
            event,
            || me.given(now),
            |fate, &given| match fate {
                Fate::Kept => clocks.hold(given.row),
                Fate::Paired => clocks.learn(event.thread(), given),
                Fate::Forgotten => clocks.drop(given.row),
            },
        );
    }

    fn semaphore(&mut self, names: &Names, event: Event, me: Thread, now: Time) {
        let semaphore = &mut self.semaphores[event.object() as usize];
        if !std::mem::replace(&mut semaphore.used, true) {
            let name = names.space(Space::Str).find(names.sem(event.sem()).as_bytes());
            let count = name.and_then(|name| self.counts.get(&StrId(name)));
            semaphore.initial = count.map_or(0, |&count| u64::try_from(count).unwrap_or(0));
        }
        if event.op() == Op::Up {
            self.taken_for_one += u64::from(!semaphore.up(&mut self.clocks, me, now));
        } else {
            semaphore.down(&mut self.clocks, event.thread());
        }
    }

    /// Restarts time. No order among later events is lost: a chain between two of them has only later events.
    #[cold]
    fn forget(&mut self, first: u64) {
        self.log.forget_before(first);
        self.base = first;
        self.taken_for_one += self.clocks.sharing();
        self.clocks = Clocks::with_slots(self.clocks.most_slots());
        self.clocks.grow(self.threads.len());
        self.vars.fill(Var::default());
        self.wides.clear();
        self.behind.forget();
        self.reads = Reads::default();
        self.locks.fill_with(Lock::default);
        self.wakeups.notifies_mut().for_each(|given| *given = Given::default());
        self.latches.fill(Gathered::default());
        self.semaphores.iter_mut().for_each(Semaphore::forget_clocks);
        for (thread, state) in self.threads.iter_mut().enumerate() {
            state.fences = Fences::default();
            self.clocks.set_locks(ThreadId::from_index(thread), state.held.id());
        }
    }
}

/// What is reported of an access.
fn access(base: u64, clocks: &Clocks, sets: &LockSets, mark: Mark) -> Access {
    let packing = clocks.packing();
    Access {
        event: base + u64::from(mark.time) - 1,
        thread: clocks.thread_at(packing.slot(mark.who), mark.time),
        site: mark.site,
        locks: sets.members(packing.locks(mark.who)),
    }
}

#[cfg(test)]
mod tests;
