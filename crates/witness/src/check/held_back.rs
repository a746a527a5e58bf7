//! Races of the recorded run whose witness is the recorded order with events left out, checked along the recorded run.
//!
//! **The claim.** The run is as recorded up to the first access of the race, exclusive. That access is held back, and
//! so is all that needs it; what is left comes in recorded order; then both accesses are next. Such a witness needs no
//! copy of the trace: only the events from the first access to the second one are looked at, one by one.
//!
//! **Why it suffices.** The recorded run of a trace without problems is feasible in `maximal` (docs/causality.md). Each
//! rule asks of an event only that events recorded before it came, or that sections opened before it were closed, so
//! leaving events out can break it only for events behind them:
//!
//! * program order, fork, join, `post`: the rule names the events that must be there;
//! * locks: a section that is open here, but was not in the recorded run, is one whose closing event was left out;
//!   a `tfail` needs the opening events before it;
//! * conditions: a `woken` needs its notify, and its own `wait` came before that as recorded;
//! * reads: the last write before a read is the recorded one, unless that one was left out;
//! * semaphores: a count is at least the recorded one, unless an `up` was left out;
//! * `alloc` and `free`: every access of the variable recorded before them came, and they before every later one.
//!
//! So an event is refused here if *any* event that it could need was left out before it. That is stricter than the
//! definitions in some cases (another notify, another `up`, a write of the same value would do), and never less strict:
//! `tests/held_back.rs` compares it with [`check_race`](super::check_race). Drop barriers may stand anywhere in a trace
//! and name any event before, so a trace that has some is refused.

use super::refusal::{Reason, Refusal, Rule, WrongClaim, can_race};
use crate::ops::{is_access, is_read};
use crate::sections::lock_of;
use event::{Batch, Event, Op};

/// What must be known of the whole recorded run.
#[derive(Clone, Copy, Debug)]
pub struct RecordedRun {
    /// The validator found no problem up to the second access.
    pub has_no_problem: bool,
    /// There is no `pin` and no `rpin` in it.
    pub has_no_drop_barrier: bool,
}

/// By object: the last event left out that others may need, as its distance from the first access and one more.
#[derive(Default)]
struct LeftOut(Vec<u32>);

impl LeftOut {
    fn note(&mut self, object: u32, event: u32) {
        if self.0.len() <= object as usize {
            self.0.resize(object as usize + 1, 0);
        }
        self.0[object as usize] = event;
    }

    #[inline]
    fn forget(&mut self, object: u32) {
        if let Some(event) = self.0.get_mut(object as usize) {
            *event = 0;
        }
    }

    #[inline]
    fn get(&self, object: u32) -> u32 {
        self.0.get(object as usize).copied().unwrap_or(0)
    }
}

/// Checks such a witness. It takes the events of the recorded run from the first access to the second one.
pub struct HeldBackCheck {
    race: [u64; 2],
    first: Option<Event>,
    /// The index of the next event.
    next: u64,
    /// Events of the witness so far.
    position: u64,
    threads: LeftOut,
    forks: LeftOut,
    posts: LeftOut,
    /// The last write of a variable.
    writes: LeftOut,
    accesses: LeftOut,
    boundaries: LeftOut,
    closes: LeftOut,
    shared_closes: LeftOut,
    opens: LeftOut,
    ups: LeftOut,
    notifies: LeftOut,
    /// Of the variable of the race, without its first access.
    others: [u32; 2],
    refusal: Option<Refusal>,
    /// Both accesses came.
    complete: bool,
}

impl HeldBackCheck {
    /// A race, the access recorded first before the other; `None` if the recorded run cannot be judged in this way.
    pub fn new(race: [u64; 2], run: RecordedRun) -> Option<HeldBackCheck> {
        let short = race[1].checked_sub(race[0]).is_some_and(|distance| distance > 0 && distance < u64::from(u32::MAX));
        (short && run.has_no_problem && run.has_no_drop_barrier).then(|| HeldBackCheck {
            race,
            first: None,
            next: race[0],
            position: race[0],
            threads: LeftOut::default(),
            forks: LeftOut::default(),
            posts: LeftOut::default(),
            writes: LeftOut::default(),
            accesses: LeftOut::default(),
            boundaries: LeftOut::default(),
            closes: LeftOut::default(),
            shared_closes: LeftOut::default(),
            opens: LeftOut::default(),
            ups: LeftOut::default(),
            notifies: LeftOut::default(),
            others: [0; 2],
            refusal: None,
            complete: false,
        })
    }

    /// The next event of the recorded run, which `batch` has, and whether it stands in the witness before the race.
    pub fn step(&mut self, batch: &Batch, event: Event, kept: bool) {
        let index = self.next;
        self.next += 1;
        if self.refusal.is_some() || self.complete {
            return;
        }
        match self.first {
            None => {
                self.first = Some(event);
                self.leave_out(batch, index, event);
                self.others = [0; 2];
                // Nothing is left out before it, so it is the next event of its thread.
                if kept {
                    self.refuse(index, Reason::WrongClaim(WrongClaim::Missing));
                }
            }
            Some(first) if index == self.race[1] => self.second(index, first, event),
            Some(_) if kept => {
                self.keep(batch, index, event);
                self.position += 1;
            }
            Some(_) => self.leave_out(batch, index, event),
        }
    }

    /// Whether the witness shows the race.
    pub fn finish(self) -> Result<(), Refusal> {
        let missing = Refusal {
            position: self.position as usize,
            event: self.race[1],
            reason: Reason::WrongClaim(WrongClaim::Missing),
        };
        match self.refusal {
            Some(refusal) => Err(refusal),
            None if self.complete => Ok(()),
            None => Err(missing),
        }
    }

    /// An event is not in the witness: what may need it from now on must not be there, either.
    fn leave_out(&mut self, batch: &Batch, index: u64, event: Event) {
        let (op, object) = (event.op(), event.object());
        let number = (index - self.race[0]) as u32 + 1;
        self.threads.note(event.thread().0, number);
        if is_access(op) {
            self.accesses.note(object, number);
            if op.writes() {
                self.writes.note(object, number);
            }
            if op.bounds_lifetime() {
                self.boundaries.note(object, number);
            }
            if self.first.is_some_and(|first| first.object() == object) {
                self.others[0] = number;
                self.others[1] = if op.bounds_lifetime() { number } else { self.others[1] };
            }
        }
        match op {
            Op::Fork => self.forks.note(object, number),
            Op::Post => self.posts.note(object, number),
            Op::Up => self.ups.note(object, number),
            Op::Notify | Op::NotifyAll => self.notifies.note(object, number),
            _ => {}
        }
        if let Some(lock) = lock_of(batch, event) {
            match op {
                Op::TryFail => {}
                Op::ReadRelease => self.shared_closes.note(lock, number),
                Op::Release => self.closes.note(lock, number),
                // It gives up both kinds.
                Op::Wait => {
                    self.closes.note(lock, number);
                    self.shared_closes.note(lock, number);
                }
                _ => self.opens.note(lock, number),
            }
        }
    }

    /// An event is in the witness: nothing that it may need was left out.
    fn keep(&mut self, batch: &Batch, index: u64, event: Event) {
        let (op, object) = (event.op(), event.object());
        self.require(index, self.threads.get(event.thread().0), Rule::Thread);
        self.require(index, self.forks.get(event.thread().0), Rule::Fork);
        if is_access(op) {
            self.require(index, self.boundaries.get(object), Rule::LifetimeBoundary);
            if op.bounds_lifetime() {
                self.require(index, self.accesses.get(object), Rule::LifetimeBoundary);
            }
            if is_read(op) || op == Op::AtomicRmw {
                self.require(index, self.writes.get(object), Rule::ReadsFrom);
            }
            if !is_read(op) {
                self.writes.forget(object);
            }
        }
        match op {
            Op::Join if event.child() != event.thread() => {
                self.require(index, self.forks.get(object), Rule::ForkOfJoined);
                self.require(index, self.threads.get(object), Rule::Join);
            }
            Op::Await => self.require(index, self.posts.get(object), Rule::Post),
            Op::Down => self.require(index, self.ups.get(object), Rule::Semaphore),
            Op::Woken => self.require(index, self.notifies.get(object), Rule::Notify),
            Op::Pin | Op::ReadPin => self.require(index, 1, Rule::DropBarrier),
            _ => {}
        }
        if let Some(lock) = lock_of(batch, event) {
            match op {
                Op::TryFail => self.require(index, self.opens.get(lock), Rule::FailedInside),
                Op::Release | Op::ReadRelease | Op::Wait => {}
                Op::ReadAcquire => self.require(index, self.closes.get(lock), Rule::Lock),
                _ => {
                    self.require(index, self.closes.get(lock), Rule::Lock);
                    self.require(index, self.shared_closes.get(lock), Rule::Lock);
                }
            }
        }
    }

    /// The second access: the next event of its thread, and in conflict with the first.
    fn second(&mut self, index: u64, first: Event, event: Event) {
        self.complete = true;
        if first.thread() == event.thread() {
            self.refuse(index, Reason::WrongClaim(WrongClaim::SameThread));
        } else if !can_race(first.op(), event.op()) || first.object() != event.object() {
            self.refuse(index, Reason::WrongClaim(WrongClaim::NoConflict));
        }
        self.require(index, self.threads.get(event.thread().0), Rule::Thread);
        self.require(index, self.forks.get(event.thread().0), Rule::Fork);
        let [accesses, boundaries] = self.others;
        self.require(index, if event.op().bounds_lifetime() { accesses } else { boundaries }, Rule::LifetimeBoundary);
    }

    /// Refuses an event that needs one that was left out.
    #[inline]
    fn require(&mut self, index: u64, left_out: u32, rule: Rule) {
        if left_out != 0 {
            let other = self.race[0] + u64::from(left_out) - 1;
            self.refuse(index, Reason::Without { other, rule });
        }
    }

    #[cold]
    fn refuse(&mut self, event: u64, reason: Reason) {
        if self.refusal.is_none() {
            self.refusal = Some(Refusal { position: self.position as usize, event, reason });
        }
    }
}
