//! Puts the events of the set one behind the other: always the first recorded one that may come next.
//!
//! A write waits while some event has yet to read what is there, an opening while the lock is taken, and so on. If none
//! may come, two events stand against each other, and the order does not say which goes first.

use crate::facts::{Facts, NONE};
use crate::must::{MANY, Rows};
use crate::question::{Meter, Over};

/// Buffers of one attempt.
pub(crate) struct Linear {
    done: Vec<u32>,
    /// By chain: it cannot go on before that chain has come so far.
    waits: Vec<(u32, u32)>,
    blocked: Vec<bool>,
    any_blocked: bool,
    /// By lifetime: the last write.
    current: Vec<u32>,
    /// By write: how many reads of the set have yet to see it.
    pending: Vec<u32>,
    /// By lifetime: how many have yet to see what was there at first.
    pending_first: Vec<u32>,
    /// By lock that matters: its open sections.
    open: Vec<Vec<u32>>,
    /// By semaphore.
    counts: Vec<i64>,
    pub(crate) order: Vec<u32>,
}

/// Why the next event of a chain cannot come, although all before it have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stuck {
    /// It would open this section while that one is open.
    Section(u32, u32),
    /// It writes; a read has yet to see what is there.
    Write(u32),
    /// It reads, and what is there is not what it may see.
    Read(u32),
    /// It is a `down`, and there is nothing left.
    Down(u32),
}

impl Linear {
    pub(crate) fn new(facts: &Facts, events: u32) -> Linear {
        let (chains, lifetimes) = (facts.chains.len(), facts.lifetimes.lifetimes.len());
        Linear {
            done: vec![0; chains],
            waits: vec![(0, 0); chains],
            blocked: vec![false; chains],
            any_blocked: false,
            current: vec![NONE; lifetimes],
            pending: vec![0; events as usize],
            pending_first: vec![0; lifetimes],
            open: vec![Vec::new(); facts.runs.locks.len()],
            counts: Vec::new(),
            order: Vec::new(),
        }
    }
}

/// What is to be put in order, and by which order at least.
#[derive(Clone, Copy)]
pub(crate) struct View<'v> {
    pub(crate) facts: &'v Facts,
    pub(crate) rows: &'v Rows,
    pub(crate) set: &'v [u32],
    /// By read: the write that it sees, or [`MANY`].
    pub(crate) writer: &'v [u32],
}

impl Linear {
    /// An order of the set in `order`, or why there is none to be found without a decision.
    pub(crate) fn run(&mut self, view: View<'_>, meter: &mut Meter<'_>) -> Result<Option<Stuck>, Over> {
        self.prepare(view);
        let total: u32 = view.set.iter().sum();
        meter.spend(u64::from(total))?;
        while self.order.len() < total as usize {
            let mut first = (NONE, 0);
            for (chain, (&done, &count)) in self.done.iter().zip(view.set).enumerate() {
                if done < count && !self.blocked[chain] {
                    first = first.min((view.facts.chains.events[chain][done as usize], chain));
                }
            }
            let (event, chain) = first;
            if event == NONE {
                return self.stuck(view).map(Some).ok_or(Over);
            }
            if self.is_early(view, event, chain) || self.stands_against(view, event).is_some() {
                self.blocked[chain] = true;
                self.any_blocked = true;
            } else {
                self.take(view, event, chain);
            }
        }
        Ok(None)
    }

    fn prepare(&mut self, view: View<'_>) {
        let facts = view.facts;
        self.done.fill(0);
        self.waits.fill((0, 0));
        self.blocked.fill(false);
        self.any_blocked = false;
        self.current.fill(NONE);
        self.order.clear();
        self.open.iter_mut().for_each(Vec::clear);
        for &section in &facts.runs.at_first {
            self.open[facts.runs.places[section as usize].lock as usize].push(section);
        }
        self.counts.clear();
        self.counts.extend(facts.semaphores.all.iter().map(|semaphore| semaphore.count));
        for (number, lifetime) in facts.lifetimes.lifetimes.iter().enumerate().filter(|(_, lifetime)| lifetime.ruled) {
            self.pending_first[number] = 0;
            for &write in &lifetime.writes {
                self.pending[write as usize] = 0;
            }
            for &read in lifetime.reads.iter().filter(|&&read| facts.chains.has(view.set, read)) {
                match view.writer[read as usize] {
                    MANY => {}
                    NONE => self.pending_first[number] += 1,
                    write => self.pending[write as usize] += 1,
                }
            }
        }
    }

    /// Something that comes before the event in the order has yet to come.
    fn is_early(&mut self, view: View<'_>, event: u32, chain: usize) -> bool {
        let (other, count) = self.waits[chain];
        if self.done[other as usize] < count {
            return true;
        }
        let row = view.rows.of(event);
        for (other, (&count, &done)) in row.iter().zip(&self.done).enumerate() {
            if count > done && other != chain {
                self.waits[chain] = (other as u32, count);
                return true;
            }
        }
        false
    }

    /// What hinders an event beside the order.
    fn stands_against(&self, view: View<'_>, event: u32) -> Option<Stuck> {
        let facts = view.facts;
        if let Some(lifetime) = facts.lifetimes.of(event) {
            let current = self.current[lifetime as usize];
            let reads = facts.lifetimes.reads(event);
            if reads {
                let sees = match view.writer[event as usize] {
                    MANY => facts.lifetimes.may_see(event, current),
                    write => write == current,
                };
                if !sees {
                    return Some(Stuck::Read(event));
                }
            }
            if facts.lifetimes.writes(event) {
                let pending = match current {
                    NONE => self.pending_first[lifetime as usize],
                    write => self.pending[write as usize],
                };
                if pending > u32::from(reads) {
                    return Some(Stuck::Write(event));
                }
            }
            return None;
        }
        for section in facts.effects[event as usize].opens {
            if section == NONE {
                continue;
            }
            let place = facts.runs.places[section as usize];
            if place.lock == NONE {
                continue;
            }
            for &other in &self.open[place.lock as usize] {
                let hinders = facts.runs.places[other as usize];
                if hinders.chain != place.chain && !(hinders.shared && place.shared) {
                    return Some(Stuck::Section(section, other));
                }
            }
        }
        match facts.semaphores.of(event) {
            Some(number) if self.counts[number as usize] <= 0 => {
                facts.semaphores.is_down(event).then_some(Stuck::Down(event))
            }
            _ => None,
        }
    }

    fn take(&mut self, view: View<'_>, event: u32, chain: usize) {
        let facts = view.facts;
        self.order.push(event);
        self.done[chain] += 1;
        if std::mem::take(&mut self.any_blocked) {
            self.blocked.fill(false);
        }
        if let Some(lifetime) = facts.lifetimes.of(event) {
            if facts.lifetimes.reads(event) {
                match view.writer[event as usize] {
                    MANY => {}
                    NONE => self.pending_first[lifetime as usize] -= 1,
                    write => self.pending[write as usize] -= 1,
                }
            }
            if facts.lifetimes.writes(event) {
                self.current[lifetime as usize] = event;
            }
            return;
        }
        let effect = &facts.effects[event as usize];
        for &section in effect.closes.iter().chain(&effect.opens).filter(|&&section| section != NONE) {
            let place = facts.runs.places[section as usize];
            if place.lock != NONE {
                let open = &mut self.open[place.lock as usize];
                if effect.closes.contains(&section) {
                    open.retain(|&other| other != section);
                } else {
                    open.push(section);
                }
            }
        }
        if let Some(number) = facts.semaphores.of(event) {
            self.counts[number as usize] += if facts.semaphores.is_down(event) { -1 } else { 1 };
        }
    }

    /// The first recorded event that only something undecided hinders. There is one, as the order has no cycles; if
    /// there is none after all, it cannot say how to go on.
    fn stuck(&self, view: View<'_>) -> Option<Stuck> {
        let mut waiting: Vec<(u32, usize)> = (0..view.set.len())
            .filter(|&chain| self.done[chain] < view.set[chain])
            .map(|chain| (view.facts.chains.events[chain][self.done[chain] as usize], chain))
            .collect();
        waiting.sort_unstable();
        let hindered = |&(event, chain): &(u32, usize)| {
            let row = view.rows.of(event);
            let all = row.iter().zip(&self.done).enumerate().all(|(other, (c, d))| other == chain || c <= d);
            if all { self.stands_against(view, event) } else { None }
        };
        let stuck = waiting.iter().find_map(hindered);
        debug_assert!(stuck.is_some(), "an order without cycles has a first event");
        stuck
    }

    /// The last write of a lifetime in the attempt so far.
    pub(crate) fn current(&self, lifetime: u32) -> u32 {
        self.current[lifetime as usize]
    }

    /// Whether an event has its place in the attempt so far.
    pub(crate) fn is_placed(&self, facts: &Facts, event: u32) -> bool {
        facts.chains.has(&self.done, event)
    }
}
