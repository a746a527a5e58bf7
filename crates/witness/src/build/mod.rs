//! The builder: from the order of the events that matter to a schedule of all events.

mod graph;
mod needs;
mod region;

use event::{Batch, Causality, Names};
use region::Region;

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
/// The rules of the model order the events that are not essential. In `weak-hb` and `maximal` that is only what every
/// model keeps: their other rules bind essential events only. `observed` is built as `full-hb`.
///
/// Events before `from` stay as recorded, all of them; `essential` are the essential events of the schedule from there
/// on, in the predicted order. Those that are not listed, though `is_essential`, are left out, with everything that
/// needs them by the rules. Of the other events recorded before the last recorded of the listed, all that can come
/// before the last listed are in the schedule. Before the first essential event that is out of its recorded order, the
/// schedule is the recorded run; behind it, the earliest recorded event comes first of those that can come. An
/// essential event that comes early either does so as late as that allows, or right before those that it overtakes,
/// with what it needs: whichever moves fewer events, then whichever switches less often between threads.
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
