//! Watched variables: all threads write them now and then, and one violation can be planted among these writes.
//!
//! Writes of one variable keep their order in every sound model, so a variable holds 7 only between the planted write
//! of 7 and the next write of it. Both stand right behind each other, first for one variable, then, in another thread,
//! for the other: nothing orders the two threads in between, so that another run has both variables hold 7 at once.

use crate::Options;
use crate::machine::Machine;
use crate::rng::Geometric;
use crate::thread::{Presence, Thread};

/// The value of the planted writes; all others are less.
const PLANTED: u32 = 7;
/// Events after which it is looked again whether the violation is possible.
const RETRY: u64 = 16;
/// The threads that take part in a round.
const ROUND: usize = 8;
/// The events of the planted violation, with a round before it and one behind it.
pub(crate) const PLANT: u64 = 4 + 2 * ROUND as u64;

/// When watched variables are written.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// Not before this many events; never without watched variables.
    pub(crate) next: u64,
    gap: Geometric,
    /// The violation to be planted after so many events.
    pub(crate) plant: Option<u64>,
}

impl Watch {
    pub(crate) fn new(options: &Options) -> Watch {
        let next = if options.watch.is_empty() { u64::MAX } else { 0 };
        Watch { next, gap: Geometric::new(options.watch_every), plant: options.plant }
    }
}

impl Machine {
    /// A thread that holds nothing writes a watched variable, or many do.
    pub(crate) fn occasion(&mut self, me: u32) {
        let due = self.watch.plant.is_some_and(|at| self.out.count >= at);
        let other = if due { self.other_idle(me) } else { None };
        if let Some(other) = other {
            self.plant(me, other);
        } else if self.rng.one_in(8) {
            self.round();
        } else {
            self.write_watched(me);
        }
        let next = self.out.count + self.watch.gap.draw(&mut self.rng);
        // The violation comes soon after it is due and possible.
        self.watch.next = self.watch.plant.map_or(next, |at| next.min(at.max(self.out.count + RETRY)));
    }

    /// The violation, if it was not possible before the end.
    pub(crate) fn plant_at_last(&mut self) {
        if self.watch.plant.is_some()
            && let Some(other) = self.other_idle(0)
        {
            self.plant(0, other);
        }
    }

    fn plant(&mut self, me: u32, other: u32) {
        self.watch.plant = None;
        self.round();
        for (thread, k) in [(me, 0), (other, 1)] {
            for value in [PLANTED, 0] {
                self.write(thread, k, value, 850_000 + value);
            }
        }
        self.round();
    }

    /// The first threads, as far as they hold nothing, write one after the other.
    fn round(&mut self) {
        for me in 0..self.threads.len().min(ROUND) as u32 {
            if is_idle(&self.threads[me as usize]) {
                self.write_watched(me);
            }
        }
    }

    fn write_watched(&mut self, me: u32) {
        let k = self.rng.below(self.layout.watches());
        let value = self.rng.below(PLANTED);
        self.write(me, k, value, 800_000 + k % 1000);
    }

    fn write(&mut self, me: u32, k: u32, value: u32, site: u32) {
        self.out.write_watched(&mut self.threads[me as usize], self.layout.watched(k), value, site);
    }

    fn other_idle(&self, me: u32) -> Option<u32> {
        (0..self.threads.len() as u32).rev().find(|&other| other != me && is_idle(&self.threads[other as usize]))
    }
}

fn is_idle(thread: &Thread) -> bool {
    thread.presence == Presence::Alive && thread.idle()
}
