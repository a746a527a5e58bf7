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

/// Gives a whole trace on, part by part, with all that its events have.
pub fn each_part(trace: &Batch, mut take: impl FnMut(&Batch) -> ControlFlow<()>) {
    let mut part = Batch::default();
    let mut inits = trace.inits.as_slice();
    for (number, events) in trace.events.chunks(CHUNK).enumerate() {
        let first = number * CHUNK;
        part.clear(trace.first + first as u64);
        let end = first + events.len();
        let is_last = end == trace.events.len();
        let upto = inits.partition_point(|init| (init.before as usize) < end || is_last);
        let (now, later) = inits.split_at(upto);
        inits = later;
        part.inits.extend(now.iter().map(|init| Init { before: init.before - first as u32, ..*init }));
        let extras = range(events.iter().map(|event| event.extra()));
        for extra in &trace.extras[extras.start as usize..extras.end as usize] {
            let mut extra = *extra;
            if extra.args_len > 0 {
                let (start, len) = (extra.args_start as usize, usize::from(extra.args_len));
                extra.args_start = part.args.len() as u32;
                part.args.extend_from_slice(&trace.args[start..start + len]);
            }
            part.extras.push(extra);
        }
        part.events.extend(events.iter().map(|&event| {
            let extra = event.extra().checked_sub(extras.start).map_or(0, |offset| offset + 1);
            Event::with_extra(event.thread(), event.op(), event.object(), event.site(), extra)
        }));
        if take(&part).is_break() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use event::{Extra, SiteId, StackId, StrId, ThreadId, Value};

    /// More events than a part has, with arguments, stacks and initial values.
    fn trace() -> Batch {
        let mut trace = Batch::default();
        for number in 0..CHUNK as u32 * 2 + 5 {
            if number.is_multiple_of(1000) {
                trace.push_init(StrId(number), Value::Int(1));
            }
            let extra = if number.is_multiple_of(3) {
                let args_start = trace.args.len() as u32;
                trace.args.extend([Value::Int(i64::from(number)), Value::Bool(true)]);
                trace.add_extra(Extra { args_start, args_len: 2, ..Extra::default() })
            } else {
                trace.add_extra(Extra { stack: StackId(number % 2), ..Extra::default() })
            };
            let op = if number.is_multiple_of(3) { Op::Internal } else { Op::Write };
            trace.events.push(Event::with_extra(ThreadId(0), op, number % 7, SiteId(number % 5), extra));
        }
        trace.push_init(StrId(7), Value::Int(2));
        trace
    }

    #[test]
    fn parts_have_all_that_the_trace_has() {
        let trace = trace();
        let mut at = 0;
        let mut inits = trace.inits.iter();
        each_part(&trace, |part| {
            assert_eq!(part.first, at as u64);
            for init in &part.inits {
                let whole = inits.next().expect("no more than the trace has");
                assert_eq!((at + init.before as usize, init.name), (whole.before as usize, whole.name));
            }
            for &event in &part.events {
                let whole = trace.events[at];
                assert_eq!((event.op(), event.object(), event.site()), (whole.op(), whole.object(), whole.site()));
                assert_eq!((part.extra(event).stack, part.args(event)), (trace.extra(whole).stack, trace.args(whole)));
                at += 1;
            }
            ControlFlow::Continue(())
        });
        assert_eq!((at, inits.next()), (trace.events.len(), None));
    }
}
