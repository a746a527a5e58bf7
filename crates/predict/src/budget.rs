//! Searches within a time: close to the recorded run first, and a fair share for each window.

use crate::union::UnionAutomaton;
use lattice::{Limits, Outcome as Explored, Shortened, explore};
use order::EventStructure;
use std::time::{Duration, Instant};

/// A window has at least this much time, while there is any.
const LEAST_SHARE: Duration = Duration::from_millis(20);

/// Cuts per level of the first searches.
const NEAR: [u64; 2] = [64, 4096];

/// Searches a structure within a time: first close to the recorded run, then further and further away, so that a
/// lattice that is too wide does not take all of the time for its first levels.
pub(crate) fn broaden(
    structure: &EventStructure,
    class: &dyn Fn(u64) -> u32,
    automaton: &mut UnionAutomaton,
    limits: &Limits<'_>,
) -> Explored {
    if limits.deadline.is_none() || limits.breadth.is_some() {
        return explore(structure, class, automaton, limits);
    }
    let (mut violations, mut without_path) = (Vec::new(), Vec::new());
    let mut outcome = Explored::default();
    for breadth in NEAR.into_iter().map(Some).chain([None]) {
        outcome = explore(structure, class, &mut *automaton, &Limits { breadth, ..*limits });
        outcome.violations.iter().for_each(|violation| automaton.found(violation));
        violations.append(&mut outcome.violations);
        outcome.without_path.iter().for_each(|&owner| automaton.retire(owner as usize));
        without_path.append(&mut outcome.without_path);
        let only_narrow = breadth.is_some_and(|breadth| outcome.shortened == [Shortened::Breadth(breadth)]);
        if automaton.is_idle() || !only_narrow {
            break;
        }
    }
    // That it was narrow was our choice; what ended it is what counts.
    outcome.shortened.retain(|short| !matches!(short, Shortened::Breadth(_)));
    Explored { violations, without_path, ..outcome }
}

/// A fair share of the time for one of the windows that are left, so that one that is too wide does not take it all.
pub(crate) fn slice<'l>(limits: &Limits<'l>, left: u32) -> Limits<'l> {
    let share = |(end, _): (Instant, Duration)| {
        let now = Instant::now();
        let share = (end.saturating_duration_since(now) / left.max(1)).max(LEAST_SHARE);
        ((now + share).min(end), share)
    };
    Limits { deadline: limits.deadline.map(share), ..*limits }
}
