//! Windows of a trace as traces of their own: what is left of the past, then the window.
//!
//! Of the past only that is kept which a rule of docs/causality.md can still see from the window: locks that are held,
//! waits that go on, what variables hold, what semaphores count, open blocks. So an order of a window's events is
//! feasible in the trace made here if and only if it is feasible in the whole trace behind everything before the
//! window.
//!
//! One pass along the trace follows that state (`past`); a window costs no more than its events and what they touch.

mod ahead;
mod past;
mod pins;

use ahead::Ahead;
use event::{Batch, Event, Id, Names, Op, SemId, Space, ThreadId, Value, VarId};
use past::{Past, Source};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// A window of a trace as a trace of its own: the events before it that still matter, in recorded order, then the
/// window.
#[derive(Clone, Debug)]
pub struct Window {
    /// The events. Those of the past may be made up: a lock that a wake-up took back is taken by as many `acq`.
    pub batch: Batch,
    /// How many of them are of the past.
    pub fixed: usize,
    /// By offset: the index in the whole trace, or, of a made-up event, of the one that it stands for.
    pub index: Vec<u64>,
    /// The window, as indexes in the whole trace.
    pub range: Range<u64>,
}

/// The windows of a trace, each with what is left of the past. They overlap by half a window.
pub struct Windows<'a> {
    names: &'a Names,
    batch: &'a Batch,
    size: usize,
    ahead: Ahead,
    past: Past,
    at: usize,
    done: bool,
}

impl<'a> Windows<'a> {
    /// Windows of so many events of a whole trace, whose first event is number 0.
    pub fn new(names: &'a Names, batch: &'a Batch, size: usize) -> Windows<'a> {
        let ahead = Ahead::new(batch);
        let past = Past::new(names, batch);
        Windows { names, batch, size: size.max(1), ahead, past, at: 0, done: batch.events.is_empty() }
    }

    /// The windows of a size that a trace of so many events has.
    pub fn ranges(events: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
        let count = usize::try_from(Windows::count(events, size)).unwrap_or(usize::MAX);
        (0..count).map(move |number| {
            let start = number * step(size.max(1));
            start..events.min(start.saturating_add(size.max(1)))
        })
    }

    /// How many windows of a size a trace of so many events has.
    pub fn count(events: usize, size: usize) -> u64 {
        match events {
            0 => 0,
            _ => 1 + events.saturating_sub(size.max(1)).div_ceil(step(size)) as u64,
        }
    }
}

/// How far apart windows of a size begin.
fn step(size: usize) -> usize {
    (size / 2).max(1)
}

/// What a window touches.
#[derive(Default)]
struct Touched {
    threads: FxHashSet<ThreadId>,
    vars: FxHashSet<VarId>,
    locks: FxHashSet<u32>,
    /// By semaphore: how many `down` the window has.
    downs: FxHashMap<SemId, i64>,
}

impl Touched {
    fn new(batch: &Batch, range: Range<usize>) -> Touched {
        let mut touched = Touched::default();
        for &event in &batch.events[range] {
            touched.threads.insert(event.thread());
            match event.op() {
                Op::Wait | Op::Woken => {
                    touched.locks.insert(batch.extra(event).lock.0);
                }
                Op::Up => {
                    touched.downs.entry(event.sem()).or_default();
                }
                Op::Down => *touched.downs.entry(event.sem()).or_default() += 1,
                Op::Pin | Op::ReadPin => {}
                op => match op.space() {
                    Some(Space::Lock) => {
                        touched.locks.insert(event.object());
                    }
                    Some(Space::Var) => {
                        touched.vars.insert(event.var());
                    }
                    _ => {}
                },
            }
        }
        touched
    }
}

impl Iterator for Windows<'_> {
    type Item = Window;

    fn next(&mut self) -> Option<Window> {
        self.next_with(|_| true)
    }
}

impl Windows<'_> {
    /// The next window that is wanted: to pass over others costs nothing.
    pub fn next_with(&mut self, mut wanted: impl FnMut(Range<usize>) -> bool) -> Option<Window> {
        while !self.done {
            let end = self.batch.events.len().min(self.at.saturating_add(self.size));
            let range = self.at..end;
            self.done = end == self.batch.events.len();
            self.at += step(self.size);
            if wanted(range.clone()) {
                self.past.advance(self.batch, range.start);
                return Some(self.cut(range));
            }
        }
        None
    }

    fn cut(&self, range: Range<usize>) -> Window {
        let touched = Touched::new(self.batch, range.clone());
        let mut kept = self.past.kept(self.batch, &touched, &self.ahead, range.end as u32);
        // What comes of one event stays in the order in which it was added.
        kept.sort_by_key(|source| source.index);

        let mut made = Window {
            batch: Batch::default(),
            fixed: 0,
            index: Vec::with_capacity(kept.len() + range.len()),
            range: range.start as u64..range.end as u64,
        };
        let mut semaphores: Vec<(SemId, i64)> = touched.downs.iter().map(|(&sem, &downs)| (sem, downs)).collect();
        semaphores.sort_unstable();
        for (sem, downs) in semaphores {
            // More than the window can use makes no difference.
            let count = self.past.counts[sem.index()].min(downs).max(0);
            match self.names.space(Space::Str).find(self.names.sem(sem).as_bytes()) {
                Some(name) => made.batch.push_init(event::StrId(name), Value::Int(count)),
                None => kept.extend((0..count).filter_map(|_| self.past.last_up(sem))),
            }
        }
        for Source { index, event } in kept {
            made.push(self.batch, index, event);
        }
        pins::add(self.batch, &self.ahead, &mut made, &range);
        made
    }
}

impl Window {
    fn push(&mut self, whole: &Batch, index: u32, event: Event) {
        self.batch.push_from(whole, event);
        self.index.push(u64::from(index));
    }
}
