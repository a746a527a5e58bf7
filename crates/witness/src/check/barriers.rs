//! `weak-hb` and `maximal`: `alloc` and `free` keep their recorded order with every access of their variable.

use super::places::{Latest, Places};
use super::refused::Rule;
use crate::ops::{is_access, is_barrier};
use event::{Batch, Names, Space};

/// Looks through the recorded order.
pub(super) fn check(names: &Names, trace: &Batch, places: &mut Places) {
    let mut accesses = vec![Latest::default(); names.space(Space::Var).len()];
    let mut barriers = accesses.clone();
    for (at, &event) in (0u32..).zip(&trace.events) {
        if !is_access(event.op()) {
            continue;
        }
        let var = event.object() as usize;
        places.need(at, barriers[var], Rule::Barrier);
        if is_barrier(event.op()) {
            places.need(at, accesses[var], Rule::Barrier);
            barriers[var].add(places.of(at));
        }
        accesses[var].add(places.of(at));
    }
}

/// The same for two events of a race, which may be in any order with each other, in a model that may not keep it.
pub(super) fn check_race(trace: &Batch, places: &mut Places, race: [u32; 2]) {
    for (at, &event) in (0u32..).zip(&trace.events) {
        if !is_access(event.op()) || race.contains(&at) {
            continue;
        }
        for racing in race {
            let other = trace.events[racing as usize];
            if is_access(other.op())
                && other.object() == event.object()
                && (is_barrier(event.op()) || is_barrier(other.op()))
            {
                places.need(at.max(racing), places.of(at.min(racing)), Rule::Barrier);
            }
        }
    }
}
