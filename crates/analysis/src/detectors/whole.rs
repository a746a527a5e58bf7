//! A whole trace on its way to a detector, part by part: an interrupt does not wait for its end.

use detect::prefilter::each_masked;
use event::{Batch, VarId};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long all detectors together may go on after an interrupt, to have something to say.
const LATE: Duration = Duration::from_millis(100);

/// Events of a part that is copied with its arguments.
const PART: usize = 1 << 14;

/// Whether detectors may go on: until the caller cancels, and a moment longer.
pub(crate) struct Gate<'a> {
    cancel: &'a AtomicBool,
    end: Cell<Option<Instant>>,
}

impl<'a> Gate<'a> {
    pub(crate) fn new(cancel: &'a AtomicBool) -> Gate<'a> {
        Gate { cancel, end: Cell::new(None) }
    }

    pub(crate) fn is_open(&self) -> bool {
        if !self.cancel.load(Ordering::Relaxed) {
            return true;
        }
        let now = Instant::now();
        let end = self.end.get().unwrap_or(now + LATE);
        self.end.set(Some(end));
        now < end
    }
}

/// A whole trace for one detector.
pub(crate) struct Whole<'a> {
    trace: &'a Batch,
    gate: &'a Gate<'a>,
    /// How many events it has seen, if it has not seen all.
    stopped: Cell<Option<u64>>,
}

impl<'a> Whole<'a> {
    pub(crate) fn new(trace: &'a Batch, gate: &'a Gate<'a>) -> Whole<'a> {
        Whole { trace, gate, stopped: Cell::new(None) }
    }

    /// How many events the detector has seen, if an interrupt kept it from seeing all.
    pub(crate) fn stopped(&self) -> Option<u64> {
        self.stopped.get()
    }

    /// Gives all events on; internal ones may lose their arguments.
    pub(crate) fn each(&self, mut take: impl FnMut(&Batch)) {
        if self.trace.events.len() <= PART {
            take(self.trace);
        } else {
            self.each_of(|_| true, take);
        }
    }

    /// Gives the trace on with what is done to other variables made into internal events.
    pub(crate) fn each_of(&self, keeps: impl Fn(VarId) -> bool, mut take: impl FnMut(&Batch)) {
        each_masked(self.trace, keeps, |part| {
            take(part);
            self.goes_on(part.first + part.events.len() as u64)
        });
    }

    /// Gives all events on, with their arguments.
    pub(crate) fn each_with_arguments(&self, mut take: impl FnMut(&Batch)) {
        if self.trace.events.len() <= PART {
            take(self.trace);
            return;
        }
        let mut part = Batch::default();
        let mut inits = self.trace.inits.iter().peekable();
        for (number, events) in self.trace.events.chunks(PART).enumerate() {
            part.clear(self.trace.first + (number * PART) as u64);
            for (at, &event) in (number * PART..).zip(events) {
                while let Some(init) = inits.next_if(|init| init.before as usize <= at) {
                    part.push_init(init.name, init.value);
                }
                part.push_from(self.trace, event);
            }
            take(&part);
            if self.goes_on(part.first + events.len() as u64).is_break() {
                return;
            }
        }
    }

    /// So many events have been given on; whether more may be.
    fn goes_on(&self, seen: u64) -> ControlFlow<()> {
        let is_all = seen == self.trace.first + self.trace.events.len() as u64;
        if is_all || self.gate.is_open() {
            return ControlFlow::Continue(());
        }
        self.stopped.set(Some(seen - self.trace.first));
        ControlFlow::Break(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use event::{Event, Op, SiteId, ThreadId};

    fn trace(events: usize) -> Batch {
        let event = Event::new(ThreadId(0), Op::Read, 0, SiteId(0));
        Batch { events: vec![event; events], ..Batch::default() }
    }

    #[test]
    fn an_interrupt_ends_it_soon_and_it_says_where() {
        let (trace, cancel) = (trace(40 * PART), AtomicBool::new(false));
        let gate = Gate::new(&cancel);
        let whole = Whole::new(&trace, &gate);
        let mut seen = 0;
        whole.each(|part| seen += part.events.len());
        assert_eq!((seen, whole.stopped()), (trace.events.len(), None));

        cancel.store(true, Ordering::Relaxed);
        gate.end.set(Some(Instant::now()));
        for with_arguments in [false, true] {
            let whole = Whole::new(&trace, &gate);
            let mut seen = 0;
            let count = |part: &Batch| seen += part.events.len();
            if with_arguments {
                whole.each_with_arguments(count);
            } else {
                whole.each(count);
            }
            assert_eq!((seen, whole.stopped()), (PART, Some(PART as u64)), "the first part is always seen");
        }
    }
}
