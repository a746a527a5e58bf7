//! The order that every feasible prefix of `maximal` keeps, along the recorded run: what an event needs to happen.
//!
//! Each thread has a clock: by thread, how many of its events come before what this thread does next, in every run. An
//! event needs those before it in its thread, what forks, joins, posts and notifies let go on, and drop barriers. A
//! read whose value is not recorded needs the write that it saw, and an atomic update does in any case
//! (docs/causality.md, "Reads"). And inside a section, each section of the lock that must have been opened before, and
//! that excludes it, must have been closed, too: else both would be open at once. All that an event needs stands
//! before it in the trace.
//!
//! Whatever is left out (values that are known, semaphores, failed tries, what finds no room) only makes the order
//! smaller.

use super::handover::Limits;
use event::{LockId, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use sync::{Change, Effect, LockMode};

const NONE: u32 = u32::MAX;

/// An event that others may come to need: its thread, which of its events it is (from 1 on), what the thread knew.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Point {
    thread: u32,
    /// 0: no event.
    count: u32,
    row: u32,
}

impl Point {
    /// Whether it is an event of this thread.
    pub(super) fn is_of(self, thread: ThreadId) -> bool {
        self.thread == thread.0
    }
}

/// What threads knew at some time.
#[derive(Default, Debug)]
struct Rows {
    rows: VecDeque<Box<[u32]>>,
    /// The number of the first that is kept.
    first: u32,
    words: usize,
}

impl Rows {
    fn add(&mut self, clock: &[u32], most: usize) -> u32 {
        self.words += clock.len() + 4;
        while self.words > most
            && let Some(oldest) = self.rows.pop_front()
        {
            self.words -= oldest.len() + 4;
            self.first += 1;
        }
        self.rows.push_back(clock.into());
        self.first + self.rows.len() as u32 - 1
    }

    /// A row; nothing if it is forgotten.
    #[inline]
    fn get(&self, row: u32) -> &[u32] {
        let at = row.checked_sub(self.first);
        at.and_then(|at| self.rows.get(at as usize)).map_or(&[], |row| row)
    }
}

/// A section of a lock that was closed.
#[derive(Clone, Copy, Debug)]
struct Closed {
    open: u32,
    close: Point,
    mode: LockMode,
}

/// The last sections of a lock that a thread closed.
#[derive(Debug)]
struct User {
    thread: u32,
    closed: VecDeque<Closed>,
}

/// A lock that a thread holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    lock: LockId,
    mode: LockMode,
    open: u32,
}

#[derive(Default, Debug)]
struct Thread {
    /// Its events so far, the present one included.
    count: u32,
    /// By thread: so many of its events come before.
    clock: Vec<u32>,
    /// The clock as a row, or [`NONE`] if it has changed since.
    row: u32,
    held: Vec<Held>,
}

/// All threads.
#[derive(Debug)]
pub(super) struct MustOrder {
    limits: Limits,
    threads: Vec<Thread>,
    rows: Rows,
    users: Vec<Vec<User>>,
    sections: usize,
    posts: FxHashMap<u32, Vec<u32>>,
}

impl MustOrder {
    pub(super) fn new(limits: Limits) -> MustOrder {
        MustOrder {
            limits,
            threads: Vec::new(),
            rows: Rows::default(),
            users: Vec::new(),
            sections: 0,
            posts: FxHashMap::default(),
        }
    }

    pub(super) fn grow(&mut self, threads: usize, locks: usize) {
        let new = || Thread { row: NONE, ..Thread::default() };
        self.threads.resize_with(threads.max(self.threads.len()), new);
        self.users.resize_with(locks.max(self.users.len()), Vec::new);
    }

    /// Whether this event of a thread comes before what another thread does next, in every run. 0 is no event.
    #[inline]
    pub(super) fn is_before(&self, earlier: u32, count: u32, thread: u32) -> bool {
        let clock = &self.threads[thread as usize].clock;
        count == 0 || clock.get(earlier as usize).is_some_and(|&known| known >= count)
    }

    /// The next event of a thread begins. `false` if it has more than can be counted.
    #[inline]
    pub(super) fn step(&mut self, thread: usize) -> bool {
        let count = &mut self.threads[thread].count;
        *count = count.saturating_add(1);
        *count < u32::MAX
    }

    /// How many events a thread has so far, the present one included.
    #[inline]
    pub(super) fn count(&self, thread: usize) -> u32 {
        self.threads[thread].count
    }

    /// The present event of a thread, for those that will need it.
    #[inline]
    pub(super) fn point(&mut self, thread: usize) -> Point {
        let own = &mut self.threads[thread];
        if own.row == NONE {
            own.row = self.rows.add(&own.clock, self.limits.words);
        }
        Point { thread: thread as u32, count: own.count, row: own.row }
    }

    /// The present event of a thread needs another one.
    #[inline]
    pub(super) fn need(&mut self, thread: usize, point: Point) {
        if point.thread as usize != thread
            && point.count > 0
            && self.threads[thread].clock.get(point.thread as usize).is_none_or(|&count| count < point.count)
        {
            self.learn(thread, point);
            self.close_sections(thread);
        }
    }

    #[inline(never)]
    fn learn(&mut self, thread: usize, point: Point) {
        let own = &mut self.threads[thread];
        join(&mut own.clock, self.rows.get(point.row));
        know(&mut own.clock, point.thread, point.count);
        own.row = NONE;
    }

    pub(super) fn fork(&mut self, parent: usize, child: usize) {
        let point = self.point(parent);
        self.need(child, point);
    }

    pub(super) fn join(&mut self, parent: usize, child: usize) {
        let point = self.point(child);
        if point.count > 0 {
            self.need(parent, point);
        } else if parent != child {
            // A thread without events so far knows what came before its fork.
            self.learn(parent, point);
            self.close_sections(parent);
        }
    }

    pub(super) fn post(&mut self, thread: usize, latch: u32) {
        let Thread { count, clock, .. } = &self.threads[thread];
        let known = self.posts.entry(latch).or_default();
        join(known, clock);
        know(known, thread as u32, *count);
    }

    pub(super) fn awaits(&mut self, thread: usize, latch: u32) {
        let Some(known) = self.posts.get(&latch) else { return };
        join(&mut self.threads[thread].clock, known);
        self.threads[thread].row = NONE;
        self.close_sections(thread);
    }

    /// An event of a thread opens or closes sections.
    pub(super) fn lock(&mut self, thread: ThreadId, effect: &Effect<u32>) {
        let number = thread.0 as usize;
        for (mode, change) in effect.changes() {
            match change {
                Change::Opens(_) => {
                    let open = self.threads[number].count;
                    self.threads[number].held.push(Held { lock: effect.lock, mode, open });
                }
                Change::Closes(_) => self.close(number, effect.lock, mode),
                Change::None | Change::ClosesInitial => {}
            }
        }
        if effect.takes {
            self.close_sections(number);
        }
    }

    /// A thread closes a section.
    fn close(&mut self, thread: usize, lock: LockId, mode: LockMode) {
        let held = &mut self.threads[thread].held;
        let Some(place) = held.iter().rposition(|held| (held.lock, held.mode) == (lock, mode)) else { return };
        let Held { open, .. } = held.remove(place);
        let closed = Closed { open, close: self.point(thread), mode };
        let users = &mut self.users[lock.0 as usize];
        let own = match users.iter().position(|user| user.thread as usize == thread) {
            Some(place) => &mut users[place].closed,
            None => {
                users.push(User { thread: thread as u32, closed: VecDeque::new() });
                &mut users.last_mut().expect("it was added just now").closed
            }
        };
        let is_full = own.len() >= self.limits.sections || self.sections >= self.limits.all_sections;
        if is_full && !own.is_empty() {
            own.pop_front();
        } else {
            self.sections += 1;
        }
        own.push_back(closed);
    }

    /// Inside its sections, a thread needs the ends of those that they exclude, if it needs their beginnings.
    fn close_sections(&mut self, thread: usize) {
        let mut at = 0;
        while let Some(&held) = self.threads[thread].held.get(at) {
            at += 1;
            for user in 0..self.users[held.lock.0 as usize].len() {
                let User { thread: other, closed } = &self.users[held.lock.0 as usize][user];
                let known = self.threads[thread].clock.get(*other as usize).copied().unwrap_or_default();
                if *other as usize == thread || closed.back().is_none_or(|last| last.close.count <= known) {
                    continue;
                }
                let mut opened = closed.iter().rev().filter(|closed| closed.open <= known);
                if let Some(last) = opened.find(|closed| closed.mode.excludes(held.mode))
                    && last.close.count > known
                {
                    let close = last.close;
                    self.learn(thread, close);
                    // What it knows now may be the beginning of other sections.
                    at = 0;
                }
            }
        }
    }
}

/// Joins a clock with another one.
#[inline]
fn join(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (own, &other) in clock.iter_mut().zip(other) {
        *own = (*own).max(other);
    }
}

#[inline]
fn know(clock: &mut Vec<u32>, thread: u32, count: u32) {
    if clock.len() <= thread as usize {
        clock.resize(thread as usize + 1, 0);
    }
    let known = &mut clock[thread as usize];
    *known = (*known).max(count);
}
