//! Every feasible prefix of a small trace, by the definitions of docs/causality.md word by word.

use crate::common::definition::{Definition, Next};
use crate::common::{Random, Sample, maker};
use event::{Causality, Event, Op, SiteId, ThreadId};

/// A small trace that could have happened, with blocks; the site of each event is its index and one, so that none is
/// unknown.
pub(crate) fn sample(random: &mut Random, events: usize) -> Sample {
    let mut sample = maker::make(random, events, false);
    let mut open = [false; 3];
    let mut waiting = [false; 3];
    let mut put = Vec::new();
    for &event in &sample.batch.events {
        let thread = event.thread().0 as usize;
        if matches!(event.op(), Op::Begin | Op::End | Op::Pin | Op::ReadPin) {
            continue;
        }
        if !waiting[thread] && random.one_in(if open[thread] { 5 } else { 2 }) {
            let op = if open[thread] { Op::End } else { Op::Begin };
            open[thread] = !open[thread];
            put.push(Event::new(ThreadId(thread as u32), op, 0, SiteId(0)));
        }
        waiting[thread] = event.op() == Op::Wait;
        put.push(event);
    }
    let site = |(k, event): (u32, Event)| {
        Event::with_extra(event.thread(), event.op(), event.object(), SiteId(k + 1), event.extra())
    };
    sample.batch.events = (0u32..).zip(put).map(site).collect();
    for k in 0..=sample.batch.events.len() {
        assert!(sample.names.add(event::Space::Site, &k.to_string()).is_ok());
    }
    sample
}

/// Shows every feasible prefix, and those with a terminal read as their last event; `None` if there are too many.
pub(crate) fn every(sample: &Sample, most: usize, mut show: impl FnMut(&[usize], bool)) -> Option<()> {
    let definition = Definition::new(sample);
    let n = sample.batch.events.len();
    let mut left = most;
    walk(&definition, n, &mut Vec::new(), &mut left, &mut show)
}

fn walk(
    definition: &Definition<'_>,
    n: usize,
    prefix: &mut Vec<usize>,
    left: &mut usize,
    show: &mut impl FnMut(&[usize], bool),
) -> Option<()> {
    *left = left.checked_sub(1)?;
    show(prefix, false);
    for e in 0..n {
        if prefix.contains(&e) {
            continue;
        }
        let next = definition.next(Causality::Maximal, prefix, e);
        if next == Next::No {
            continue;
        }
        prefix.push(e);
        if next == Next::Yes {
            walk(definition, n, prefix, left, show)?;
        } else {
            show(prefix, true);
        }
        prefix.pop();
    }
    Some(())
}
