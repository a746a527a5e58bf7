//! A trace in which the accesses of some variables say nothing.

use event::{Batch, Event, Init, Op, Space, VarId};
use std::ops::{ControlFlow, Range};

/// Events that are masked at once.
const CHUNK: usize = 1 << 14;

/// Gives a whole trace on, batch by batch, with what is done to variables that are not kept made into internal events
/// without a meaning: all events keep their numbers. Internal events lose their arguments. It ends where `take` breaks.
pub fn each_masked(trace: &Batch, keeps: impl Fn(VarId) -> bool, mut take: impl FnMut(&Batch) -> ControlFlow<()>) {
    let mut masked = Batch::default();
    let mut inits = trace.inits.as_slice();
    for (number, events) in trace.events.chunks(CHUNK).enumerate() {
        let first = number * CHUNK;
        masked.clear(trace.first + first as u64);
        let end = first + events.len();
        // What stands behind the last event goes with it.
        let is_last = end == trace.events.len();
        let upto = inits.partition_point(|init| (init.before as usize) < end || is_last);
        let (now, later) = inits.split_at(upto);
        inits = later;
        masked.inits.extend(now.iter().map(|init| Init { before: init.before - first as u32, ..*init }));
        let says = |event: &&Event| match event.op().space() {
            Some(Space::Var) => keeps(event.var()),
            _ => event.op() != Op::Internal,
        };
        let extras = range(events.iter().filter(says).map(|event| event.extra()));
        masked.extras.extend_from_slice(&trace.extras[extras.start as usize..extras.end as usize]);
        masked.events.extend(events.iter().map(|&event| {
            if says(&&event) {
                let extra = event.extra().checked_sub(extras.start).map_or(0, |offset| offset + 1);
                Event::with_extra(event.thread(), event.op(), event.object(), event.site(), extra)
            } else {
                Event::new(event.thread(), Op::Internal, 0, event.site())
            }
        }));
        if take(&masked).is_break() {
            return;
        }
    }
}

/// From the least to the greatest of these numbers, without 0.
fn range(numbers: impl Iterator<Item = u32>) -> Range<u32> {
    let some = numbers.filter(|&number| number != 0);
    some.fold(None, |range: Option<Range<u32>>, number| match range {
        Some(range) => Some(range.start.min(number)..range.end.max(number + 1)),
        None => Some(number..number + 1),
    })
    .unwrap_or(1..1)
}
