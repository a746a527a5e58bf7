//! What is kept between questions, and how one is answered.
//!
//! The prefix must have some events, and those must have others (`must`). If these are feasible in recorded order
//! (`recorded`), that is the answer. Else the rules order them (`order`, `saturate`), and they are put one behind the
//! other, as near to the recorded order as the rules allow (`linear`). If that gets stuck, two events stand against
//! each other that the order does not decide yet: both ways are tried (`branch`). Nothing else can help: every way on
//! is one of those that a branch names, so running out of them is a proof.

use crate::facts::{Facts, NONE};
use crate::goal::Goal;
use crate::linear::{Linear, Stuck, View};
use crate::must::{MANY, Must, as_recorded, must};
use crate::order::{Contradiction, Mark, Order};
use crate::question::{Meter, Over};
use crate::recorded;
use rustc_hash::FxHashMap;

/// Facts about a trace, and the order that a question makes of them.
pub(crate) struct Solver {
    pub(crate) facts: Facts,
    pub(crate) order: Order,
    /// By event: the write that a read sees, as far as that is decided ([`MANY`] if not).
    pub(crate) writer: Vec<u32>,
    /// What the others may see, the recorded write first.
    pub(crate) candidates: FxHashMap<u32, Vec<u32>>,
    /// By write: the reads that can see no other.
    readers: FxHashMap<u32, Vec<u32>>,
    /// By lifetime: the reads that can see nothing but what was there at first.
    first_readers: Vec<Vec<u32>>,
    /// Reads whose write was decided since the question began.
    pub(crate) decided: Vec<u32>,
    pub(crate) linear: Linear,
    /// If some read may see several writes: how it is if all see those that they saw when recorded.
    recorded: Option<Must>,
}

/// Where the search can go back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    order: Mark,
    decided: usize,
}

impl Solver {
    pub(crate) fn new(facts: Facts, events: u32) -> Solver {
        let must = must(&facts, events);
        let recorded = (!must.candidates.is_empty()).then(|| as_recorded(&facts, &must, events));
        let Must { rows, writer, candidates } = must;
        let mut readers: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let mut first_readers = vec![Vec::new(); facts.lifetimes.lifetimes.len()];
        for (number, lifetime) in facts.lifetimes.lifetimes.iter().enumerate().filter(|(_, lifetime)| lifetime.ruled) {
            for &read in &lifetime.reads {
                match writer[read as usize] {
                    MANY => {}
                    NONE => first_readers[number].push(read),
                    write => readers.entry(write).or_default().push(read),
                }
            }
        }
        let predecessors = |event: u32| facts.always.of(event).iter().chain(facts.beside.of(event)).copied();
        let sees = readers.iter().flat_map(|(&write, reads)| reads.iter().map(move |&read| (write, read)));
        let mut always: Vec<(u32, u32)> = (facts.fixed..events)
            .flat_map(|event| predecessors(event).map(move |needed| (needed, event)))
            .chain(sees)
            .collect();
        always.retain(|&(from, to)| facts.chains.of(from) != facts.chains.of(to));
        always.sort_unstable();
        always.dedup();
        let order = Order::new(&facts, rows, always.into_iter());
        let linear = Linear::new(&facts, events);
        Solver { facts, order, writer, candidates, readers, first_readers, decided: Vec::new(), linear, recorded }
    }

    /// What the question says. Everything before it must have been taken back.
    pub(crate) fn begin(&mut self, goal: &Goal) -> Result<(), Contradiction> {
        self.order.begin(&goal.most, &goal.contains)?;
        for &(a, b) in &goal.before {
            self.order.add(&self.facts.chains, a, b)?;
        }
        self.wakeups()?;
        self.failures()
    }

    /// Tries to put the set in order.
    pub(crate) fn linearise(&mut self, meter: &mut Meter<'_>) -> Result<Option<Stuck>, Over> {
        let view = View { facts: &self.facts, rows: &self.order.rows, set: &self.order.set, writer: &self.writer };
        self.linear.run(view, meter)
    }

    /// Tries prefixes that are the recorded order with events left out: most of those that there are can be so.
    pub(crate) fn as_recorded(&mut self, goal: &Goal) -> bool {
        if goal.before.iter().any(|&(a, b)| a > b) {
            return false;
        }
        let many = || self.candidates.keys().copied();
        if recorded::is_feasible(&self.facts, &self.order.set, &self.writer, many()) {
            self.linear.order.clear();
            self.linear.order.extend(recorded::events(&self.facts, &self.order.set));
            return true;
        }
        // Maybe only because some read does not find what it saw.
        let Some(must) = &self.recorded else { return false };
        let mut set = vec![0; self.facts.chains.len()];
        for &event in &goal.contains {
            for (count, &needed) in set.iter_mut().zip(must.rows.of(event)) {
                *count = needed.max(*count);
            }
        }
        let fits = set.iter().zip(&goal.most).all(|(count, most)| count <= most);
        if fits && recorded::is_feasible(&self.facts, &set, &must.writer, many()) {
            self.linear.order.clear();
            self.linear.order.extend(recorded::events(&self.facts, &set));
            return true;
        }
        false
    }

    /// A wake-up in the prefix: its wait comes before its notify.
    pub(crate) fn wakeups(&mut self) -> Result<(), Contradiction> {
        let chains = &self.facts.chains;
        let of_set = self.facts.wakeups.iter().filter(|pair| self.order.has(chains, pair.woken));
        let pairs: Vec<(u32, u32)> = of_set.map(|pair| (pair.wait, pair.notify)).collect();
        self.order.add_all(chains, pairs.into_iter())
    }

    /// A failed try in the prefix comes before the ends of its sections, if these come.
    pub(crate) fn failures(&mut self) -> Result<(), Contradiction> {
        let chains = &self.facts.chains;
        let of_set = self.facts.failures.iter().filter(|failure| self.order.has(chains, failure.failed));
        let pairs: Vec<(u32, u32)> = of_set.map(|failure| (failure.failed, failure.close)).collect();
        self.order.add_all(chains, pairs.into_iter())
    }

    /// One must have come before the other, or both are inside sections that exclude each other.
    pub(crate) fn never_together(&self, a: u32, b: u32) -> bool {
        let chains = &self.facts.chains;
        let fixed = self.facts.fixed;
        if a < fixed || b < fixed || chains.of(a) == chains.of(b) {
            return true;
        }
        let comes_first = |one: u32, other: u32| {
            let before =
                chains.position(other).checked_sub(1).map(|last| chains.events[chains.of(other)][last as usize]);
            before.is_some_and(|before| self.order.le(chains, one, before))
        };
        if comes_first(a, b) || comes_first(b, a) {
            return true;
        }
        // For each section that the one is in: whether the other's chain is in one that it excludes.
        let (chain, count) = (chains.of(b) as u32, chains.position(b));
        self.facts.held.after(chains.of(a), chains.position(a)).any(|section| {
            let runs = self.facts.runs.against(section).filter(|run| run.chain == chain);
            runs.filter_map(|run| run.last_opened(count)).any(|other| other.close > count)
        })
    }

    pub(crate) fn point(&self) -> Point {
        Point { order: self.order.mark(), decided: self.decided.len() }
    }

    /// Takes back what came since.
    pub(crate) fn back(&mut self, point: Point) {
        self.order.back(point.order);
        for read in self.decided.drain(point.decided..) {
            self.writer[read as usize] = MANY;
        }
    }

    /// A read in the set sees this write.
    pub(crate) fn decide(&mut self, read: u32, write: u32) -> Result<(), Contradiction> {
        self.writer[read as usize] = write;
        self.decided.push(read);
        if write != NONE {
            self.order.add(&self.facts.chains, write, read)?;
        }
        self.order.note(read);
        Ok(())
    }

    /// The reads in the set that see a write of this lifetime, for certain ([`NONE`]: what was there at first).
    pub(crate) fn readers(&self, lifetime: u32, write: u32) -> impl Iterator<Item = u32> + '_ {
        let always = match write {
            NONE => &self.first_readers[lifetime as usize][..],
            write => self.readers.get(&write).map_or(&[][..], |reads| reads),
        };
        let decided = self.decided.iter().filter(move |&&read| {
            self.writer[read as usize] == write && self.facts.lifetimes.of(read) == Some(lifetime)
        });
        always.iter().chain(decided).copied().filter(|&read| self.order.has(&self.facts.chains, read))
    }
}
