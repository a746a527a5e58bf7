//! Groups of requests that can block each other, as far as locks, forks and who grants what tell: each is a set of
//! threads, with the requests that each may stand at.

use super::super::requests::can_be_held;
use super::facts::{Facts, Request};
use crate::hang::WaitsFor;
use event::ThreadId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// More threads than this are not looked for.
const MOST_THREADS: usize = 32;

/// Threads of which something is decided at a time; the search recurses for each.
const MOST_DECIDED: usize = 256;

/// The requests of a window.
pub(super) struct InWindow<'f> {
    pub(super) facts: &'f Facts,
    pub(super) range: Range<u32>,
    /// By number of a request: its events in the window.
    pub(super) events: FxHashMap<u32, Vec<u32>>,
    by_thread: FxHashMap<ThreadId, Vec<u32>>,
    /// By lock: the requests with which it is held.
    holders: FxHashMap<event::LockId, Vec<u32>>,
}

impl<'f> InWindow<'f> {
    pub(super) fn new(facts: &'f Facts, range: Range<u64>) -> InWindow<'f> {
        let range = range.start as u32..range.end as u32;
        let from = facts.events.partition_point(|request| request.0 < range.start);
        let to = facts.events.partition_point(|request| request.0 < range.end);
        let mut events: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for &(event, number) in &facts.events[from..to] {
            events.entry(number).or_default().push(event);
        }
        let mut numbers: Vec<u32> = events.keys().copied().collect();
        numbers.sort_unstable();
        let mut by_thread: FxHashMap<ThreadId, Vec<u32>> = FxHashMap::default();
        let mut holders: FxHashMap<event::LockId, Vec<u32>> = FxHashMap::default();
        for number in numbers {
            let request = &facts.list[number as usize];
            by_thread.entry(request.thread).or_default().push(number);
            for hold in &request.held {
                holders.entry(hold.0).or_default().push(number);
            }
        }
        InWindow { facts, range, events, by_thread, holders }
    }

    /// The groups that a request of these events may be part of; `false` if steps ran out, and there may be more.
    pub(super) fn groups(&self, steps: &mut u64) -> (Vec<Vec<u32>>, bool) {
        let mut search = Groups { window: self, members: Vec::new(), decided: Vec::new(), found: Vec::new(), steps };
        let mut first: Vec<u32> = self.events.keys().copied().collect();
        first.sort_unstable();
        first.retain(|&number| !matches!(self.facts.list[number as usize].wants, WaitsFor::Lock(_)));
        let mut all = true;
        for number in first {
            search.members = vec![number];
            all &= search.extend();
        }
        let mut seen = FxHashSet::default();
        let mut found = search.found;
        found.retain(|group| seen.insert(group.clone()));
        (found, all)
    }
}

/// What is decided of a thread that could let others go on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    /// It has granted all it does before.
    Done(WaitsFor, ThreadId),
    /// It is not forked yet.
    Unforked(ThreadId),
}

/// One way to go on.
enum Choice {
    Add(u32),
    Decide(Decision),
}

struct Groups<'w, 'f, 's> {
    window: &'w InWindow<'f>,
    members: Vec<u32>,
    decided: Vec<Decision>,
    found: Vec<Vec<u32>>,
    steps: &'s mut u64,
}

impl Groups<'_, '_, '_> {
    fn request(&self, number: u32) -> &Request {
        &self.window.facts.list[number as usize]
    }

    fn has(&self, thread: ThreadId) -> bool {
        self.members.iter().any(|&number| self.request(number).thread == thread)
    }

    /// Meets what is left, in all ways; `false` if steps ran out.
    fn extend(&mut self) -> bool {
        let granters = |number: &u32| self.window.facts.grants.get(&self.request(*number).wants).map_or(1, Vec::len);
        let looks = self.members.iter().map(granters).sum::<usize>() * (1 + self.decided.len());
        if self.decided.len() > MOST_DECIDED {
            return false;
        }
        let choices = self.choices();
        let spent = looks + choices.as_ref().map_or(0, Vec::len);
        let Some(left) = self.steps.checked_sub(spent as u64) else { return false };
        *self.steps = left;
        let Some(choices) = choices else {
            if self.members.len() >= 2 {
                let mut group = self.members.clone();
                group.sort_unstable();
                self.found.push(group);
            }
            return true;
        };
        let mut all = true;
        for choice in choices {
            match choice {
                Choice::Add(number) if self.members.len() < MOST_THREADS => {
                    self.members.push(number);
                    all &= self.extend();
                    self.members.pop();
                }
                Choice::Add(_) => all = false,
                Choice::Decide(decision) => {
                    self.decided.push(decision);
                    all &= self.extend();
                    self.decided.pop();
                }
            }
        }
        all
    }

    /// The ways to meet the first thing that is left; `None` if nothing is.
    fn choices(&self) -> Option<Vec<Choice>> {
        for &number in &self.members {
            let request = self.request(number);
            match request.wants {
                WaitsFor::Lock(lock) => {
                    if self.members.iter().any(|&other| self.request(other).keeps_from(request)) {
                        continue;
                    }
                    let holders = self.window.holders.get(&lock).into_iter().flatten();
                    let keeps = |other: &&u32| self.request(**other).keeps_from(request) && self.fits(**other);
                    return Some(holders.filter(keeps).map(|&other| Choice::Add(other)).collect());
                }
                WaitsFor::Thread(thread) if thread == request.thread => return Some(Vec::new()),
                // It must stand somewhere itself: one that has not begun is not waited for.
                WaitsFor::Thread(thread) => {
                    if !self.has(thread) {
                        return Some(self.stops(thread));
                    }
                }
                wants => {
                    if let Some(choices) = self.hold_back_granters(wants, request.thread) {
                        return Some(choices);
                    }
                }
            }
        }
        let unforked = self.decided.iter().filter_map(|decision| match decision {
            Decision::Unforked(thread) => self.window.facts.forks.get(thread),
            Decision::Done(..) => None,
        });
        unforked.flatten().find_map(|&(forker, _)| self.hold_back(forker))
    }

    /// Whether a request can come to the others as far as the locks held go.
    fn fits(&self, number: u32) -> bool {
        let request = self.request(number);
        self.members.iter().all(|&other| {
            let other = self.request(other);
            other.thread != request.thread && can_be_held(&other.held, &request.held)
        })
    }

    /// The requests of a thread at which it may stand.
    fn stops(&self, thread: ThreadId) -> Vec<Choice> {
        let own = self.window.by_thread.get(&thread).into_iter().flatten();
        own.filter(|&&number| self.fits(number)).map(|&number| Choice::Add(number)).collect()
    }

    /// The ways in which a thread is held back; `None` if it is.
    fn hold_back(&self, thread: ThreadId) -> Option<Vec<Choice>> {
        if self.has(thread) || self.decided.contains(&Decision::Unforked(thread)) {
            return None;
        }
        let mut choices = self.stops(thread);
        let forks = self.window.facts.forks.get(&thread).into_iter().flatten();
        let mut late = forks.map(|fork| fork.1 >= self.window.range.start).peekable();
        if late.peek().is_some() && late.all(|late| late) {
            choices.push(Choice::Decide(Decision::Unforked(thread)));
        }
        Some(choices)
    }

    /// The ways in which the first thread that grants something is held back, or has granted all it does.
    fn hold_back_granters(&self, wants: WaitsFor, by: ThreadId) -> Option<Vec<Choice>> {
        let granters = self.window.facts.grants.get(&wants).into_iter().flatten();
        for (thread, events) in granters.filter(|granter| granter.0 != by) {
            let last = events.last().copied().unwrap_or(0);
            let done = Decision::Done(wants, *thread);
            if last < self.window.range.start || self.decided.contains(&done) {
                continue;
            }
            if let Some(mut choices) = self.hold_back(*thread) {
                // A request after the last grant holds nothing back.
                choices.retain(|choice| match choice {
                    Choice::Add(number) => self.window.events[number].iter().any(|&event| event < last),
                    Choice::Decide(_) => true,
                });
                if last < self.window.range.end {
                    choices.push(Choice::Decide(done));
                }
                return Some(choices);
            }
        }
        None
    }
}
