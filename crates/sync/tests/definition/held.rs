//! "Sections" of docs/causality.md, level by level.

use crate::{cases, random, runs};
use event::{Batch, LockId, Op, ThreadId};
use sync::{Change, HeldLocks, LockMode, Sections, lock_of};

/// One level of a lock that a thread holds: the lock, how, and the event that took it.
type Level = (LockId, LockMode, usize);

/// All levels that a thread holds before an event, in the order in which they were taken.
fn levels(batch: &Batch, before: usize, thread: ThreadId) -> Vec<Level> {
    let mut held: Vec<Level> = Vec::new();
    let mut given_up: Option<(u32, LockId, Vec<Level>)> = None;
    for (at, &event) in batch.events[..before].iter().enumerate().filter(|(_, event)| event.thread() == thread) {
        let Some(lock) = lock_of(batch, event) else { continue };
        let release = |held: &mut Vec<Level>, mode| {
            if let Some(last) = held.iter().rposition(|level| (level.0, level.1) == (lock, mode)) {
                held.remove(last);
            }
        };
        match event.op() {
            Op::Acquire | Op::TryAcquire => held.push((lock, LockMode::Exclusive, at)),
            Op::ReadAcquire => held.push((lock, LockMode::Shared, at)),
            Op::Release => release(&mut held, LockMode::Exclusive),
            Op::ReadRelease => release(&mut held, LockMode::Shared),
            Op::Wait => {
                let (given, kept) = held.into_iter().partition(|level| level.0 == lock);
                (held, given_up) = (kept, Some((event.object(), lock, given)));
            }
            Op::Woken => {
                let back = given_up.take().filter(|(cond, of, _)| (*cond, *of) == (event.object(), lock));
                let back = back.map(|(.., given)| given).filter(|given| !given.is_empty());
                let mut back = back.unwrap_or_else(|| vec![(lock, LockMode::Exclusive, at)]);
                back.sort_by_key(|level| level.1.index());
                held.extend(back.into_iter().map(|(lock, mode, _)| (lock, mode, at)));
            }
            _ => {}
        }
    }
    held
}

/// The sections that these levels are in: the event that opened each, and its depth, in the order of opening.
fn sections(levels: &[Level]) -> Vec<(Level, u32)> {
    let mut sections: Vec<(Level, u32)> = Vec::new();
    for level in levels {
        match sections.iter_mut().find(|section| (section.0.0, section.0.1) == (level.0, level.1)) {
            Some(section) => section.1 += 1,
            None => sections.push((*level, 1)),
        }
    }
    sections
}

fn compare(batch: &Batch) {
    let (mut held, mut open_sections) = (HeldLocks::<usize>::new(), Sections::<usize>::new());
    for (at, &event) in batch.events.iter().enumerate() {
        let thread = event.thread();
        let (before, after) = (levels(batch, at, thread), levels(batch, at + 1, thread));
        let (was, is) = (sections(&before), sections(&after));
        let of = |sections: &[(Level, u32)], lock, mode| {
            sections.iter().find(|section| (section.0.0, section.0.1) == (lock, mode)).map(|section| section.0.2)
        };
        if event.op() == Op::Request {
            let expected = of(&was, event.lock(), LockMode::Exclusive).is_none();
            assert_eq!(held.request(event).is_some(), expected, "{at} of {:?}", batch.events);
        }
        let effect = open_sections.step(batch, event, |_| at);
        let without_data = held.step(batch, event, |_| at);
        let lock = lock_of(batch, event).filter(|_| event.op() != Op::TryFail);
        assert_eq!(effect.map(|effect| effect.lock), lock);
        if let Some(effect) = effect {
            for (mode, change) in effect.changes() {
                let listed = without_data.map(|effect| effect.change(mode));
                assert_eq!(listed, Some(change.without_data()), "{at} of {:?}", batch.events);
                let released = (mode == LockMode::Exclusive && event.op() == Op::Release)
                    || (mode == LockMode::Shared && event.op() == Op::ReadRelease);
                let expected = match (of(&was, effect.lock, mode), of(&is, effect.lock, mode)) {
                    (None, Some(at)) => Change::Opens(at),
                    (Some(at), None) => Change::Closes(at),
                    (None, None) if released => Change::ClosesInitial,
                    _ => Change::None,
                };
                assert_eq!(change, expected, "{at} of {:?}", batch.events);
            }
            let holds = |levels: &[Level]| levels.iter().any(|level| level.0 == effect.lock);
            let changes = (!holds(&before) && holds(&after), holds(&before) && !holds(&after));
            assert_eq!(without_data.map(|effect| (effect.takes, effect.gives)), Some(changes));
            assert_eq!((effect.takes, effect.gives), changes, "{at} of {:?}", batch.events);
        }
        let open: Vec<(Level, u32)> = held
            .of(thread)
            .map(|hold| {
                (
                    (hold.lock, hold.mode, hold.data),
                    held.get(thread, hold.lock, hold.mode).map_or(0, |(_, depth)| depth),
                )
            })
            .collect();
        assert_eq!(open, is, "after {at} of {:?}", batch.events);
        let mut locks: Vec<LockId> = Vec::new();
        is.iter().map(|section| section.0.0).for_each(|lock| {
            if !locks.contains(&lock) {
                locks.push(lock);
            }
        });
        assert_eq!(held.locks(thread).map(|hold| hold.lock).collect::<Vec<_>>(), locks);
        assert_eq!(held.count(thread), locks.len());
    }
}

#[test]
fn sections_of_traces_with_problems() {
    (0..cases()).for_each(|seed| compare(&random::events(seed)));
}

#[test]
fn sections_of_generated_runs() {
    runs().for_each(|trace| compare(&trace.batch));
}
