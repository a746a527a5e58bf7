//! `weak-hb` and `maximal`: `alloc` and `free` keep their recorded order with every access of their variable.

use super::places::{Latest, Places};
use super::refused::Rule;
use crate::ops::{is_access, is_barrier};
use event::{Batch, Names, Space};

/// Looks through the recorded order. The two events of a race may be in any order with each other.
pub(super) fn check(names: &Names, trace: &Batch, places: &mut Places, race: &[u32]) {
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
        }
        if race.contains(&at) {
            continue;
        }
        for &racing in race.iter().filter(|&&racing| racing < at) {
            let other = trace.events[racing as usize];
            if is_access(other.op())
                && other.object() == event.object()
                && (is_barrier(event.op()) || is_barrier(other.op()))
            {
                places.need(at, places.of(racing), Rule::Barrier);
            }
        }
        accesses[var].add(places.of(at));
        if is_barrier(event.op()) {
            barriers[var].add(places.of(at));
        }
    }
}
