//! A random multithreaded program run through the clock algorithm of SHB, generically over the clock, beside the naive
//! clocks; keeps what every thread knew at every time, for the facts that tree clocks rest on.

use super::naive::Naive;
use crate::{Clock, Epoch, VectorClock};
use event::{Id, ThreadId};

/// One step: an operation number, the thread that makes it (modulo the live ones), and an object (modulo its kind).
pub(super) type Step = (u8, u8, u8);

const LOCKS: usize = 5;
const VARS: usize = 4;
const LATCHES: usize = 2;

/// A clock beside its naive twin.
#[derive(Clone, Default)]
pub(super) struct Twin<C> {
    pub(super) clock: C,
    pub(super) naive: Naive,
}

impl<C: Clock> Twin<C> {
    fn of_thread(thread: ThreadId) -> Self {
        let mut naive = Naive::default();
        naive.set(thread, 1);
        Twin { clock: C::of_thread(thread), naive }
    }

    fn join(&mut self, other: &Self) {
        self.clock.join(&other.clock);
        self.naive.join(&other.naive);
    }
}

pub(super) struct Program<C> {
    max_threads: usize,
    pub(super) threads: Vec<Twin<C>>,
    alive: Vec<ThreadId>,
    ended: Vec<ThreadId>,
    locks: Vec<(Option<ThreadId>, Twin<C>)>,
    vars: Vec<Twin<C>>,
    latches: Vec<Twin<VectorClock>>,
    /// What a thread knew at the end of each of its past times, from time 1 on.
    pub(super) history: Vec<Vec<Naive>>,
}

impl<C: Clock> Program<C> {
    pub(super) fn new(max_threads: usize, at_once: usize) -> Self {
        let mut program = Program {
            max_threads,
            threads: Vec::new(),
            alive: Vec::new(),
            ended: Vec::new(),
            locks: vec![(None, Twin::default()); LOCKS],
            vars: vec![Twin::default(); VARS],
            latches: vec![Twin::default(); LATCHES],
            history: Vec::new(),
        };
        for _ in 0..at_once.clamp(1, max_threads) {
            program.start();
        }
        program
    }

    fn start(&mut self) -> ThreadId {
        let thread = ThreadId::from_index(self.threads.len());
        self.threads.push(Twin::of_thread(thread));
        self.history.push(Vec::new());
        self.alive.push(thread);
        thread
    }

    /// The clock was handed out: its owner's next time begins.
    fn published(&mut self, thread: ThreadId) {
        let twin = &mut self.threads[thread.index()];
        self.history[thread.index()].push(twin.naive.clone());
        twin.clock.increment(thread).unwrap();
        let time = twin.naive.get(thread);
        twin.naive.set(thread, time + 1);
    }

    /// Makes one step and checks all that it changed; `look` sees each changed clock.
    pub(super) fn step(&mut self, (op, who, what): Step, look: &mut impl FnMut(&Self, &Twin<C>)) {
        let what = usize::from(what);
        let thread = self.alive[usize::from(who) % self.alive.len()];
        let t = thread.index();
        match op % 16 {
            0..=5 => {
                let (holder, lock) = &mut self.locks[what % LOCKS];
                if holder.is_none() {
                    *holder = Some(thread);
                    self.threads[t].join(lock);
                } else if *holder == Some(thread) {
                    *holder = None;
                    lock.clock.monotone_copy(&self.threads[t].clock);
                    lock.naive = self.threads[t].naive.clone();
                    self.published(thread);
                }
                look(self, &self.locks[what % LOCKS].1);
            }
            6 | 7 => {
                self.threads[t].join(&self.vars[what % VARS]);
            }
            8 | 9 => {
                let var = &mut self.vars[what % VARS];
                var.clock.copy_check_monotone(&self.threads[t].clock);
                var.naive = self.threads[t].naive.clone();
                self.published(thread);
                look(self, &self.vars[what % VARS]);
            }
            10 if self.threads.len() < self.max_threads => {
                let child = self.start();
                let parent = self.threads[t].clone();
                self.threads[child.index()].join(&parent);
                self.published(thread);
                look(self, &self.threads[child.index()]);
            }
            11 => {
                if self.alive.len() > 1 && what.is_multiple_of(4) {
                    self.alive.retain(|&other| other != thread);
                    self.ended.push(thread);
                } else if !self.ended.is_empty() {
                    let child = self.threads[self.ended[what % self.ended.len()].index()].clone();
                    self.threads[t].join(&child);
                }
            }
            12 => {
                let latch = &mut self.latches[what % LATCHES];
                self.threads[t].clock.gather_into(&mut latch.clock);
                latch.naive.join(&self.threads[t].naive);
                assert!(latch.naive.is(&latch.clock));
                self.published(thread);
            }
            13 => {
                let (latch, twin) = (&self.latches[what % LATCHES], &mut self.threads[t]);
                twin.clock.join_flat(&latch.clock);
                twin.naive.join(&latch.naive);
            }
            14 if what.is_multiple_of(3) => {
                // The variable's memory was given anew.
                let var = &mut self.vars[what % VARS];
                var.clock.clear();
                var.naive = Naive::default();
                look(self, &self.vars[what % VARS]);
            }
            10 | 14 => {}
            // A release without an acquire, as a damaged trace may have.
            _ => {
                let (holder, lock) = &mut self.locks[what % LOCKS];
                *holder = None;
                lock.clock.copy_check_monotone(&self.threads[t].clock);
                lock.naive = self.threads[t].naive.clone();
                self.published(thread);
                look(self, &self.locks[what % LOCKS].1);
            }
        }
        look(self, &self.threads[t]);
        self.compare(&self.threads[t], &self.vars[what % VARS]);
        self.compare(&self.threads[t], &self.locks[what % LOCKS].1);
        self.compare(&self.threads[t], &self.threads[what % self.threads.len()]);
        self.compare(&self.locks[what % LOCKS].1, &self.vars[what % VARS]);
    }

    fn compare(&self, a: &Twin<C>, b: &Twin<C>) {
        assert_eq!(a.clock.le(&b.clock), a.naive.le(&b.naive));
        assert_eq!(b.clock.le(&a.clock), b.naive.le(&a.naive));
        for &thread in &self.alive[..self.alive.len().min(3)] {
            assert_eq!(a.clock.get(thread), a.naive.get(thread));
            let epoch: Epoch = a.clock.epoch(thread);
            assert_eq!(epoch.le(&b.clock), a.naive.get(thread) <= b.naive.get(thread));
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Twin<C>> {
        self.threads.iter().chain(&self.vars).chain(self.locks.iter().map(|(_, lock)| lock))
    }

    /// What a thread knew at the end of one of its times, up to the present.
    pub(super) fn knew(&self, thread: ThreadId, time: u32) -> &Naive {
        let past = &self.history[thread.index()];
        past.get(time as usize - 1).unwrap_or(&self.threads[thread.index()].naive)
    }
}
