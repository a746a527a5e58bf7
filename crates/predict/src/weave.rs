//! From a path over the elements of a window to a schedule of all its events.

use order::Frame;
use rustc_hash::FxHashMap;

/// The events of `all`, a frame in which every event is an element, in an order that has those of `path` in theirs,
/// and none that `is_element` beside them; the last of the path comes last. Other events come as early as recorded
/// order and their needs let them: they have no rules beyond needs. `None` if the path cannot be followed.
pub(crate) fn weave(all: &Frame, path: &[u64], is_element: impl Fn(u64) -> bool) -> Option<Vec<u64>> {
    let place: FxHashMap<u64, usize> = path.iter().enumerate().map(|(at, &event)| (event, at)).collect();
    let mut cut: Vec<u32> = vec![0; all.lanes.len()];
    let mut schedule = Vec::new();
    let mut next = 0;
    while next < path.len() {
        let can_come = |lane: &usize| {
            let element = all.lanes[*lane].elements.get(cut[*lane] as usize)?;
            let in_turn = match place.get(&element.event) {
                Some(&at) => at == next,
                None => !is_element(element.event),
            };
            let needs = || all.needs(element).iter().all(|need| cut[need.lane as usize] >= need.count);
            (in_turn && needs()).then_some(element.event)
        };
        let (event, lane) = (0..all.lanes.len()).filter_map(|lane| Some((can_come(&lane)?, lane))).min()?;
        cut[lane] += 1;
        schedule.push(event);
        next += usize::from(event == path[next]);
    }
    Some(schedule)
}
