//! A whole trace with facts that all models need, and the windows into which `weak-hb` and `maximal` divide it.

use crate::builder::{is_access, is_read};
use crate::window_start::WindowStart;
use event::{Batch, Event, Id, Names, Space, ThreadId, Value, VarId};
use std::cell::OnceCell;
use std::ops::Range;
use sync::{Wakeup, wakeups};

/// A whole trace. The facts about it are found when a model first asks for them.
pub struct Trace<'a> {
    /// The names in it.
    pub names: &'a Names,
    /// Its events.
    pub batch: &'a Batch,
    /// By variable: whether more than one thread accesses it.
    shared: Vec<bool>,
    drop_barriers: Vec<u64>,
    wakeups: OnceCell<Vec<Wakeup>>,
    last_readers: OnceCell<Vec<u32>>,
}

impl<'a> Trace<'a> {
    /// Looks at a trace, whose first event is number 0.
    pub fn new(names: &'a Names, batch: &'a Batch) -> Trace<'a> {
        debug_assert_eq!(batch.first, 0);
        let mut owner: Vec<Option<ThreadId>> = vec![None; names.space(Space::Var).len()];
        let mut shared = vec![false; owner.len()];
        let mut drop_barriers = Vec::new();
        for (index, event) in batch.events.iter().enumerate() {
            if is_access(event.op()) {
                let var = event.var().index();
                shared[var] |= *owner[var].get_or_insert(event.thread()) != event.thread();
            } else if event.op().is_drop_barrier() {
                drop_barriers.push(index as u64);
            }
        }
        Trace { names, batch, shared, drop_barriers, wakeups: OnceCell::new(), last_readers: OnceCell::new() }
    }

    /// How many threads it names.
    pub(crate) fn threads(&self) -> usize {
        self.names.space(Space::Thread).len()
    }

    pub(crate) fn event(&self, index: u64) -> Event {
        self.batch.events[index as usize]
    }

    /// The indexes of its `pin` and `rpin`.
    pub(crate) fn drop_barriers(&self) -> &[u64] {
        &self.drop_barriers
    }

    /// Whether more than one thread accesses a variable.
    #[inline]
    pub(crate) fn is_shared(&self, var: VarId) -> bool {
        self.shared[var.index()]
    }

    /// The wake-ups with the notifies that caused them.
    pub(crate) fn wakeups(&self) -> &[Wakeup] {
        self.wakeups.get_or_init(|| wakeups(self.batch))
    }

    /// By event that writes (or allocates, or frees): the last event that reads what it left, or 0.
    pub(crate) fn last_readers(&self) -> &[u32] {
        self.last_readers.get_or_init(|| {
            let mut until = vec![0; self.batch.events.len()];
            let mut last: Vec<Option<u32>> = vec![None; self.shared.len()];
            for (index, event) in self.batch.events.iter().enumerate().filter(|(_, e)| is_access(e.op())) {
                let last = &mut last[event.var().index()];
                if let Some(write) = *last
                    && event.op().reads()
                {
                    until[write as usize] = index as u32;
                }
                if !is_read(event.op()) {
                    *last = Some(index as u32);
                }
            }
            until
        })
    }

    /// The initial count of each semaphore: what the trace says last before its first use, else 0.
    pub(crate) fn semaphores(&self) -> Vec<i64> {
        let mut counts = vec![0; self.names.space(Space::Sem).len()];
        let mut used = vec![u32::MAX; counts.len()];
        for (index, event) in (0u32..).zip(&self.batch.events).filter(|(_, e)| e.op().counts()) {
            let used = &mut used[event.sem().index()];
            *used = index.min(*used);
        }
        for init in &self.batch.inits {
            if let Some(sem) = self.names.space(Space::Sem).find(self.names.str(init.name).as_bytes())
                && init.before <= used[sem as usize]
            {
                counts[sem as usize] = if let Value::Int(count) = init.value { count.max(0) } else { 0 };
            }
        }
        counts
    }

    /// Divides the trace into windows of so many events. `initial` gives the initial values of variables.
    pub fn windows(&'a self, events: u64, initial: &'a dyn Fn(VarId) -> Value) -> Windows<'a> {
        Windows { trace: self, size: events.max(1), start: WindowStart::new(self, initial), at: 0 }
    }
}

/// A window of a trace: consecutive events, and the state of the recorded run before them.
pub struct Window<'a> {
    pub(crate) trace: &'a Trace<'a>,
    pub(crate) range: Range<u64>,
    pub(crate) start: &'a WindowStart,
}

impl Window<'_> {
    /// The indexes of its events.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Its events with their indexes.
    pub(crate) fn events(&self) -> impl Iterator<Item = (u64, Event)> + '_ {
        let events = &self.trace.batch.events[self.range.start as usize..self.range.end as usize];
        (self.range.start..).zip(events.iter().copied())
    }
}

/// The windows of a trace, one after another.
pub struct Windows<'a> {
    trace: &'a Trace<'a>,
    size: u64,
    start: WindowStart,
    at: u64,
}

impl Windows<'_> {
    /// The next window; `None` after the last. An empty trace has one window, without events.
    pub fn next_window(&mut self) -> Option<Window<'_>> {
        let end = self.trace.batch.events.len() as u64;
        if self.at > end || (self.at == end && end > 0) {
            return None;
        }
        self.start.advance(self.trace, self.at);
        let from = self.at;
        self.at = (from + self.size).min(end).max(from + u64::from(end == 0));
        Some(Window { trace: self.trace, range: from..self.at.min(end), start: &self.start })
    }
}
