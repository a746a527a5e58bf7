//! What must be in every feasible prefix that has an event: the same for all questions about a trace.
//!
//! An event needs the ones before it in its thread and what the definitions say (`facts/predecessors.rs`); a read that
//! can see one write only needs that write; and inside a section, a section of the lock that must have been opened
//! before must have been closed, too. Everything needed is recorded before the event, so one look along the recorded
//! order finds it all.

use crate::facts::{Facts, NONE};
use rustc_hash::FxHashMap;

/// Stands for the writer of a read that may see several writes.
pub(crate) const MANY: u32 = u32::MAX - 1;

/// More looks than this do not pay.
const MOST_LOOKS: usize = 6;

/// Sets of events as counts per chain, one for each event that is not fixed.
pub(crate) struct Rows {
    pub(crate) width: usize,
    fixed: u32,
    pub(crate) counts: Vec<u32>,
}

impl Rows {
    /// Where the row of an event begins.
    #[inline]
    pub(crate) fn start(&self, event: u32) -> usize {
        (event - self.fixed) as usize * self.width
    }

    /// What an event needs, and the event.
    #[inline]
    pub(crate) fn of(&self, event: u32) -> &[u32] {
        let start = self.start(event);
        &self.counts[start..start + self.width]
    }
}

/// What must be, and which writes each read may see in view of that.
pub(crate) struct Must {
    pub(crate) rows: Rows,
    /// By event: the only write that a read may see ([`NONE`]: what was there at first), or [`MANY`].
    pub(crate) writer: Vec<u32>,
    /// What the others may see, the recorded write first.
    pub(crate) candidates: FxHashMap<u32, Vec<u32>>,
}

/// Looks, until no more candidates of reads fall away.
pub(crate) fn must(facts: &Facts, events: u32) -> Must {
    let mut must = Must {
        rows: Rows { width: facts.chains.len(), fixed: facts.fixed, counts: Vec::new() },
        writer: vec![NONE; events as usize],
        candidates: FxHashMap::default(),
    };
    for &read in facts.lifetimes.lifetimes.iter().filter(|lifetime| lifetime.ruled).flat_map(|lifetime| &lifetime.reads)
    {
        let candidates = facts.lifetimes.candidates(read);
        if candidates.len() == 1 {
            must.writer[read as usize] = candidates[0];
        } else {
            must.writer[read as usize] = MANY;
            must.candidates.insert(read, candidates);
        }
    }
    for _ in 0..MOST_LOOKS {
        must.look(facts, events);
        if !must.narrow(facts) {
            return must;
        }
    }
    must.look(facts, events);
    must
}

/// What must be in a prefix in which every read sees the write that it saw when recorded.
pub(crate) fn as_recorded(facts: &Facts, must: &Must, events: u32) -> Must {
    let mut writer = must.writer.clone();
    for &read in must.candidates.keys() {
        writer[read as usize] = facts.lifetimes.recorded(read);
    }
    let rows = Rows { width: facts.chains.len(), fixed: facts.fixed, counts: Vec::new() };
    let mut all = Must { rows, writer, candidates: FxHashMap::default() };
    all.look(facts, events);
    all
}

fn join(row: &mut [u32], other: &[u32]) -> bool {
    let mut changed = false;
    for (count, &other) in row.iter_mut().zip(other) {
        changed |= other > *count;
        *count = other.max(*count);
    }
    changed
}

impl Must {
    fn look(&mut self, facts: &Facts, events: u32) {
        let chains = &facts.chains;
        let width = chains.len();
        self.rows.counts.clear();
        self.rows.counts.reserve((events - facts.fixed) as usize * width);
        let mut row = vec![0; width];
        for event in facts.fixed..events {
            let (chain, position) = (chains.of(event), chains.position(event));
            match position {
                0 => row.fill(0),
                position => row.copy_from_slice(self.rows.of(chains.events[chain][position as usize - 1])),
            }
            row[chain] = position + 1;
            let mut changed = position == 0;
            for &needed in facts.always.of(event).iter().chain(facts.beside.of(event)) {
                changed |= join(&mut row, self.rows.of(needed));
            }
            let writer = self.writer[event as usize];
            if writer != NONE && writer != MANY {
                changed |= join(&mut row, self.rows.of(writer));
            }
            let effect = &facts.effects[event as usize];
            if changed || *effect != Default::default() {
                // What it closes is open until now.
                let held = facts.held.after(chain, position).chain(facts.held.after(chain, position + 1));
                while held.clone().any(|section| self.closed(facts, event, section, &mut row)) {}
            }
            self.rows.counts.extend_from_slice(&row);
        }
    }

    /// Inside a section: others that exclude it and were opened before must be closed. Whether that adds something.
    fn closed(&self, facts: &Facts, event: u32, section: u32, row: &mut [u32]) -> bool {
        let mut changed = false;
        for run in facts.runs.against(section) {
            let chain = run.chain as usize;
            if let Some(other) = run.last_opened(row[chain])
                && other.close != NONE
                && other.close > row[chain]
            {
                let close = facts.chains.events[chain][other.close as usize - 1];
                changed |= close < event && join(row, self.rows.of(close));
            }
        }
        changed
    }

    /// Drops candidates that a read can never see. Whether some read has only one left that had more.
    fn narrow(&mut self, facts: &Facts) -> bool {
        let mut narrowed = Vec::new();
        for (&read, candidates) in &mut self.candidates {
            let rows = &self.rows;
            candidates.retain(|&write| may_see(facts, rows, read, write));
            if let [only] = candidates[..] {
                narrowed.push((read, only));
            }
        }
        for &(read, only) in &narrowed {
            self.candidates.remove(&read);
            self.writer[read as usize] = only;
        }
        !narrowed.is_empty()
    }
}

/// Whether the order of these rows leaves it open that a read sees a write of its lifetime.
pub(crate) fn may_see(facts: &Facts, rows: &Rows, read: u32, write: u32) -> bool {
    let chains = &facts.chains;
    if write != NONE && chains.has(rows.of(write), read) {
        return false;
    }
    let Some(lifetime) = facts.lifetimes.of(read) else { return true };
    let row = rows.of(read);
    facts.lifetimes.lifetimes[lifetime as usize].chains.iter().all(|writes| {
        match writes.last(chains, row[writes.chain]) {
            Some(last) => last == write || last == read || write != NONE && !chains.has(rows.of(last), write),
            None => true,
        }
    })
}
