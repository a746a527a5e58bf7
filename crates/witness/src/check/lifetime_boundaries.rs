//! `weak-hb` and `maximal`: `alloc` and `free` keep their recorded order with every access of their variable.

use super::positions::{Latest, Positions};
use super::refusal::Rule;
use crate::ops::is_access;
use event::{Batch, Names, Space};

/// Checks this rule in one pass along the recorded run.
pub(super) fn check(names: &Names, trace: &Batch, positions: &mut Positions) {
    let mut accesses = vec![Latest::default(); names.space(Space::Var).len()];
    let mut boundaries = accesses.clone();
    for (at, &event) in (0u32..).zip(&trace.events) {
        if !is_access(event.op()) {
            continue;
        }
        let var = event.object() as usize;
        positions.require(at, boundaries[var], Rule::LifetimeBoundary);
        if event.op().bounds_lifetime() {
            positions.require(at, accesses[var], Rule::LifetimeBoundary);
            boundaries[var].add(positions.get(at));
        }
        accesses[var].add(positions.get(at));
    }
}

/// Checks this rule for the two events of a race, except between themselves. Some models do not have it otherwise.
pub(super) fn check_race(trace: &Batch, positions: &mut Positions, race: [u32; 2]) {
    for (at, &event) in (0u32..).zip(&trace.events) {
        if !is_access(event.op()) || race.contains(&at) {
            continue;
        }
        for racing in race {
            let other = trace.events[racing as usize];
            if is_access(other.op())
                && other.object() == event.object()
                && (event.op().bounds_lifetime() || other.op().bounds_lifetime())
            {
                positions.require(at.max(racing), positions.get(at.min(racing)), Rule::LifetimeBoundary);
            }
        }
    }
}
