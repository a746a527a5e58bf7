//! Deadlocks around more than locks, as docs/detectors.md defines them.

use crate::definition::{Definition, Set, has, set_of};
use crate::prefixes::Memory;
use event::Op;
use std::collections::BTreeSet;

/// The waits of a prefix after which a notify of their condition came.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Notified(Set);

impl Memory for Notified {
    fn after(&self, definition: &Definition, prefix: &[usize], e: usize) -> Notified {
        let event = &definition.events()[e];
        let notifies = matches!(event.op, Op::Notify | Op::NotifyAll);
        let is_waiting = |&w: &usize| {
            let other = &definition.events()[w];
            other.op == Op::Wait && other.object == event.object
        };
        let waits: Vec<usize> = prefix.iter().copied().filter(|w| notifies && is_waiting(w)).collect();
        Notified(self.0 | set_of(&waits))
    }
}

/// Where threads stand after a prefix.
struct Standing<'a> {
    definition: &'a Definition,
    came: Set,
    notified: Set,
    /// A thread, and its request.
    requests: Vec<(u32, usize)>,
}

impl Definition {
    fn threads(&self) -> BTreeSet<u32> {
        self.events().iter().map(|event| event.thread).collect()
    }

    /// The next event of its thread after an event, drop barriers aside.
    fn goes_on_with(&self, e: usize) -> Option<usize> {
        let events = self.events();
        let is_next =
            |&f: &usize| events[f].thread == events[e].thread && !matches!(events[f].op, Op::Pin | Op::ReadPin);
        (e + 1..events.len()).find(is_next)
    }

    /// Something grants the object of this request that the trace does not show.
    fn granted_from_outside(&self, e: usize) -> bool {
        let (events, object) = (self.events(), self.events()[e].object);
        let before = |f: usize, op| events[..f].iter().filter(|b| b.op == op && b.object == object).count() as i64;
        (0..events.len()).any(|f| match (self.events()[e].op, events[f].op) {
            (Op::AwaitRequest, Op::Await) => events[f].object == object && before(f, Op::Post) == 0,
            (Op::DownRequest, Op::Down) => {
                let count = || self.run.counts[&object] + before(f, Op::Up) - before(f, Op::Down);
                events[f].object == object && count() <= 0
            }
            _ => false,
        })
    }

    /// Whether an event is a wide request.
    pub fn is_wide_request(&self, e: usize) -> bool {
        let event = &self.events()[e];
        let answer = match event.op {
            Op::JoinRequest => Op::Join,
            Op::AwaitRequest => Op::Await,
            Op::DownRequest => Op::Down,
            Op::Wait => {
                let paired = self.run.woken_by.values().any(|&(wait, _)| wait == e);
                return paired || self.goes_on_with(e).is_none();
            }
            _ => return false,
        };
        let answered = |next: usize| self.events()[next].op == answer && self.events()[next].object == event.object;
        self.goes_on_with(e).is_none_or(answered) && !self.granted_from_outside(e)
    }

    /// The request that a thread stands at.
    fn stands_at(&self, came: Set, thread: u32) -> Option<usize> {
        let own = || (0..self.events().len()).filter(|&e| self.events()[e].thread == thread);
        let next = own().find(|&e| self.is_next(came, e));
        let requests = |e: &usize| {
            let op = self.events()[*e].op;
            self.request(came, *e).is_some() || op != Op::Wait && self.is_wide_request(*e)
        };
        let last = own().filter(|&e| has(came, e)).rfind(|&e| !matches!(self.events()[e].op, Op::Pin | Op::ReadPin));
        let waits = last.filter(|&e| self.events()[e].op == Op::Wait && self.is_wide_request(e));
        waits.or(next.filter(requests))
    }

    fn standing(&self, prefix: &[usize], notified: Set) -> Standing<'_> {
        let came = set_of(prefix);
        let requests = self.threads().into_iter().filter_map(|t| Some((t, self.stands_at(came, t)?))).collect();
        Standing { definition: self, came, notified, requests }
    }

    /// Every wide deadlock: its requests, in recorded order.
    pub fn wide_deadlocks(&self) -> BTreeSet<Vec<usize>> {
        let mut found = BTreeSet::new();
        if !(0..self.events().len()).any(|e| self.is_wide_request(e)) {
            return found;
        }
        self.each_prefix(Notified(0), &mut |prefix, notified| {
            found.extend(self.standing(prefix, notified.0).deadlocks());
        });
        found.retain(|requests| requests.iter().any(|&e| self.is_wide_request(e)));
        found
    }

    /// Those whose requests are `req` and `jreq`, with which their threads end.
    pub fn observed_wide_deadlocks(&self) -> BTreeSet<Vec<usize>> {
        let unanswered =
            |&e: &usize| matches!(self.events()[e].op, Op::Request | Op::JoinRequest) && self.goes_on_with(e).is_none();
        self.wide_deadlocks().into_iter().filter(|requests| requests.iter().all(unanswered)).collect()
    }

    /// Whether this order of events is a witness of a deadlock: the threads of these requests stand at them after it,
    /// and block each other.
    pub fn shows_wide_deadlock(&self, prefix: &[usize], requests: &[usize]) -> bool {
        let mut notified = Notified(0);
        for (at, &e) in prefix.iter().enumerate() {
            notified = notified.after(self, &prefix[..at], e);
        }
        let mut requests = requests.to_vec();
        requests.sort_unstable();
        self.is_feasible(prefix) && self.standing(prefix, notified.0).deadlocks().contains(&requests)
    }
}

impl Standing<'_> {
    /// All minimal sets of two or more threads that block all their requests.
    fn deadlocks(&self) -> Vec<Vec<usize>> {
        let parts: Vec<Set> = (0..1 << self.requests.len()).filter(|part: &Set| part.count_ones() >= 2).collect();
        let closed: Vec<Set> = parts.into_iter().filter(|&part| self.blocks_itself(part)).collect();
        let least = |part: &&Set| !closed.iter().any(|other| other != *part && other & **part == *other);
        let events = |part: &Set| {
            let mut events: Vec<usize> = self.of(*part).map(|(_, e)| e).collect();
            events.sort_unstable();
            events
        };
        closed.iter().filter(least).map(events).collect()
    }

    fn of(&self, part: Set) -> impl Iterator<Item = (u32, usize)> {
        self.requests.iter().enumerate().filter(move |(k, _)| has(part, *k)).map(|(_, &request)| request)
    }

    /// The threads of a part, and those that they alone could fork.
    fn held_back(&self, part: Set) -> BTreeSet<u32> {
        let events = self.definition.events();
        let mut held: BTreeSet<u32> = self.of(part).map(|(thread, _)| thread).collect();
        let all: BTreeSet<u32> = events.iter().filter(|e| e.op == Op::Fork).map(|e| e.object).collect();
        loop {
            let is_held = |thread: &u32| {
                let acted = (0..events.len()).any(|e| events[e].thread == *thread && has(self.came, e));
                let mut forks = (0..events.len()).filter(|&e| events[e].op == Op::Fork && events[e].object == *thread);
                !acted && forks.all(|fork| !has(self.came, fork) && held.contains(&events[fork].thread))
            };
            let more: Vec<u32> = all.iter().copied().filter(|t| !held.contains(t) && is_held(t)).collect();
            if more.is_empty() {
                return held;
            }
            held.extend(more);
        }
    }

    fn blocks_itself(&self, part: Set) -> bool {
        let held = self.held_back(part);
        self.of(part).all(|(thread, e)| self.blocked(part, &held, thread, e))
    }

    fn blocked(&self, part: Set, held: &BTreeSet<u32>, thread: u32, e: usize) -> bool {
        let (events, event) = (self.definition.events(), &self.definition.events()[e]);
        let come = |op| (0..events.len()).filter(|&f| has(self.came, f) && is(events, f, op, event.object)).count();
        if let Some((lock, to_share)) = self.definition.request(self.came, e) {
            return self.of(part).any(|(other, _)| {
                let held = self.definition.holds(self.came, other, lock);
                other != thread && held.is_some_and(|section| !(section.shared && to_share))
            });
        }
        match event.op {
            Op::JoinRequest => self.of(part).any(|(other, _)| other != thread && other == event.object),
            Op::AwaitRequest => {
                (come(Op::Post) as i64) < self.definition.run.needs[&event.object]
                    && self.only_held_back_grant(held, thread, event.object, &[Op::Post])
            }
            Op::DownRequest => {
                let initial = self.definition.run.counts.get(&event.object).copied().unwrap_or(0);
                initial + come(Op::Up) as i64 - come(Op::Down) as i64 <= 0
                    && self.only_held_back_grant(held, thread, event.object, &[Op::Up])
            }
            _ => {
                !has(self.notified, e)
                    && self.only_held_back_grant(held, thread, event.object, &[Op::Notify, Op::NotifyAll])
            }
        }
    }

    fn only_held_back_grant(&self, held: &BTreeSet<u32>, thread: u32, object: u32, ops: &[Op]) -> bool {
        let events = self.definition.events();
        let grants = |&f: &usize| !has(self.came, f) && ops.iter().any(|&op| is(events, f, op, object));
        let by: Vec<u32> = (0..events.len()).filter(grants).map(|f| events[f].thread).collect();
        by.iter().all(|granter| held.contains(granter)) && by.iter().any(|&granter| granter != thread)
    }
}

fn is(events: &[crate::recorded::RecordedEvent], f: usize, op: Op, object: u32) -> bool {
    events[f].op == op && events[f].object == object
}
