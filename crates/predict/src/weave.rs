//! From a path over the relevant events of a window to a schedule of all its events.

use order::EventStructure;
use rustc_hash::FxHashMap;

/// Extends a path over the relevant events of a window to a schedule of all its events.
///
/// `all` is the event structure in which every event of the window is relevant. The events of `path` keep their order,
/// the last of them comes last, and no other relevant event is scheduled. The rest have no rules beyond their
/// predecessors, so each comes as early as these and the recorded order allow. With `whole`, those that are left come
/// after the path. `None` if the path cannot be followed.
pub(crate) fn weave(
    all: &EventStructure,
    path: &[u64],
    is_relevant: impl Fn(u64) -> bool,
    whole: bool,
) -> Option<Vec<u64>> {
    let place: FxHashMap<u64, usize> = path.iter().enumerate().map(|(at, &event)| (event, at)).collect();
    let mut cut: Vec<u32> = vec![0; all.chains.len()];
    let mut schedule = Vec::new();
    let mut next = 0;
    let events: usize = all.chains.iter().map(|chain| chain.events.len()).sum();
    while next < path.len() || (whole && schedule.len() < events) {
        let can_come = |chain: &usize| {
            let event = all.chains[*chain].events.get(cut[*chain] as usize)?;
            let in_turn = match place.get(&event.index) {
                Some(&at) => at == next,
                None => !is_relevant(event.index),
            };
            let predecessors = || all.predecessors(event).iter().all(|prefix| prefix.is_within(&cut));
            (in_turn && predecessors()).then_some(event.index)
        };
        let (event, chain) = (0..all.chains.len()).filter_map(|chain| Some((can_come(&chain)?, chain))).min()?;
        cut[chain] += 1;
        schedule.push(event);
        next += usize::from(path.get(next) == Some(&event));
    }
    Some(schedule)
}
