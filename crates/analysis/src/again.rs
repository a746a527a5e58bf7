//! What findings need of a trace that was not retained, read again: as little of it as possible.

use crate::control::Reread;
use event::{Batch, Event, Meta, Names};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};

/// Stretches that are nearer to each other than so many events are read together: to begin anew costs about as much.
const NEAR: u64 = 1 << 16;

/// A trace that can be read again, as far as the caller lets it.
#[derive(Clone, Copy)]
pub(crate) struct Again<'a> {
    pub(crate) reread: &'a Reread<'a>,
    pub(crate) cancel: &'a AtomicBool,
}

impl Again<'_> {
    /// Reads the events with these indexes: gives the names and the rest that is known by then, and each event with its
    /// batch and index. Whether all were there.
    pub(crate) fn read(
        &self,
        events: Range<u64>,
        mut each: impl FnMut((&Names, &Meta), &Batch, u64, Event) -> ControlFlow<()>,
    ) -> bool {
        let mut next = events.start;
        (self.reread)(events.start, &mut |source, batch| {
            let known = (source.names(), source.meta());
            let skipped = (next.max(batch.first) - batch.first) as usize;
            for &event in batch.events.get(skipped..).unwrap_or_default() {
                if next == events.end || each(known, batch, next, event).is_break() {
                    return ControlFlow::Break(());
                }
                next += 1;
            }
            let done = next >= events.end || self.cancel.load(Ordering::Relaxed);
            if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        next == events.end
    }

    /// Gives the first events, up to this index and not including it, batch by batch. Whether all were there.
    pub(crate) fn each_batch(&self, end: u64, mut each: impl FnMut(&Names, &Batch)) -> bool {
        let mut seen = 0;
        (self.reread)(0, &mut |source, batch| {
            let rest = usize::try_from(end - seen).unwrap_or(usize::MAX);
            if batch.events.len() <= rest {
                each(source.names(), batch);
                seen += batch.events.len() as u64;
            } else {
                let mut part = batch.clone();
                part.events.truncate(rest);
                each(source.names(), &part);
                seen = end;
            }
            let done = seen == end || self.cancel.load(Ordering::Relaxed);
            if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        seen == end
    }

    /// The events with these indexes, ascending, as a batch; `None` if some are missing.
    pub(crate) fn some(&self, events: &[u64]) -> Option<Batch> {
        let mut found = Batch::default();
        let mut rest = events;
        for stretch in stretches(events) {
            self.read(stretch, |_, batch, index, event| {
                if let Some((&wanted, behind)) = rest.split_first()
                    && wanted == index
                {
                    found.push_from(batch, event);
                    rest = behind;
                }
                ControlFlow::Continue(())
            });
        }
        rest.is_empty().then_some(found)
    }

    /// The first events up to this index, not including it; fewer if it has fewer. `None` if they are more than `most`.
    pub(crate) fn beginning(&self, end: u64, most: usize) -> Option<Batch> {
        let mut found = Batch::default();
        let mut fits = true;
        (self.reread)(0, &mut |_, batch| {
            fits = found.events.len() + batch.events.len() <= most && !self.cancel.load(Ordering::Relaxed);
            if !fits {
                return ControlFlow::Break(());
            }
            found.append(batch);
            if found.events.len() as u64 >= end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        fits.then_some(found)
    }
}

/// The stretches in which ascending events lie, those that are near to each other together.
pub(crate) fn stretches(events: &[u64]) -> Vec<Range<u64>> {
    let mut stretches: Vec<Range<u64>> = Vec::new();
    for &event in events {
        match stretches.last_mut() {
            Some(last) if event < last.end + NEAR => last.end = last.end.max(event + 1),
            _ => stretches.push(event..event + 1),
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_read_together() {
        assert_eq!(stretches(&[]), []);
        assert_eq!(stretches(&[3, 4, 90]), vec![Range { start: 3, end: 91 }]);
        assert_eq!(stretches(&[3, 4 + NEAR]), [3..4, 4 + NEAR..5 + NEAR]);
    }
}
