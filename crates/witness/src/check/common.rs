//! What every model keeps: program order, fork and join, post and await, pins.

use super::places::{Latest, Places};
use super::refused::Rule;
use crate::pins::Pins;
use event::{Batch, Names, Op, Space};

#[derive(Clone, Copy, Default)]
struct Thread {
    events: Latest,
    forks: Latest,
}

/// Looks through the recorded order.
pub(super) fn check(names: &Names, trace: &Batch, places: &mut Places) {
    let count = names.space(Space::Thread).len();
    let mut threads = vec![Thread::default(); count];
    let mut posts = vec![Latest::default(); names.space(Space::Latch).len()];
    for (at, &event) in (0u32..).zip(&trace.events) {
        let thread = &mut threads[event.thread().0 as usize];
        let here = places.of(at);
        places.need(at, thread.events, Rule::Thread);
        places.need(at, thread.forks, Rule::Fork);
        thread.events.add(here);
        match event.op() {
            Op::Fork => threads[event.child().0 as usize].forks.add(here),
            Op::Join if event.child() != event.thread() => {
                places.need(at, threads[event.child().0 as usize].events, Rule::Join);
            }
            Op::Post => posts[event.latch().0 as usize].add(here),
            Op::Await => places.need(at, posts[event.latch().0 as usize], Rule::Post),
            _ => {}
        }
    }
    if let Some(pins) = Pins::new(trace, count) {
        check_pins(pins, names, trace, places);
    }
}

/// A pin binds other threads only; its own keeps its order with the event anyway.
fn check_pins(mut pins: Pins, names: &Names, trace: &Batch, places: &mut Places) {
    let pinned = || vec![Latest::default(); names.space(Space::Var).len()];
    let mut kinds = Op::DROP_BARRIERS.map(|pin| (pin, pinned()));
    for (at, &event) in (0u32..).zip(&trace.events) {
        for (_, pinned) in kinds.iter().filter(|(pin, _)| pin.holds_back(event.op())) {
            places.need(at, pinned[event.object() as usize], Rule::Pin);
        }
        for &(_, _, kind, var) in pins.step(event.thread().0) {
            for (_, pinned) in kinds.iter_mut().filter(|(pin, _)| *pin == kind) {
                pinned[var as usize].add(places.of(at));
            }
        }
    }
}
