//! Deadlocks after sync-preserving prefixes, after SPDOffline (PLDI'23).

use super::{NONE, SyncPreserving};
use event::Op;

impl SyncPreserving<'_> {
    /// A sync-preserving prefix after which all these requests are next and each asks for a lock that the thread of
    /// the next one (the first's, for the last) has in a way that excludes it.
    pub fn deadlock_witness(&mut self, requests: &[u64]) -> Option<Vec<u64>> {
        let instances: Vec<&[u64]> = requests.iter().map(std::slice::from_ref).collect();
        self.first_deadlock(&instances).map(|found| found.witness)
    }

    /// Whether the last question about a deadlock found none because it took too long.
    pub fn gave_up(&self) -> bool {
        self.closure.gave_up
    }

    /// The first deadlock of an abstract pattern: of each thread of a cycle its requests of one lock with the same
    /// locks held, in the order of the thread.
    ///
    /// Closures only grow: a request that one of them contains is passed over for good, so that all instances of a
    /// pattern cost about as much as one.
    pub fn first_deadlock(&mut self, instances: &[&[u64]]) -> Option<Deadlock> {
        let index = &self.index;
        let in_trace = |&at: &u64| usize::try_from(at).is_ok_and(|at| at < index.events.len());
        if instances.len() < 2 || !instances.iter().all(|requests| requests.iter().all(in_trace)) {
            return None;
        }
        self.closure.clear();
        let mut at: Vec<usize> = vec![0; instances.len()];
        let mut requests: Vec<u32> = Vec::with_capacity(instances.len());
        loop {
            requests.clear();
            for (&next, all) in at.iter().zip(instances) {
                requests.push(*all.get(next)? as u32);
            }
            for &request in &requests {
                self.closure.add_before(index, request);
            }
            self.closure.close(index).ok()?;
            let mut advanced = false;
            for (next, all) in at.iter_mut().zip(instances) {
                while all.get(*next).is_some_and(|&request| self.closure.has(index, request as u32)) {
                    *next += 1;
                    advanced = true;
                }
            }
            if advanced {
                continue;
            }
            if self.block_each_other(&requests) {
                let requests = requests.iter().map(|&at| u64::from(at)).collect();
                return Some(Deadlock { requests, witness: self.prefix() });
            }
            // The instances of a pattern are alike in what they hold, but the caller may have left something out.
            let first = (0..at.len()).min_by_key(|&k| requests[k])?;
            at[first] += 1;
        }
    }

    /// Whether each asks for a lock that the thread of the next one has, all being next in their threads.
    fn block_each_other(&self, requests: &[u32]) -> bool {
        let threads = requests.iter().map(|&at| self.index.events[at as usize].thread());
        let different = requests
            .iter()
            .enumerate()
            .all(|(k, &at)| !threads.clone().take(k).any(|thread| thread == self.index.events[at as usize].thread()));
        different && (0..requests.len()).all(|k| self.is_blocked(requests[k], requests[(k + 1) % requests.len()]))
    }

    fn is_blocked(&self, request: u32, holder: u32) -> bool {
        let event = self.index.events[request as usize];
        let has = |at: u32, shared: bool| {
            self.index.open_before(at).any(|section| section.lock == event.object() && section.shared == shared)
        };
        let opens = || {
            let last = self.index.held[request as usize];
            last != NONE
                && self.index.holds.list(last).any(|number| self.index.sections[number as usize].open == request)
        };
        match event.op() {
            Op::Acquire => opens() && (has(holder, false) || has(holder, true)),
            Op::ReadAcquire => opens() && has(holder, false),
            Op::Request => !has(request, false) && (has(holder, false) || has(holder, true)),
            _ => false,
        }
    }
}

/// A deadlock and how to get there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// The requests, none of which can go on.
    pub requests: Vec<u64>,
    /// The events before them, in order.
    pub witness: Vec<u64>,
}
