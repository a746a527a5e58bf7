//! Decides what the order leaves open, one question at a time, and goes back when a decision leads nowhere.
//!
//! Whatever a feasible prefix looks like, it does one of the things that a branch tries: of two sections of a lock one
//! is closed before the other is opened; another write comes before the write that a read sees, or after the read; a
//! read sees one of the writes that it may see; an `up` comes before a `down` or does not. Some of that brings more
//! events into the prefix: the end of a section, a write, an `up`.

use crate::facts::NONE;
use crate::goal::Goal;
use crate::linear::Stuck;
use crate::order::Contradiction;
use crate::question::{Answer, Meter, Over};
use crate::solver::{Point, Solver};

/// One way to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// The first comes before the second.
    Before(u32, u32),
    /// The read sees the write.
    Sees(u32, u32),
}

/// A decision: the ways not yet tried, the next one last.
struct Branch {
    point: Point,
    ways: Vec<Way>,
}

impl Solver {
    /// The answer to a question.
    pub(crate) fn answer(&mut self, goal: &Goal, meter: &mut Meter<'_>) -> Answer {
        let point = self.point();
        let found = match self.begin(goal) {
            Ok(()) => self.search(goal, meter),
            Err(Contradiction) => Ok(false),
        };
        let answer = match found {
            Ok(true) => Answer::Reached((0..self.facts.fixed).chain(self.linear.order.iter().copied()).collect()),
            Ok(false) => Answer::Impossible,
            Err(Over) => Answer::Undecided,
        };
        self.back(point);
        answer
    }

    fn search(&mut self, goal: &Goal, meter: &mut Meter<'_>) -> Result<bool, Over> {
        let begun = std::mem::take(&mut self.order.work);
        meter.spend(1 + begun + self.order.set.iter().map(|&count| u64::from(count)).sum::<u64>())?;
        if self.as_recorded(goal) || self.linearise(meter)?.is_none() {
            return Ok(true);
        }
        self.order.note_all(&self.facts.chains);
        let mut branches: Vec<Branch> = Vec::new();
        let mut sound = self.saturate(meter)?;
        loop {
            if sound {
                match self.linearise(meter)? {
                    None => return Ok(true),
                    Some(stuck) => {
                        let ways = self.ways(stuck);
                        branches.push(Branch { point: self.point(), ways });
                    }
                }
            }
            let Some(branch) = branches.last_mut() else { return Ok(false) };
            let point = branch.point;
            let way = branch.ways.pop();
            self.back(point);
            sound = match way {
                Some(way) => self.go(way).is_ok() && self.saturate(meter)?,
                None => {
                    branches.pop();
                    false
                }
            };
        }
    }

    fn go(&mut self, way: Way) -> Result<(), Contradiction> {
        match way {
            Way::Before(a, b) => self.order.add(&self.facts.chains, a, b),
            Way::Sees(read, write) => self.decide(read, write),
        }
    }

    /// All ways on, the best last.
    fn ways(&self, stuck: Stuck) -> Vec<Way> {
        match stuck {
            Stuck::Section(wanted, open) => {
                let first = self.one_then_other(open, wanted);
                let second = self.one_then_other(wanted, open);
                // What is closed in the set anyway goes first.
                let [a, b] = [open, wanted].map(|section| self.is_closed(section));
                let ways = if a && !b { [second, first] } else { [first, second] };
                ways.into_iter().flatten().collect()
            }
            Stuck::Write(write) => {
                let lifetime = self.facts.lifetimes.of(write).unwrap_or(NONE);
                let current = self.linear.current(lifetime);
                let waits = |read: &u32| !self.linear.is_placed(&self.facts, *read) && *read != write;
                let Some(read) = self.readers(lifetime, current).find(waits) else { return Vec::new() };
                let before = (current != NONE).then_some(Way::Before(write, current));
                before.into_iter().chain([Way::Before(read, write)]).collect()
            }
            Stuck::Read(read) => {
                let mut ways: Vec<Way> = self.left(read).map(|write| Way::Sees(read, write)).collect();
                ways.reverse();
                ways
            }
            Stuck::Down(down) => self.token(down),
        }
    }

    fn one_then_other(&self, one: u32, other: u32) -> Option<Way> {
        let [one, other] = [one, other].map(|section| self.facts.runs.places[section as usize]);
        if one.close == NONE || other.open == 0 {
            return None;
        }
        let event = |chain: u32, count: u32| self.facts.chains.events[chain as usize][count as usize - 1];
        Some(Way::Before(event(one.chain, one.close), event(other.chain, other.open)))
    }

    fn is_closed(&self, section: u32) -> bool {
        let place = self.facts.runs.places[section as usize];
        place.close <= self.order.set[place.chain as usize]
    }

    /// An `up` and a `down` whose order is not decided: of this `down` if there is one, else of another.
    fn token(&self, down: u32) -> Vec<Way> {
        let chains = &self.facts.chains;
        let Some(number) = self.facts.semaphores.of(down) else { return Vec::new() };
        let semaphore = &self.facts.semaphores.all[number as usize];
        let downs = [down].into_iter().chain(semaphore.downs.iter().copied());
        for down in downs.filter(|&down| self.order.has(chains, down)) {
            let open = |&&up: &&u32| {
                self.order.can_have(up) && !self.order.le(chains, up, down) && !self.order.le(chains, down, up)
            };
            let in_set = semaphore.ups.iter().filter(open).find(|&&up| self.order.has(chains, up));
            if let Some(&up) = in_set.or_else(|| semaphore.ups.iter().find(open)) {
                return vec![Way::Before(down, up), Way::Before(up, down)];
            }
        }
        Vec::new()
    }
}
