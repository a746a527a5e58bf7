//! Pairs that happens-before does not order: decided along the recorded run, by docs/detectors.md ("Races").
//!
//! Plain vector clocks, one for each thread, count the events of each thread that come before. There are no epochs, no
//! shared rows and no slots here: what `hb` does to be fast must not be repeated. Where there is no room (more threads
//! or objects than [`MOST_WORDS`] allow), nothing is accepted any more.

use super::conditions::Condition;
use super::refusal::can_race;
use crate::sections::{Sections, effect};
use event::{Batch, Event, Names, Op, Order, Value, Wake};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Counts in all clocks together.
const MOST_WORDS: usize = 1 << 26;
/// Ups of a semaphore that are kept apart; further ones count as the last of these, which can only order more.
const MOST_UPS: usize = 1 << 12;

/// Why a pair is not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotUnordered {
    /// They are not recorded in this order, or not at all.
    #[error("the trace does not have the two events in this order")]
    NotInTrace,
    /// Not two accesses by different threads, one of them a write.
    #[error("the two events do not conflict")]
    NoConflict,
    /// Happens-before has an order for them.
    #[error("the first event happens before the second")]
    Ordered,
    /// The trace has too many threads and objects.
    #[error("there is no room for so many clocks")]
    NoRoom,
}

type Clock = Vec<u32>;

/// What an access of a variable may learn.
#[derive(Default)]
struct Variable {
    /// From the last write, if that is atomic.
    given: Clock,
    /// From drop barriers since the last write.
    drop_barriers: Clock,
}

#[derive(Default)]
struct Thread {
    clock: Clock,
    /// Its events so far.
    events: u32,
    /// What its last release fence gives.
    released: Clock,
    /// What the next acquire fence takes.
    seen: Clock,
}

#[derive(Default)]
struct Lock {
    released: Clock,
    shared_released: Clock,
}

#[derive(Default)]
struct Semaphore {
    initial: u64,
    /// Ups that no down has taken, alike ones together.
    ups: VecDeque<(u64, Clock)>,
}

/// The first event of a pair.
struct First {
    event: Event,
    /// Its number among those of its thread, from 1.
    number: u32,
    index: u64,
}

/// Decides for some pairs of events whether happens-before leaves them unordered.
pub struct UnorderedCheck {
    /// By later event: the pairs.
    pairs: BTreeMap<u64, Vec<(usize, u64)>>,
    firsts: HashMap<u64, Option<First>>,
    /// When each variable of a pair was last allocated.
    lives: HashMap<u32, u64>,
    results: Vec<Result<(), NotUnordered>>,
    next: u64,
    words: usize,
    threads: Vec<Thread>,
    locks: Vec<Lock>,
    latches: Vec<Clock>,
    semaphores: HashMap<u32, Semaphore>,
    /// Initial counts by name, and the batch and number of the last that was seen.
    counts: HashMap<u32, u64>,
    inits: (u64, usize),
    sections: Sections,
    conditions: HashMap<u32, Condition>,
    /// By condition and event: what a notify gives.
    notifies: HashMap<u32, BTreeMap<u32, Clock>>,
    /// By thread: its wait in progress, by condition, lock and event.
    waiting: HashMap<u32, (u32, u32, u32)>,
    variables: HashMap<u32, Variable>,
}

/// The element, which is made if it is not there.
fn at<T: Default>(list: &mut Vec<T>, index: usize) -> &mut T {
    if index >= list.len() {
        list.resize_with(index + 1, T::default);
    }
    &mut list[index]
}

fn acquires(order: Order) -> bool {
    matches!(order, Order::Acquire | Order::AcqRel | Order::SeqCst)
}

fn releases(order: Order) -> bool {
    matches!(order, Order::Release | Order::AcqRel | Order::SeqCst)
}

impl UnorderedCheck {
    /// Before the first event of the trace. Of each pair, the event recorded first comes first.
    pub fn new(pairs: &[[u64; 2]]) -> UnorderedCheck {
        let mut by_later: BTreeMap<u64, Vec<(usize, u64)>> = BTreeMap::new();
        for (number, &[first, second]) in pairs.iter().enumerate() {
            by_later.entry(second).or_default().push((number, first));
        }
        UnorderedCheck {
            pairs: by_later,
            firsts: pairs.iter().map(|pair| (pair[0], None)).collect(),
            lives: HashMap::new(),
            results: vec![Err(NotUnordered::NotInTrace); pairs.len()],
            next: 0,
            words: 0,
            threads: Vec::new(),
            locks: Vec::new(),
            latches: Vec::new(),
            semaphores: HashMap::new(),
            counts: HashMap::new(),
            inits: (0, 0),
            sections: Sections::default(),
            conditions: HashMap::new(),
            notifies: HashMap::new(),
            waiting: HashMap::new(),
            variables: HashMap::new(),
        }
    }

    /// The next event of the recorded run, which `batch` has. Whether more of them are needed.
    pub fn step(&mut self, names: &Names, batch: &Batch, event: Event) -> bool {
        let index = self.next;
        self.next += 1;
        self.note_counts(names, batch, index);
        let thread = event.thread().0 as usize;
        at(&mut self.threads, thread).events += 1;
        if event.op().reads() {
            self.before_read(batch, event);
        }
        if event.op() == Op::Alloc {
            self.lives.insert(event.object(), index);
        }
        if let Some(pairs) = self.pairs.remove(&index) {
            for (number, first) in pairs {
                self.results[number] = self.judge(first, event);
            }
        }
        if let Some(first) = self.firsts.get_mut(&index) {
            *first = Some(First { event, number: self.threads[thread].events, index });
        }
        self.follow(batch, event, u32::try_from(index).unwrap_or(u32::MAX));
        !self.pairs.is_empty()
    }

    /// By pair: whether it is accepted.
    pub fn finish(self) -> Vec<Result<(), NotUnordered>> {
        self.results
    }

    fn judge(&self, first: u64, second: Event) -> Result<(), NotUnordered> {
        let first = self.firsts.get(&first).and_then(Option::as_ref).ok_or(NotUnordered::NotInTrace)?;
        let (one, lives) = (first.event, self.lives.get(&second.object()));
        if one.thread() == second.thread()
            || !can_race(one.op(), second.op())
            || one.object() != second.object()
            || lives.is_some_and(|&since| since > first.index)
        {
            return Err(NotUnordered::NoConflict);
        }
        if self.words > MOST_WORDS {
            return Err(NotUnordered::NoRoom);
        }
        let clock = &self.threads[second.thread().0 as usize].clock;
        let known = clock.get(one.thread().0 as usize).copied().unwrap_or_default();
        if known >= first.number { Err(NotUnordered::Ordered) } else { Ok(()) }
    }

    /// Initial counts of semaphores that are given before this event.
    fn note_counts(&mut self, names: &Names, batch: &Batch, index: u64) {
        if self.inits.0 != batch.first {
            self.inits = (batch.first, 0);
        }
        while let Some(init) = batch.inits.get(self.inits.1)
            && batch.first + u64::from(init.before) <= index
        {
            self.inits.1 += 1;
            let count = if let Value::Int(count) = init.value { u64::try_from(count).unwrap_or(0) } else { continue };
            let name = names.str(init.name);
            if let Some(semaphore) = names.space(event::Space::Sem).find(name.as_bytes()) {
                self.counts.insert(semaphore, count);
            }
        }
    }

    /// What a thread knows, itself included.
    fn publish(&mut self, thread: usize) -> Clock {
        let Thread { clock, events, .. } = at(&mut self.threads, thread);
        *at(clock, thread) = *events;
        clock.clone()
    }

    /// Adds a clock to another.
    fn join(words: &mut usize, into: &mut Clock, clock: &Clock) {
        if into.len() < clock.len() {
            *words += clock.len() - into.len();
            if *words > MOST_WORDS {
                return;
            }
            into.resize(clock.len(), 0);
        }
        into.iter_mut().zip(clock).for_each(|(a, b)| *a = (*a).max(*b));
    }

    fn learn(&mut self, thread: usize, clock: &Clock) {
        Self::join(&mut self.words, &mut at(&mut self.threads, thread).clock, clock);
    }

    /// What a read learns from drop barriers, and an atomic one from the write that it reads from.
    fn before_read(&mut self, batch: &Batch, event: Event) {
        let thread = event.thread().0 as usize;
        let Some(variable) = self.variables.get(&event.object()).filter(|_| !self.variables.is_empty()) else { return };
        let (words, me) = (&mut self.words, &mut self.threads[thread]);
        Self::join(words, &mut me.clock, &variable.drop_barriers);
        if event.op().is_atomic() {
            let acquired = acquires(batch.extra(event).order);
            Self::join(words, if acquired { &mut me.clock } else { &mut me.seen }, &variable.given);
        }
    }

    /// What the event gives to others, or takes from them.
    fn follow(&mut self, batch: &Batch, event: Event, index: u32) {
        let (thread, object) = (event.thread().0 as usize, event.object() as usize);
        match event.op() {
            Op::Read | Op::AtomicLoad => {}
            Op::Write | Op::Free | Op::Alloc => drop(self.variables.remove(&event.object())),
            Op::AtomicStore | Op::AtomicRmw => {
                let mut given = if releases(batch.extra(event).order) {
                    self.publish(thread)
                } else {
                    self.threads[thread].released.clone()
                };
                let before = self.variables.remove(&event.object()).unwrap_or_default();
                if event.op() == Op::AtomicRmw {
                    Self::join(&mut self.words, &mut given, &before.given);
                }
                self.variables.insert(event.object(), Variable { given, ..Variable::default() });
            }
            Op::Fence => {
                let order = batch.extra(event).order;
                if acquires(order) {
                    let seen = std::mem::take(&mut self.threads[thread].seen);
                    self.learn(thread, &seen);
                }
                if releases(order) {
                    self.threads[thread].released = self.publish(thread);
                }
            }
            Op::Fork => {
                let clock = self.publish(thread);
                self.learn(object, &clock);
            }
            Op::Join if object != thread => {
                let clock = self.publish(object);
                self.learn(thread, &clock);
            }
            Op::Post => {
                let clock = self.publish(thread);
                Self::join(&mut self.words, at(&mut self.latches, object), &clock);
            }
            Op::Await => {
                let clock = at(&mut self.latches, object).clone();
                self.learn(thread, &clock);
            }
            Op::Up => self.up(thread, event.object()),
            Op::Down => self.down(thread, event.object()),
            Op::Pin => {
                let clock = self.publish(thread);
                let variable = self.variables.entry(event.object()).or_default();
                Self::join(&mut self.words, &mut variable.drop_barriers, &clock);
            }
            _ => {}
        }
        self.follow_lock(batch, event, index);
        self.follow_condition(batch, event, index);
    }

    fn semaphore(&mut self, semaphore: u32) -> &mut Semaphore {
        let initial = self.counts.get(&semaphore).copied().unwrap_or(0);
        self.semaphores.entry(semaphore).or_insert_with(|| Semaphore { initial, ..Semaphore::default() })
    }

    fn up(&mut self, thread: usize, semaphore: u32) {
        let clock = self.publish(thread);
        let ups = &mut self.semaphore(semaphore).ups;
        if ups.len() >= MOST_UPS
            && let Some((times, last)) = ups.back_mut()
        {
            *times += 1;
            last.resize(last.len().max(clock.len()), 0);
            last.iter_mut().zip(&clock).for_each(|(a, b)| *a = (*a).max(*b));
        } else {
            let room = clock.len();
            ups.push_back((1, clock));
            self.words += room;
        }
    }

    fn down(&mut self, thread: usize, semaphore: u32) {
        let Semaphore { initial, ups } = self.semaphore(semaphore);
        if *initial > 0 {
            *initial -= 1;
            return;
        }
        let Some((times, clock)) = ups.front_mut() else { return };
        *times -= 1;
        let (over, clock) = (*times == 0, clock.clone());
        if over {
            ups.pop_front();
            self.words -= clock.len().min(self.words);
        }
        self.learn(thread, &clock);
    }

    fn follow_lock(&mut self, batch: &Batch, event: Event, index: u32) {
        let effect = self.sections.step(batch, index, event).effect;
        if effect == 0 {
            return;
        }
        let Some(lock) = crate::sections::lock_of(batch, event).map(|lock| lock as usize) else { return };
        let thread = event.thread().0 as usize;
        if effect & (effect::CLOSES | effect::CLOSES_SHARED) != 0 {
            let clock = self.publish(thread);
            let Lock { released, shared_released } = at(&mut self.locks, lock);
            if effect & effect::CLOSES != 0 {
                Self::join(&mut self.words, released, &clock);
            }
            if effect & effect::CLOSES_SHARED != 0 {
                Self::join(&mut self.words, shared_released, &clock);
            }
        }
        if effect & (effect::OPENS | effect::OPENS_SHARED) != 0 {
            let (words, me) = (&mut self.words, &mut self.threads[thread].clock);
            let Lock { released, shared_released } = at(&mut self.locks, lock);
            Self::join(words, me, released);
            if effect & effect::OPENS != 0 {
                Self::join(words, me, shared_released);
            }
        }
    }

    fn follow_condition(&mut self, batch: &Batch, event: Event, index: u32) {
        let (thread, condition) = (event.thread().0, event.object());
        match event.op() {
            Op::Wait => {
                self.waiting.insert(thread, (condition, batch.extra(event).lock.0, index));
            }
            Op::Notify | Op::NotifyAll => {
                // A notify that no thread waits for wakes none.
                if !self.waiting.values().any(|wait| wait.0 == condition) {
                    self.notifies.remove(&condition);
                    self.conditions.remove(&condition);
                    return;
                }
                let clock = self.publish(thread as usize);
                self.words += clock.len();
                self.notifies.entry(condition).or_default().insert(index, clock);
                self.conditions.entry(condition).or_default().notify(event.op() == Op::NotifyAll, index);
            }
            Op::Woken => {
                let extra = batch.extra(event);
                let wait = self.waiting.remove(&thread);
                let wait = wait.filter(|&(c, lock, _)| (c, lock) == (condition, extra.lock.0));
                let Some((_, _, since)) = wait.filter(|_| extra.wake == Wake::Notified) else { return };
                let notify = self.conditions.get_mut(&condition).and_then(|condition| condition.wake(since));
                let clocks = self.notifies.get(&condition);
                if let Some(clock) = notify.and_then(|notify| clocks?.get(&notify)).cloned() {
                    self.learn(thread as usize, &clock);
                }
            }
            _ => {}
        }
    }
}
