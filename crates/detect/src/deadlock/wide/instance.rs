//! One event for each request of a group: whether these block each other, and what a prefix that leads there must have.

use super::facts::{ByThread, Facts};
use super::groups::InWindow;
use crate::hang::WaitsFor;
use event::{SemId, ThreadId};
use rustc_hash::FxHashSet;

/// A thread and the request that it stands at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stand {
    pub(super) thread: ThreadId,
    pub(super) number: u32,
    pub(super) event: u32,
}

/// Threads at their requests, and those that only they can fork.
pub(super) struct Instance<'w, 'f> {
    window: &'w InWindow<'f>,
    pub(super) stands: Vec<Stand>,
    held_back: FxHashSet<ThreadId>,
}

/// What a prefix must have beside the requests next: events in it, and pairs in this order.
#[derive(Clone, Default, Debug)]
pub(super) struct Needs {
    pub(super) contains: Vec<u32>,
    pub(super) before: Vec<(u32, u32)>,
}

/// Ways to share `down`s among threads that are tried.
const MOST_SHARES: usize = 64;

impl<'w, 'f> Instance<'w, 'f> {
    pub(super) fn new(window: &'w InWindow<'f>, stands: Vec<Stand>) -> Instance<'w, 'f> {
        let held_back = held_back(window.facts, &stands, |_| true);
        Instance { window, stands, held_back }
    }

    fn facts(&self) -> &'f Facts {
        self.window.facts
    }

    fn stand(&self, thread: ThreadId) -> Option<&Stand> {
        self.stands.iter().find(|stand| stand.thread == thread)
    }

    /// Whether all block each other, and no fewer of them do. What a prefix needs is another question.
    pub(super) fn is_least(&self) -> bool {
        let all = vec![true; self.stands.len()];
        self.first_free(&all).is_none()
            && (0..all.len()).all(|without| {
                let mut part = all.clone();
                part[without] = false;
                while let Some(free) = self.first_free(&part) {
                    part[free] = false;
                }
                part.iter().filter(|&&kept| kept).count() < 2
            })
    }

    /// The first of a part that the part does not block.
    fn first_free(&self, part: &[bool]) -> Option<usize> {
        let place = |thread: ThreadId| self.stands.iter().position(|stand| stand.thread == thread);
        let held = held_back(self.facts(), &self.stands, |stand| place(stand.thread).is_some_and(|at| part[at]));
        let blocked = |at: usize| {
            let stand = self.stands[at];
            let request = &self.facts().list[stand.number as usize];
            let others = || (0..part.len()).filter(|&other| part[other] && other != at);
            match request.wants {
                WaitsFor::Lock(_) => {
                    let of = |other: usize| &self.facts().list[self.stands[other].number as usize];
                    others().any(|other| of(other).keeps_from(request))
                }
                WaitsFor::Thread(thread) => others().any(|other| self.stands[other].thread == thread),
                wants => {
                    self.is_missing(wants) && {
                        let by = || self.granters(wants).iter().filter(|granter| self.grants_outside(granter));
                        by().all(|granter| held.contains(&granter.0)) && by().any(|granter| granter.0 != stand.thread)
                    }
                }
            }
        };
        (0..part.len()).find(|&at| part[at] && !blocked(at))
    }

    fn granters(&self, wants: WaitsFor) -> &'f ByThread {
        static NONE: ByThread = Vec::new();
        self.facts().grants.get(&wants).unwrap_or(&NONE)
    }

    /// How many of a thread's events are in a prefix that has all of those that are not held back.
    fn come(&self, (thread, events): &(ThreadId, Vec<u32>)) -> usize {
        match self.stand(*thread) {
            Some(stand) => events.partition_point(|&event| event < stand.event),
            None if self.held_back.contains(thread) => 0,
            None => events.len(),
        }
    }

    fn grants_outside(&self, granter: &(ThreadId, Vec<u32>)) -> bool {
        self.come(granter) < granter.1.len()
    }

    /// Whether what is wanted is not there, in a prefix that has what it needs.
    fn is_missing(&self, wants: WaitsFor) -> bool {
        match wants {
            WaitsFor::Latch(latch) => {
                let posts: usize = self.granters(wants).iter().map(|granter| self.come(granter)).sum();
                (posts as i64) < self.facts().needs.get(&latch).copied().unwrap_or(1)
            }
            WaitsFor::Semaphore(sem) => self.downs_missing(sem) >= 0,
            _ => true,
        }
    }

    /// How many `down`s of threads that are not held back a prefix must have, so that nothing is left.
    fn downs_missing(&self, sem: SemId) -> i64 {
        let ups: usize = self.granters(WaitsFor::Semaphore(sem)).iter().map(|granter| self.come(granter)).sum();
        let own = self.facts().downs.get(&sem).into_iter().flatten();
        let own = own.filter(|downs| self.held_back.contains(&downs.0)).map(|downs| self.come(downs)).sum::<usize>();
        self.facts().counts.get(&sem).copied().unwrap_or(0) + ups as i64 - own as i64
    }

    /// What a prefix needs: the ways, and whether these are all.
    pub(super) fn needs(&self) -> (Vec<Needs>, bool) {
        let mut needs = Needs::default();
        let mut sems: Vec<SemId> = Vec::new();
        for stand in &self.stands {
            let wants = self.facts().list[stand.number as usize].wants;
            let granters = self.granters(wants).iter();
            let is_wait = matches!(wants, WaitsFor::Condition(_));
            if let WaitsFor::Semaphore(sem) = wants
                && !sems.contains(&sem)
            {
                sems.push(sem);
            }
            for granter in granters {
                let come = self.come(granter);
                let Some(&last) = granter.1[..come].last() else { continue };
                // What comes after the window cannot have come.
                if last >= self.window.range.end {
                    return (Vec::new(), true);
                }
                if last < self.window.range.start || granter.0 == stand.thread {
                    continue;
                }
                if is_wait {
                    needs.before.push((last, stand.event));
                } else if self.stand(granter.0).is_none() {
                    needs.contains.push(last);
                }
            }
        }
        let mut ways = vec![needs.clone()];
        let mut all = true;
        for sem in sems {
            let (shares, complete) = self.shares(sem, &needs);
            all &= complete && ways.len() * shares.len() <= MOST_SHARES * MOST_SHARES;
            ways = ways
                .iter()
                .flat_map(|needs| {
                    shares.iter().map(|share| {
                        let mut needs = needs.clone();
                        needs.contains.extend(share);
                        needs
                    })
                })
                .take(MOST_SHARES * MOST_SHARES)
                .collect();
        }
        (ways, all)
    }

    /// The ways to choose the last `down` of each thread that is not held back, so that nothing is left.
    fn shares(&self, sem: SemId, needs: &Needs) -> (Vec<Vec<u32>>, bool) {
        let mut missing = self.downs_missing(sem);
        let mut free: Vec<(&[u32], usize)> = Vec::new();
        let range = &self.window.range;
        for (thread, downs) in self.facts().downs.get(&sem).into_iter().flatten() {
            if self.held_back.contains(thread) {
                continue;
            }
            let past = downs.partition_point(|&down| down < range.start);
            let end = downs.partition_point(|&down| down < range.end);
            missing -= past as i64;
            // Those before what must be there anyway.
            let ups = self.granters(WaitsFor::Semaphore(sem)).iter().filter(|granter| granter.0 == *thread);
            let last = ups.filter_map(|granter| granter.1.last()).max().copied().unwrap_or(0);
            let least = downs[past..end].partition_point(|&down| down < last && needs.contains.contains(&last));
            free.push((&downs[past..end], least));
        }
        let mut shares = Vec::new();
        let all = missing >= 0 && share(&free, missing as usize, &mut Vec::new(), &mut shares);
        (shares, all || missing < 0)
    }
}

/// Chooses so many events in all; whether there was room for every way.
fn share(free: &[(&[u32], usize)], missing: usize, chosen: &mut Vec<u32>, shares: &mut Vec<Vec<u32>>) -> bool {
    let Some(((downs, least), rest)) = free.split_first() else {
        if missing == 0 {
            if shares.len() >= MOST_SHARES {
                return false;
            }
            shares.push(chosen.clone());
        }
        return true;
    };
    let room: usize = rest.iter().map(|(downs, _)| downs.len()).sum();
    for count in (*least).max(missing.saturating_sub(room))..=downs.len().min(missing) {
        let added = count > 0;
        if added {
            chosen.push(downs[count - 1]);
        }
        let all = share(rest, missing - count, chosen, shares);
        if added {
            chosen.pop();
        }
        if !all {
            return false;
        }
    }
    true
}

/// The threads at some of these requests, and those that only these can fork.
fn held_back(facts: &Facts, stands: &[Stand], some: impl Fn(&Stand) -> bool) -> FxHashSet<ThreadId> {
    let mut held: FxHashSet<ThreadId> = stands.iter().filter(|stand| some(stand)).map(|stand| stand.thread).collect();
    let of = |thread: ThreadId| stands.iter().find(|stand| stand.thread == thread);
    // Each thread is looked at when one of its forkers was added.
    let mut changed = true;
    while changed && !facts.forks.is_empty() {
        changed = false;
        for (&thread, forks) in &facts.forks {
            if held.contains(&thread) || of(thread).is_some() {
                continue;
            }
            let late = |&(forker, fork): &(ThreadId, u32)| {
                held.contains(&forker) && of(forker).is_none_or(|stand| fork > stand.event)
            };
            if forks.iter().all(late) {
                changed |= held.insert(thread);
            }
        }
    }
    held
}
