//! What every model keeps: program order, fork and join, post and await, pins.

use super::places::{Latest, Places};
use super::refused::Rule;
use crate::ops::is_access;
use crate::pins::Pins;
use crate::sections::NONE;
use event::{Batch, Names, Op, Space};

#[derive(Clone, Copy, Default)]
struct Thread {
    events: Latest,
    forks: Latest,
}

/// Pinned events of one variable: the latest, and the latest of the threads other than that one's.
#[derive(Clone, Copy, Default)]
struct Pinned {
    thread: u32,
    latest: Latest,
    others: Latest,
}

impl Pinned {
    fn add(&mut self, thread: u32, event: Latest) {
        if self.thread == thread {
            self.latest.add(event);
        } else if event.is_after(self.latest) {
            *self = Pinned { thread, latest: event, others: self.latest };
        } else {
            self.others.add(event);
        }
    }

    fn of_others(&self, thread: u32) -> Latest {
        if self.thread == thread { self.others } else { self.latest }
    }
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

fn check_pins(mut pins: Pins, names: &Names, trace: &Batch, places: &mut Places) {
    // By variable: where it is in the list of those with pinned events.
    let mut slots = vec![NONE; names.space(Space::Var).len()];
    let mut pinned: Vec<Pinned> = Vec::new();
    for (at, &event) in (0u32..).zip(&trace.events) {
        let thread = event.thread().0;
        if is_access(event.op())
            && let Some(pinned) = pinned.get(slots[event.object() as usize] as usize)
        {
            places.need(at, pinned.of_others(thread), Rule::Pin);
        }
        for &(_, _, var) in pins.step(thread) {
            let slot = &mut slots[var as usize];
            if *slot == NONE {
                *slot = pinned.len() as u32;
                pinned.push(Pinned::default());
            }
            pinned[*slot as usize].add(thread, places.of(at));
        }
    }
}
