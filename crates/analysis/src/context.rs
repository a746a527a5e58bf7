//! The context of events: operation, site, stack, and the locks that the thread held.

use crate::control::Reread;
use crate::held::HeldLocks;
use event::{Batch, Event, Meta, Names, StackId};
use report::Side;
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use trace::text::event_text;

/// Frames of a call stack that are kept: deep recursion has more than a reader wants.
const FRAMES: usize = 200;

/// Contexts by event.
pub(crate) type Contexts = HashMap<u64, Side>;

/// Collects the contexts of wanted events on a pass along the trace.
struct Collector<'a> {
    wanted: std::iter::Peekable<std::collections::btree_set::Iter<'a, u64>>,
    held: HeldLocks,
    found: Contexts,
}

impl<'a> Collector<'a> {
    fn new(wanted: &'a BTreeSet<u64>) -> Collector<'a> {
        Collector { wanted: wanted.iter().peekable(), held: HeldLocks::default(), found: Contexts::new() }
    }

    /// Looks at the next events, and says whether more are wanted.
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

/// The context of an event of a batch.
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
    let mut sites: Vec<String> = frames.by_ref().take(FRAMES).map(|frame| names.site(frame).to_owned()).collect();
    sites.extend(frames.next().map(|_| "…".to_owned()));
    sites
}

/// The contexts of some events of a trace in memory.
pub(crate) fn from_trace(names: &Names, meta: &Meta, trace: &Batch, wanted: &BTreeSet<u64>) -> Contexts {
    let mut collector = Collector::new(wanted);
    collector.batch(names, meta, trace);
    collector.found
}

/// The contexts of some events of a trace that was not retained, which is read again.
pub(crate) fn from_reread(reread: Option<&Reread<'_>>, wanted: &BTreeSet<u64>) -> Contexts {
    let mut collector = Collector::new(wanted);
    if let Some(reread) = reread.filter(|_| !wanted.is_empty()) {
        reread(&mut |source, batch| match collector.batch(source.names(), source.meta(), batch) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        });
    }
    collector.found
}

/// What is known of an event without following the trace up to it: all but the locks.
pub(crate) fn without_locks(names: &Names, meta: &Meta, trace: &Batch, index: u64) -> Option<Side> {
    let at = usize::try_from(index.checked_sub(trace.first)?).ok()?;
    let event = *trace.events.get(at)?;
    Some(side((names, meta), trace, index, event, &HeldLocks::default()))
}
