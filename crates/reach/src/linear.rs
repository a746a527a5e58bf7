//! Puts the events of the set one behind the other: always the first recorded one that may come next.
//!
//! A write waits while somebody has yet to read what is there, an opening while the lock is taken, and so on. If none
//! may come, two events stand against each other, and the order does not say which goes first.

use crate::facts::{Facts, NONE};
use crate::must::{MANY, Rows};
use crate::question::{Meter, Over};

/// Buffers of one attempt.
pub(crate) struct Linear {
    done: Vec<u32>,
    /// By lane: it cannot go on before that lane has come so far.
    waits: Vec<(u32, u32)>,
    blocked: Vec<bool>,
    any_blocked: bool,
    /// By cell: the last write.
    current: Vec<u32>,
    /// By write: how many reads of the set have yet to see it.
    pending: Vec<u32>,
    /// By cell: how many have yet to see what was there at first.
    pending_first: Vec<u32>,
    /// By lock that matters: its open sections.
    open: Vec<Vec<u32>>,
    /// By semaphore.
    counts: Vec<i64>,
    pub(crate) order: Vec<u32>,
}

/// Why the next event of a lane cannot come, although all before it have.
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
        let (lanes, cells) = (facts.lanes.len(), facts.cells.cells.len());
        Linear {
            done: vec![0; lanes],
            waits: vec![(0, 0); lanes],
            blocked: vec![false; lanes],
            any_blocked: false,
            current: vec![NONE; cells],
            pending: vec![0; events as usize],
            pending_first: vec![0; cells],
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
            for (lane, (&done, &count)) in self.done.iter().zip(view.set).enumerate() {
                if done < count && !self.blocked[lane] {
                    first = first.min((view.facts.lanes.events[lane][done as usize], lane));
                }
            }
            let (event, lane) = first;
            if event == NONE {
                return self.stuck(view).map(Some).ok_or(Over);
            }
            if self.is_early(view, event, lane) || self.stands_against(view, event).is_some() {
                self.blocked[lane] = true;
                self.any_blocked = true;
            } else {
                self.take(view, event, lane);
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
        for (number, cell) in facts.cells.cells.iter().enumerate().filter(|(_, cell)| cell.ruled) {
            self.pending_first[number] = 0;
            for &write in &cell.writes {
                self.pending[write as usize] = 0;
            }
            for &read in cell.reads.iter().filter(|&&read| facts.lanes.has(view.set, read)) {
                match view.writer[read as usize] {
                    MANY => {}
                    NONE => self.pending_first[number] += 1,
                    write => self.pending[write as usize] += 1,
                }
            }
        }
    }

    /// Something that comes before the event in the order has yet to come.
    fn is_early(&mut self, view: View<'_>, event: u32, lane: usize) -> bool {
        let (other, count) = self.waits[lane];
        if self.done[other as usize] < count {
            return true;
        }
        let row = view.rows.of(event);
        for (other, (&count, &done)) in row.iter().zip(&self.done).enumerate() {
            if count > done && other != lane {
                self.waits[lane] = (other as u32, count);
                return true;
            }
        }
        false
    }

    /// What hinders an event beside the order.
    fn stands_against(&self, view: View<'_>, event: u32) -> Option<Stuck> {
        let facts = view.facts;
        if let Some(cell) = facts.cells.of(event) {
            let current = self.current[cell as usize];
            let reads = facts.cells.reads(event);
            if reads {
                let sees = match view.writer[event as usize] {
                    MANY => facts.cells.may_see(event, current),
                    write => write == current,
                };
                if !sees {
                    return Some(Stuck::Read(event));
                }
            }
            if facts.cells.writes(event) {
                let pending = match current {
                    NONE => self.pending_first[cell as usize],
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
                if hinders.lane != place.lane && !(hinders.shared && place.shared) {
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

    fn take(&mut self, view: View<'_>, event: u32, lane: usize) {
        let facts = view.facts;
        self.order.push(event);
        self.done[lane] += 1;
        if std::mem::take(&mut self.any_blocked) {
            self.blocked.fill(false);
        }
        if let Some(cell) = facts.cells.of(event) {
            if facts.cells.reads(event) {
                match view.writer[event as usize] {
                    MANY => {}
                    NONE => self.pending_first[cell as usize] -= 1,
                    write => self.pending[write as usize] -= 1,
                }
            }
            if facts.cells.writes(event) {
                self.current[cell as usize] = event;
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

    /// The first recorded event that only something undecided hinders. There is one, as the order has no cycles; if there is
    /// none after all, nobody can say how to go on.
    fn stuck(&self, view: View<'_>) -> Option<Stuck> {
        let mut waiting: Vec<(u32, usize)> = (0..view.set.len())
            .filter(|&lane| self.done[lane] < view.set[lane])
            .map(|lane| (view.facts.lanes.events[lane][self.done[lane] as usize], lane))
            .collect();
        waiting.sort_unstable();
        let hindered = |&(event, lane): &(u32, usize)| {
            let row = view.rows.of(event);
            let all = row.iter().zip(&self.done).enumerate().all(|(other, (c, d))| other == lane || c <= d);
            if all { self.stands_against(view, event) } else { None }
        };
        let stuck = waiting.iter().find_map(hindered);
        debug_assert!(stuck.is_some(), "an order without cycles has a first event");
        stuck
    }

    /// The last write of a cell in the attempt so far.
    pub(crate) fn current(&self, cell: u32) -> u32 {
        self.current[cell as usize]
    }

    /// Whether an event has its place in the attempt so far.
    pub(crate) fn is_placed(&self, facts: &Facts, event: u32) -> bool {
        facts.lanes.has(&self.done, event)
    }
}
