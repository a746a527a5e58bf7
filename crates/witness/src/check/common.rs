//! "What every model keeps": program order, fork and join, `post` and `await`, drop barriers (`pin`, `rpin`).

use super::positions::{Latest, Positions};
use super::refusal::Rule;
use crate::drop_barriers::DropBarriers;
use event::{Batch, Names, Op, Space};

#[derive(Clone, Copy, Default)]
struct ThreadLatest {
    events: Latest,
    forks: Latest,
}

/// Checks these rules in one pass along the recorded run.
pub(super) fn check(names: &Names, trace: &Batch, positions: &mut Positions) {
    let count = names.space(Space::Thread).len();
    let mut threads = vec![ThreadLatest::default(); count];
    let mut posts = vec![Latest::default(); names.space(Space::Latch).len()];
    for (at, &event) in (0u32..).zip(&trace.events) {
        let thread = &mut threads[event.thread().0 as usize];
        let here = positions.get(at);
        positions.require(at, thread.events, Rule::Thread);
        positions.require(at, thread.forks, Rule::Fork);
        thread.events.add(here);
        match event.op() {
            Op::Fork => threads[event.child().0 as usize].forks.add(here),
            Op::Join if event.child() != event.thread() => {
                let child = threads[event.child().0 as usize];
                positions.require(at, child.forks, Rule::ForkOfJoined);
                positions.require(at, child.events, Rule::Join);
            }
            Op::Post => posts[event.latch().0 as usize].add(here),
            Op::Await => positions.require(at, posts[event.latch().0 as usize], Rule::Post),
            _ => {}
        }
    }
    if let Some(barriers) = DropBarriers::new(trace, count) {
        check_drop_barriers(barriers, names, trace, positions);
    }
}

/// Checks the drop barriers. They bind other threads only, but program order gives their own thread the same order.
fn check_drop_barriers(mut barriers: DropBarriers, names: &Names, trace: &Batch, positions: &mut Positions) {
    let named = || vec![Latest::default(); names.space(Space::Var).len()];
    let mut kinds = Op::DROP_BARRIERS.map(|kind| (kind, named()));
    for (at, &event) in (0u32..).zip(&trace.events) {
        for (_, named) in kinds.iter().filter(|(kind, _)| kind.holds_back(event.op())) {
            positions.require(at, named[event.object() as usize], Rule::DropBarrier);
        }
        for &(_, _, kind, var) in barriers.step(event.thread().0) {
            for (_, named) in kinds.iter_mut().filter(|(other, _)| *other == kind) {
                named[var as usize].add(positions.get(at));
            }
        }
    }
}
