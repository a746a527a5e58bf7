//! The context of events: operation, site, stack, and the locks that the thread held.

use crate::again::{Again, stretches};
use crate::claim::Claim;
use crate::held::HeldLocks;
use event::{Batch, Event, LockId, Meta, Names, SiteId, StackId};
use report::{Kind, Side};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use trace::text::event_text;

/// Frames of a call stack that are kept: deep recursion has more than a reader wants.
const FRAMES: usize = 200;

/// Contexts by event.
pub(crate) type Contexts = HashMap<u64, Side>;

/// Collects the contexts of wanted events on a pass along the trace.
struct Collector {
    wanted: std::iter::Peekable<std::collections::btree_set::IntoIter<u64>>,
    held: HeldLocks,
    found: Contexts,
}

impl Collector {
    fn new(wanted: BTreeSet<u64>) -> Collector {
        Collector { wanted: wanted.into_iter().peekable(), held: HeldLocks::default(), found: Contexts::new() }
    }

    /// Looks at the next event, and says whether more are wanted.
    #[inline]
    fn step(&mut self, known: (&Names, &Meta), batch: &Batch, index: u64, event: Event) -> bool {
        if self.wanted.next_if(|&next| next == index).is_some() {
            self.found.insert(index, side(known, batch, index, event, &self.held));
        } else if self.wanted.peek().is_none() {
            return false;
        }
        self.held.step(batch, event);
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
        libraries: libraries(names, meta, batch.extra(event).stack, event.site()),
    }
}

/// The frames of a call stack, leaf first; of a very deep one the innermost.
pub(crate) fn stack(names: &Names, meta: &Meta, stack: StackId) -> Vec<String> {
    let mut frames = meta.stacks.frames(stack);
    let mut sites: Vec<String> = frames.by_ref().take(FRAMES).map(|frame| names.site(frame).to_owned()).collect();
    sites.extend(frames.next().map(|_| "…".to_owned()));
    sites
}

/// The shared libraries of the frames of a call stack, or of an event without one, up to the last frame that is in one.
fn libraries(names: &Names, meta: &Meta, stack: StackId, site: SiteId) -> Vec<String> {
    // A trace has some thousand sites, and findings are few.
    let library = |site: SiteId| {
        let known = meta.libraries.iter().find(|(known, _)| *known == site);
        known.map_or_else(String::new, |&(_, library)| names.str(library).to_owned())
    };
    if meta.libraries.is_empty() {
        return Vec::new();
    }
    let mut frames: Vec<SiteId> = meta.stacks.frames(stack).take(FRAMES).collect();
    if frames.is_empty() {
        frames.push(site);
    }
    let mut all: Vec<String> = frames.into_iter().map(library).collect();
    let count = all.iter().rposition(|library| !library.is_empty()).map_or(0, |last| last + 1);
    all.truncate(count);
    all
}

/// The contexts of some events of a trace in memory.
pub(crate) fn from_trace(names: &Names, meta: &Meta, trace: &Batch, wanted: BTreeSet<u64>) -> Contexts {
    let mut collector = Collector::new(wanted);
    let mut events = (trace.first..).zip(&trace.events);
    while let Some((index, &event)) = events.next()
        && collector.step((names, meta), trace, index, event)
    {}
    collector.found
}

/// So many events before one are looked at first for where its locks were taken; then more and more.
const NEAR: u64 = 1 << 12;
const MORE: u64 = 4;

/// Stretches that are read one by one; for more the trace is read from its beginning.
const STRETCHES: usize = 1000;

/// By event of claims: the locks that its thread holds, ascending, if the detector knows.
pub(crate) type KnownLocks = BTreeMap<u64, Option<Vec<LockId>>>;

/// The events of claims, and which locks their threads hold.
pub(crate) fn known_locks(claims: &[Claim]) -> KnownLocks {
    let mut known = KnownLocks::new();
    for claim in claims.iter().flat_map(Claim::with_behind) {
        for part in &claim.parts {
            let locks = known.entry(part.event).or_default();
            // Detectors of races follow the locks.
            if claim.kind == Kind::Race {
                let mut held = part.locks.clone();
                held.sort_unstable();
                *locks = Some(held);
            }
        }
    }
    known
}

/// The contexts of some events of a trace that was not retained.
///
/// Most locks were taken shortly before the event, so a little of the trace is read first. That is enough if the locks
/// of the thread are found there; else more is read, in the end all from the beginning. (Of a lock that was taken
/// twice, far apart, this may name the second place.) For an event without known locks nothing less than all is sure.
pub(crate) fn from_reread(again: Option<Again<'_>>, wanted: &KnownLocks) -> Contexts {
    let mut found = Contexts::new();
    let Some(again) = again else { return found };
    let (mut known, mut rest): (Vec<u64>, Vec<u64>) = wanted.keys().partition(|event| wanted[event].is_some());
    let last = wanted.keys().last().copied().unwrap_or(0);
    let mut near = NEAR;
    while !known.is_empty() && near < last {
        let firsts: Vec<u64> = known.iter().flat_map(|&event| [event.saturating_sub(near), event]).collect();
        let firsts: BTreeSet<u64> = firsts.into_iter().collect();
        let stretches = stretches(&firsts.into_iter().collect::<Vec<_>>());
        if stretches.len() > STRETCHES {
            break;
        }
        for stretch in stretches {
            let mut held = HeldLocks::default();
            let mut here = wanted.range(stretch.clone()).peekable();
            again.read(stretch, |(names, meta), batch, index, event| {
                if let Some((_, Some(locks))) = here.next_if(|(next, _)| **next == index)
                    && held.is_held(event.thread(), locks)
                {
                    found.entry(index).or_insert_with(|| side((names, meta), batch, index, event, &held));
                }
                held.step(batch, event);
                ControlFlow::Continue(())
            });
        }
        known.retain(|event| !found.contains_key(event));
        near *= MORE;
    }
    rest.extend(known);
    if let Some(&last) = rest.iter().max() {
        let mut collector = Collector::new(rest.into_iter().collect());
        again.read(0..last + 1, |(names, meta), batch, index, event| {
            collector.step((names, meta), batch, index, event);
            ControlFlow::Continue(())
        });
        found.extend(collector.found);
    }
    found
}

/// What is known of an event without following the trace up to it: all but the locks.
pub(crate) fn without_locks(names: &Names, meta: &Meta, trace: &Batch, index: u64) -> Option<Side> {
    let at = usize::try_from(index.checked_sub(trace.first)?).ok()?;
    let event = *trace.events.get(at)?;
    Some(side((names, meta), trace, index, event, &HeldLocks::default()))
}
