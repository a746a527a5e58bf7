//! What happened at some events: operation, site, stack, and the locks that their threads held.

use crate::held::HeldLocks;
use crate::input;
use event::{Batch, Event, Meta, Names, StackId};
use report::Side;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use trace::text::event_text;

/// Frames of a call stack that are told: recursion without end has more than anybody reads.
const FRAMES: usize = 200;

/// What happened, by event.
pub(crate) type Moments = HashMap<u64, Side>;

/// Looks at events in passing.
struct Looker<'a> {
    wanted: std::iter::Peekable<std::collections::btree_set::Iter<'a, u64>>,
    held: HeldLocks,
    found: Moments,
}

impl<'a> Looker<'a> {
    fn new(wanted: &'a BTreeSet<u64>) -> Looker<'a> {
        Looker { wanted: wanted.iter().peekable(), held: HeldLocks::default(), found: Moments::new() }
    }

    /// Takes the next events; whether more are wanted.
    fn batch(&mut self, names: &Names, meta: &Meta, batch: &Batch) -> bool {
        for (index, &event) in (batch.first..).zip(&batch.events) {
            if self.wanted.next_if(|&&next| next == index).is_some() {
                self.found.insert(index, side((names, meta), batch, index, event, &self.held));
            } else if self.wanted.peek().is_none() {
                return false;
            }
            self.held.step(batch, event);
        }
        true
    }
}

/// What happened at an event of a batch.
pub(crate) fn side((names, meta): (&Names, &Meta), batch: &Batch, index: u64, event: Event, held: &HeldLocks) -> Side {
    Side {
        event: index,
        thread: names.thread(event.thread()).to_owned(),
        op: event_text(names, batch, event),
        site: names.site(event.site()).to_owned(),
        locks_held: held.names(names, event.thread()),
        lock_sites: held.sites(names, event.thread()),
        stack: stack(names, meta, batch.extra(event).stack),
    }
}

/// The frames of a call stack, leaf first; of a very deep one the innermost.
pub(crate) fn stack(names: &Names, meta: &Meta, stack: StackId) -> Vec<String> {
    let mut frames = meta.stacks.frames(stack);
    let mut told: Vec<String> = frames.by_ref().take(FRAMES).map(|frame| names.site(frame).to_owned()).collect();
    told.extend(frames.next().map(|_| "…".to_owned()));
    told
}

/// What happened at some events of a trace in memory.
pub(crate) fn of_trace(names: &Names, meta: &Meta, trace: &Batch, wanted: &BTreeSet<u64>) -> Moments {
    let mut looker = Looker::new(wanted);
    looker.batch(names, meta, trace);
    looker.found
}

/// The same of a trace that was not kept: it is read again, as far as that is possible.
pub(crate) fn read_again(path: &Path, wanted: &BTreeSet<u64>) -> Moments {
    let mut looker = Looker::new(wanted);
    if wanted.is_empty() || !path.is_file() {
        return looker.found;
    }
    let Ok(mut input) = input::open(path) else { return looker.found };
    let mut batch = Batch::default();
    while let Ok(true) = input.source.next_batch(&mut batch) {
        if !looker.batch(input.source.names(), input.source.meta(), &batch) {
            break;
        }
    }
    looker.found
}
