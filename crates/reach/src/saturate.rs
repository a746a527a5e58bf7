//! What follows from the order so far, until nothing more does (as in M2, and trace-closed partial orders).
//!
//! * *Reads.* r sees w, and w' is another write: if w' comes before r, it comes before w; if it comes after w, it comes
//!   after r.
//! * *Sections.* If one has been opened before a part of the other, it is closed before the other is opened; one that
//!   cannot be closed comes after all others.
//! * *Semaphores.* Of the `up` that can come before a `down`, as many come before it as the `down` before it use up.
//!
//! Only events that the prefix must have are bound by rules. Edges may bring more of them in.

use crate::facts::{NONE, Semaphore};
use crate::must::{MANY, may_see};
use crate::order::Contradiction;
use crate::question::{Meter, Over};
use crate::solver::Solver;

impl Solver {
    /// Draws all conclusions. Whether there is no contradiction.
    pub(crate) fn saturate(&mut self, meter: &mut Meter<'_>) -> Result<bool, Over> {
        loop {
            while let Some(event) = self.order.take_changed() {
                meter.spend(1 + std::mem::take(&mut self.order.work))?;
                if self.order.has(&self.facts.chains, event) && self.conclude(event).is_err() {
                    return Ok(false);
                }
            }
            let concluded = self.conclude_all();
            meter.spend(std::mem::take(&mut self.order.work))?;
            if concluded.is_err() {
                return Ok(false);
            }
            if self.order.changed.is_empty() && !self.order.grew {
                return Ok(true);
            }
        }
    }

    /// What follows from the set as a whole.
    fn conclude_all(&mut self) -> Result<(), Contradiction> {
        self.order.grew = false;
        self.wakeups()?;
        self.failures()?;
        self.open_sections()?;
        self.semaphores()
    }

    /// What follows from the order of one event.
    fn conclude(&mut self, event: u32) -> Result<(), Contradiction> {
        if let Some(lifetime) = self.facts.lifetimes.of(event) {
            if self.facts.lifetimes.reads(event) {
                self.read(lifetime, event)?;
            }
            if self.facts.lifetimes.writes(event) {
                self.write(lifetime, event)?;
            }
        }
        for section in self.facts.effects[event as usize].closes {
            if section != NONE {
                self.section(section, event)?;
            }
        }
        Ok(())
    }

    fn read(&mut self, lifetime: u32, read: u32) -> Result<(), Contradiction> {
        let write = self.writer[read as usize];
        if write == MANY {
            return self.narrow(read);
        }
        let chains = &self.facts.chains;
        let own = chains.of(read);
        for writes in &self.facts.lifetimes.lifetimes[lifetime as usize].chains {
            let row = self.order.rows.of(read);
            let count = if writes.chain == own { chains.position(read) } else { row[writes.chain] };
            if let Some(before) = writes.last(chains, count).filter(|&before| before != write) {
                if write == NONE {
                    return Err(Contradiction);
                }
                self.order.add(chains, before, write)?;
            }
            if writes.chain == own {
                continue;
            }
            let order = &self.order;
            let after = match write {
                NONE => writes.writes.first(),
                write => {
                    let at = writes.writes.partition_point(|&other| other != write && !order.le(chains, write, other));
                    writes.writes[at..].iter().find(|&&other| other != write)
                }
            };
            if let Some(&after) = after
                && order.has(chains, after)
            {
                self.order.add(chains, read, after)?;
            }
        }
        Ok(())
    }

    /// A read that may see several writes: if only one is left, it sees that.
    fn narrow(&mut self, read: u32) -> Result<(), Contradiction> {
        let mut left = self.left(read);
        match (left.next(), left.next()) {
            (None, _) => Err(Contradiction),
            (Some(only), None) => {
                drop(left);
                self.decide(read, only)
            }
            _ => Ok(()),
        }
    }

    /// The writes that a read may see as far as the order says.
    pub(crate) fn left(&self, read: u32) -> impl Iterator<Item = u32> + '_ {
        let candidates = self.candidates.get(&read).into_iter().flatten().copied();
        candidates.filter(move |&write| {
            (write == NONE || self.order.can_have(write)) && may_see(&self.facts, &self.order.rows, read, write)
        })
    }

    fn write(&mut self, lifetime: u32, write: u32) -> Result<(), Contradiction> {
        let mut reads: Vec<u32> = self.readers(lifetime, NONE).collect();
        let chains = &self.facts.chains;
        let row = self.order.rows.of(write);
        for writes in &self.facts.lifetimes.lifetimes[lifetime as usize].chains {
            let own = writes.chain == chains.of(write);
            let count = if own { chains.position(write) } else { row[writes.chain] };
            if let Some(before) = writes.last(chains, count) {
                reads.extend(self.readers(lifetime, before));
            }
        }
        for read in reads.into_iter().filter(|&read| read != write) {
            self.order.add(&self.facts.chains, read, write)?;
        }
        Ok(())
    }

    /// Sections that were opened before this event, which is in the section or its end, are closed before it is opened.
    fn section(&mut self, section: u32, event: u32) -> Result<(), Contradiction> {
        let chains = &self.facts.chains;
        let place = self.facts.runs.places[section as usize];
        for run in self.facts.runs.against(section) {
            let count = self.order.rows.of(event)[run.chain as usize];
            let Some(other) = run.last_opened(count) else { continue };
            if place.open == 0 || other.close == NONE {
                return Err(Contradiction);
            }
            let close = chains.events[run.chain as usize][other.close as usize - 1];
            self.order.add(chains, close, chains.events[place.chain as usize][place.open as usize - 1])?;
        }
        Ok(())
    }

    /// Sections that are open after the set.
    fn open_sections(&mut self) -> Result<(), Contradiction> {
        for chain in 0..self.facts.chains.len() {
            let count = self.order.set[chain];
            let top = count.checked_sub(1).map(|last| self.facts.chains.events[chain][last as usize]);
            let open: Vec<u32> = self.facts.held.after(chain, count).collect();
            self.order.work += open.len() as u64;
            for section in open {
                if let Some(top) = top {
                    self.section(section, top)?;
                }
                self.stays_open(section)?;
            }
        }
        Ok(())
    }

    /// A section that cannot be closed any more comes after all that exclude it.
    fn stays_open(&mut self, section: u32) -> Result<(), Contradiction> {
        let chains = &self.facts.chains;
        let place = self.facts.runs.places[section as usize];
        let own = &chains.events[place.chain as usize];
        if place.close != NONE && self.order.can_have(own[place.close as usize - 1]) {
            return Ok(());
        }
        for run in self.facts.runs.against(section) {
            let Some(other) = run.last_opened(self.order.set[run.chain as usize]) else { continue };
            if place.open == 0 || other.close == NONE {
                return Err(Contradiction);
            }
            let close = chains.events[run.chain as usize][other.close as usize - 1];
            self.order.add(chains, close, own[place.open as usize - 1])?;
        }
        Ok(())
    }

    fn semaphores(&mut self) -> Result<(), Contradiction> {
        for number in 0..self.facts.semaphores.all.len() {
            for at in 0..self.facts.semaphores.all[number].downs.len() {
                let semaphore = &self.facts.semaphores.all[number];
                let down = semaphore.downs[at];
                if !self.order.has(&self.facts.chains, down) {
                    continue;
                }
                let row = self.order.rows.of(down);
                let chains = &self.facts.chains;
                let used: usize = semaphore
                    .chains
                    .iter()
                    .map(|counts| counts.downs.partition_point(|&other| chains.position(other) < row[counts.chain]))
                    .sum();
                let ups = self.ups_before(semaphore, down);
                let there = semaphore.count + ups.iter().map(|&(count, _)| count as i64).sum::<i64>();
                if there < used as i64 {
                    return Err(Contradiction);
                }
                if there == used as i64 {
                    for (_, last) in ups {
                        self.order.add(&self.facts.chains, last, down)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// By chain that has some: how many `up` can come before a `down`, and the last of them.
    fn ups_before(&self, semaphore: &Semaphore, down: u32) -> Vec<(usize, u32)> {
        let chains = &self.facts.chains;
        let before = semaphore.chains.iter().filter_map(|counts| {
            let can =
                |&up: &u32| chains.position(up) < self.order.most[counts.chain] && !self.order.le(chains, down, up);
            let count = counts.ups.partition_point(can);
            counts.ups[..count].last().map(|&last| (count, last))
        });
        before.collect()
    }
}
