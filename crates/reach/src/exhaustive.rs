//! Goes through all feasible prefixes, and remembers where it has been: exact, and slow.
//!
//! What a prefix can be continued with depends on its events, on the last write of each lifetime, and on which notifies
//! came before their waits.

use crate::facts::{Facts, NONE, Section};
use crate::goal::Goal;
use crate::question::{Answer, Meter, Over};
use rustc_hash::FxHashSet;

/// States that are remembered, in words of all together: 128 MB.
const MOST_WORDS: usize = 1 << 25;
/// What a key takes beside its own words: its place in the set, and what the allocator adds.
const KEY_WORDS: usize = 16;

struct Search<'a, 'l> {
    facts: &'a Facts,
    goal: &'a Goal,
    meter: &'a mut Meter<'l>,
    seen: FxHashSet<Vec<u32>>,
    /// The words of `seen`.
    words: usize,
    counts: Vec<u32>,
    /// By lifetime: its last write.
    last: Vec<u32>,
    prefix: Vec<u32>,
}

/// A lifetime and its last write before.
type Overwritten = Option<(usize, u32)>;

/// The answer, after looking at everything if need be.
pub(crate) fn search(facts: &Facts, goal: &Goal, meter: &mut Meter<'_>) -> Answer {
    let mut search = Search {
        facts,
        goal,
        meter,
        seen: FxHashSet::default(),
        words: 0,
        counts: vec![0; facts.chains.len()],
        last: vec![NONE; facts.lifetimes.lifetimes.len()],
        prefix: Vec::new(),
    };
    match search.go() {
        Ok(true) => Answer::Reached((0..facts.fixed).chain(search.prefix).collect()),
        Ok(false) => Answer::Impossible,
        Err(Over) => Answer::Undecided,
    }
}

impl Search<'_, '_> {
    fn has(&self, event: u32) -> bool {
        self.facts.chains.has(&self.counts, event)
    }

    fn place(&self, event: u32) -> Option<usize> {
        self.prefix.iter().position(|&other| other == event)
    }

    fn done(&self) -> bool {
        self.goal.contains.iter().all(|&event| self.has(event))
    }

    fn may_come(&self, event: u32) -> bool {
        let facts = self.facts;
        let predecessors = facts.always.of(event).iter().chain(facts.beside.of(event));
        if predecessors.copied().any(|needed| !self.has(needed)) {
            return false;
        }
        if self.goal.before.iter().any(|&(a, b)| b == event && !self.has(a)) {
            return false;
        }
        if let Some(pair) = facts.wakeups.iter().find(|pair| pair.woken == event)
            && self.place(pair.wait) >= self.place(pair.notify)
        {
            return false;
        }
        let from = facts.failures.partition_point(|failure| failure.failed < event);
        let mut ends = facts.failures[from..].iter().take_while(|failure| failure.failed == event);
        if ends.any(|failure| self.has(failure.close)) {
            return false;
        }
        for semaphore in &facts.semaphores.all {
            if semaphore.downs.binary_search(&event).is_ok() {
                let come = |events: &[u32]| events.iter().filter(|&&event| self.has(event)).count() as i64;
                if semaphore.count + come(&semaphore.ups) <= come(&semaphore.downs) {
                    return false;
                }
            }
        }
        if let Some(lifetime) = facts.lifetimes.of(event)
            && facts.lifetimes.reads(event)
            && !facts.lifetimes.may_see(event, self.last[lifetime as usize])
        {
            return false;
        }
        let opens = facts.effects[event as usize].opens;
        opens
            .into_iter()
            .filter(|&section| section != NONE)
            .all(|section| self.is_free(&facts.sections[section as usize]))
    }

    fn is_free(&self, wanted: &Section) -> bool {
        let hinders = |other: &&Section| {
            other.lock == wanted.lock
                && other.thread != wanted.thread
                && !(other.shared && wanted.shared)
                && (other.open == NONE || self.has(other.open))
                && (other.close == NONE || !self.has(other.close))
        };
        !self.facts.sections.iter().any(|other| hinders(&other))
    }

    /// Whether this state is new. What may come next, the first recorded last.
    fn arrive(&mut self) -> Option<Vec<u32>> {
        let lost = self.facts.wakeups.iter().map(|pair| u32::from(self.place(pair.wait) < self.place(pair.notify)));
        let key: Vec<u32> = self.counts.iter().copied().chain(self.last.iter().copied()).chain(lost).collect();
        self.words += key.len() + KEY_WORDS;
        if !self.seen.insert(key) {
            return None;
        }
        let facts = self.facts;
        let mut nexts: Vec<u32> = (0..facts.chains.len())
            .filter(|&chain| self.counts[chain] < self.goal.most[chain])
            .map(|chain| facts.chains.events[chain][self.counts[chain] as usize])
            .filter(|&event| self.may_come(event))
            .collect();
        nexts.sort_unstable_by(|a, b| b.cmp(a));
        Some(nexts)
    }

    /// Goes on with an event. What its lifetime held before, if it writes.
    fn take(&mut self, event: u32) -> Overwritten {
        let facts = self.facts;
        self.counts[facts.chains.of(event)] += 1;
        self.prefix.push(event);
        let lifetime = facts.lifetimes.of(event).filter(|_| facts.lifetimes.writes(event))? as usize;
        Some((lifetime, std::mem::replace(&mut self.last[lifetime], event)))
    }

    fn go(&mut self) -> Result<bool, Over> {
        // On the way: what is left to try, and what the last event overwrote.
        let mut way: Vec<(Vec<u32>, Overwritten)> = Vec::new();
        let mut overwritten = None;
        loop {
            if self.done() {
                return Ok(true);
            }
            self.meter.spend(1)?;
            if self.words > MOST_WORDS {
                return Err(Over);
            }
            way.push((self.arrive().unwrap_or_default(), overwritten));
            loop {
                let Some((nexts, overwritten_here)) = way.last_mut() else { return Ok(false) };
                if let Some(event) = nexts.pop() {
                    overwritten = self.take(event);
                    break;
                }
                if let Some((lifetime, write)) = *overwritten_here {
                    self.last[lifetime] = write;
                }
                way.pop();
                if let Some(event) = self.prefix.pop() {
                    self.counts[self.facts.chains.of(event)] -= 1;
                }
            }
        }
    }
}
