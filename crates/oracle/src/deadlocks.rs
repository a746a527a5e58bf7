//! Deadlocks, as docs/detectors.md defines them.

use crate::definition::{Definition, Set, has, set_of};
use crate::recorded::Section;
use event::Op;
use std::collections::{BTreeSet, HashSet};

impl Definition {
    /// Whether a section is open after these events.
    fn is_open(&self, section: &Section, came: Set) -> bool {
        section.opens.is_none_or(|o| has(came, o)) && !section.closes.is_some_and(|c| has(came, c))
    }

    /// The section of a lock that a thread has open after these events; of two the exclusive one.
    pub fn holds(&self, came: Set, thread: u32, lock: u32) -> Option<&Section> {
        let open = |s: &&Section| s.lock == lock && s.thread == thread && self.is_open(s, came);
        self.run.sections.iter().filter(open).min_by_key(|s| s.shared)
    }

    /// An `acq` or `racq` with effect, or a `req` of a lock that its thread does not hold exclusively: the lock, and
    /// whether it is requested shared.
    pub fn request(&self, came: Set, e: usize) -> Option<(u32, bool)> {
        let event = &self.events()[e];
        let holds_alone = || self.holds(came, event.thread, event.object).is_some_and(|s| !s.shared);
        match event.op {
            Op::Acquire if !self.run.without_effect[e] => Some((event.object, false)),
            Op::ReadAcquire if !self.run.without_effect[e] => Some((event.object, true)),
            Op::Request if !holds_alone() => Some((event.object, false)),
            _ => None,
        }
    }

    /// Whether an event requests, after these events, a lock that the thread of `holder` holds in a way that excludes
    /// it.
    fn waits_for(&self, came: Set, e: usize, holder: usize) -> bool {
        let Some((lock, to_share)) = self.request(came, e) else { return false };
        let held = self.holds(came, self.events()[holder].thread, lock);
        held.is_some_and(|section| !(section.shared && to_share))
    }

    /// The cycles of requests that are next after a feasible prefix of these events. Each begins with its earliest
    /// event.
    fn cycles(&self, came: Set, found: &mut BTreeSet<Vec<usize>>) {
        let next = |&e: &usize| self.is_next(came, e) && self.request(came, e).is_some();
        let requests: Vec<usize> = (0..self.events().len()).filter(next).collect();
        for &first in &requests {
            self.extend(came, &requests, &mut vec![first], found);
        }
    }

    fn extend(&self, came: Set, requests: &[usize], path: &mut Vec<usize>, found: &mut BTreeSet<Vec<usize>>) {
        let (first, last) = (path[0], path[path.len() - 1]);
        if path.len() > 1 && self.waits_for(came, last, first) {
            found.insert(path.clone());
        }
        for &e in requests.iter().filter(|&&e| e > first) {
            if !path.contains(&e) && self.waits_for(came, last, e) {
                path.push(e);
                self.extend(came, requests, path, found);
                path.pop();
            }
        }
    }

    /// Every deadlock: its requests, from the one recorded first, each followed by one whose thread holds what it asks
    /// for.
    pub fn deadlocks(&self) -> BTreeSet<Vec<usize>> {
        let mut found = BTreeSet::new();
        let asks = |&e: &usize| matches!(self.events()[e].op, Op::Acquire | Op::ReadAcquire | Op::Request);
        if (0..self.events().len()).filter(asks).count() < 2 {
            return found;
        }
        let mut cuts = HashSet::new();
        self.each_prefix((), &mut |prefix, ()| {
            let came = set_of(prefix);
            if cuts.insert(came) {
                self.cycles(came, &mut found);
            }
        });
        found
    }

    /// The deadlocks after sync-preserving prefixes.
    pub fn sync_preserving_deadlocks(&self) -> BTreeSet<Vec<usize>> {
        let mut found = BTreeSet::new();
        self.each_recorded_prefix(&mut |prefix| self.cycles(set_of(prefix), &mut found));
        found
    }

    /// The [`deadlocks`](Definition::deadlocks) whose requests are `req`, with which their threads end.
    pub fn observed_deadlocks(&self) -> BTreeSet<Vec<usize>> {
        let events = self.events();
        let unanswered = |e: usize| {
            events[e].op == Op::Request && events[e + 1..].iter().all(|after| after.thread != events[e].thread)
        };
        if !(0..events.len()).any(unanswered) {
            return BTreeSet::new();
        }
        self.deadlocks().into_iter().filter(|cycle| cycle.iter().all(|&e| unanswered(e))).collect()
    }

    /// Whether this order of events is a witness of a deadlock: the requests come next after it.
    pub fn shows_deadlock(&self, prefix: &[usize], requests: &[usize]) -> bool {
        let came = set_of(prefix);
        let next = |k: usize| (requests[k], requests[(k + 1) % requests.len()]);
        let threads: BTreeSet<u32> = requests.iter().map(|&e| self.events()[e].thread).collect();
        self.is_feasible(prefix)
            && requests.len() >= 2
            && threads.len() == requests.len()
            && (0..requests.len()).map(next).all(|(e, f)| self.is_next(came, e) && self.waits_for(came, e, f))
    }
}
