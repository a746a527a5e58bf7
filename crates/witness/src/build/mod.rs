//! The builder: from the order of the events that matter to a schedule of all events.

mod graph;
mod needs;

use crate::moved::fewest_moved;
use event::{Batch, Names};
use graph::{Graph, Turns};
use needs::Needs;

/// Which rules order the events that are not essential.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// Those of full-hb.
    FullHb,
    /// Those of sync-only.
    SyncOnly,
    /// Only what every model keeps: for models whose other rules bind essential events only.
    Common,
}

/// An order of essential events that no schedule has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoSchedule {
    /// There are no essential events to end with.
    #[error("no essential event is given to end the schedule with")]
    Empty,
    /// An event is listed that cannot be there.
    #[error("event {0} is listed twice, stands before the part to be ordered, or is not essential or not in the trace")]
    Listed(u64),
    /// An event needs what does not come before it.
    #[error("event {0} needs an event that is left out or listed behind it")]
    Needs(u64),
}

/// A schedule of all events that shows the essential ones in exactly this order, the last of them at its end.
///
/// Events before `from` stay as recorded, all of them; `essential` are the essential events of the schedule from there
/// on, in the predicted order. Those that are not listed, though `is_essential`, are left out, with everything that
/// needs them by the rules. Of the other events recorded before the last recorded of the listed, all that can come
/// before the last listed are in the schedule. Before the first essential event that is out of its recorded order, the
/// schedule is the recorded run; behind it, the earliest recorded event comes first of those that can come. An
/// essential event that comes early either does so as late as that allows, or right before those that it overtakes,
/// with what it needs: whichever moves fewer events, then whichever switches less often between threads.
pub fn build(
    rules: Rules,
    names: &Names,
    trace: &Batch,
    from: u64,
    essential: &[u64],
    is_essential: &dyn Fn(u64) -> bool,
) -> Result<Vec<u64>, NoSchedule> {
    let (Some(&last), Some(&latest)) = (essential.last(), essential.iter().max()) else {
        return Err(NoSchedule::Empty);
    };
    let end = trace.first + trace.events.len() as u64;
    let wrong = |&&event: &&u64| event < from.max(trace.first) || event >= end || !is_essential(event);
    if let Some(&event) = essential.iter().find(wrong) {
        return Err(NoSchedule::Listed(event));
    }
    let mut as_recorded = essential.iter().copied().peekable();
    let mut start = from.max(trace.first);
    while start <= latest && (!is_essential(start) || as_recorded.next_if_eq(&start).is_some()) {
        start += 1;
    }
    let mut schedule: Vec<u64> = (trace.first..start).collect();
    let Some(&next) = as_recorded.peek() else {
        return Ok(schedule);
    };
    let moved: Vec<u64> = as_recorded.collect();
    let mut listed = vec![false; (latest + 1 - start) as usize];
    for &event in &moved {
        match event.checked_sub(start).map(|offset| &mut listed[offset as usize]) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(NoSchedule::Listed(event)),
        }
    }
    let mut graph = Graph::new(listed.len());
    let mut needs = Needs::new(rules, names, trace);
    let offset = |index: u64| (index - trace.first) as u32;
    let before = &trace.events[..offset(start) as usize];
    (0u32..).zip(before).for_each(|(at, &event)| needs.skip(at, event));
    for (node, index) in (0u32..).zip(start..=latest) {
        let at = offset(index);
        needs.add(&mut graph, at, node, trace.events[at as usize]);
        if !listed[node as usize] && is_essential(index) {
            graph.exclude(node);
        }
    }
    let node = |index: u64| (index - start) as u32;
    // By listed event: the earliest recorded from there on.
    let mut earliest: Vec<u32> = moved.iter().map(|&index| node(index)).collect();
    for k in (1..earliest.len()).rev() {
        earliest[k - 1] = earliest[k - 1].min(earliest[k]);
    }
    let orders = [Turns::Late, Turns::Early]
        .map(|turns| graph.turns(turns, moved.iter().map(|&index| node(index)).zip(earliest.iter().copied())));
    for pair in moved.windows(2) {
        graph.need(node(pair[0]), node(pair[1]));
    }
    let mut regions = Vec::with_capacity(orders.len());
    for turn in orders {
        let mut region = Vec::with_capacity(listed.len());
        graph.sort(&turn, node(last), |node| region.push(start + u64::from(node)));
        if region.last() != Some(&last) {
            let mut reached = moved.iter().copied().peekable();
            for index in &region {
                reached.next_if_eq(index);
            }
            return Err(NoSchedule::Needs(reached.next().unwrap_or(next)));
        }
        regions.push(region);
    }
    let thread = |index: u64| trace.events[offset(index) as usize].thread();
    let switches = |region: &[u64]| {
        let first = schedule.last().filter(|&&before| thread(before) != thread(region[0])).iter().count();
        first + region.windows(2).filter(|pair| thread(pair[0]) != thread(pair[1])).count()
    };
    let best = regions.into_iter().min_by_key(|region| (fewest_moved(region), switches(region)));
    schedule.extend(best.into_iter().flatten());
    Ok(schedule)
}
