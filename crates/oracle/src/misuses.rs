//! Misuses, as docs/detectors.md defines them.

use crate::recorded::RecordedEvent;
use event::Op;
use std::collections::BTreeSet;

/// A kind of misuse.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Misuse {
    /// A thread releases a lock that it does not hold.
    Unlock,
    /// A thread waits for itself.
    Itself,
    /// An access of freed memory.
    Freed,
}

/// The depths, exclusive and shared, at which a thread holds a lock before an event.
fn open(events: &[RecordedEvent], before: usize, thread: u32, lock: u32) -> (usize, usize) {
    let mut open = (0usize, 0usize);
    let mut waits: Option<(u32, u32, (usize, usize))> = None;
    for event in events[..before].iter().filter(|event| event.thread == thread) {
        let of_it = event.lock == Some(lock);
        match event.op {
            Op::Acquire | Op::TryAcquire if of_it => open.0 += 1,
            Op::Release if of_it => open.0 = open.0.saturating_sub(1),
            Op::ReadAcquire if of_it => open.1 += 1,
            Op::ReadRelease if of_it => open.1 = open.1.saturating_sub(1),
            Op::Wait => {
                let given_up = if of_it { std::mem::take(&mut open) } else { (0, 0) };
                waits = event.lock.map(|of| (event.object, of, given_up));
            }
            Op::Woken => match waits.take() {
                // A wake-up without its wait is an `acq`, and so is one whose wait gave nothing up.
                Some((condition, of, (exclusive, shared)))
                    if of_it && (condition, of) == (event.object, lock) && exclusive + shared > 0 =>
                {
                    open = (open.0 + exclusive, open.1 + shared);
                }
                _ if of_it => open.0 += 1,
                _ => {}
            },
            _ => {}
        }
    }
    open
}

/// The events that are misuses, with their kinds.
pub fn misuses(events: &[RecordedEvent]) -> BTreeSet<(usize, Misuse)> {
    let mut found = BTreeSet::new();
    for (e, event) in events.iter().enumerate() {
        let took = |shared: bool| {
            (0..e).filter(|&o| events[o].lock == event.lock).any(|o| match (events[o].op, event.lock) {
                (Op::Acquire | Op::TryAcquire, _) => true,
                // It takes back what its wait gave up: maybe shared holds only.
                (Op::Woken, Some(lock)) => shared || open(events, o + 1, events[o].thread, lock).0 > 0,
                (Op::ReadAcquire, _) => shared,
                _ => false,
            })
        };
        let is_open = |lock: u32| open(events, e, event.thread, lock);
        match (event.op, event.lock) {
            (Op::Release, Some(lock)) if is_open(lock).0 == 0 && took(true) => _ = found.insert((e, Misuse::Unlock)),
            (Op::ReadRelease, Some(lock)) if is_open(lock).1 == 0 && took(false) => {
                found.insert((e, Misuse::Unlock));
            }
            (Op::Request, _)
                if is_open(event.object) != (0, 0)
                    && events[e + 1..].iter().all(|later| later.thread != event.thread) =>
            {
                found.insert((e, Misuse::Itself));
            }
            _ => {}
        }
        let Some(variable) = event.accesses().filter(|_| event.op != Op::Alloc) else { continue };
        let boundary = events[..e].iter().rfind(|other| other.bounds_lifetime() && other.object == variable);
        if boundary.is_some_and(|other| other.op == Op::Free) {
            found.insert((e, Misuse::Freed));
        }
    }
    found
}
