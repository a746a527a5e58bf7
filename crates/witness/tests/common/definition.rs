//! The definitions of docs/causality.md, sentence by sentence, by brute force. The crate `oracle` has its own version.

use super::Sample;
use event::{Causality, Event, Op, Value, Wake};

/// A section of a lock: the events that open and close it, if they do.
pub struct Section {
    pub lock: u32,
    pub thread: u32,
    pub shared: bool,
    pub opens: Option<usize>,
    pub closes: Option<usize>,
}

pub struct Definition<'a> {
    sample: &'a Sample,
    events: &'a [Event],
    sections: Vec<Section>,
    /// Wake-up, its wait, its notify.
    pairs: Vec<(usize, usize, usize)>,
}

/// Whether an event can come next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    No,
    Yes,
    /// It can, but only as the last one.
    Terminal,
}

fn access(op: Op) -> bool {
    use Op::*;
    matches!(op, Read | Write | AtomicLoad | AtomicStore | AtomicRmw | Alloc | Free)
}

fn bounds_lifetime(op: Op) -> bool {
    matches!(op, Op::Alloc | Op::Free)
}

fn write(op: Op) -> bool {
    matches!(op, Op::Write | Op::AtomicStore | Op::AtomicRmw)
}

fn reads(op: Op) -> bool {
    matches!(op, Op::Read | Op::AtomicLoad)
}

impl<'a> Definition<'a> {
    pub fn new(sample: &'a Sample) -> Self {
        let events = &sample.batch.events[..];
        let mut new = Definition { sample, events, sections: Vec::new(), pairs: Vec::new() };
        for thread in 0..3 {
            for lock in 0..2 {
                new.find_sections(thread, lock);
            }
        }
        new.find_pairs();
        new
    }

    fn lock(&self, e: usize) -> Option<u32> {
        use Op::*;
        match self.events[e].op() {
            Acquire | Release | ReadAcquire | ReadRelease | TryAcquire | TryFail => Some(self.events[e].object()),
            Wait | Woken => Some(self.sample.batch.extra(self.events[e]).lock.0),
            _ => None,
        }
    }

    fn find_sections(&mut self, thread: u32, lock: u32) {
        // The stacks of acquires, exclusive and shared, and the holds that waits have given up.
        let mut stacks: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
        let mut aside: Option<(u32, [usize; 2])> = None;
        for e in 0..self.events.len() {
            let event = self.events[e];
            if event.thread().0 != thread {
                continue;
            }
            if self.lock(e) != Some(lock) {
                // After a wait or wake-up of another lock, the given-up holds of this one are not taken back.
                if matches!(event.op(), Op::Wait | Op::Woken) {
                    aside = None;
                }
                continue;
            }
            let mut close = |stack: &mut Vec<usize>, shared: bool, all: bool| {
                let opens = stack.first().copied();
                if all {
                    stack.clear();
                } else {
                    let _ = stack.pop();
                }
                if stack.is_empty() {
                    self.sections.push(Section { lock, thread, shared, opens, closes: Some(e) });
                }
            };
            match event.op() {
                Op::Acquire | Op::TryAcquire => stacks[0].push(e),
                Op::ReadAcquire => stacks[1].push(e),
                Op::Release => close(&mut stacks[0], false, false),
                Op::ReadRelease => close(&mut stacks[1], true, false),
                Op::Wait => {
                    aside = Some((event.object(), [stacks[0].len(), stacks[1].len()]));
                    for (stack, shared) in stacks.iter_mut().zip([false, true]) {
                        if !stack.is_empty() {
                            close(stack, shared, true);
                        }
                    }
                }
                Op::Woken => {
                    let depths = match aside.take() {
                        Some((cond, depths)) if cond == event.object() && depths != [0, 0] => depths,
                        _ => [1, 0],
                    };
                    for (stack, depth) in stacks.iter_mut().zip(depths) {
                        stack.extend(std::iter::repeat_n(e, depth));
                    }
                }
                _ => {}
            }
        }
        for (stack, shared) in stacks.iter().zip([false, true]) {
            if let Some(&open) = stack.first() {
                self.sections.push(Section { lock, thread, shared, opens: Some(open), closes: None });
            }
        }
    }

    fn find_pairs(&mut self) {
        for woken in 0..self.events.len() {
            let event = self.events[woken];
            if event.op() != Op::Woken || self.sample.batch.extra(event).wake != Wake::Notified {
                continue;
            }
            let before = (0..woken).rev().find(|&e| {
                self.events[e].thread() == event.thread() && matches!(self.events[e].op(), Op::Wait | Op::Woken)
            });
            let Some(wait) = before.filter(|&e| {
                let wait = self.events[e];
                wait.op() == Op::Wait && wait.object() == event.object() && self.lock(e) == self.lock(woken)
            }) else {
                continue;
            };
            let notify = (wait + 1..woken).find(|&e| {
                let notify = self.events[e];
                let paired = self.pairs.iter().any(|&(_, _, n)| n == e);
                let free = notify.op() == Op::NotifyAll || (notify.op() == Op::Notify && !paired);
                free && notify.object() == event.object()
            });
            if let Some(notify) = notify {
                self.pairs.push((woken, wait, notify));
            }
        }
    }

    /// Whether an event can come next after a feasible prefix.
    pub fn next(&self, model: Causality, prefix: &[usize], e: usize) -> Next {
        if prefix.contains(&e) || e >= self.events.len() || !self.common(prefix, e) {
            return Next::No;
        }
        let feasible = match model {
            Causality::Observed => e == prefix.len(),
            Causality::FullHb | Causality::SyncOnly => {
                (0..e).all(|a| prefix.contains(&a) || !self.keeps_order(model == Causality::FullHb, a, e))
                    && prefix.iter().all(|&b| b < e || !self.keeps_order(model == Causality::FullHb, e, b))
            }
            Causality::WeakHb => {
                self.boundaries(prefix, e)
                    && self.sets(prefix, e)
                    && self.locks(prefix, e)
                    && self.conditions(prefix, e)
                    && self.semaphore_order(prefix, e)
            }
            Causality::Maximal => {
                let others = self.boundaries(prefix, e)
                    && self.locks(prefix, e)
                    && self.conditions(prefix, e)
                    && self.semaphore_count(prefix, e);
                if others && !self.sees(prefix, e) && reads(self.events[e].op()) {
                    return Next::Terminal;
                }
                others && self.sees(prefix, e)
            }
        };
        if feasible { Next::Yes } else { Next::No }
    }

    pub fn common(&self, prefix: &[usize], e: usize) -> bool {
        let event = self.events[e];
        (0..e).all(|a| {
            let before = self.events[a];
            let needed = before.thread() == event.thread()
                || (before.op() == Op::Fork && before.child() == event.thread())
                || (before.op() == Op::Fork && event.op() == Op::Join && before.child() == event.child())
                || (event.op() == Op::Join && before.thread() == event.child())
                || (event.op() == Op::Await && before.op() == Op::Post && before.object() == event.object())
                || (access(event.op()) && before.thread() != event.thread() && self.pinned(a, event));
            !needed || prefix.contains(&a)
        })
    }

    /// Whether a drop barrier of the variable names this event. An `rpin` does not bind accesses that only read.
    fn pinned(&self, a: usize, access: Event) -> bool {
        let thread = self.events[a].thread();
        let n = self.events[..a].iter().filter(|e| e.thread() == thread).count() as i64;
        self.events.iter().any(|&pin| {
            (pin.op() == Op::Pin || pin.op() == Op::ReadPin && !reads(access.op()))
                && pin.thread() == thread
                && pin.object() == access.object()
                && self.sample.batch.extra(pin).value == Value::Int(n)
        })
    }

    fn keeps_order(&self, plain: bool, a: usize, b: usize) -> bool {
        let (first, second) = (self.events[a], self.events[b]);
        let (p, q) = (first.op(), second.op());
        if access(p) && access(q) {
            let counts = |op: Op| plain || op.is_atomic();
            return first.object() == second.object() && counts(p) && counts(q) && !(reads(p) && reads(q));
        }
        let same = first.object() == second.object();
        let condition = |op| matches!(op, Op::Wait | Op::Woken | Op::Notify | Op::NotifyAll);
        let semaphore = |op| matches!(op, Op::Up | Op::Down);
        if same && ((condition(p) && condition(q)) || (semaphore(p) && semaphore(q))) {
            return true;
        }
        let shared = |op| matches!(op, Op::ReadAcquire | Op::ReadRelease);
        let locks = |e: usize| -> Vec<&str> {
            let event = self.events[e];
            let names = &self.sample.names;
            match event.op() {
                Op::Notify | Op::NotifyAll => vec![names.cond(event.cond())],
                Op::Wait | Op::Woken | Op::TryFail => {
                    self.lock(e).map(|l| names.lock(event::LockId(l))).into_iter().collect()
                }
                _ if self.sections.iter().any(|s| s.opens == Some(e) || s.closes == Some(e)) => {
                    self.lock(e).map(|l| names.lock(event::LockId(l))).into_iter().collect()
                }
                _ => vec![],
            }
        };
        let both = |name: &str| locks(a).contains(&name) && locks(b).contains(&name);
        (both("l") || both("m")) && !(shared(p) && shared(q)) && !(p == Op::TryFail && q == Op::TryFail)
    }

    fn boundaries(&self, prefix: &[usize], e: usize) -> bool {
        self.boundaries_but(prefix, e, e)
    }

    /// Whether an event keeps its order with the boundaries of its variable, except with event `but`.
    fn boundaries_but(&self, prefix: &[usize], e: usize, but: usize) -> bool {
        let event = self.events[e];
        (0..self.events.len()).filter(|&a| a != but).all(|a| {
            let other = self.events[a];
            let pair = access(event.op()) && access(other.op()) && event.object() == other.object();
            if a == e || !pair || !(bounds_lifetime(event.op()) || bounds_lifetime(other.op())) {
                return true;
            }
            prefix.contains(&a) == (a < e)
        })
    }

    /// The sets between the boundaries around an access: the opening event, and all members.
    fn sets_around(&self, e: usize) -> Vec<(Option<usize>, Vec<usize>)> {
        let var = self.events[e].object();
        let all: Vec<usize> =
            (0..self.events.len()).filter(|&a| access(self.events[a].op()) && self.events[a].object() == var).collect();
        let from = all.iter().copied().rfind(|&a| a < e && bounds_lifetime(self.events[a].op()));
        let to = all.iter().copied().find(|&a| a > e && bounds_lifetime(self.events[a].op()));
        let inside = all.iter().copied().filter(|&a| from.is_none_or(|f| a > f) && to.is_none_or(|t| a < t));
        let mut sets: Vec<(Option<usize>, Vec<usize>)> = vec![(None, vec![])];
        for a in inside {
            let op = self.events[a].op();
            if !write(op) || op == Op::AtomicRmw {
                sets.last_mut().expect("never empty").1.push(a);
            }
            if write(op) {
                sets.push((Some(a), vec![a]));
            }
        }
        sets
    }

    fn sets(&self, prefix: &[usize], e: usize) -> bool {
        let op = self.events[e].op();
        if !access(op) || bounds_lifetime(op) {
            // The order with boundaries is another rule.
            return true;
        }
        let sets = self.sets_around(e);
        sets.iter().all(|(opened, members)| {
            let came = |a: &usize| prefix.contains(a);
            let member = members.contains(&e);
            if member && *opened != Some(e) {
                let after_opening = opened.is_none_or(|o| came(&o));
                let last = op != Op::AtomicRmw || members.iter().all(|m| *m == e || came(m));
                return after_opening && last;
            }
            let open = opened.is_none_or(|o| came(&o)) && !members.iter().all(came);
            member || !open
        })
    }

    fn locks(&self, prefix: &[usize], e: usize) -> bool {
        let came = |a: Option<usize>| a.is_some_and(|a| prefix.contains(&a));
        for mine in self.sections.iter().filter(|s| s.opens == Some(e)) {
            for other in self.sections.iter().filter(|s| s.lock == mine.lock && s.thread != mine.thread) {
                let open = (other.opens.is_none() || came(other.opens)) && !came(other.closes);
                if open && !(mine.shared && other.shared) {
                    return false;
                }
            }
        }
        // It failed while these sections were open, and fails while they are.
        if self.events[e].op() == Op::TryFail {
            let failed = e;
            let then: Vec<&Section> = self
                .sections
                .iter()
                .filter(|s| s.lock == self.events[failed].object())
                .filter(|s| s.opens.is_none_or(|o| o < failed) && s.closes.is_none_or(|c| c > failed))
                .collect();
            let mine = self.events[failed].thread().0;
            let others = then.iter().any(|s| s.thread != mine);
            for section in then.into_iter().filter(|s| (s.thread != mine) == others) {
                if section.opens.is_some() && !came(section.opens) || came(section.closes) {
                    return false;
                }
            }
        }
        true
    }

    fn conditions(&self, prefix: &[usize], e: usize) -> bool {
        let position = |a: usize| prefix.iter().position(|&p| p == a);
        self.pairs.iter().filter(|p| p.0 == e).all(|&(_, wait, notify)| match (position(wait), position(notify)) {
            (Some(wait), Some(notify)) => wait < notify,
            _ => false,
        })
    }

    fn semaphore_order(&self, prefix: &[usize], e: usize) -> bool {
        let event = self.events[e];
        let semaphore = |op| matches!(op, Op::Up | Op::Down);
        !semaphore(event.op()) || (0..e).all(|a| !semaphore(self.events[a].op()) || prefix.contains(&a))
    }

    fn semaphore_count(&self, prefix: &[usize], e: usize) -> bool {
        if self.events[e].op() != Op::Down {
            return true;
        }
        let Value::Int(initial) = self.sample.batch.inits[0].value else { return false };
        let count = |op| prefix.iter().filter(|&&a| self.events[a].op() == op).count() as i64;
        initial + count(Op::Up) > count(Op::Down)
    }

    /// The last write of a variable in some order since the last boundary, and whether there was a boundary.
    fn last_write(&self, order: impl DoubleEndedIterator<Item = usize>, var: u32) -> (Option<usize>, bool) {
        let mut last = (None, false);
        for a in order.filter(|&a| access(self.events[a].op()) && self.events[a].object() == var) {
            if bounds_lifetime(self.events[a].op()) {
                last = (None, true);
            } else if write(self.events[a].op()) {
                last.0 = Some(a);
            }
        }
        last
    }

    fn sees(&self, prefix: &[usize], e: usize) -> bool {
        let event = self.events[e];
        if !reads(event.op()) && event.op() != Op::AtomicRmw {
            return true;
        }
        let (recorded, _) = self.last_write(0..e, event.object());
        let (now, renewed) = self.last_write(prefix.iter().copied(), event.object());
        if recorded == now {
            return true;
        }
        let left = match now {
            Some(write) => self.sample.batch.extra(self.events[write]).value,
            None if renewed => Value::Unknown,
            None => self.sample.initial[event.object() as usize],
        };
        let saw = self.sample.batch.extra(event).value;
        event.op() != Op::AtomicRmw && left.is_known() && saw.is_known() && left == saw
    }

    /// Whether two events can come next, in either order, and race.
    pub fn race(&self, prefix: &[usize], [a, b]: [usize; 2]) -> bool {
        let (p, q) = (self.events[a], self.events[b]);
        let racy = |op: Op| access(op) && op != Op::Alloc;
        p.thread() != q.thread()
            && racy(p.op())
            && racy(q.op())
            && p.object() == q.object()
            && !(reads(p.op()) && reads(q.op()))
            && !(p.op().is_atomic() && q.op().is_atomic())
            && [(a, b), (b, a)].into_iter().all(|(e, other)| {
                !prefix.contains(&e) && self.common(prefix, e) && self.boundaries_but(prefix, e, other)
            })
    }

    /// Whether these events, each next of its thread, ask for locks around a cycle.
    pub fn deadlock(&self, prefix: &[usize], requests: &[usize]) -> bool {
        let came = |a: Option<usize>| a.is_some_and(|a| prefix.contains(&a));
        let thread = |e: usize| self.events[e].thread().0;
        let has = |thread: u32, lock: u32, shared: bool| {
            let of = |s: &&Section| s.thread == thread && s.lock == lock && s.shared == shared;
            self.sections.iter().filter(of).any(|s| came(s.opens) && !came(s.closes))
        };
        let blocked = |k: usize| {
            let (e, holder) = (requests[k], thread(requests[(k + 1) % requests.len()]));
            let lock = self.events[e].object();
            let opens = self.sections.iter().any(|s| s.opens == Some(e));
            let shared = has(holder, lock, true);
            let blocks = match self.events[e].op() {
                Op::Acquire => opens && (has(holder, lock, false) || shared),
                Op::ReadAcquire => opens && has(holder, lock, false),
                Op::Request => !has(thread(e), lock, false) && (has(holder, lock, false) || shared),
                _ => false,
            };
            blocks && !prefix.contains(&e) && self.common(prefix, e)
        };
        let distinct = (0..requests.len()).all(|k| (0..k).all(|j| thread(requests[j]) != thread(requests[k])));
        requests.len() > 1 && distinct && (0..requests.len()).all(blocked)
    }

    /// The first position that is wrong, or whether the last event is a terminal read.
    pub fn feasible(&self, model: Causality, schedule: &[u64], terminal: bool) -> Result<bool, usize> {
        let all: Vec<usize> = schedule.iter().map(|&e| e as usize).collect();
        for k in 0..all.len() {
            match self.next(model, &all[..k], all[k]) {
                Next::Yes => {}
                Next::Terminal if terminal && k + 1 == all.len() => return Ok(true),
                _ => return Err(k),
            }
        }
        Ok(false)
    }
}
