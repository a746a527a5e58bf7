//! The definition by brute force: sets of events as flags, every rule looked at for every pair of events.

use event::{Op, Value, Wake};
use trace::Trace;

/// A section: lock, thread, whether shared, opening event (none: from the beginning), closing event.
type Section = (u32, u32, bool, Option<usize>, Option<usize>);

pub(crate) struct Naive<'a> {
    trace: &'a Trace,
    sections: Vec<Section>,
    /// For each event: those it needs. `None`: it can never be.
    predecessors: Vec<Option<Vec<usize>>>,
}

fn is_access(op: Op) -> bool {
    op.is_plain_access() || op.is_atomic() || bounds_lifetime(op)
}

fn bounds_lifetime(op: Op) -> bool {
    matches!(op, Op::Alloc | Op::Free)
}

pub(crate) fn conflict(trace: &Trace, e: usize, f: usize) -> bool {
    let (a, b) = (trace.batch.events[e], trace.batch.events[f]);
    let reads = |op| matches!(op, Op::Read | Op::AtomicLoad);
    let takes_part = |op| is_access(op) && op != Op::Alloc;
    takes_part(a.op())
        && takes_part(b.op())
        && a.object() == b.object()
        && a.thread() != b.thread()
        && !(reads(a.op()) && reads(b.op()))
        && !(a.op().is_atomic() && b.op().is_atomic())
}

impl<'a> Naive<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let mut naive = Naive { trace, sections: sections(trace), predecessors: Vec::new() };
        naive.predecessors = (0..trace.batch.events.len()).map(|at| naive.needs_of(at)).collect();
        naive
    }

    fn op(&self, at: usize) -> Op {
        self.trace.batch.events[at].op()
    }

    fn object(&self, at: usize) -> u32 {
        self.trace.batch.events[at].object()
    }

    fn thread(&self, at: usize) -> u32 {
        self.trace.batch.events[at].thread().0
    }

    fn events(&self, from: usize, to: usize, op: Op, object: u32) -> Vec<usize> {
        (from..to).filter(|&at| self.op(at) == op && self.object(at) == object).collect()
    }

    /// Program order, fork and join, post and await, pins.
    fn common(&self, at: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..at).filter(|&other| self.thread(other) == self.thread(at)).collect();
        all.extend(self.events(0, at, Op::Fork, self.thread(at)));
        match self.op(at) {
            Op::Join => {
                all.extend((0..at).filter(|&other| self.thread(other) == self.object(at)));
                all.extend(self.events(0, at, Op::Fork, self.object(at)));
            }
            Op::Await => all.extend(self.events(0, at, Op::Post, self.object(at))),
            op if is_access(op) => {
                let mut pins = self.events(0, self.needs_len(), Op::Pin, self.object(at));
                if !matches!(op, Op::Read | Op::AtomicLoad) {
                    pins.extend(self.events(0, self.needs_len(), Op::ReadPin, self.object(at)));
                }
                for pin in pins {
                    let Value::Int(n) = self.trace.batch.extra(self.trace.batch.events[pin]).value else { continue };
                    let own: Vec<usize> =
                        (0..self.needs_len()).filter(|&other| self.thread(other) == self.thread(pin)).collect();
                    all.extend(own.get(n as usize).filter(|&&pinned| pinned < at));
                }
            }
            _ => {}
        }
        all
    }

    fn needs_len(&self) -> usize {
        self.trace.batch.events.len()
    }

    /// Accesses recorded before, as far as they or this one are `alloc` or `free`.
    fn boundaries(&self, at: usize) -> Vec<usize> {
        (0..at)
            .filter(|&other| {
                is_access(self.op(at))
                    && is_access(self.op(other))
                    && self.object(other) == self.object(at)
                    && (bounds_lifetime(self.op(at)) || bounds_lifetime(self.op(other)))
            })
            .collect()
    }

    fn needs_of(&self, at: usize) -> Option<Vec<usize>> {
        let mut all = self.common(at);
        all.extend(self.boundaries(at));
        match self.op(at) {
            Op::Read | Op::AtomicLoad | Op::AtomicRmw => {
                let last = (0..at).rev().find(|&other| {
                    is_access(self.op(other))
                        && self.object(other) == self.object(at)
                        && !matches!(self.op(other), Op::Read | Op::AtomicLoad)
                });
                all.extend(last);
            }
            Op::Woken => all.extend(self.notify_of(at)),
            Op::Down => {
                let number = self.events(0, at, Op::Down, self.object(at)).len();
                let name = self.trace.names.get(event::Space::Sem, self.object(at));
                let initial = usize::from(name == "s1");
                if number >= initial {
                    let ups = self.events(0, at, Op::Up, self.object(at));
                    all.push(*ups.get(number - initial)?);
                }
            }
            Op::TryFail => {
                let lock = self.object(at);
                let open = self.sections.iter().filter(|s| s.0 == lock && s.3.is_some_and(|open| open < at));
                all.extend(open.filter(|s| s.4.is_none_or(|close| close > at)).filter_map(|s| s.3));
            }
            _ => {}
        }
        for &(lock, thread, shared, open, _) in &self.sections {
            if open == Some(at) {
                for &(other_lock, other, early_shared, open, close) in &self.sections {
                    if other_lock == lock && open.is_none() && other != thread && !(shared && early_shared) {
                        all.push(close.filter(|&close| close < at)?);
                    }
                }
            }
        }
        Some(all)
    }

    /// Replays the pairing from the beginning.
    fn notify_of(&self, woken: usize) -> Option<usize> {
        let mut used = Vec::new();
        let mut last = None;
        for at in 0..=woken {
            if self.op(at) != Op::Woken {
                continue;
            }
            last = None;
            let own = (0..at)
                .rev()
                .find(|&other| self.thread(other) == self.thread(at) && matches!(self.op(other), Op::Wait | Op::Woken));
            let Some(wait) = own.filter(|&wait| self.op(wait) == Op::Wait) else { continue };
            let extra = |at: usize| self.trace.batch.extra(self.trace.batch.events[at]);
            if extra(at).wake != Wake::Notified
                || self.object(wait) != self.object(at)
                || extra(wait).lock != extra(at).lock
            {
                continue;
            }
            last = (wait..at).find(|&notify| {
                self.object(notify) == self.object(at)
                    && (self.op(notify) == Op::NotifyAll || self.op(notify) == Op::Notify && !used.contains(&notify))
            });
            used.extend(last);
        }
        last
    }

    /// The least closed set with these events; `None` if there is none.
    pub(crate) fn closure(&self, seeds: &[usize]) -> Option<Vec<bool>> {
        let mut set = vec![false; self.needs_len()];
        seeds.iter().for_each(|&at| set[at] = true);
        loop {
            let mut more = Vec::new();
            for at in 0..set.len() {
                if set[at] {
                    more.extend(self.predecessors[at].as_ref()?.iter().copied().filter(|&other| !set[other]));
                }
            }
            for one in &self.sections {
                for two in &self.sections {
                    let (Some(first), Some(second)) = (one.3, two.3) else { continue };
                    if one.0 == two.0
                        && one.1 != two.1
                        && !(one.2 && two.2)
                        && first < second
                        && set[first]
                        && set[second]
                    {
                        let close = one.4.filter(|&close| close < second)?;
                        if !set[close] {
                            more.push(close);
                        }
                    }
                }
            }
            if more.is_empty() {
                return Some(set);
            }
            more.iter().for_each(|&at| set[at] = true);
        }
    }

    /// The least closed set with what these need to be next, in recorded order, if none of them is in it.
    pub(crate) fn next_together(&self, events: &[usize]) -> Option<Vec<u64>> {
        let seeds: Vec<usize> = events.iter().flat_map(|&at| self.common(at)).collect();
        let set = self.closure(&seeds)?;
        let prefix = (0..set.len()).filter(|&at| set[at]).map(|at| at as u64).collect();
        events.iter().all(|&at| !set[at]).then_some(prefix)
    }

    /// What a request has in common with others: thread, operation, lock, whether it is one at all, and what is held.
    pub(crate) fn pattern(&self, at: usize) -> (u32, u8, u32, bool, Vec<(u32, bool)>) {
        let thread = self.thread(at);
        let own = || self.sections.iter().filter(|section| section.1 == thread);
        let opens = own().any(|section| section.3 == Some(at));
        let mut held: Vec<(u32, bool)> = own()
            .filter(|section| section.3.is_some_and(|open| open < at) && section.4.is_none_or(|close| close > at))
            .map(|section| (section.0, section.2))
            .collect();
        held.sort_unstable();
        (thread, self.op(at) as u8, self.object(at), opens, held)
    }

    /// Whether two conflicting events are a sync-preserving race.
    pub(crate) fn is_race(&self, e: usize, f: usize) -> bool {
        let mut seeds = Vec::new();
        for (at, other) in [(e, f), (f, e)] {
            seeds.extend(self.common(at));
            seeds.extend(self.boundaries(at).into_iter().filter(|&needed| needed != other));
        }
        self.closure(&seeds).is_some_and(|set| !set[e] && !set[f])
    }
}

fn sections(trace: &Trace) -> Vec<Section> {
    let mut all: Vec<Section> = Vec::new();
    // Thread, lock, kind: depth and section.
    let mut depth = std::collections::BTreeMap::<(u32, u32, bool), (u32, usize)>::new();
    let mut waits = std::collections::BTreeMap::<u32, (u32, u32, [u32; 2])>::new();
    for (at, &event) in trace.batch.events.iter().enumerate() {
        let thread = event.thread().0;
        let lock = match event.op() {
            Op::Wait | Op::Woken => trace.batch.extra(event).lock.0,
            _ => event.object(),
        };
        let mut change = |shared: bool, by: i64| {
            let (depth, section) = depth.entry((thread, lock, shared)).or_default();
            if by > 0 && *depth == 0 {
                *section = all.len();
                all.push((lock, thread, shared, Some(at), None));
            }
            if by < 0 && *depth == 0 {
                all.push((lock, thread, shared, None, Some(at)));
                return;
            }
            *depth = (i64::from(*depth) + by) as u32;
            if by < 0 && *depth == 0 {
                all[*section].4 = Some(at);
            }
        };
        match event.op() {
            Op::Acquire | Op::TryAcquire => change(false, 1),
            Op::ReadAcquire => change(true, 1),
            Op::Release => change(false, -1),
            Op::ReadRelease => change(true, -1),
            Op::Wait => {
                let levels = [false, true].map(|shared| depth.get(&(thread, lock, shared)).map_or(0, |d| d.0));
                waits.insert(thread, (event.object(), lock, levels));
                let mut change = |shared: bool, by: u32| {
                    if by > 0 {
                        let (depth, section) = depth.entry((thread, lock, shared)).or_default();
                        *depth = 0;
                        all[*section].4 = Some(at);
                    }
                };
                change(false, levels[0]);
                change(true, levels[1]);
            }
            Op::Woken => {
                let wait = waits.remove(&thread).filter(|wait| (wait.0, wait.1) == (event.object(), lock));
                let levels = wait.map(|wait| wait.2).filter(|levels| *levels != [0, 0]).unwrap_or([1, 0]);
                for (shared, by) in [(false, levels[0]), (true, levels[1])] {
                    if by > 0 {
                        change(shared, i64::from(by));
                    }
                }
            }
            _ => {}
        }
    }
    all
}
