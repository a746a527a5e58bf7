//! The builder: extends an order of the essential events to a schedule of all events.

mod graph;
mod predecessors;
mod region;

use event::{Batch, Causality, Names};
use region::Region;

/// Why no schedule has the essential events in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoSchedule {
    /// There are no essential events.
    #[error("no essential event is given to end the schedule with")]
    Empty,
    /// The list has an event that cannot be in it.
    #[error("event {0} is listed twice, stands before the part to be ordered, or is not essential or not in the trace")]
    Listed(u64),
    /// A predecessor of an essential event cannot come before it.
    #[error("event {0} needs an event that is left out or listed behind it")]
    MissingPredecessor(u64),
}

/// Builds a schedule of all events that has the essential ones in exactly this order and ends with the last of them.
///
/// The rules of the model order the events that are not essential. In `weak-hb` and `maximal` that is only what every
/// model keeps: their other rules bind essential events only. `observed` is built as `full-hb`.
///
/// * Events before `from` stay as recorded. `essential` lists the essential events from there on, in the predicted
///   order.
/// * Events that `is_essential` accepts but that are not listed are left out, with all their successors by the rules.
/// * Of the other events up to the last recorded of the listed ones, all that can come before the last listed event do.
/// * Up to the first essential event that is out of its recorded order, the schedule is the recorded run. After that,
///   of the events that can come, the earliest recorded one comes next.
/// * An essential event that overtakes others comes either as late as that allows, or, together with its predecessors,
///   right before those that it overtakes: whichever moves fewer events, then whichever has fewer switches of threads.
pub fn build(
    model: Causality,
    names: &Names,
    trace: &Batch,
    from: u64,
    essential: &[u64],
    is_essential: &dyn Fn(u64) -> bool,
) -> Result<Vec<u64>, NoSchedule> {
    let Some(&latest) = essential.iter().max() else {
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
    if as_recorded.peek().is_none() {
        return Ok(schedule);
    }
    let out_of_order: Vec<u64> = as_recorded.collect();
    let region = Region::new(start, latest, &out_of_order, is_essential)?;
    let sorted = region.sort(model, names, trace, is_essential)?;
    schedule.extend(sorted);
    schedule.extend(region.end..=latest);
    Ok(schedule)
}
